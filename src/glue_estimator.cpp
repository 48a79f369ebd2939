// Estimators of accuracy: functions that R calls. A fitted estimator exists as an external pointer
// only while a function of R uses it. Saved objects contain no estimator.
#include <RcppEigen.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/accuracy/base_rates.hpp"
#include "core/accuracy/blend.hpp"
#include "core/accuracy/robust.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace glue {

EstimatorOptions estimator_options(const List& setup) {
  EstimatorOptions options;
  const auto has = [&](const char* field) {
    return setup.containsElementNamed(field) && !Rf_isNull(setup[field]);
  };
  options.method = choice<Method>(setup["method"], {{"average", Method::average},
                                                    {"binned", Method::binned},
                                                    {"unbinned", Method::unbinned},
                                                    {"joint", Method::joint},
                                                    {"shared", Method::shared}});
  if (has("clip")) {
    options.clip = choice<Clip>(
        setup["clip"], {{"bin", Clip::bin}, {"overall", Clip::overall}, {"none", Clip::none}});
  }
  if (has("bin_width")) options.bin_width = setup["bin_width"];
  if (has("model")) {
    const List model = setup["model"];
    options.model = latent_model(model);
    options.prior = latent_prior(model["prior"]);
  }
  if (has("fitting")) options.fitting = latent_fitting(setup["fitting"]);
  if (has("deviance")) options.deviance = setup["deviance"];
  if (has("threads")) options.threads = setup["threads"];
  if (has("ordered")) options.ordered = as<bool>(setup["ordered"]);
  if (has("used")) options.used_categories = setup["used"];
  if (has("common")) {
    const SEXP common = setup["common"];
    // `common` is a number or "typical". If `options.correction` is not set, the core uses the
    // typical correction.
    if (TYPEOF(common) != STRSXP) options.correction = as<double>(common);
  }
  return options;
}

BootstrapOptions bootstrap_options(const List& options) {
  BootstrapOptions bootstrap;
  bootstrap.replicates = options["replicates"];
  bootstrap.threads = options["threads"];
  bootstrap.seed = seed(options["seed"]);
  if (options.containsElementNamed("first")) {
    bootstrap.first = static_cast<std::uint64_t>(as<double>(options["first"]));
  }
  bootstrap.clusters = clusters(options["clusters"]);
  return bootstrap;
}

// Converts intervals to a list of columns with one entry per interval: std.error, low, high, and
//   lack: "failed" or "constant" if there is no interval, otherwise "";
//   value: for "constant", the value of both limits;
//   same: for "constant", the share of replicates that are equal to `value`.
List intervals(const std::vector<Interval>& x) {
  using Missing = Interval::Missing;
  std::vector<std::string> missing;
  for (const Interval& interval : x) {
    missing.push_back(interval.missing == Missing::none     ? ""
                      : interval.missing == Missing::failed ? "failed"
                                                            : "constant");
  }
  return List::create(_["std.error"] = column(x, &Interval::std_error),
                      _["low"] = column(x, &Interval::low), _["high"] = column(x, &Interval::high),
                      _["lack"] = missing, _["same"] = column(x, &Interval::share_at_value),
                      _["value"] = column(x, &Interval::value));
}

}  // namespace glue

