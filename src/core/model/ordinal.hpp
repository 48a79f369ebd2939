// Two models: a model of errors that depend on the order of the categories, and a model of the
// confidence levels of answers.
#pragma once

#include <algorithm>
#include <vector>

#include "../base/matrix.hpp"

namespace fallible {

// Errors of ordered categories, as a cumulative probit model. For a case of category k of K, the
// judge perceives a normal signal with mean slope * (k - (K - 1) / 2) and variance 1. The answer is
// the category whose two thresholds enclose the signal. The K parameters are the slope, the middle
// threshold, and the logarithms of the distances between neighbouring thresholds. Several judges
// may share them.
class OrdinalLaw {
 public:
  OrdinalLaw(const double* parameters, int categories);

  double slope() const { return slope_; }
  const std::vector<double>& thresholds() const { return threshold_; }
  // Confusion matrix of the judges: truths x ratings, row by row.
  const std::vector<double>& matrix() const { return matrix_; }

  // Calls put(parameter, derivative) for each of the K parameters. `derivative`: derivative of the
  // log probability of the rating given the truth.
  template <class Put>
  void score(int truth, int rating, const Put& put) const {
    const double p = std::max(row_of(matrix_, truth, categories_)[rating], least);
    // Side 0: the threshold above the rating's category. Side 1: the threshold below the category.
    for (const int side : {0, 1}) {
      const int t = rating - side;
      if (t < 0 || t == categories_ - 1) continue;
      const double slope_by_threshold = (side == 0 ? 1 : -1) * density(limit(truth, t)) / p;
      put(0, -slope_by_threshold * position(truth));
      put(1, slope_by_threshold);
      for (int j = middle(); j < t; ++j) put(2 + j, slope_by_threshold * step_[j]);
      for (int j = t; j < middle(); ++j) put(2 + j, -slope_by_threshold * step_[j]);
    }
  }

  // Writes starting values to `parameters`: slope 2, and thresholds half way between the means of
  // the signals.
  static void start(double* parameters, int categories);

 private:
  static constexpr double least = 1e-305;
  static double density(double x);

  // Mean of the signal, divided by the slope.
  double position(int truth) const { return truth - 0.5 * (categories_ - 1); }
  // Threshold t minus the mean of the signal for this truth, in standard deviations of the signal.
  double limit(int truth, int t) const { return threshold_[t] - slope_ * position(truth); }
  // Index of the threshold that is a parameter. It is in the middle, because the estimate of the
  // first threshold is infinite if no answer is in the first category.
  int middle() const { return categories_ / 2 - 1; }

  int categories_;
  double slope_;
  // `step_`: distances between neighbouring thresholds.
  std::vector<double> step_, threshold_, matrix_;
};

// Probabilities of the confidence levels of answers, equal for all judges and categories. The
// levels of wrong answers have logits relative to the lowest level, which has number 0. For right
// answers, the logit of level j is larger by the sum of the first j steps. Steps are positive, so a
// larger share of answers is right at higher levels. The parameters are the logits of wrong
// answers, followed by the logarithms of the steps.
class LevelLaw {
 public:
  LevelLaw(const double* parameters, int levels);

  static int size(int levels) { return levels > 0 ? 2 * (levels - 1) : 0; }
  double probability(bool right, int level) const { return (right ? right_ : wrong_)[level]; }

  // Calls put(parameter, derivative) for each parameter. `derivative`: derivative of the log
  // probability of the level, given a right or a wrong answer.
  template <class Put>
  void score(bool right, int level, const Put& put) const {
    const int steps = static_cast<int>(step_.size());
    double tail = 1;  // probability that a right answer has at least the level of this step
    for (int j = 1; j <= steps; ++j) {
      put(j - 1, (j == level) - probability(right, j));
      tail -= right_[j - 1];
      if (right) put(steps + j - 1, step_[j - 1] * ((level >= j) - tail));
    }
  }

  // Writes starting values to `parameters`. `level_counts`: number of wrong and of right answers
  // with each level, in the order wrong, right, wrong, right, ...
  static void start(const std::vector<double>& level_counts, double* parameters);

 private:
  std::vector<double> step_, right_, wrong_;
};

}  // namespace fallible
