// The K-model by algebra: Lehner (2015), equations 2 and 5, and Bayes' rule.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "../ratings/tallies.hpp"

namespace fallible {

enum class Identified { yes, no_pairs, chance };

// What goes by this name in R.
const char* name(Identified identified);

struct KFit {
  Identified identified = Identified::yes;
  double agreement;                // share of agreeing rater pairs; NaN without pairs
  double kappa;                    // against chance agreement 1/N
  double rater_accuracy;           // 1/N at or below chance; NaN without pairs
  std::vector<double> base_rates;  // NaN where not identified
  int negative = 0;                // base rates that were below zero and were set to zero
};

// `weight` has one entry per tally. `agreement` counts as chance up to 1e-9 above it.
KFit fit_algebraic(const Tallies& tallies, const std::vector<double>& weight);

// Covariance of (rater accuracy, base rates) by the delta method: the influence of each case on
// agreement and category shares, carried through equations 2 and 5. Where one is
// at zero base rates have none; where raters are never wrong nothing has.
Eigen::MatrixXd covariance(const Tallies& tallies, const KFit& fit);

// Posterior probabilities of the categories of one tally after another, under an identified fit.
class Posterior {
 public:
  Posterior(const Tallies& tallies, const KFit& fit);

  // Writes `categories` probabilities. The likelihood of category k is proportional to
  // odds^(ratings of k), odds = Pc (N - 1) / (1 - Pc), so only differences of counts matter; where
  // raters are never wrong this is the limit Pc -> 1.
  void operator()(int tally, double* probability) const;

 private:
  const Tallies& tallies_;
  const KFit& fit_;
  std::vector<double> power_;  // odds^-d for d = 0, 1, ...
};

}  // namespace fallible
