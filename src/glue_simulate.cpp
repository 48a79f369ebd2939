// Confusion matrices and simulated panels: functions that R calls.
#include <string>

#include "core/simulation/simulate.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace {

ConfusionOptions confusion_options(double dispersion, double error_range,
                                   const std::string& normalise) {
  ConfusionOptions options;
  options.dispersion = dispersion;
  options.error_range = error_range;
  options.normalise = glue::choice<Normalise>(
      normalise, {{"row", Normalise::row}, {"expected", Normalise::expected}});
  return options;
}

BaseRateLaw base_rate_law(const std::string& law) {
  return glue::choice<BaseRateLaw>(law, {{"fixed", BaseRateLaw::fixed},
                                         {"uniform", BaseRateLaw::uniform},
                                         {"dirichlet", BaseRateLaw::dirichlet}});
}

std::vector<Stratum> strata(const List& table) {
  const NumericVector shift = table["shift"], weight = table["weight"];
  std::vector<Stratum> core_strata;
  for (R_xlen_t s = 0; s < shift.size(); ++s) core_strata.push_back({shift[s], weight[s]});
  return core_strata;
}

std::vector<Copying> copying(const List& table) {
  const IntegerVector from = table["from"], to = table["to"];
  const NumericVector probability = table["probability"];
  std::vector<Copying> copies;
  for (R_xlen_t i = 0; i < from.size(); ++i) {
    copies.push_back({from[i] - 1, to[i] - 1, probability[i]});
  }
  return copies;
}

}  // namespace

namespace glue {

Design design(const List& x) {
  Design core_design;
  core_design.categories = static_cast<int>(Rf_xlength(x["categories"]));
  core_design.law = base_rate_law(x["law"]);
  core_design.base_rates = as<std::vector<double>>(x["base_rates"]);
  core_design.concentration = x["concentration"];
  core_design.raters = as<std::vector<double>>(x["raters"]);
  core_design.systems = as<std::vector<double>>(x["systems"]);
  core_design.confusion = confusion_options(x["dispersion"], x["error_range"], x["normalise"]);
  core_design.strata = strata(x["strata"]);
  core_design.strata_drawn = x["strata_drawn"];
  core_design.strata_redraw = x["redraw"];
  core_design.system_strata = x["system_strata"];
  core_design.system_errors = x["system_errors"];
  const auto hidden = as<std::vector<double>>(x["hidden"]);
  core_design.systems.insert(core_design.systems.end(), hidden.begin(), hidden.end());
  core_design.hidden = hidden.size();
  core_design.missing = as<std::vector<double>>(x["missing"]);
  core_design.loading = as<std::vector<double>>(x["loading"]);
  core_design.drift = as<std::vector<double>>(x["drift"]);
  core_design.copying = copying(x["copying"]);
  core_design.custom = as<std::vector<std::vector<double>>>(x["matrices"]);
  return core_design;
}

}  // namespace glue

// Returns a confusion matrix (truths x answers) with random errors.
// [[Rcpp::export(rng = false)]]
NumericMatrix core_confusion_matrix(double accuracy, NumericVector base_rates, double dispersion,
                                    double error_range, std::string normalise, IntegerVector seed) {
  Stream stream(glue::seed(seed), 0);
  const int n = static_cast<int>(base_rates.size());
  const auto factor = error_factors(n, error_range, stream);
  return glue::by_row(
      confusion_matrix(accuracy, glue::doubles(base_rates),
                       confusion_options(dispersion, error_range, normalise), factor),
      n);
}

// Draws a panel. `item` selects the random stream of the seed. In the result, columns of `answers`
// are raters, then systems. `matrices` are sorted by judge, and by stratum within a judge. Hidden
// systems, which are only copied from, have matrices but no answers.
// [[Rcpp::export(rng = false)]]
List core_simulate(List design, double cases, IntegerVector seed, double item) {
  const glue::Interruptible guard;
  const Design settings = glue::design(design);
  Stream stream(glue::seed(seed), static_cast<std::uint64_t>(item));
  const auto parameters = draw_panel_parameters(settings, stream);
  const auto panel = draw_panel(settings, parameters, static_cast<std::size_t>(cases), stream);
  List matrices;
  for (const auto& matrix : parameters.matrix) {
    matrices.push_back(glue::by_row(matrix, settings.categories));
  }
  return List::create(_["truth"] = panel.truth, _["stratum"] = panel.stratum,
                      _["answers"] = wrap(panel.answers), _["base_rates"] = parameters.base_rates,
                      _["expected"] = parameters.expected_accuracy, _["matrices"] = matrices);
}
