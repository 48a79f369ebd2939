// Agreement measures.
#include <cmath>

#include "core/agreement/agreement.hpp"
#include "glue.h"

namespace {

// Fields: rater, system (judges, 0 is none), judges, category (new numbers), categories,
// exchangeable, least.
fallible::RatedRows rated_rows(const Rcpp::List& patterns, const Rcpp::NumericVector& weight,
                               const Rcpp::List& selection) {
  fallible::Selection out;
  out.rater = Rcpp::as<std::vector<int>>(selection["rater"]);
  out.system = Rcpp::as<std::vector<int>>(selection["system"]);
  out.judges = selection["judges"];
  out.category = Rcpp::as<std::vector<int>>(selection["category"]);
  out.categories = selection["categories"];
  out.exchangeable = selection["exchangeable"];
  out.least = selection["least"];
  return fallible::select_rows(glue::view(patterns), glue::doubles(weight), out);
}

// Fields: kernel, scale (categories x categories), pooling.
fallible::KernelOptions kernel_options(const Rcpp::List& options) {
  fallible::KernelOptions out;
  out.name = Rcpp::as<std::string>(options["kernel"]);
  out.scale = Rcpp::as<std::vector<double>>(options["scale"]);
  out.pool_pairs = glue::choice<bool>(options["pooling"], {{"pairs", true}, {"cases", false}});
  return out;
}

// What belongs to rows, by pattern; zero for patterns without a row.
Rcpp::NumericVector by_pattern(const fallible::RatedRows& rows, const std::vector<double>& x) {
  Rcpp::NumericVector out(static_cast<R_xlen_t>(x.empty() ? 0 : rows.of_pattern.size()));
  for (R_xlen_t p = 0; p < out.size(); ++p) {
    const int row = rows.of_pattern[p];
    out[p] = row < 0 ? 0 : x[row];
  }
  return out;
}

}  // namespace

// The estimate, why it is undefined ("" if it is not), which patterns entered it, and the influence
// of a case of each, analytic or by jackknife (NULL if it is undefined or not asked for).
// [[Rcpp::export(rng = false)]]
Rcpp::List core_agreement(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List selection,
                          Rcpp::List options, std::string influence, Rcpp::Function tick) {
  const auto rows = rated_rows(patterns, weight, selection);
  const auto kernel = fallible::make_kernel(rows, kernel_options(options));
  const auto estimate = kernel->estimate(rows.weight);
  Rcpp::LogicalVector used(static_cast<R_xlen_t>(rows.of_pattern.size()));
  for (R_xlen_t p = 0; p < used.size(); ++p) used[p] = rows.of_pattern[p] >= 0;
  Rcpp::List out = Rcpp::List::create(
      Rcpp::Named("estimate") = estimate.value,
      Rcpp::Named("undefined") = fallible::name(estimate.why), Rcpp::Named("used") = used,
      Rcpp::Named("influence") = R_NilValue, Rcpp::Named("null_error") = R_NaReal);
  if (std::isnan(estimate.value) || influence == "none") return out;
  out["influence"] = by_pattern(rows, glue::interruptible([&] {
    return influence == "jackknife"
               ? fallible::jackknife_influence(*kernel, rows.weight, glue::host(tick))
               : kernel->influence(rows.weight);
  }));
  out["null_error"] = kernel->null_error(rows.weight);
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_agreement_bootstrap(Rcpp::List patterns, Rcpp::NumericVector weight,
                                             Rcpp::List selection, Rcpp::List options,
                                             int replicates, int threads, Rcpp::IntegerVector seed,
                                             Rcpp::Function tick) {
  const auto rows = rated_rows(patterns, weight, selection);
  const auto kernel = fallible::make_kernel(rows, kernel_options(options));
  fallible::BootstrapOptions resample;
  resample.replicates = replicates;
  resample.threads = threads;
  resample.seed = glue::seed(seed);
  return Rcpp::wrap(glue::interruptible([&] {
    return fallible::bootstrap_kernel(rows, *kernel, resample, glue::host(tick));
  }));
}

// What kernels written in R need: the distinct rows, one entry per answer, numbered from 1.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_rated_rows(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List selection) {
  const auto rows = rated_rows(patterns, weight, selection);
  std::vector<int> rows_of, judges, categories;
  for (int i = 0; i < rows.size(); ++i) {
    for (const int r : rows.places(i)) {
      rows_of.push_back(i + 1);
      judges.push_back(rows.judge[r] + 1);
      categories.push_back(rows.category[r] + 1);
    }
  }
  return Rcpp::List::create(
      Rcpp::Named("row") = rows_of, Rcpp::Named("judge") = judges,
      Rcpp::Named("category") = categories, Rcpp::Named("weight") = rows.weight,
      Rcpp::Named("of_pattern") = glue::from_one(rows.of_pattern));
}
