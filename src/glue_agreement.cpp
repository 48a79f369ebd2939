// Agreement measures: functions that R calls.
#include <cmath>

#include "core/agreement/agreement.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace {

// Selects answers and makes distinct rows. `selection` has the fields of Selection: `rater` and
// `system` (index of the judge of each rater and system, 0 to leave it out), `judges` (number of
// judges), `category` (new index of each category), `categories` (number of new categories),
// `exchangeable` (are judges ignored?), and `least` (number of judges that a case needs).
RatedRows rated_rows(const List& patterns, const NumericVector& weight, const List& selection) {
  Selection out;
  out.rater = as<std::vector<int>>(selection["rater"]);
  out.system = as<std::vector<int>>(selection["system"]);
  out.judges = selection["judges"];
  out.category = as<std::vector<int>>(selection["category"]);
  out.categories = selection["categories"];
  out.exchangeable = selection["exchangeable"];
  out.least = selection["least"];
  return select_rows(glue::view(patterns), glue::doubles(weight), out);
}

// Fields of `options`: `kernel` (name of the measure), `scale` (agreement weights, categories x
// categories) and `pooling` ("pairs", "cases" or "fleiss-cuzick").
KernelOptions kernel_options(const List& options) {
  KernelOptions out;
  out.name = as<std::string>(options["kernel"]);
  out.scale = as<std::vector<double>>(options["scale"]);
  out.pooling =
      glue::choice<Pooling>(options["pooling"], {{"pairs", Pooling::pairs},
                                                 {"cases", Pooling::cases},
                                                 {"fleiss-cuzick", Pooling::fleiss_cuzick}});
  return out;
}

// Copies the value of each row to the patterns of the row. Patterns without a row get 0.
NumericVector by_pattern(const RatedRows& rows, const std::vector<double>& x) {
  NumericVector out(static_cast<R_xlen_t>(x.empty() ? 0 : rows.of_pattern.size()));
  for (R_xlen_t p = 0; p < out.size(); ++p) {
    const int row = rows.of_pattern[p];
    out[p] = row < 0 ? 0 : x[row];
  }
  return out;
}

}  // namespace

// Returns a list: `estimate`; `undefined`, the reason why it is NaN (otherwise ""); `used`, true
// for patterns that enter the estimate. Also `influence` of one case of each pattern, and
// `null_error`, the standard error under independence. They are NULL and NA if the estimate is NaN
// or `influence` is "none". `influence` is empty if it is undefined. Argument `influence`:
// "jackknife", "none", or another string for the analytic influence.
// [[Rcpp::export(rng = false)]]
List core_agreement(List patterns, NumericVector weight, List selection, List options,
                    std::string influence, Function tick) {
  const auto rows = rated_rows(patterns, weight, selection);
  const auto kernel = make_kernel(rows, kernel_options(options));
  const auto estimate = kernel->estimate(rows.weight);
  LogicalVector is_used(static_cast<R_xlen_t>(rows.of_pattern.size()));
  for (R_xlen_t p = 0; p < is_used.size(); ++p) is_used[p] = rows.of_pattern[p] >= 0;
  List out =
      List::create(_["estimate"] = estimate.value, _["undefined"] = name(estimate.why),
                   _["used"] = is_used, _["influence"] = R_NilValue, _["null_error"] = R_NaReal);
  if (std::isnan(estimate.value) || influence == "none") return out;
  out["influence"] =
      by_pattern(rows, glue::interruptible([&] {
                   return influence == "jackknife"
                              ? jackknife_influence(*kernel, rows.weight, glue::host(tick))
                              : kernel->influence(rows.weight);
                 }));
  out["null_error"] = kernel->null_error(rows.weight);
  return out;
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
                      _["weight"] = rows.weight, _["of_pattern"] = glue::from_one(rows.of_pattern));
}
