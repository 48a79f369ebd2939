// Ordinal models: errors that depend on the order of categories, and confidence of judges.
#pragma once

#include <algorithm>
#include <vector>

namespace fallible {

// Errors of ordered categories, as a cumulative probit model. A judge receives a normal signal for
// a case of category k of K, with mean slope * (k - (K - 1) / 2) and variance 1. The answer is the
// category whose two thresholds enclose the signal. Judges with equal parameters have K parameters:
// the slope, the middle threshold, and the logarithms of the steps between neighbouring thresholds.
// The middle threshold exists even if the first answer never occurs.
class OrdinalLaw {
 public:
  OrdinalLaw(const double* parameters, int categories);

  double slope() const { return slope_; }
  const std::vector<double>& thresholds() const { return threshold_; }
  // Confusion matrix: truths x ratings.
  const std::vector<double>& matrix() const { return matrix_; }

  // Calls put(parameter, slope of the log probability of a rating) for each parameter.
  template <class Put>
  void score(int truth, int rating, const Put& put) const {
    const double p = std::max(matrix_[truth * categories_ + rating], least);
    for (const int side : {0, 1}) {  // thresholds above and below
      const int t = rating - side;
      if (t < 0 || t == categories_ - 1) continue;
      const double by_limit = (side == 0 ? 1 : -1) * density(limit(truth, t)) / p;
      put(0, -by_limit * position(truth));
      put(1, by_limit);
      for (int j = middle(); j < t; ++j) put(2 + j, by_limit * step_[j]);
      for (int j = t; j < middle(); ++j) put(2 + j, -by_limit * step_[j]);
    }
  }

  // Starting values: slope 2, and thresholds half way between the means of signals.
  static void start(double* parameters, int categories);

 private:
  static constexpr double least = 1e-305;
  static double density(double x);

  double position(int truth) const { return truth - 0.5 * (categories_ - 1); }
  // Position of a threshold relative to the signal's mean, in standard deviations.
  double limit(int truth, int t) const { return threshold_[t] - slope_ * position(truth); }
  int middle() const { return categories_ / 2 - 1; }

  int categories_;
  double slope_;
  std::vector<double> step_, threshold_, matrix_;
};

// Probabilities of confidence levels of answers, equal for all judges and categories. Levels of
// wrong answers have logits relative to the lowest level. Levels of right answers have these logits
// plus a sum of positive steps: higher confidence means more right answers. Parameters: the logits,
// then the logarithms of the steps.
class LevelLaw {
 public:
  LevelLaw(const double* parameters, int levels);

  static int size(int levels) { return levels > 0 ? 2 * (levels - 1) : 0; }
  double of(bool right, int level) const { return (right ? right_ : wrong_)[level]; }

  // Calls put(parameter, slope of the log probability of a level) for each parameter.
  template <class Put>
  void score(bool right, int level, const Put& put) const {
    const int steps = static_cast<int>(step_.size());
    double reached = 1;  // probability of the level of this step and all higher levels
    for (int j = 1; j <= steps; ++j) {
      put(j - 1, (j == level) - of(right, j));
      reached -= right_[j - 1];
      if (right) put(steps + j - 1, step_[j - 1] * ((level >= j) - reached));
    }
  }

  // Starting values from the frequencies of each level with wrong and right answers.
  static void start(const std::vector<double>& seen, double* parameters);

 private:
  std::vector<double> step_, right_, wrong_;
};

}  // namespace fallible
