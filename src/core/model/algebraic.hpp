// Fits the K-model by algebra (Lehner, 2015, equations 2 and 5). In this model, all raters have the
// same accuracy in all categories, wrong answers are equally probable, and errors are independent.
// The posterior probabilities of the categories follow by Bayes' rule.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "../ratings/tallies.hpp"

namespace fallible {

// Whether the K-model is identified from the ratings, and the reason if it is not.
//   no_pairs: no case has ratings of two raters.
//   chance: the agreement of raters is at or below chance.
enum class Identified { yes, no_pairs, chance };

// Name of a value of this enum in R: "yes", "no_pairs" or "chance".
const char* name(Identified identified);

// Parameters of the K-model, estimated from ratings.
struct KFit {
  Identified identified = Identified::yes;
  double agreement;       // share of agreeing pairs among all pairs of ratings; NaN without pairs
  double kappa;           // (agreement - 1/N) / (1 - 1/N), where N is the number of categories
  double rater_accuracy;  // 1/N if agreement is at or below chance; NaN without pairs
  std::vector<double> base_rates;  // one per category; NaN if not identified
  int n_negative = 0;              // number of base rates that were negative and set to zero
};

// Estimates the K-model from agreements and category shares. `weight`: weight of each tally.
// Returns `Identified::chance` if the agreement is at most 1/N (agreement by chance) + 1e-9.
KFit fit_algebraic(const Tallies& tallies, const std::vector<double>& weight);

// Covariance matrix of rater accuracy (first row and column) and base rates, by the delta method.
// The variation between cases gives the covariance of agreement and category shares. If any base
// rate is zero, all entries of base rates are NaN. The whole matrix is NaN if the K-model is not
// identified, if all pairs of ratings agree, or if there is at most one case.
Eigen::MatrixXd covariance(const Tallies& tallies, const KFit& fit);

// Computes posterior probabilities of the categories for the cases of a tally. Needs an identified
// fit. Keeps references to both arguments of the constructor.
class Posterior {
 public:
  Posterior(const Tallies& tallies, const KFit& fit);

  // Writes the probabilities of all categories to `probability`. With N categories and rater
  // accuracy Pc, the likelihood of category k is proportional to odds^n. Here odds = Pc (N - 1) /
  // (1 - Pc), and n is the number of ratings of category k. Therefore only differences between
  // counts matter. If Pc is 1, the result is the limit for Pc -> 1.
  void operator()(int tally, double* probability) const;

 private:
  const Tallies& tallies_;
  const KFit& fit_;
  std::vector<double> power_;  // (1 / odds)^d for d = 0, 1, ..., where odds = Pc (N - 1) / (1 - Pc)
};

}  // namespace fallible
