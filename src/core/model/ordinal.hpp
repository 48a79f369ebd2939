// What is in an order: errors by categories, and how sure judges say they are.
#pragma once

#include <algorithm>
#include <vector>

namespace fallible {

// Errors in the order of categories, a cumulative probit: a case of category k of K sends a judge a
// signal that is normal around slope * (k - (K - 1) / 2) with variance 1, and the answer is the
// category between whose thresholds it falls. Judges with the same parameters have as many as there
// are categories: the slope, the middle threshold (who never gives the first answer has no first
// one), and the logarithms of the steps between neighbouring thresholds.
class OrdinalLaw {
 public:
  OrdinalLaw(const double* parameters, int categories);

  double slope() const { return slope_; }
  const std::vector<double>& thresholds() const { return threshold_; }
  // Truths x ratings.
  const std::vector<double>& matrix() const { return matrix_; }

  // Calls put(parameter, slope of the log probability of a rating).
  template <class Put>
  void score(int truth, int rating, const Put& put) const {
    const double p = std::max(matrix_[truth * categories_ + rating], least);
    for (const int side : {0, 1}) {  // the thresholds above and below
      const int t = rating - side;
      if (t < 0 || t == categories_ - 1) continue;
      const double by_limit = (side == 0 ? 1 : -1) * density(limit(truth, t)) / p;
      put(0, -by_limit * position(truth));
      put(1, by_limit);
      for (int j = middle(); j < t; ++j) put(2 + j, by_limit * step_[j]);
      for (int j = t; j < middle(); ++j) put(2 + j, -by_limit * step_[j]);
    }
  }

  // Where to begin: a slope of 2, and thresholds half way between the means of signals.
  static void start(double* parameters, int categories);

 private:
  static constexpr double least = 1e-305;
  static double density(double x);

  double position(int truth) const { return truth - 0.5 * (categories_ - 1); }
  // Where a threshold is on the scale of the noise.
  double limit(int truth, int t) const { return threshold_[t] - slope_ * position(truth); }
  int middle() const { return categories_ / 2 - 1; }

  int categories_;
  double slope_;
  std::vector<double> step_, threshold_, matrix_;
};

// Probabilities of levels with an answer, the same for all judges and categories. Those of
// wrong answers have logits against the lowest; those of right ones have these plus a sum of
// steps that are positive: the more sure, the more often right. Parameters: the logits, then the
// logarithms of the steps.
class LevelLaw {
 public:
  LevelLaw(const double* parameters, int levels);

  static int size(int levels) { return levels > 0 ? 2 * (levels - 1) : 0; }
  double of(bool right, int level) const { return (right ? right_ : wrong_)[level]; }

  // Calls put(parameter, slope of the log probability of a level).
  template <class Put>
  void score(bool right, int level, const Put& put) const {
    const int steps = static_cast<int>(step_.size());
    double reached = 1;  // a step moves all levels from its own on
    for (int j = 1; j <= steps; ++j) {
      put(j - 1, (j == level) - of(right, j));
      reached -= right_[j - 1];
      if (right) put(steps + j - 1, step_[j - 1] * ((level >= j) - reached));
    }
  }

  // Where to begin, given how often each level was seen with wrong and right answers.
  static void start(const std::vector<double>& seen, double* parameters);

 private:
  std::vector<double> step_, right_, wrong_;
};

}  // namespace fallible
