// Agreement measures: functions that R calls.
#include <cmath>

#include "core/agreement/agreement.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace {

// Selects answers and merges equal rows. `selection` has these fields, see struct Selection.
//   rater, system: for each rater and each system, the index (from 1) of its judge in the result;
//     0 leaves it out.
//   judges: number of judges.
//   category, categories: new index of each category, and number of new categories.
//   exchangeable: TRUE to ignore which judge gave an answer.
//   least: lowest number of judges who answered a case.
RatedRows rated_rows(const List& patterns, const NumericVector& weight, const List& selection) {
  Selection core_selection;
  core_selection.rater = as<std::vector<int>>(selection["rater"]);
  core_selection.system = as<std::vector<int>>(selection["system"]);
  core_selection.judges = selection["judges"];
  core_selection.category = as<std::vector<int>>(selection["category"]);
  core_selection.categories = selection["categories"];
  core_selection.exchangeable = selection["exchangeable"];
  core_selection.least_judges = selection["least"];
  return select_rows(glue::view(patterns), glue::doubles(weight), core_selection);
}

// Fields of `options`: `kernel` (name of the measure), `scale` (agreement weights, categories x
// categories) and `pooling` ("pairs", "cases" or "fleiss-cuzick").
KernelOptions kernel_options(const List& options) {
  KernelOptions kernel_settings;
  kernel_settings.name = as<std::string>(options["kernel"]);
  kernel_settings.scale = as<std::vector<double>>(options["scale"]);
  kernel_settings.pooling =
      glue::choice<Pooling>(options["pooling"], {{"pairs", Pooling::pairs},
                                                 {"cases", Pooling::cases},
                                                 {"fleiss-cuzick", Pooling::fleiss_cuzick}});
  return kernel_settings;
}

// Copies the value of each row to the patterns of the row. Patterns without a row get 0.
NumericVector by_pattern(const RatedRows& rows, const std::vector<double>& x) {
  NumericVector pattern_values(static_cast<R_xlen_t>(x.empty() ? 0 : rows.row_of_pattern.size()));
  for (R_xlen_t p = 0; p < pattern_values.size(); ++p) {
    const int row = rows.row_of_pattern[p];
    pattern_values[p] = row < 0 ? 0 : x[row];
  }
  return pattern_values;
}

}  // namespace

// Computes an agreement measure. Argument `influence`: "jackknife", "none", or another string for
// the analytic influence. Returns a list:
//   estimate: value of the measure.
//   undefined: reason why the estimate is NaN, or "".
//   used: TRUE for each pattern that enters the estimate.
//   influence: influence of one case of each pattern. NULL if it is not requested or the estimate
//     is NaN; empty if it is undefined.
//   null_error: standard error under independence. NA if the returned `influence` is NULL.
// [[Rcpp::export(rng = false)]]
List core_agreement(List patterns, NumericVector weight, List selection, List options,
                    std::string influence, Function tick) {
  const auto rows = rated_rows(patterns, weight, selection);
  const auto kernel = make_kernel(rows, kernel_options(options));
  const auto estimate = kernel->estimate(rows.weight);
  LogicalVector is_used(static_cast<R_xlen_t>(rows.row_of_pattern.size()));
  for (R_xlen_t p = 0; p < is_used.size(); ++p) is_used[p] = rows.row_of_pattern[p] >= 0;
  List result =
      List::create(_["estimate"] = estimate.value, _["undefined"] = name(estimate.reason),
                   _["used"] = is_used, _["influence"] = R_NilValue, _["null_error"] = R_NaReal);
  if (std::isnan(estimate.value) || influence == "none") return result;
  result["influence"] =
      by_pattern(rows, glue::interruptible([&] {
                   return influence == "jackknife"
                              ? jackknife_influence(*kernel, rows.weight, glue::host(tick))
                              : kernel->influence(rows.weight);
                 }));
  result["null_error"] = kernel->null_error(rows.weight);
  return result;
}

// Returns the estimates for bootstrap resamples of the cases, one per replicate.
// [[Rcpp::export(rng = false)]]
NumericVector core_agreement_bootstrap(List patterns, NumericVector weight, List selection,
                                       List options, int replicates, int threads,
                                       IntegerVector seed, Function tick) {
  const auto rows = rated_rows(patterns, weight, selection);
  const auto kernel = make_kernel(rows, kernel_options(options));
  BootstrapOptions resample;
  resample.replicates = replicates;
  resample.threads = threads;
  resample.seed = glue::seed(seed);
  return wrap(glue::interruptible(
      [&] { return bootstrap_kernel(rows, *kernel, resample, glue::host(tick)); }));
}

// Returns the distinct rows of selected answers, for agreement measures that are written in R.
// `row`, `judge` and `category` have one entry per answer, `weight` one per row, `of_pattern` one
// per pattern (0 for a pattern without a row). All numbers start at 1.
// [[Rcpp::export(rng = false)]]
List core_rated_rows(List patterns, NumericVector weight, List selection) {
  const auto rows = rated_rows(patterns, weight, selection);
  std::vector<int> row_of_answer, judges, categories;
  for (int i = 0; i < rows.size(); ++i) {
    for (const int r : rows.positions(i)) {
      row_of_answer.push_back(i + 1);
      judges.push_back(rows.judge[r] + 1);
      categories.push_back(rows.category[r] + 1);
    }
  }
  return List::create(_["row"] = row_of_answer, _["judge"] = judges, _["category"] = categories,
                      _["weight"] = rows.weight,
                      _["of_pattern"] = glue::from_one(rows.row_of_pattern));
}
