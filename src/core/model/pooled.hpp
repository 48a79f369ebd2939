// Hierarchical Dawid-Skene: confusion matrices of raters around a centre that is estimated too.
#pragma once

#include <vector>

#include "answering.hpp"
#include "layout.hpp"

namespace fallible {

// Expected numbers of ratings, as far as the centre is concerned.
struct CentreCounts {
  int categories = 0;
  std::vector<int> counted;     // judges with ratings whose matrix is not known
  std::vector<bool> used;       // judges x ratings: was it ever given
  std::vector<double> ratings;  // judges x ratings x truths, as Pass sums them

  double at(int judge, int rating, int truth) const {
    return ratings[(static_cast<std::size_t>(judge) * categories + rating) * categories + truth];
  }
};

// Row k of judge j is Dirichlet(c m_jk); the logit of m_jkk is u_k + s_j, the rest of the row is
// shared by w_k. All are estimated, under weak priors (the constants are in centre.cpp).
struct Centre {
  bool one_coin = false;  // one u for all k, all errors equally likely
  int categories = 0;
  double c = 4, tau = 0.6, ups = 0.3, a = 1, ubar = 1;
  std::vector<double> u, s, w;  // per truth, per judge, truths x ratings

  Centre() = default;
  Centre(int judges, int categories, bool one_coin);

  double right(int judge, int truth) const { return right_by(s[judge], truth); }
  double right_by(double skill, int truth) const;
  // m_jkl, of a judge of some skill.
  double mean(double skill, int truth, int rating) const;

  // One round of Newton steps and fixed points for all of it.
  void update(const CentreCounts& n);
  // The skill at which a judge's numbers (ratings x truths) are most probable; all else stays.
  double skill_of(const double* ratings) const;
  // The log of the marginal density of the counts and of the priors, but for a constant.
  double log_density(const CentreCounts& n) const;

  // All of it on the whole real line, for extrapolation.
  void append_to(std::vector<double>& x) const;
  const double* read(const double* x);

 private:
  struct Tables;

  Tables tables(const CentreCounts& n) const;
  void update_confusions(const Tables& t);
  void update_recognition(const CentreCounts& n, const Tables& t);
  void update_skills(const CentreCounts& n, const Tables& t);
};

// Fixed point iteration of a centre, and of confusion matrices and base rates around it. Refers to
// the rows.
class PooledPanel {
 public:
  static constexpr double least_probability = 1e-300;

  PooledPanel(const LatentRows& rows, bool one_coin);

  // From a posterior of truth, rows x categories.
  void start(std::vector<double> from);
  // Until what is left of the way is below the tolerance.
  void climb(double tolerance, int most);

  double log_density() const;
  double theta(int judge, int truth, int rating) const;
  // Log probability of all replies; and of the answers of judges who are not `constant`, given who
  // answered and the answers of those who are.
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

  // To what is known of raters from elsewhere, which tells nothing of base rates.
  void clear();
  void update_centres();
  // Rows and base rates, given the centre and the counts.
  void settle();
  // One round; returns the largest change of a probability.
  double round();
  // The sum of log probabilities of rows, with the answers of these judges, or of all.
  double log_sum(const std::vector<bool>* only) const;
  std::vector<double> state() const;
  void read(const std::vector<double>& x);

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
  double tolerance = 1e-8;  // of probabilities of categories, as far as they still are from the end
  int rounds = 20000;
  int few_judges = 10;              // so many are tried as starts, each by itself
  std::vector<bool> constant = {};  // judges who always give the same answer, or empty
};

// The mode of the logits of all rows given the centre, which is at its own mode.
struct PooledFit {
  Centre centre;                  // of the categories in use
  Answering answering;            // likewise; without judges if abstentions are not modelled
  std::vector<int> category;      // which these are
  std::vector<double> posterior;  // rows x categories
  std::vector<double> rates;
  std::vector<double> matrix;    // judges x truths x ratings
  std::vector<double> prior;     // the same: c m_jkl
  std::vector<double> answered;  // judges x truths: probability of an answer, 1 where not modelled
  double log_likelihood = 0, log_answers = 0;  // see PooledPanel
  double log_density = 0;  // see Centre; and of the cases, with their truths integrated out
  int rounds = 0;
  bool converged = false;
  bool renamed = false;  // did classes change names on the way
};

// Categories that nobody chose and nobody knows to be true have probability 0; the centre knows
// those in use alone.
PooledFit fit_pooled(const LatentRows& rows, const PooledOptions& options);

// Parameters of a model of free errors by rater that say the same.
Eigen::VectorXd parameters_of(const PooledFit& fit, const Layout& layout);

// The prior given the centre of a fit to raters alone; `joined` are these, or these and a system,
// which has a skill of its own and adds nothing to the centre.
LatentPrior given_centre(const LatentPrior& prior, const PooledFit& fit, const LatentRows& joined);

}  // namespace fallible
