// Estimators of accuracy. A fitted one lives in an external pointer while a verb of R works with
// it; none gets into a saved object.
#include <RcppEigen.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/accuracy/base_rates.hpp"
#include "core/accuracy/blend.hpp"
#include "core/accuracy/linear.hpp"
#include "core/accuracy/robust.hpp"
#include "glue.h"

namespace glue {

fallible::EstimatorOptions estimator_options(const Rcpp::List& setup) {
  using fallible::Clip;
  using fallible::Method;
  fallible::EstimatorOptions out;
  const auto has = [&](const char* field) {
    return setup.containsElementNamed(field) && !Rf_isNull(setup[field]);
  };
  out.method = choice<Method>(setup["method"], {{"average", Method::average},
                                                {"binned", Method::binned},
                                                {"unbinned", Method::unbinned},
                                                {"joint", Method::joint},
                                                {"shared", Method::shared}});
  if (has("clip")) {
    out.clip = choice<Clip>(
        setup["clip"], {{"bin", Clip::bin}, {"overall", Clip::overall}, {"none", Clip::none}});
  }
  if (has("bin_width")) out.bin_width = setup["bin_width"];
  if (has("model")) {
    const Rcpp::List model = setup["model"];
    out.model = latent_model(model);
    out.prior = latent_prior(model["prior"]);
  }
  if (has("fitting")) out.fitting = latent_fitting(setup["fitting"]);
  if (has("deviance")) out.deviance = setup["deviance"];
  if (has("threads")) out.threads = setup["threads"];
  if (has("ordered")) out.ordered = Rcpp::as<bool>(setup["ordered"]);
  if (has("used")) out.used = setup["used"];
  if (has("common")) {
    const SEXP common = setup["common"];
    if (TYPEOF(common) != STRSXP) out.common = Rcpp::as<double>(common);  // "typical", or a share
  }
  return out;
}

fallible::BootstrapOptions bootstrap_options(const Rcpp::List& options) {
  fallible::BootstrapOptions out;
  out.replicates = options["replicates"];
  out.threads = options["threads"];
  out.seed = seed(options["seed"]);
  if (options.containsElementNamed("first")) {
    out.first = static_cast<std::uint64_t>(Rcpp::as<double>(options["first"]));
  }
  out.clusters = clusters(options["clusters"]);
  return out;
}

// Columns: std.error, low, high, lack ("" where there is an interval), same, value.
Rcpp::List intervals(const std::vector<fallible::Interval>& x) {
  using Lack = fallible::Interval::Lack;
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

fallible::Ratings ratings_of(const Rcpp::List& patterns, const Rcpp::NumericVector& weight,
                             const Rcpp::List& setup) {
  const bool has_model = setup.containsElementNamed("model") && !Rf_isNull(setup["model"]);
  auto view = has_model ? glue::view(patterns, setup["model"]) : glue::view(patterns);
  // Patterns that differ in confidence alone are the same to a model without.
  if (setup.containsElementNamed("level")) view.level = glue::integers(setup["level"]);
  return {view, glue::doubles(weight), glue::known(setup["known"]), nullptr};
}

SEXP tag() { return Rf_install("fallible_estimator"); }

// A pointer that was saved and read again points nowhere.
const fallible::Estimator& estimator(const SEXP pointer) {
  const bool ours = TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == tag();
  const void* address = ours ? R_ExternalPtrAddr(pointer) : nullptr;
  if (!address) Rcpp::stop("this estimator is not of this session");
  return *static_cast<const fallible::Estimator*>(address);
}

// A column per field of so many numbers.
template <class Row>
Rcpp::NumericVector column(const std::vector<Row>& rows, double Row::*field) {
  Rcpp::NumericVector out(static_cast<R_xlen_t>(rows.size()));
  std::transform(rows.begin(), rows.end(), out.begin(),
                 [field](const Row& row) { return row.*field; });
  return out;
}

// As it is in R, but DataFrame::create() would call R to make it.
Rcpp::List data_frame(Rcpp::List columns, std::size_t rows) {
  columns.attr("class") = "data.frame";
  columns.attr("row.names") = Rcpp::IntegerVector::create(NA_INTEGER, -static_cast<int>(rows));
  return columns;
}

Rcpp::List bin_table(const std::vector<fallible::Bin>& bins) {
  using fallible::Bin;
  return data_frame(Rcpp::List::create(
      Rcpp::Named("lower") = column(bins, &Bin::lower),
      Rcpp::Named("upper") = column(bins, &Bin::upper),
      Rcpp::Named("probability") = column(bins, &Bin::probability),
      Rcpp::Named("cases") = column(bins, &Bin::cases),
      Rcpp::Named("agreement") = column(bins, &Bin::agreement),
      Rcpp::Named("estimate_raw") = column(bins, &Bin::estimate_raw),
      Rcpp::Named("estimate") = column(bins, &Bin::estimate)),
      bins.size());
}

Rcpp::List member_table(const std::vector<fallible::MemberResult>& members) {
  using fallible::MemberResult;
  Rcpp::CharacterVector accuracy, errors;
  std::vector<fallible::MemberLabel> labels;
  for (const MemberResult& member : members) {
    accuracy.push_back(member.label.accuracy);
    errors.push_back(member.label.errors);
    labels.push_back(member.label);
  }
  return data_frame(Rcpp::List::create(
      Rcpp::Named("accuracy") = accuracy, Rcpp::Named("errors") = errors,
      Rcpp::Named("difficulty") = column(labels, &fallible::MemberLabel::difficulty),
      Rcpp::Named("concentration") = column(labels, &fallible::MemberLabel::concentration),
      Rcpp::Named("log_prior") = column(members, &MemberResult::log_prior),
      Rcpp::Named("log_evidence") = column(members, &MemberResult::log_evidence),
      Rcpp::Named("weight") = column(members, &MemberResult::weight),
      Rcpp::Named("estimate") = column(members, &MemberResult::estimate),
      Rcpp::Named("std.error") = column(members, &MemberResult::std_error),
      Rcpp::Named("rater_accuracy") = column(members, &MemberResult::rater_accuracy)),
      members.size());
}

}  // namespace

// Fields of `setup`: method; known (see glue::known()); threads; of "average" common ("typical" or a
// share), ordered and, if patterns do not tell, used (number of categories that raters use); of "binned" and "unbinned" clip
// and bin_width; of "joint" and "shared" model, and fitting ("likelihood" or "pairs"); of "joint"
// deviance, if its top is to be looked for along a profile. `tick` gets how far the fit is, in percent, if that takes long.
// [[Rcpp::export(rng = false)]]
SEXP core_estimator(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List setup,
                    Rcpp::Function tick) {
  const fallible::Ratings ratings = ratings_of(patterns, weight, setup);
  const auto options = glue::estimator_options(setup);
  auto made = glue::interruptible(
      [&] { return fallible::make_estimator(ratings, options, glue::host(tick)); });
  // What it refers to lives as long as it does.
  return Rcpp::XPtr<fallible::Estimator>(made.release(), true, tag(),
                                         Rcpp::List::create(patterns, setup));
}

// `systems`, a list for each; identified, converged, and whether estimates were found by iteration.
// What a method does not say is NaN; tables and posteriors that it does not have are without rows.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_estimate(SEXP pointer) {
  const fallible::Estimator& of = estimator(pointer);
  const int categories = of.ratings().patterns.categories;
  Rcpp::List systems;
  for (std::size_t s = 0; s < of.systems().size(); ++s) {
    const fallible::SystemEstimate& system = of.systems()[s];
    systems.push_back(Rcpp::List::create(
        Rcpp::Named("estimate") = system.estimate, Rcpp::Named("cases") = system.cases,
        Rcpp::Named("uninformative") = system.uninformative,
        Rcpp::Named("mean_posterior") = system.mean_posterior,
        Rcpp::Named("bins") = bin_table(system.bins),
        Rcpp::Named("independent") = system.independent, Rcpp::Named("shared") = system.shared,
        Rcpp::Named("dependence_weight") = system.dependence,
        Rcpp::Named("typical") = system.typical,
        Rcpp::Named("std.error") = system.std_error,
        Rcpp::Named("rater_error") = system.rater_error,
        Rcpp::Named("independence_weight") = system.independence_weight,
        Rcpp::Named("independent_counts") = system.independent_counts,
        Rcpp::Named("shared_counts") = system.shared_counts,
        Rcpp::Named("members") = member_table(system.members),
        Rcpp::Named("posterior") =
            glue::by_row(of.posterior(static_cast<int>(s)), categories)));
  }
  return Rcpp::List::create(
      Rcpp::Named("systems") = systems, Rcpp::Named("identified") = of.identified(),
      Rcpp::Named("converged") = of.converged(),
      Rcpp::Named("iterated") = of.tolerance() > fallible::rounding_tolerance);
}

