// Hierarchical Dawid-Skene model: confusion matrices of raters around an estimated centre.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "answering.hpp"
#include "layout.hpp"

namespace fallible {

// Expected numbers of ratings, as far as the centre needs them.
struct CentreCounts {
  int categories = 0;
  std::vector<int> counted;     // judges with ratings whose matrix is not known
  std::vector<bool> used;       // judges x ratings: true if the judge gave this rating
  std::vector<double> ratings;  // judges x ratings x truths, as Pass sums them

  double at(int judge, int rating, int truth) const {
    return ratings[(static_cast<std::size_t>(judge) * categories + rating) * categories + truth];
  }
};

// Row k of judge j is Dirichlet(c m_jk). The logit of m_jkk is u_k + s_j; w_k distributes the rest
// of the row. All parameters are estimated, with weak priors (constants in centre.cpp).
struct Centre {
  bool one_coin = false;  // one u for all k, and equal errors
  int categories = 0;
  double c = 4, tau = 0.6, ups = 0.3, a = 1, ubar = 1;
  std::vector<double> u, s, w;  // per truth, per judge, truths x ratings

  Centre() = default;
  Centre(int judges, int categories, bool one_coin);

  double right(int judge, int truth) const { return right_by(s[judge], truth); }
  double right_by(double skill, int truth) const;
  // m_jkl, for a judge with this skill.
  double mean(double skill, int truth, int rating) const;

  // One round of Newton steps and fixed-point steps for all parameters.
  void update(const CentreCounts& n);
  // Most probable skill of a judge with these numbers (ratings x truths); other parameters are
  // fixed.
  double skill_of(const double* ratings) const;
  // Log of the marginal density of the counts and of the priors, up to a constant.
  double log_density(const CentreCounts& n) const;

  // Appends all parameters, transformed to the real line, for extrapolation.
  void append_to(std::vector<double>& x) const;
  const double* read(const double* x);

 private:
  struct Tables;

  Tables tables(const CentreCounts& n) const;
  void update_confusions(const Tables& t);
  void update_recognition(const CentreCounts& n, const Tables& t);
  void update_skills(const CentreCounts& n, const Tables& t);
};

// Fixed-point iteration for a centre, and for confusion matrices and base rates around it. Refers
// to the rows.
class PooledPanel {
 public:
  static constexpr double least_probability = 1e-300;

  PooledPanel(const LatentRows& rows, bool one_coin);

  // Starts from a posterior of the truth, rows x categories.
  void start(std::vector<double> from);
  // Iterates until the remaining distance is estimated to be below the tolerance.
  void climb(double tolerance, int most);

  double log_density() const;
  double theta(int judge, int truth, int rating) const;
  // Log probability of all replies. log_answers(): of the answers of judges who are not `constant`,
  // given the answers of constant judges and which judges answered.
  double log_likelihood() const;
  double log_answers(const std::vector<bool>& constant) const;
  double rate(int k) const { return (classes_[k] + 1) / (cases_ + K_); }
  const CentreCounts& counts() const { return counts_; }
  const std::vector<double>& posterior() const { return posterior_; }
  const Centre& centre() const { return centre_; }
  const Answering& answering() const { return answering_; }
  int rounds() const { return rounds_; }
  bool converged() const { return converged_; }

 private:
  std::size_t place(int judge, int rating, int truth) const {
    return (static_cast<std::size_t>(judge) * K_ + rating) * K_ + truth;
  }

  // Resets counts to calibration samples. These contain no information about base rates.
  void clear();
  void update_centres();
  // Computes matrices and base rates from the centre and the counts.
  void settle();
  // One round; returns the largest change of a probability.
  double round();
  // Sum of the log probabilities of rows, from the answers of some judges, or of all.
  double log_sum(const std::vector<bool>* only) const;
  // Near the end: until probabilities change by less than the tolerance, twice; or until there is
  // no progress.
  void finish(double tolerance, int most);
  // Values of a table (judges x ratings x truths) for ratings that were given.
  std::vector<double> used_cells(const std::vector<double>& table) const;
  Eigen::VectorXd state() const;
  // Weights of the components of the state: the numbers of cases and ratings of probabilities, in
  // whose metric the likelihood is curved; and 1 for the centre.
  Eigen::VectorXd importance(Eigen::Index size) const;
  void read(const Eigen::VectorXd& x);

  const LatentRows& rows_;
  int K_;
  double cases_ = 0;
  CentreCounts counts_;
  Centre centre_;
  Answering answering_;
  std::vector<double> posterior_, classes_, log_theta_, log_rates_, probability_, weight_;
  int rounds_ = 0;
  bool converged_ = false;
};

struct PooledOptions {
  bool one_coin = false;    // see Centre
  double tolerance = 1e-8;  // estimated remaining change of category probabilities
  int rounds = 20000;
  int few_judges = 10;              // panels of at most this size try each judge as a start
  std::vector<bool> constant = {};  // judges who always give the same answer, or empty
};

// The mode of the logits of all rows given the centre. The centre is at its mode, too.
struct PooledFit {
  Centre centre;                  // for the categories in use
  Answering answering;            // likewise; without judges if abstentions are not modelled
  std::vector<int> category;      // categories in use
  std::vector<double> posterior;  // rows x categories
  std::vector<double> rates;
  std::vector<double> matrix;    // judges x truths x ratings
  std::vector<double> prior;     // judges x truths x ratings: c m_jkl
  std::vector<double> answered;  // judges x truths: probability of an answer; 1 if not modelled
  double log_likelihood = 0, log_answers = 0;  // see PooledPanel
  double log_density = 0;  // of Centre, plus that of the cases, summed over truths
  int rounds = 0;
  bool converged = false;
  bool renamed = false;  // true if classes were renamed during the fit
};

// Categories without ratings and without known truths have probability 0. The centre contains only
// the categories in use.
PooledFit fit_pooled(const LatentRows& rows, const PooledOptions& options);

// Parameters of a model with free errors by rater that give the same probabilities.
Eigen::VectorXd parameters_of(const PooledFit& fit, const Layout& layout);

// The prior given the centre of a fit to the raters only. `joined` contains these raters, and may
// contain a system. The system gets a separate skill and does not change the centre.
LatentPrior given_centre(const LatentPrior& prior, const PooledFit& fit, const LatentRows& joined);

}  // namespace fallible
