// Confusion matrices and simulated panels.
#include <string>

#include "core/simulation/simulate.hpp"
#include "glue.h"

namespace {

// The core has its matrices row by row.
Rcpp::NumericMatrix by_row(const std::vector<double>& x, int n) {
  return Rcpp::transpose(glue::square(x, n));
}

fallible::ConfusionOptions confusion_options(double dispersion, double error_range,
                                             const std::string& normalise) {
  fallible::ConfusionOptions out;
  out.dispersion = dispersion;
  out.error_range = error_range;
  using fallible::Normalise;
  out.normalise = glue::choice<Normalise>(
      normalise, {{"row", Normalise::row}, {"expected", Normalise::expected}});
  return out;
}

fallible::BaseRateLaw base_rate_law(const std::string& law) {
  using fallible::BaseRateLaw;
  return glue::choice<BaseRateLaw>(law, {{"fixed", BaseRateLaw::fixed},
                                         {"uniform", BaseRateLaw::uniform},
                                         {"dirichlet", BaseRateLaw::dirichlet}});
}

std::vector<fallible::Stratum> strata(const Rcpp::List& table) {
  const Rcpp::NumericVector shift = table["shift"], weight = table["weight"];
  std::vector<fallible::Stratum> out;
  for (R_xlen_t s = 0; s < shift.size(); ++s) out.push_back({shift[s], weight[s]});
  return out;
}

std::vector<fallible::Copying> copying(const Rcpp::List& table) {
  const Rcpp::IntegerVector from = table["from"], to = table["to"];
  const Rcpp::NumericVector probability = table["probability"];
  std::vector<fallible::Copying> out;
  for (R_xlen_t i = 0; i < from.size(); ++i) {
    out.push_back({from[i] - 1, to[i] - 1, probability[i]});
  }
  return out;
}

}  // namespace

namespace glue {

fallible::Design design(const Rcpp::List& x) {
  fallible::Design out;
  out.categories = static_cast<int>(Rf_xlength(x["categories"]));
  out.law = base_rate_law(x["law"]);
  out.base_rates = Rcpp::as<std::vector<double>>(x["base_rates"]);
  out.concentration = x["concentration"];
  out.raters = Rcpp::as<std::vector<double>>(x["raters"]);
  out.systems = Rcpp::as<std::vector<double>>(x["systems"]);
  out.confusion = confusion_options(x["dispersion"], x["error_range"], x["normalise"]);
  out.strata = strata(x["strata"]);
  out.strata_drawn = x["strata_drawn"];
  out.strata_redraw = x["redraw"];
  out.system_strata = x["system_strata"];
  out.system_errors = x["system_errors"];
  const auto hidden = Rcpp::as<std::vector<double>>(x["hidden"]);
  out.systems.insert(out.systems.end(), hidden.begin(), hidden.end());
  out.hidden = hidden.size();
  out.missing = Rcpp::as<std::vector<double>>(x["missing"]);
  out.loading = Rcpp::as<std::vector<double>>(x["loading"]);
  out.drift = Rcpp::as<std::vector<double>>(x["drift"]);
  out.copying = copying(x["copying"]);
  out.custom = Rcpp::as<std::vector<std::vector<double>>>(x["matrices"]);
  return out;
}

}  // namespace glue

// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_confusion_matrix(double accuracy, Rcpp::NumericVector base_rates,
                                          double dispersion, double error_range,
                                          std::string normalise, Rcpp::IntegerVector seed) {
  fallible::Stream stream(glue::seed(seed), 0);
  const int n = static_cast<int>(base_rates.size());
  const auto factor = fallible::error_factors(n, error_range, stream);
  return by_row(
      fallible::confusion_matrix(accuracy, glue::doubles(base_rates),
                                 confusion_options(dispersion, error_range, normalise), factor),
      n);
}

// Columns of answers and matrices (by stratum within judge) are those of raters, then of systems;
// hidden ones have matrices only.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_simulate(Rcpp::List design, double cases, Rcpp::IntegerVector seed,
                         double item) {
  const glue::Interruptible here;
  const fallible::Design settings = glue::design(design);
  fallible::Stream stream(glue::seed(seed), static_cast<std::uint64_t>(item));
  const auto truths = fallible::draw_truths(settings, stream);
  const auto panel =
      fallible::draw_panel(settings, truths, static_cast<std::size_t>(cases), stream);
  Rcpp::List matrices;
  for (const auto& matrix : truths.matrix) {
    matrices.push_back(by_row(matrix, settings.categories));
  }
  return Rcpp::List::create(
      Rcpp::Named("truth") = panel.truth, Rcpp::Named("stratum") = panel.stratum,
      Rcpp::Named("answers") = Rcpp::wrap(panel.answers),
      Rcpp::Named("base_rates") = truths.base_rates, Rcpp::Named("expected") = truths.expected,
      Rcpp::Named("matrices") = matrices);
}