namespace {

Ratings ratings_of(const List& patterns, const NumericVector& weight, const List& setup) {
  const bool has_model = setup.containsElementNamed("model") && !Rf_isNull(setup["model"]);
  auto view = has_model ? glue::view(patterns, setup["model"]) : glue::view(patterns);
  // Adds confidence levels that the model does not use. Some patterns differ only in these levels,
  // and canonical_order() stops with an error if patterns are equal.
  if (setup.containsElementNamed("level")) view.level = glue::integers(setup["level"]);
  return {view, glue::doubles(weight), glue::known(setup["known"]), nullptr};
}

SEXP tag() { return Rf_install("fallible_estimator"); }

double tolerance(bool iterated) { return iterated ? iteration_tolerance : rounding_tolerance; }

// Returns the fitted estimator of an external pointer. If the pointer was saved and read again, its
// address is null. The function then stops with an error.
const Estimator& estimator(const SEXP pointer) {
  const bool is_estimator = TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == tag();
  const void* address = is_estimator ? R_ExternalPtrAddr(pointer) : nullptr;
  if (!address) stop("the estimator was made in another R session; fit the estimator again");
  return *static_cast<const Estimator*>(address);
}

List bin_table(const std::vector<Bin>& bins) {
  return glue::data_frame(List::create(_["lower"] = glue::column(bins, &Bin::lower),
                                       _["upper"] = glue::column(bins, &Bin::upper),
                                       _["probability"] = glue::column(bins, &Bin::probability),
                                       _["cases"] = glue::column(bins, &Bin::cases),
                                       _["agreement"] = glue::column(bins, &Bin::agreement),
                                       _["estimate_raw"] = glue::column(bins, &Bin::estimate_raw),
                                       _["estimate"] = glue::column(bins, &Bin::estimate)));
}

List member_table(const std::vector<MemberResult>& members) {
  const auto labels = glue::column(members, &MemberResult::label);
  return glue::data_frame(
      List::create(_["accuracy"] = glue::column(labels, &MemberLabel::accuracy),
                   _["errors"] = glue::column(labels, &MemberLabel::errors),
                   _["difficulty"] = glue::column(labels, &MemberLabel::difficulty),
                   _["concentration"] = glue::column(labels, &MemberLabel::concentration),
                   _["log_prior"] = glue::column(members, &MemberResult::log_prior),
                   _["log_evidence"] = glue::column(members, &MemberResult::log_evidence),
                   _["weight"] = glue::column(members, &MemberResult::weight),
                   _["estimate"] = glue::column(members, &MemberResult::estimate),
                   _["std.error"] = glue::column(members, &MemberResult::std_error),
                   _["rater_accuracy"] = glue::column(members, &MemberResult::rater_accuracy)));
}

}  // namespace

// Fits an estimator and returns a pointer to it. Fields of `setup`:
//   method: "average", "binned", "unbinned", "joint" or "shared";
//   known: see glue::known(); threads: number of threads;
//   level: confidence level of each rating, if patterns differ only in it;
//   for "average": common (the correction from 0 to 1, or "typical"), ordered (true if categories
//     are ordered), and used (number of categories that raters use, if patterns do not contain all
//     of them);
//   for "binned" and "unbinned": clip ("bin", "overall" or "none") and bin_width;
//   for "joint" and "shared": model, and fitting ("likelihood" or "pairs");
//   for "joint": deviance, see EstimatorOptions.
// `tick` receives the progress of a long fit in percent.
// [[Rcpp::export(rng = false)]]
SEXP core_estimator(List patterns, NumericVector weight, List setup, Function tick) {
  const Ratings ratings = ratings_of(patterns, weight, setup);
  const auto options = glue::estimator_options(setup);
  auto fitted =
      glue::interruptible([&] { return make_estimator(ratings, options, glue::host(tick)); });
  // The estimator refers to memory of these R objects. The pointer protects them from R's garbage
  // collector as long as the estimator exists.
  return XPtr<Estimator>(fitted.release(), true, tag(), List::create(patterns, setup));
}

// Returns the results of an estimator: `systems` (a list per system), whether parameters are
// identified and the fit has converged, and whether estimates come from an iteration. If the method
// does not compute a quantity, a number is NaN, and a table or posterior has no rows.
// [[Rcpp::export(rng = false)]]
List core_estimate(SEXP pointer) {
  const Estimator& fitted = estimator(pointer);
  const int categories = fitted.ratings().patterns.categories;
  List systems;
  for (std::size_t s = 0; s < fitted.systems().size(); ++s) {
    const SystemEstimate& system = fitted.systems()[s];
    const AlgebraParts algebra =
        system.algebra.value_or(AlgebraParts{not_a_number, not_a_number, not_a_number, {}});
    const AverageParts average = system.average.value_or(AverageParts());
    systems.push_back(List::create(
        _["estimate"] = system.estimate, _["cases"] = algebra.cases,
        _["uninformative"] = algebra.uninformative, _["mean_posterior"] = algebra.mean_posterior,
        _["bins"] = bin_table(algebra.bins), _["independent"] = average.independent_estimate,
        _["shared"] = average.shared_estimate, _["dependence_weight"] = average.dependence,
        _["typical"] = average.typical_correction, _["std.error"] = average.std_error,
        _["rater_error"] = average.rater_error,
        _["independence_weight"] = average.independence_weight,
        _["independent_counts"] = average.independent_counts,
        _["shared_counts"] = average.shared_counts, _["members"] = member_table(average.members),
        _["posterior"] = glue::by_row(fitted.posterior(static_cast<int>(s)), categories)));
  }
  return List::create(_["systems"] = systems, _["identified"] = fitted.identified(),
                      _["converged"] = fitted.converged(),
                      _["iterated"] = fitted.tolerance() > rounding_tolerance);
}

