// Derivatives of the log probability of a rating in a class with respect to the parameters, and
// estimates for known classes. No other file contains these derivatives.
#pragma once

#include <cmath>
#include <vector>

#include "../base/special.hpp"
#include "law.hpp"

namespace fallible {

// Refers to all three arguments. Each part calls put(parameter, slope). Terms that all wrong
// answers share are separate from terms of single answers, so that sums over answers can be
// computed first.
class Score {
 public:
  Score(const Layout& layout, const Eigen::VectorXd& x, const Law& law)
      : layout_(layout), x_(x), law_(law), categories_(layout.categories) {}

  // All terms of a rating, including its confidence if there is any.
  template <class Put>
  void rating(int judge, int symbol, int in_class, const Put& put) const {
    const int k = in_class % categories_, l = symbol % categories_;
    if (symbol >= categories_) confidence(l == k, symbol / categories_ - 1, put);
    if (layout_.is_known(judge)) return;
    if (layout_.ordinal_at < 0) right_or_wrong(judge, in_class, l == k, put);
    if (layout_.ordinal_at < 0 && l != k) wrong(judge, k, put);
    answer(judge, k, l, put);
  }

  // Terms for a right answer, or for a wrong answer.
  template <class Put>
  void right_or_wrong(int judge, int in_class, bool right, const Put& put) const {
    const int k = in_class % categories_, s = in_class / categories_;
    const double mean = law_.accuracy[judge * categories_ + k];
    const Strata* strata = layout_.strata > 1 ? &law_.strata[judge * categories_ + k] : nullptr;
    const double p = inside(strata ? strata->p[s] : mean);
    const double slope = right ? 1 / p : -1 / (1 - p);
    put(layout_.accuracy_at(judge, k),
        slope * (strata ? strata->by_accuracy[s] : 1) * mean * (1 - mean));
    if (layout_.shifts_at >= 0) {
      const int at = layout_.shift_at(judge);
      put(at, (x_[at] < 0 ? -1 : 1) * slope * strata->by_shift[s]);
    }
  }

  // Terms that all wrong answers share.
  template <class Put>
  void wrong(int judge, int k, const Put& put) const {
    const double* error = law_.error(judge) + k * categories_;
    double distance = 0;
    for (int l = 0; l < categories_; ++l) {
      if (l == k) continue;
      distance += error[l] * std::abs(k - l);
      if (layout_.errors_at >= 0) put(layout_.error_at(judge, k, l), -error[l]);
    }
    if (layout_.dispersions_at >= 0) put(layout_.dispersion_at(judge), distance);
  }

  // Terms of a single answer.
  template <class Put>
  void answer(int judge, int k, int l, const Put& put) const {
    if (layout_.ordinal_at >= 0) {
      const int first = layout_.ordinal_of(judge);
      law_.ordinal[layout_.group[judge]].score(k, l,
                                               [&](int i, double slope) { put(first + i, slope); });
    } else if (l != k) {
      if (layout_.errors_at >= 0) put(layout_.error_at(judge, k, l), 1);
      if (layout_.dispersions_at >= 0) put(layout_.dispersion_at(judge), -std::abs(k - l));
    }
  }

  template <class Put>
  void confidence(bool right, int level, const Put& put) const {
    law_.levels->score(right, level,
                       [&](int i, double slope) { put(layout_.levels_at + i, slope); });
  }

 private:
  const Layout& layout_;
  const Eigen::VectorXd& x_;
  const Law& law_;
  int categories_;
};

// Expected numbers of ratings and cases in each class.
struct Counts {
  explicit Counts(const Layout& layout);

  std::vector<double> ratings;  // judges x symbols x classes, as in AnswerLaw
  std::vector<double> classes;  // populations x classes

  // Numbers of answers with each level of confidence: levels x (wrong, right).
  std::vector<double> levels(const Layout& layout) const;
  // Numbers of ratings by true category: judges x ratings x truths.
  std::vector<double> by_truth(const Layout& layout) const;
};

// Gradient of the log likelihood for observed classes. With expected numbers it is the gradient of
// the likelihood of the ratings only.
void add_gradient(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                  const Counts& counts, Eigen::VectorXd& gradient);

// Most probable parameters given these numbers, or an approximation if there is no closed form.
// `added`: pseudo-ratings of each kind.
Eigen::VectorXd reestimate(const Layout& layout, const Counts& counts, double added = 0);

}  // namespace fallible
