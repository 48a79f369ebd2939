// Hierarchical Dawid-Skene model. The confusion matrices of the raters vary around a common matrix,
// the centre, whose parameters are estimated from all raters. Raters with few ratings borrow
// strength from the others.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "answering.hpp"
#include "layout.hpp"

namespace fallible {

// Expected numbers of ratings, from which the centre is estimated.
struct CentreCounts {
  // Indices, from 0, of the judges that are used: those with ratings and an unknown matrix.
  std::vector<int> used_judges;
  Table<char> is_used;  // judges x ratings: true if the judge used this category at least once
  // Expected numbers of ratings: judges x ratings x truths, the order of AnswerSums (passes.hpp).
  Squares ratings;
};

// Distribution of the confusion matrices of the panel. The row of judge j and true category k is
// Dirichlet(c * m_jk), where c is the concentration and m_jk the mean. The mean probability of a
// right answer has the logit u_k + s_j: u_k is high for categories that are easy to recognise, s_j
// for skilled judges. The matrix w distributes the wrong answers of a row over the other
// categories. s_j has mean 0 and standard deviation tau, u_k mean ubar and standard deviation ups.
// Rows of w are Dirichlet with concentration a. All parameters are estimated with weak priors
// (centre.cpp).
struct Centre {
  bool one_coin = false;  // true: one u for all categories, and equal probabilities of all errors
  int categories = 0;
  double c = 4, tau = 0.6, ups = 0.3, a = 1, ubar = 1;
  std::vector<double> u, s;  // u: per truth; s: per judge
  Table<double> w;           // truths x ratings, rows with sum 1 and diagonal 0

  Centre() = default;
  Centre(int judges, int n_categories, bool is_one_coin);

  double right(int judge, int truth) const { return right_probability(s[judge], truth); }
  double right_probability(double skill, int truth) const;
  // Mean probability that a judge with this skill s gives this rating, given the truth.
  double mean(double skill, int truth, int rating) const;

  // Improves each parameter by one Newton step or fixed-point step. `counts`: expected
  // numbers of ratings.
  void update(const CentreCounts& counts);
  // Returns the most probable skill s of a judge, if all other parameters are fixed. `ratings`:
  // expected numbers of the judge's ratings, ratings x truths. Used for a system, whose answers
  // must not change the centre.
  double skill_of(ConstSquare ratings) const;
  // Returns the sum of two logarithms, up to a constant: the log marginal density of the expected
  // numbers of ratings, with confusion matrices integrated out, and the log prior density of the
  // parameters.
  double log_density(const CentreCounts& counts) const;

  // Appends all parameters to `x`, transformed to the real line. The fixed-point iteration
  // extrapolates this vector.
  void append_to(std::vector<double>& x) const;
  // Sets the parameters from a vector that append_to() has written. Returns a pointer to the entry
  // after the last one that it used.
  const double* set_parameters(const double* x);

 private:
  struct Tables;

  Tables tables(const CentreCounts& counts) const;
  void update_confusions(const Tables& draws);
  void update_recognition(const CentreCounts& counts, const Tables& draws);
  void update_skills(const CentreCounts& counts, const Tables& draws);
  void balance_skills(const CentreCounts& counts);
};

// Fits the model by a fixed-point iteration. Each round computes the posterior probabilities of the
// true categories, and from them the expected numbers of ratings. It then updates the centre, and
// last the confusion matrices and base rates given the centre. Keeps a reference to the rows, which
// must exist longer than this object.
class PooledPanel {
 public:
  static constexpr double least_probability = 1e-300;

  PooledPanel(const LatentRows& rows, bool one_coin);

  // Sets the starting values. `start_posterior`: posterior probabilities of the true categories,
  // rows x categories, row by row.
  void start(std::vector<double> start_posterior);
  // Iterates until the remaining change of the probabilities is estimated to be below `tolerance`,
  // or until there are `max_rounds` rounds.
  void iterate(double tolerance, int max_rounds);

  double log_density() const;
  // Probability of a rating given the truth: the known matrix, or else the posterior mean.
  double theta(int judge, int truth, int rating) const;
  // Log probability of all replies, which are answers and abstentions.
  double log_likelihood() const;
  // Log probability of the answers of non-constant judges, given the answers of constant judges and
  // given which judges answered. `constant`: true for each judge who always gives the same answer.
  double log_answers(const std::vector<bool>& constant) const;
  double base_rate(int k) const { return (classes_[k] + 1) / (cases_ + K_); }
  const CentreCounts& counts() const { return counts_; }
  const std::vector<double>& posterior() const { return posterior_; }
  const Centre& centre() const { return centre_; }
  const Answering& answering() const { return answering_; }
  int rounds() const { return rounds_; }
  bool converged() const { return converged_; }

