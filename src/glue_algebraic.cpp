// The K-model by algebra, and what follows from its posteriors.
#include <RcppEigen.h>

#include <cmath>
#include <string>

#include "core/algebraic.hpp"
#include "core/bootstrap.hpp"
#include "glue.h"

namespace glue {

namespace {
void check_interrupt(void*) { R_CheckUserInterrupt(); }
}  // namespace

fallible::Host host(const Rcpp::Function& tick) {
  fallible::Host out;
  out.tick = [tick](std::size_t done) {
    if (R_ToplevelExec(check_interrupt, nullptr) == FALSE) return false;
    tick(static_cast<double>(done));
    return true;
  };
  return out;
}

fallible::AccuracyOptions accuracy_options(const Rcpp::List& options) {
  using fallible::Clip;
  fallible::AccuracyOptions out;
  const std::string method = options["method"], clip = options["clip"];
  out.method = method == "binned" ? fallible::Method::binned : fallible::Method::unbinned;
  out.clip = clip == "bin" ? Clip::bin : clip == "overall" ? Clip::overall : Clip::none;
  out.bin_width = options["bin_width"];
  return out;
}

fallible::BootstrapOptions bootstrap_options(const Rcpp::List& options) {
  fallible::BootstrapOptions out;
  out.replicates = options["replicates"];
  out.threads = options["threads"];
  out.seed = seed(options["seed"]);
  const SEXP clusters = options["clusters"];
  if (Rf_isNull(clusters)) return out;
  const Rcpp::List of(clusters);
  out.clusters.pattern = Rcpp::as<std::vector<int>>(of["pattern"]);
  for (int& pattern : out.clusters.pattern) --pattern;
  out.clusters.weight = Rcpp::as<std::vector<double>>(of["weight"]);
  out.clusters.cluster = Rcpp::as<std::vector<int>>(of["cluster"]);
  return out;
}

// Columns: std.error, low, high, lack ("" where there is an interval), same, value.
Rcpp::List intervals(const std::vector<fallible::PercentileInterval>& x) {
  using Lack = fallible::PercentileInterval::Lack;
  const R_xlen_t n = static_cast<R_xlen_t>(x.size());
  Rcpp::NumericVector error(n), low(n), high(n), same(n), value(n);
  Rcpp::CharacterVector lack(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    error[i] = x[i].std_error;
    low[i] = x[i].low;
    high[i] = x[i].high;
    same[i] = x[i].same;
    value[i] = x[i].value;
    lack[i] = x[i].lack == Lack::none ? "" : x[i].lack == Lack::failed ? "failed" : "constant";
  }
  return Rcpp::List::create(Rcpp::Named("std.error") = error, Rcpp::Named("low") = low,
                            Rcpp::Named("high") = high, Rcpp::Named("lack") = lack,
                            Rcpp::Named("same") = same, Rcpp::Named("value") = value);
}

}  // namespace glue

namespace {

fallible::Profiles profiles(const Rcpp::List& patterns, const Rcpp::NumericVector& weight) {
  return fallible::make_profiles(glue::view(patterns), glue::doubles(weight));
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

Rcpp::DataFrame bin_table(const std::vector<fallible::Bin>& bins) {
  const R_xlen_t n = static_cast<R_xlen_t>(bins.size());
  Rcpp::NumericMatrix value(n, 7);
  for (R_xlen_t i = 0; i < n; ++i) {
    const fallible::Bin& bin = bins[i];
    value(i, 0) = bin.lower;
    value(i, 1) = bin.upper;
    value(i, 2) = bin.probability;
    value(i, 3) = bin.cases;
    value(i, 4) = bin.agreement;
    value(i, 5) = bin.estimate_raw;
    value(i, 6) = bin.estimate;
  }
  const auto column = [&](int j) { return Rcpp::NumericVector(value(Rcpp::_, j)); };
  return Rcpp::DataFrame::create(
      Rcpp::Named("lower") = column(0), Rcpp::Named("upper") = column(1),
      Rcpp::Named("probability") = column(2), Rcpp::Named("cases") = column(3),
      Rcpp::Named("agreement") = column(4), Rcpp::Named("estimate_raw") = column(5),
      Rcpp::Named("estimate") = column(6));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_fit_algebraic(Rcpp::List patterns, Rcpp::NumericVector weight) {
  const auto data = profiles(patterns, weight);
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
  const auto data = profiles(patterns, weight);
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

// [[Rcpp::export(rng = false)]]
Rcpp::List core_accuracy(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List fit,
                         Rcpp::List options) {
  const auto data = profiles(patterns, weight);
  Rcpp::List out;
  for (const auto& system :
       fallible::system_accuracy(data, data.weight, k_fit(fit), glue::accuracy_options(options))) {
    out.push_back(Rcpp::List::create(
        Rcpp::Named("estimate") = system.estimate, Rcpp::Named("cases") = system.cases,
        Rcpp::Named("uninformative") = system.uninformative,
        Rcpp::Named("mean_posterior") = system.mean_posterior,
        Rcpp::Named("bins") = bin_table(system.bins)));
  }
  return out;
}

// Replicates x systems.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_bootstrap(Rcpp::List patterns, Rcpp::NumericVector weight,
                                   Rcpp::List options, Rcpp::List resampling,
                                   Rcpp::Function tick) {
  const auto data = profiles(patterns, weight);
  const auto bootstrap = glue::bootstrap_options(resampling);
  const auto values = glue::interruptible([&] {
    return fallible::bootstrap_accuracy(data, glue::accuracy_options(options), bootstrap,
                                        glue::host(tick));
  });
  return Rcpp::NumericMatrix(bootstrap.replicates, data.systems, values.begin());
}

// An interval per column of replicates; were their estimates found by iteration?
// [[Rcpp::export(rng = false)]]
Rcpp::List core_percentile_intervals(Rcpp::NumericMatrix replicates, double conf_level,
                                     bool iterated) {
  const double tolerance =
      iterated ? fallible::iteration_tolerance : fallible::rounding_tolerance;
  std::vector<fallible::PercentileInterval> out;
  const int n = replicates.nrow();
  for (int s = 0; s < replicates.ncol(); ++s) {
    const double* column = replicates.begin() + static_cast<R_xlen_t>(s) * n;
    out.push_back(fallible::percentile_interval(column, n, conf_level, tolerance));
  }
  return glue::intervals(out);
}