// Returns bootstrap replicates: replicates x values. `what`: "accuracy" for one value per system,
// or "counts" for the expected number of cases of each system, truth and answer (answers change
// fastest). `resampling`: see bootstrap_options().
// [[Rcpp::export(rng = false)]]
NumericMatrix core_replicates(SEXP pointer, std::string what, List resampling, Function tick) {
  const Estimator& fitted = estimator(pointer);
  const auto quantity = glue::choice<Quantity>(
      what, {{"accuracy", Quantity::accuracy}, {"counts", Quantity::counts}});
  const std::size_t numbers = count_quantities(fitted, quantity);
  if (numbers == 0)
    stop("this method estimates no confusion matrix, so its counts cannot be resampled");
  const auto options = glue::bootstrap_options(resampling);
  const auto values =
      glue::interruptible([&] { return bootstrap(fitted, quantity, options, glue::host(tick)); });
  return NumericMatrix(options.replicates, static_cast<int>(numbers), values.begin());
}

// Approximate bootstrap replicates of the method "joint": replicates x systems. They are computed
// from the influence of each case, without refits and without an estimator. `setup` and
// `resampling` are as for core_estimator() and core_replicates().
// [[Rcpp::export(rng = false)]]
NumericMatrix core_linear_replicates(List patterns, NumericVector weight, List setup,
                                     List resampling, Function tick) {
  const Ratings ratings = ratings_of(patterns, weight, setup);
  const auto options = glue::estimator_options(setup);
  const auto draws = glue::bootstrap_options(resampling);
  const auto values = glue::interruptible(
      [&] { return linear_replicates(ratings, options, draws, glue::host(tick)); });
  return NumericMatrix(draws.replicates, ratings.patterns.systems, values.begin());
}

// Percentile intervals, one per column of `replicates`. `iterated`: true if estimates come from an
// iteration, so that small differences are numerical errors.
// [[Rcpp::export(rng = false)]]
List core_percentile_intervals(NumericMatrix replicates, double conf_level, bool iterated) {
  std::vector<Interval> interval_list;
  const int n = replicates.nrow();
  for (int s = 0; s < replicates.ncol(); ++s) {
    interval_list.push_back(
        percentile_interval(&replicates(0, s), n, conf_level, tolerance(iterated)));
  }
  return glue::intervals(interval_list);
}

// Percentile intervals of differences between columns of `replicates`: column `first` minus column
// `second` (from 1) for each pair.
// [[Rcpp::export(rng = false)]]
List core_difference_intervals(NumericMatrix replicates, IntegerVector first, IntegerVector second,
                               double conf_level, bool iterated) {
  const int n = replicates.nrow();
  std::vector<Interval> interval_list;
  for (R_xlen_t i = 0; i < first.size(); ++i) {
    interval_list.push_back(difference_interval(&replicates(0, first[i] - 1),
                                                &replicates(0, second[i] - 1), n, conf_level,
                                                tolerance(iterated)));
  }
  return glue::intervals(interval_list);
}

// Returns, for each pair of columns, the share of replicates in which column `first` is higher than
// column `second`. Ties count 1/2.
// [[Rcpp::export(rng = false)]]
NumericVector core_share_ahead(NumericMatrix replicates, IntegerVector first,
                               IntegerVector second) {
  NumericVector share(first.size());
  for (R_xlen_t i = 0; i < share.size(); ++i) {
    share[i] =
        share_ahead(&replicates(0, first[i] - 1), &replicates(0, second[i] - 1), replicates.nrow());
  }
  return share;
}