 private:
  // Sets the expected numbers of ratings to the counts of the calibration samples, and the expected
  // numbers of cases to 0, because calibration samples contain no information about base rates.
  void clear();
  // Improves the parameters of the centre and of the model of abstentions by one step each.
  void update_centres();
  // Computes confusion matrices and base rates from the centre and the expected numbers of
  // ratings and cases.
  void compute_probabilities();
  // Does one round of the iteration. Returns the largest change since the last round of any
  // posterior probability or probability of a rating.
  double round();
  // Sum of the log probabilities of all rows. `only`: true for each judge whose answers are used;
  // null to use all judges.
  double sum_log_probabilities(const std::vector<bool>* only) const;
  // Does the final rounds with Anderson's extrapolation. Ends if the change that round() returns is
  // below `tolerance` in two consecutive rounds, if there is no progress, or after `max_rounds`
  // rounds in all.
  void iterate_near_end(double tolerance, int max_rounds);
  // Entries of `table` (judges x ratings x truths) for ratings that the judge used at least once.
  std::vector<double> used_entries(const Squares& table) const;
  Eigen::VectorXd parameters() const;
  // Weights of the components of parameters() in the extrapolation. For the logarithm of a
  // probability, the weight is the number of cases or ratings from which it is computed. The
  // curvature of the log likelihood is about proportional to this number. For a parameter of the
  // centre, the weight is 1.
  Eigen::VectorXd component_weights(Eigen::Index size) const;
  void set_parameters(const Eigen::VectorXd& x);

  const LatentRows& rows_;
  int K_;  // number of categories
  double cases_ = 0;
  CentreCounts counts_;
  Centre centre_;
  Answering answering_;
  std::vector<double> posterior_;          // rows x categories
  std::vector<double> classes_;            // expected number of cases of each category
  std::vector<double> log_rates_, rates_;  // base rates, as logarithms and as probabilities
  // `log_theta_`: logarithms of the probabilities of ratings. `probability_`: these probabilities
  // multiplied by the probability that the judge answers. Both are judges x ratings x truths.
  Squares log_theta_, probability_;
  std::vector<double> last_theta_;  // probabilities of ratings in the last round
  int rounds_ = 0;
  bool converged_ = false;
};

// Settings of fit_pooled().
struct PooledOptions {
  bool one_coin = false;  // true: the centre is a one-coin model, see Centre
  // The iteration ends if the estimated remaining change of all probabilities is below this.
  double tolerance = 1e-8;
  int rounds = 20000;
  // If a panel has at most this number of judges, fit_pooled() also tries the ratings of each
  // single judge as starting values.
  int few_judges = 10;
  std::vector<bool> constant = {};  // true for judges who always give the same answer; or empty
};

// Result of a pooled fit, at the posterior mode of the centre's parameters. Confusion matrices are
// posterior means, given the centre and the expected numbers of ratings.
struct PooledFit {
  Centre centre;  // contains only categories in use
  // Model of abstentions for the categories in use. Contains no judges if abstentions are not
  // modelled.
  Answering answering;
  std::vector<int> category;      // original index of each category in use, from 0
  std::vector<double> posterior;  // rows x all categories
  std::vector<double> rates;      // base rates of all categories
  Squares matrix;                 // confusion matrices: judges x truths x ratings
  Squares prior;                  // Dirichlet parameters c * m_jkl: judges x truths x ratings
  // Probability of an answer: judges x truths; 1 if abstentions are not modelled, NaN for
  // categories that are not in use.
  Table<double> answer_probability;
  double log_likelihood = 0, log_answers = 0;  // defined at PooledPanel
  double log_density = 0;  // log density of centre and data, summed over the true categories
  int rounds = 0;
  bool converged = false;
  bool renamed = false;  // true if the fit exchanged classes, so that most ratings are right
};

// Fits the hierarchical model to the rows. A category is in use if it has ratings, known cases, or
// counts in a calibration sample. Categories that are not in use get probability 0 and are not part
// of the centre. If fewer than two categories are in use, all categories are kept.
PooledFit fit_pooled(const LatentRows& rows, const PooledOptions& options);

// Returns the parameters of a latent class model that has the same probabilities as the pooled fit.
// This model has free errors and separate parameters for each rater. It makes the pooled fit usable
// where a latent class model is needed.
Eigen::VectorXd parameters_of(const PooledFit& fit, const Layout& layout);

// Returns a copy of `prior` with Dirichlet parameters of confusion matrices, which are computed
// from the centre of `fit`, a fit to the raters only. `joined`: rows of the same raters, possibly
// with a system. The system does not change the centre.
LatentPrior given_centre(const LatentPrior& prior, const PooledFit& fit, const LatentRows& joined);

}  // namespace fallible
