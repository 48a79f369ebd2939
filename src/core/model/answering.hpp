// Model of abstentions: each judge answers a case with a probability that may depend on the true
// category.
#pragma once

#include <vector>

#include "../base/matrix.hpp"
#include "latent_rows.hpp"

namespace fallible {

// Judge j answers a case of category k with probability a_jk and abstains otherwise. a_jk has a
// Beta distribution with mean mu_jk and concentration kappa. The logit of mu_jk is b_j + h_k: b_j
// is high for judges who often answer, h_k for categories that are easy to answer.
struct Answering {
  int categories = 0;
  // `kappa`: concentration of the probabilities of answering, with prior density (1 + kappa)^-2.
  // `omega`: standard deviation of the normal prior of each `h`, which has mean 0. The prior guess
  // of omega is in answering.cpp.
  double kappa = 4, omega = 0.3;
  // Judges (from 0) who both answered and abstained, and whose confusion matrix is unknown.
  // Abstentions are modelled only for these judges.
  std::vector<int> used_judges;
  // The prior of each b_j has the same effect as half an answer and half an abstention.
  std::vector<double> b, h;  // b_j of all judges, h_k of all categories
  // Expected numbers of answers and of abstentions: judges x truths.
  Table<double> answers, abstentions;

  Answering() = default;
  // Finds the judges whose abstentions are modelled, and sets their starting values of `b`. If
  // there are no such judges, all functions do nothing.
  explicit Answering(const LatentRows& rows);

  // Probability a_jk that a judge answers. It is 1 for judges who are not used, so that it has no
  // effect as a factor.
  double answer_probability(int judge, int truth) const {
    return !used_judges.empty() && is_used_[judge] ? 1 - abstain_probability_[judge][truth] : 1;
  }

  // Sets the expected numbers of abstentions to zero.
  void clear();
  // Adds the abstentions of a row to `abstentions`, distributed over the true categories with the
  // row's posterior probabilities.
  void add_expected(const LatentRows& rows, int row, const double* posterior);
  // Improves each parameter (kappa, omega, b, h) by one Newton or fixed-point step. Uses the
  // expected numbers of answers and abstentions, which stay fixed.
  void update();
  // Computes 1 - a_jk of the used judges. a_jk is the posterior mean of its Beta distribution,
  // given the expected numbers of answers and abstentions.
  void compute_probabilities();
  double log_density() const;

  // Multiplies the probability of each rating (judges x ratings x truths) by the probability that
  // the judge answers.
  void multiply(Squares& probability) const;
  // Probabilities of abstaining: judges x truths. They are 1, without effect as factors, for judges
  // who are not used. Null if no judge is used.
  const double* abstaining() const {
    return used_judges.empty() ? nullptr : abstain_probability_[0];
  }

  // Appends all parameters to `x`, transformed to the real line. The fixed-point iteration
  // extrapolates this vector. set_parameters() sets the parameters from such a vector, and returns
  // a pointer to the entry after the last one that it used.
  void append_to(std::vector<double>& x) const;
  const double* set_parameters(const double* x);

 private:
  double mean(int judge, int truth) const;  // mu_jk

  std::vector<bool> is_used_;  // true for the judges in `used_judges`
  // Judges x truths: 1 - a_jk, the probability of abstaining. It is set to 1 for judges who are not
  // used.
  Table<double> abstain_probability_;
};

}  // namespace fallible