// Replicates x systems of "accuracy"; of "counts", expected numbers of cases by truth and answer,
// replicates x (answers within truths within systems). `resampling`: see bootstrap_options().
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_replicates(SEXP pointer, std::string what, Rcpp::List resampling,
                                    Rcpp::Function tick) {
  const fallible::Estimator& of = estimator(pointer);
  using fallible::Quantity;
  const auto quantity = glue::choice<Quantity>(
      what, {{"accuracy", Quantity::accuracy}, {"counts", Quantity::counts}});
  const std::size_t numbers = fallible::numbers_of(of, quantity);
  if (numbers == 0) Rcpp::stop("this method has no confusion matrix");
  const auto options = glue::bootstrap_options(resampling);
  const auto values = glue::interruptible(
      [&] { return fallible::bootstrap(of, quantity, options, glue::host(tick)); });
  return Rcpp::NumericMatrix(options.replicates, static_cast<int>(numbers), values.begin());
}

// Replicates x systems of joint accuracy to first order, with no estimator; see core_estimator() and
// core_replicates().
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_linear_replicates(Rcpp::List patterns, Rcpp::NumericVector weight,
                                           Rcpp::List setup, Rcpp::List resampling,
                                           Rcpp::Function tick) {
  const fallible::Ratings ratings = ratings_of(patterns, weight, setup);
  const auto options = glue::estimator_options(setup);
  const auto draws = glue::bootstrap_options(resampling);
  const auto values = glue::interruptible([&] {
    return fallible::linear_replicates(ratings, options, draws, glue::host(tick));
  });
  return Rcpp::NumericMatrix(draws.replicates, ratings.patterns.systems, values.begin());
}

