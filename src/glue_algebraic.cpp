// The K-model by algebra.
#include <RcppEigen.h>

#include <string>

#include "core/model/algebraic.hpp"
#include "glue.h"

namespace {

fallible::Tallies tallies(const Rcpp::List& patterns, const Rcpp::NumericVector& weight) {
  return fallible::make_tallies(glue::view(patterns), glue::doubles(weight));
}

fallible::KFit k_fit(const Rcpp::List& fit) {
  fallible::KFit out;
  for (const auto value : {fallible::Identified::yes, fallible::Identified::no_pairs,
                           fallible::Identified::chance}) {
    if (Rcpp::as<std::string>(fit["identified"]) == fallible::name(value)) out.identified = value;
  }
  out.agreement = fit["agreement"];
  out.kappa = fit["kappa"];
  out.rater_accuracy = fit["rater_accuracy"];
  out.base_rates = Rcpp::as<std::vector<double>>(fit["base_rates"]);
  out.negative = fit["negative"];
  return out;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_fit_algebraic(Rcpp::List patterns, Rcpp::NumericVector weight) {
  const auto data = tallies(patterns, weight);
  const auto fit = fallible::fit_algebraic(data, data.weight);
  return Rcpp::List::create(
      Rcpp::Named("identified") = fallible::name(fit.identified),
      Rcpp::Named("agreement") = fit.agreement, Rcpp::Named("kappa") = fit.kappa,
      Rcpp::Named("rater_accuracy") = fit.rater_accuracy,
      Rcpp::Named("base_rates") = fit.base_rates, Rcpp::Named("negative") = fit.negative,
      Rcpp::Named("covariance") = Rcpp::wrap(fallible::covariance(data, fit)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_posterior_algebraic(Rcpp::List patterns, Rcpp::NumericVector weight,
                                             Rcpp::List fit) {
  const auto data = tallies(patterns, weight);
  const auto parameters = k_fit(fit);
  const fallible::Posterior posterior(data, parameters);
  const int n = static_cast<int>(data.of_pattern.size());
  Rcpp::NumericMatrix out(n, data.categories);
  std::vector<double> probability(data.categories);
  for (int p = 0; p < n; ++p) {
    posterior(data.of_pattern[p], probability.data());
    for (int k = 0; k < data.categories; ++k) out(p, k) = probability[k];
  }
  return out;
}
