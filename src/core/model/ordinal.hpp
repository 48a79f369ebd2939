// Errors in the order of categories: a cumulative probit.
//
// A case of category k of K sends a judge a signal that is normal around slope * (k - (K - 1) / 2)
// with variance 1, and the answer is the category between whose thresholds it falls.
#pragma once

#include <algorithm>
#include <vector>

namespace fallible {

// Of judges with the same parameters, as many as there are categories: the slope, the middle
// threshold (who never gives the first answer has no first one), and the logarithms of the steps
// between neighbouring thresholds.
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

}  // namespace fallible
