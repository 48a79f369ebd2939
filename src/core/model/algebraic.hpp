// The K-model by algebra: Lehner (2015), equations 2 and 5, and Bayes' rule.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "../ratings/tallies.hpp"

namespace fallible {

enum class Identified { yes, no_pairs, chance };

// The name in R.
const char* name(Identified identified);

struct KFit {
  Identified identified = Identified::yes;
  double agreement;                // share of agreeing rater pairs; NaN without pairs
  double kappa;                    // against chance agreement 1/N
  double rater_accuracy;           // 1/N at or below chance; NaN without pairs
  std::vector<double> base_rates;  // NaN if not identified
  int negative = 0;                // number of negative base rates that were set to zero
};

// `weight` has one entry per tally. An agreement at most 1e-9 above chance counts as chance.
KFit fit_algebraic(const Tallies& tallies, const std::vector<double>& weight);

// Covariance of (rater accuracy, base rates) by the delta method. The covariance of agreement and
// category shares comes from the influence of each case. It is then transformed with the
// derivatives of equations 2 and 5. All entries of base rates are NaN if any base rate is zero. All
// entries are NaN if raters are never wrong.
Eigen::MatrixXd covariance(const Tallies& tallies, const KFit& fit);

// Posterior probabilities of the categories of a tally, under an identified fit.
class Posterior {
 public:
  Posterior(const Tallies& tallies, const KFit& fit);

  // Writes `categories` probabilities. The likelihood of category k is proportional to
  // odds^(ratings of k), with odds = Pc (N - 1) / (1 - Pc). Therefore only differences between
  // counts matter. If raters are never wrong, returns the limit for Pc -> 1.
  void operator()(int tally, double* probability) const;

 private:
  const Tallies& tallies_;
  const KFit& fit_;
  std::vector<double> power_;  // odds^-d for d = 0, 1, ...
};

}  // namespace fallible
