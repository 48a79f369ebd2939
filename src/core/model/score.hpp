// Derivatives of the log probability of a rating given the class, with respect to the parameters.
// The derivatives of the log likelihood are weighted sums of these derivatives. This file also
// estimates parameters from observed or expected numbers of ratings.
#pragma once

#include <cmath>
#include <vector>

#include "../base/special.hpp"
#include "law.hpp"

namespace fallible {

// Computes the derivatives of the log probability of a rating. Each derivative is a sum of terms.
// Each type of term has a separate function, because some terms are equal for many answers and are
// then computed only once. The functions call put(position of a parameter, term). Keeps references
// to all arguments of the constructor.
class Score {
 public:
  Score(const Layout& layout, const Eigen::VectorXd& x, const Law& law)
      : layout_(layout), x_(x), law_(law), categories_(layout.categories) {}

  // Terms of the derivatives for a rating, including its confidence level if it has one.
  // `answer_code`: code of the rating (see RatedRows). `in_class`: class of the case.
  template <class Put>
  void put_rating(int judge, int answer_code, int in_class, const Put& put) const {
    const int k = in_class % categories_, l = answer_code % categories_;
    if (answer_code >= categories_) put_confidence(l == k, answer_code / categories_ - 1, put);
    if (layout_.has_known_matrix(judge)) return;
    if (layout_.ordinal_at < 0) put_right_or_wrong(judge, in_class, l == k, put);
    if (layout_.ordinal_at < 0 && l != k) put_wrong(judge, k, put);
    put_answer(judge, k, l, put);
  }

  // Terms that are equal for all right answers, or for all wrong answers: the derivative of log(p)
  // or of log(1 - p), where p is the judge's accuracy in this class.
  template <class Put>
  void put_right_or_wrong(int judge, int in_class, bool right, const Put& put) const {
    const int k = in_class % categories_, s = in_class / categories_;
    const double mean = law_.accuracy[judge][k];
    const Strata* strata =
        layout_.strata > 1 ? row_of(law_.strata, judge, categories_) + k : nullptr;
    const double p = clip_probability(strata ? strata->p[s] : mean);
    const double slope = right ? 1 / p : -1 / (1 - p);
    put(layout_.accuracy_at(judge, k),
        slope * (strata ? strata->accuracy_slope[s] : 1) * mean * (1 - mean));
    if (layout_.shifts_at >= 0) {
      const int parameter = layout_.shift_at(judge);
      put(parameter, (x_[parameter] < 0 ? -1 : 1) * slope * strata->shift_slope[s]);
    }
  }

  // Terms that are equal for all wrong answers to cases of category k: the derivative of the
  // logarithm of the constant that normalises the error shares.
  template <class Put>
  void put_wrong(int judge, int k, const Put& put) const {
    const double* error = law_.error(judge)[k];
    double distance = 0;
    for (int l = 0; l < categories_; ++l) {
      if (l == k) continue;
      distance += error[l] * std::abs(k - l);
      if (layout_.errors_at >= 0) put(layout_.error_at(judge, k, l), -error[l]);
    }
    if (layout_.dispersions_at >= 0) put(layout_.dispersion_at(judge), distance);
  }

  // Terms of the derivatives that depend on the answer l to a case of category k.
  template <class Put>
  void put_answer(int judge, int k, int l, const Put& put) const {
    if (layout_.ordinal_at >= 0) {
      const int first = layout_.first_ordinal_at(judge);
      law_.ordinal[layout_.group[judge]].score(k, l,
                                               [&](int i, double slope) { put(first + i, slope); });
    } else if (l != k) {
      if (layout_.errors_at >= 0) put(layout_.error_at(judge, k, l), 1);
      if (layout_.dispersions_at >= 0) put(layout_.dispersion_at(judge), -std::abs(k - l));
    }
  }

  // Terms of the derivatives for the confidence level of a right or a wrong answer.
  template <class Put>
  void put_confidence(bool right, int level, const Put& put) const {
    law_.levels->score(right, level,
                       [&](int i, double slope) { put(layout_.levels_at + i, slope); });
  }

 private:
  const Layout& layout_;
  const Eigen::VectorXd& x_;
  const Law& law_;
  int categories_;
};

// Expected numbers of cases and ratings in each class, from which derivatives of the log likelihood
// are computed.
struct ExpectedCounts {
  explicit ExpectedCounts(const Layout& layout);

  std::vector<double> ratings;  // judges x answer codes x classes, the order of AnswerLaw
  std::vector<double> classes;  // number of cases: populations x classes

  // Number of wrong and right answers with each confidence level: levels x (wrong, right).
  std::vector<double> levels(const Layout& layout) const;
  // Numbers of ratings by true category, summed over strata and confidence levels: judges x ratings
  // x truths.
  Squares ratings_by_truth(const Layout& layout) const;
};

// Adds the gradient of the log likelihood to `gradient`. `counts`: numbers of cases and ratings in
// each class or, if classes are not observed, their expected numbers (Fisher's identity).
void add_gradient(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                  const ExpectedCounts& counts, Eigen::VectorXd& gradient);

// Estimates the parameters from expected numbers in `counts`: the M step of EM, or an approximation
// if it has no closed form. `pseudo_ratings`: number that is added to each count.
Eigen::VectorXd estimate_from_counts(const Layout& layout, const ExpectedCounts& counts,
                                     double pseudo_ratings = 0);

}  // namespace fallible
