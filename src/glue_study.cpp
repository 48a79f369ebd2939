// Studies of many simulated panels.
#include <RcppEigen.h>

#include <string>

#include "core/simulation/study.hpp"
#include "glue.h"

namespace {

fallible::StudyEstimator study_estimator(const Rcpp::List& x) {
  using fallible::IntervalKind;
  fallible::StudyEstimator out;
  out.options = glue::estimator_options(x);
  out.interval = glue::choice<IntervalKind>(x["interval"], {{"robust", IntervalKind::robust},
                                                            {"bootstrap", IntervalKind::bootstrap},
                                                            {"none", IntervalKind::none}});
  out.replicates = x["replicates"];
  out.conf_level = x["conf_level"];
  out.margin = Rcpp::as<double>(x["margin"]);
  return out;
}

// Fields of `x`: cases, runs, seed, first, threads; estimators, each a `setup` of core_estimator()
// with interval ("none", "bootstrap" or "robust"), replicates, conf_level, margin; bootstrap_seeds (two
// words per run, if there are replicates).
fallible::StudyOptions study_options(const Rcpp::List& x) {
  fallible::StudyOptions out;
  out.cases = Rcpp::as<std::size_t>(x["cases"]);
  out.runs = Rcpp::as<std::size_t>(x["runs"]);
  out.seed = glue::seed(x["seed"]);
  out.first = static_cast<std::uint64_t>(Rcpp::as<double>(x["first"]));
  out.threads = x["threads"];
  for (const Rcpp::List estimator : Rcpp::List(x["estimators"])) {
    out.estimators.push_back(study_estimator(estimator));
  }
  const Rcpp::IntegerMatrix words = x["bootstrap_seeds"];
  for (int run = 0; run < words.ncol(); ++run) {
    const Rcpp::IntegerVector seed = words(Rcpp::_, run);
    out.bootstrap_seeds.push_back(glue::seed(seed));
  }
  return out;
}

}  // namespace

// Runs x systems, and per estimator a list with the same, system by system.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_study(Rcpp::List design, Rcpp::List options, Rcpp::Function tick) {
  const fallible::Design settings = glue::design(design);
  const fallible::StudyOptions study = study_options(options);
  const auto runs = glue::interruptible(
      [&] { return fallible::run_study(settings, study, glue::host(tick)); });

  const int n = static_cast<int>(runs.size()), systems = static_cast<int>(settings.shown());
  Rcpp::CharacterVector identified(n);
  Rcpp::NumericVector agreement(n), kappa(n), rater_accuracy(n);
  Rcpp::NumericMatrix expected(n, systems), sample(n, systems);
  for (int r = 0; r < n; ++r) {
    identified[r] = fallible::name(runs[r].fit.identified);
    agreement[r] = runs[r].fit.agreement;
    kappa[r] = runs[r].fit.kappa;
    rater_accuracy[r] = runs[r].fit.rater_accuracy;
    for (int s = 0; s < systems; ++s) {
      expected(r, s) = runs[r].expected[s];
      sample(r, s) = runs[r].sample[s];
    }
  }
  Rcpp::List estimators;
  for (std::size_t e = 0; e < study.estimators.size(); ++e) {
    Rcpp::NumericMatrix estimate(n, systems);
    Rcpp::LogicalVector parameters(n);
    Rcpp::CharacterVector identifiable = Rcpp::clone(identified);
    for (int r = 0; r < n; ++r) {
      const fallible::StudyEstimate& of = runs[r].estimates[e];
      parameters[r] = of.identified;
      if (of.identifiable == fallible::Identifiable::yes) identifiable[r] = "yes";
      if (of.identifiable == fallible::Identifiable::unrelated) identifiable[r] = "unrelated";
      if (of.identifiable == fallible::Identifiable::unequal) identifiable[r] = "unequal";
    }
    std::vector<fallible::Interval> interval;
    for (int s = 0; s < systems; ++s) {
      for (int r = 0; r < n; ++r) {
        estimate(r, s) = runs[r].estimates[e].estimate[s];
        interval.push_back(runs[r].estimates[e].interval[s]);
      }
    }
    estimators.push_back(Rcpp::List::create(Rcpp::Named("estimate") = estimate,
                                            Rcpp::Named("interval") = glue::intervals(interval),
                                            Rcpp::Named("identifiable") = identifiable,
                                            Rcpp::Named("identified") = parameters));
  }
  return Rcpp::List::create(
      Rcpp::Named("identified") = identified, Rcpp::Named("agreement") = agreement,
      Rcpp::Named("kappa") = kappa, Rcpp::Named("rater_accuracy") = rater_accuracy,
      Rcpp::Named("expected") = expected, Rcpp::Named("sample") = sample,
      Rcpp::Named("estimators") = estimators);
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_run_seeds(Rcpp::IntegerVector seed, double first, int runs) {
  Rcpp::IntegerVector out(runs);
  for (int r = 0; r < runs; ++r) {
    out[r] = fallible::run_seed(glue::seed(seed), static_cast<std::uint64_t>(first) + r);
  }
  return out;
}