// Returns the centre, the standard error, and the hidden error (standard deviation of the bias from
// shared errors) of the robust interval of each system, see robust_error(). `kind` contains
// "people", "machines" or "undeclared": one value per system, or one value for all systems.
// [[Rcpp::export(rng = false)]]
List core_robust_error(NumericVector estimate, NumericVector sampling, NumericVector gap,
                       NumericVector dependence, NumericVector rater_error, NumericVector range,
                       NumericVector open_share, CharacterVector kind) {
  const R_xlen_t n = estimate.size();
  std::vector<RobustError> errors;
  for (R_xlen_t i = 0; i < n; ++i) {
    const ErrorParts parts{sampling[i],    gap[i],   dependence[i],
                           rater_error[i], range[i], open_share[i]};
    errors.push_back(robust_error(estimate[i], parts,
                                  glue::choice<RaterKind>(std::string(kind[i % kind.size()]),
                                                          {{"people", RaterKind::people},
                                                           {"machines", RaterKind::machines},
                                                           {"undeclared", RaterKind::people}})));
  }
  return List::create(_["centre"] = glue::column(errors, &RobustError::centre),
                      _["std.error"] = glue::column(errors, &RobustError::std_error),
                      _["hidden"] = glue::column(errors, &RobustError::hidden));
}

// Returns a table of the categories that raters use most often: category, share of the ratings,
// kappa, and whether the agreement of all ratings may be chance. It has one row unless categories
// tie.
// [[Rcpp::export(rng = false)]]
List core_leading_categories(List patterns, NumericVector weight) {
  const auto leaders = leading_categories(glue::view(patterns), glue::doubles(weight));
  return glue::data_frame(
      List::create(_["category"] = glue::column(leaders, &LeadingCategory::category),
                   _["share"] = glue::column(leaders, &LeadingCategory::share),
                   _["kappa"] = glue::column(leaders, &LeadingCategory::kappa),
                   _["chance"] = LogicalVector(leaders.size(), may_agree_by_chance(leaders))));
}

// Returns one number per system: its highest minus its lowest accuracy over all base rates that are
// compatible with the ratings. `leaders`: result of core_leading_categories() for all cases, also
// if `weight` selects a group of cases.
// [[Rcpp::export(rng = false)]]
NumericVector core_base_rate_ranges(List patterns, NumericVector weight, List leaders) {
  const IntegerVector category = leaders["category"];
  const NumericVector share = leaders["share"], kappa = leaders["kappa"];
  std::vector<LeadingCategory> leading;
  for (R_xlen_t i = 0; i < category.size(); ++i)
    leading.push_back({category[i], share[i], kappa[i]});
  const PatternView view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  NumericVector range(view.systems);
  for (int s = 0; s < view.systems; ++s) {
    range[s] = base_rate_range(view, weights, s, leading);
  }
  return range;
}

// Combines estimates from gold cases (`stated`) with estimates from ratings only (`prior`), see
// blend.hpp. The arguments are lists of columns with one row per estimate:
//   `prior`: centre, sd, and vague (BlendPrior::flat_weight).
//   `stated`, for shares: value, and size (number of gold cases).
//   `stated`, for differences: value, error (standard error), freedom (degrees of freedom), and end
//     (differences are between -end and end).
// [[Rcpp::export(rng = false)]]
List core_blend(List stated, List prior, double conf_level) {
  const NumericVector value = stated["value"], centre = prior["centre"], sd = prior["sd"],
                      vague = prior["vague"];
  const bool are_shares = stated.containsElementNamed("size");
  const auto field = [&](const char* name) -> NumericVector {
    return stated.containsElementNamed(name) ? NumericVector(stated[name]) : value;
  };
  const NumericVector size = field("size"), error = field("error"), freedom = field("freedom"),
                      end = field("end");
  std::vector<Blend> combined;
  for (R_xlen_t i = 0; i < value.size(); ++i) {
    const BlendPrior blend_prior{centre[i], sd[i], vague[i]};
    combined.push_back(are_shares ? blend_share(value[i], size[i], blend_prior, conf_level)
                                  : blend_difference(value[i], error[i], freedom[i], end[i],
                                                     blend_prior, conf_level));
  }
  return List::create(_["mean"] = glue::column(combined, &Blend::mean),
                      _["sd"] = glue::column(combined, &Blend::sd),
                      _["low"] = glue::column(combined, &Blend::low),
                      _["high"] = glue::column(combined, &Blend::high),
                      _["flat"] = glue::column(combined, &Blend::flat_probability));
}
