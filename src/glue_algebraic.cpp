// The K-model, fitted by algebra: functions that R calls.
#include <RcppEigen.h>

#include <string>

#include "core/model/algebraic.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace {

Tallies tallies(const List& patterns, const NumericVector& weight) {
  return make_tallies(glue::view(patterns), glue::doubles(weight));
}

KFit k_fit(const List& fit) {
  KFit parameters;
  for (const auto value : {Identified::yes, Identified::no_pairs, Identified::chance}) {
    if (as<std::string>(fit["identified"]) == name(value)) parameters.identified = value;
  }
  parameters.agreement = fit["agreement"];
  parameters.kappa = fit["kappa"];
  parameters.rater_accuracy = fit["rater_accuracy"];
  parameters.base_rates = as<std::vector<double>>(fit["base_rates"]);
  parameters.n_negative = fit["negative"];
  return parameters;
}

}  // namespace

// Fits the K-model and returns its parameters (struct KFit), and `covariance`, the covariance
// matrix of rater accuracy and base rates.
// [[Rcpp::export(rng = false)]]
List core_fit_algebraic(List patterns, NumericVector weight) {
  const auto data = tallies(patterns, weight);
  const auto fit = fit_algebraic(data, data.weight);
  return List::create(_["identified"] = name(fit.identified), _["agreement"] = fit.agreement,
                      _["kappa"] = fit.kappa, _["rater_accuracy"] = fit.rater_accuracy,
                      _["base_rates"] = fit.base_rates, _["negative"] = fit.n_negative,
                      _["covariance"] = wrap(covariance(data, fit)));
}

// Returns the posterior probabilities of the K-model: patterns x categories. `fit`: result of
// core_fit_algebraic().
// [[Rcpp::export(rng = false)]]
NumericMatrix core_posterior_algebraic(List patterns, NumericVector weight, List fit) {
  const auto data = tallies(patterns, weight);
  const auto parameters = k_fit(fit);
  const Posterior posterior(data, parameters);
  const int n = static_cast<int>(data.tally_of_pattern.size());
  NumericMatrix posteriors(n, data.categories);
  std::vector<double> probability(data.categories);
  for (int p = 0; p < n; ++p) {
    posterior(data.tally_of_pattern[p], probability.data());
    for (int k = 0; k < data.categories; ++k) posteriors(p, k) = probability[k];
  }
  return posteriors;
}