// An interval per column of replicates; were their estimates found by iteration?
// [[Rcpp::export(rng = false)]]
Rcpp::List core_percentile_intervals(Rcpp::NumericMatrix replicates, double conf_level,
                                     bool iterated) {
  const double tolerance =
      iterated ? fallible::iteration_tolerance : fallible::rounding_tolerance;
  std::vector<fallible::Interval> out;
  const int n = replicates.nrow();
  for (int s = 0; s < replicates.ncol(); ++s) {
    const double* column = replicates.begin() + static_cast<R_xlen_t>(s) * n;
    out.push_back(fallible::percentile_interval(column, n, conf_level, tolerance));
  }
  return glue::intervals(out);
}

// The same of the differences of pairs of columns.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_difference_intervals(Rcpp::NumericMatrix replicates, Rcpp::IntegerVector first,
                                     Rcpp::IntegerVector second, double conf_level,
                                     bool iterated) {
  const double tolerance =
      iterated ? fallible::iteration_tolerance : fallible::rounding_tolerance;
  const int n = replicates.nrow();
  std::vector<fallible::Interval> out;
  for (R_xlen_t i = 0; i < first.size(); ++i) {
    out.push_back(fallible::difference_interval(&replicates(0, first[i] - 1),
                                                &replicates(0, second[i] - 1), n, conf_level,
                                                tolerance));
  }
  return glue::intervals(out);
}

// How often the first of pairs of columns is ahead.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_share_ahead(Rcpp::NumericMatrix replicates, Rcpp::IntegerVector first,
                                     Rcpp::IntegerVector second) {
  Rcpp::NumericVector out(first.size());
  for (R_xlen_t i = 0; i < out.size(); ++i) {
    out[i] = fallible::share_ahead(&replicates(0, first[i] - 1), &replicates(0, second[i] - 1),
                                   replicates.nrow());
  }
  return out;
}

