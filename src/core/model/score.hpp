// Derivatives of the log probability of a rating given the class, with respect to the parameters.
// Their sums are the derivatives of the log likelihood. Also contains parameter estimates for
// observed or expected numbers of ratings.
#pragma once

#include <cmath>
#include <vector>

#include "../base/special.hpp"
#include "law.hpp"

namespace fallible {

// Computes the derivatives. Each function calls put(position of a parameter, derivative) for the
// parameters on which the rating depends. The derivative is a sum of terms. Some terms are equal
// for all right or all wrong answers, others depend on the answer. Each kind of term has a separate
// function, so that terms that are equal for many answers are computed only once. Keeps references
// to all arguments of the constructor.
class Score {
 public:
  Score(const Layout& layout, const Eigen::VectorXd& x, const Law& law)
      : layout_(layout), x_(x), law_(law), categories_(layout.categories) {}

  // All terms of a rating, including its confidence level if it has one. `answer_code`: code of the
  // answer, `in_class`: class.
  template <class Put>
  void rating(int judge, int answer_code, int in_class, const Put& put) const {
    const int k = in_class % categories_, l = answer_code % categories_;
    if (answer_code >= categories_) confidence(l == k, answer_code / categories_ - 1, put);
    if (layout_.has_known_matrix(judge)) return;
    if (layout_.ordinal_at < 0) right_or_wrong(judge, in_class, l == k, put);
    if (layout_.ordinal_at < 0 && l != k) wrong(judge, k, put);
    answer(judge, k, l, put);
  }

  // Terms that all right answers have in common, or all wrong answers: the derivative of log(p) or
  // log(1 - p), where p is the judge's accuracy in this class.
  template <class Put>
  void right_or_wrong(int judge, int in_class, bool right, const Put& put) const {
    const int k = in_class % categories_, s = in_class / categories_;
    const double mean = law_.accuracy[judge][k];
    const Strata* strata =
        layout_.strata > 1 ? row_of(law_.strata, judge, categories_) + k : nullptr;
    const double p = clip_probability(strata ? strata->p[s] : mean);
    const double slope = right ? 1 / p : -1 / (1 - p);
    put(layout_.accuracy_at(judge, k),
        slope * (strata ? strata->by_accuracy[s] : 1) * mean * (1 - mean));
    if (layout_.shifts_at >= 0) {
      const int at = layout_.shift_at(judge);
      put(at, (x_[at] < 0 ? -1 : 1) * slope * strata->by_shift[s]);
    }
  }

  // Terms that all wrong answers to cases of category k have in common: the derivative of the
  // logarithm of the constant that normalises the error shares.
  template <class Put>
  void wrong(int judge, int k, const Put& put) const {
    const double* error = law_.error(judge)[k];
    double distance = 0;
    for (int l = 0; l < categories_; ++l) {
      if (l == k) continue;
      distance += error[l] * std::abs(k - l);
      if (layout_.errors_at >= 0) put(layout_.error_at(judge, k, l), -error[l]);
    }
    if (layout_.dispersions_at >= 0) put(layout_.dispersion_at(judge), distance);
  }

  // Terms of the derivative that depend on which answer l was given to a case of category k.
  // right_or_wrong() and wrong() compute the other terms.
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

  // Terms of the confidence level of a right or a wrong answer.
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

// Expected numbers of cases and ratings in each class. They are sufficient for derivatives of the
// log likelihood.
struct ExpectedCounts {
  explicit ExpectedCounts(const Layout& layout);

  std::vector<double> ratings;  // judges x answer codes x classes, the order of AnswerLaw
  std::vector<double> classes;  // number of cases: populations x classes

  // Number of wrong and right answers with each confidence level: levels x (wrong, right).
  std::vector<double> levels(const Layout& layout) const;
  // Numbers of ratings by true category, summed over strata and confidence levels: judges x ratings
  // x truths.
  Squares by_truth(const Layout& layout) const;
};

// Adds the gradient of the log likelihood for observed classes to `gradient`. With expected numbers
// in `counts`, it is the gradient of the log likelihood of the ratings (Fisher's identity).
void add_gradient(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                  const ExpectedCounts& counts, Eigen::VectorXd& gradient);

// Estimates the parameters from expected numbers in `counts`: the M step of EM, or an approximation
// if it has no closed form. `pseudo_ratings`: number that is added to each count.
Eigen::VectorXd estimate_from_counts(const Layout& layout, const ExpectedCounts& counts,
                                     double pseudo_ratings = 0);

}  // namespace fallible