// Of each system: see robust_error(); `kind` is "people", "machines" or "undeclared", of all or of each.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_robust_error(Rcpp::NumericVector estimate, Rcpp::NumericVector sampling,
                             Rcpp::NumericVector gap, Rcpp::NumericVector dependence,
                             Rcpp::NumericVector rater_error, Rcpp::NumericVector range,
                             Rcpp::NumericVector open_share, Rcpp::CharacterVector kind) {
  using fallible::RaterKind;
  const R_xlen_t n = estimate.size();
  Rcpp::NumericVector centre(n), error(n), hidden(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const std::string of(kind[i % kind.size()]);
    const auto found = fallible::robust_error(
        estimate[i],
        {sampling[i], gap[i], dependence[i], rater_error[i], range[i], open_share[i]},
        glue::choice<RaterKind>(of, {{"people", RaterKind::people},
                                     {"machines", RaterKind::machines},
                                     {"undeclared", RaterKind::unknown}}));
    centre[i] = found.centre;
    error[i] = found.std_error;
    hidden[i] = found.hidden;
  }
  return Rcpp::List::create(Rcpp::Named("centre") = centre, Rcpp::Named("std.error") = error,
                            Rcpp::Named("hidden") = hidden);
}

// A row per category that leads: see rater_leans().
// [[Rcpp::export(rng = false)]]
Rcpp::List core_rater_leans(Rcpp::List patterns, Rcpp::NumericVector weight) {
  const auto found = fallible::rater_leans(glue::view(patterns), glue::doubles(weight));
  Rcpp::IntegerVector category(found.size());
  Rcpp::NumericVector share(found.size()), kappa(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    category[i] = found[i].category;
    share[i] = found[i].share;
    kappa[i] = found[i].kappa;
  }
  return data_frame(Rcpp::List::create(Rcpp::Named("category") = category,
                                       Rcpp::Named("share") = share,
                                       Rcpp::Named("kappa") = kappa),
                    found.size());
}

// A number per system, by leans that may be those of more cases.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_base_rate_ranges(Rcpp::List patterns, Rcpp::NumericVector weight,
                                          Rcpp::List leans) {
  const Rcpp::IntegerVector category = leans["category"];
  const Rcpp::NumericVector share = leans["share"], kappa = leans["kappa"];
  std::vector<fallible::Lean> of;
  for (R_xlen_t i = 0; i < category.size(); ++i) of.push_back({category[i], share[i], kappa[i]});
  const fallible::PatternView view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  Rcpp::NumericVector out(view.systems);
  for (int s = 0; s < view.systems; ++s) {
    out[s] = fallible::base_rate_range(view, weights, s, of);
  }
  return out;
}

// See base_rate_range().
// [[Rcpp::export(rng = false)]]
double core_base_rate_range(double share, double kappa, double answers, double covariance) {
  return fallible::base_rate_range(share, kappa, answers, covariance);
}

// What gold cases and ratings alone say together, see blend.hpp. Columns of `prior`: centre, sd and
// vague; of `stated`: value, and size for shares, or error, freedom and end for differences.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_blend(Rcpp::List stated, Rcpp::List prior, double conf_level) {
  const Rcpp::NumericVector value = stated["value"], centre = prior["centre"], sd = prior["sd"],
                            vague = prior["vague"];
  const bool shares = stated.containsElementNamed("size");
  const auto field = [&](const char* name) -> Rcpp::NumericVector {
    return stated.containsElementNamed(name) ? Rcpp::NumericVector(stated[name]) : value;
  };
  const Rcpp::NumericVector size = field("size"), error = field("error"),
                            freedom = field("freedom"), end = field("end");
  std::vector<fallible::Blend> out;
  for (R_xlen_t i = 0; i < value.size(); ++i) {
    const fallible::BlendPrior of{centre[i], sd[i], vague[i]};
    out.push_back(shares ? fallible::blend_share(value[i], size[i], of, conf_level)
                         : fallible::blend_difference(value[i], error[i], freedom[i], end[i], of,
                                                      conf_level));
  }
  using fallible::Blend;
  return Rcpp::List::create(
      Rcpp::Named("mean") = column(out, &Blend::mean), Rcpp::Named("sd") = column(out, &Blend::sd),
      Rcpp::Named("low") = column(out, &Blend::low),
      Rcpp::Named("high") = column(out, &Blend::high),
      Rcpp::Named("flat") = column(out, &Blend::flat));
}
