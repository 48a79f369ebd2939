// Simulation studies with many panels: functions that R calls.
#include <RcppEigen.h>

#include <string>

#include "core/simulation/study.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace {

StudyEstimator study_estimator(const List& x) {
  StudyEstimator estimator;
  estimator.options = glue::estimator_options(x);
  estimator.interval =
      glue::choice<IntervalKind>(x["interval"], {{"robust", IntervalKind::robust},
                                                 {"bootstrap", IntervalKind::bootstrap},
                                                 {"none", IntervalKind::none}});
  estimator.replicates = x["replicates"];
  estimator.conf_level = x["conf_level"];
  estimator.margin = as<double>(x["margin"]);
  return estimator;
}

// Fields of `x`: cases (per panel), runs, seed, first (number of the first run), threads,
// estimators, and bootstrap_seeds (two integers per run, if there are replicates). Each estimator
// is a `setup` of core_estimator() with further fields: interval ("none", "bootstrap" or "robust"),
// replicates, conf_level and margin.
StudyOptions study_options(const List& x) {
  StudyOptions core_options;
  core_options.cases = as<std::size_t>(x["cases"]);
  core_options.runs = as<std::size_t>(x["runs"]);
  core_options.seed = glue::seed(x["seed"]);
  core_options.first = static_cast<std::uint64_t>(as<double>(x["first"]));
  core_options.threads = x["threads"];
  for (const List estimator : List(x["estimators"])) {
    core_options.estimators.push_back(study_estimator(estimator));
  }
  const IntegerMatrix words = x["bootstrap_seeds"];
  for (int run = 0; run < words.ncol(); ++run) {
    const IntegerVector seed = words(_, run);
    core_options.bootstrap_seeds.push_back(glue::seed(seed));
  }
  return core_options;
}

}  // namespace

// Runs a simulation study. Returns vectors with one element per run; the matrices `expected`
// (expected accuracies) and `sample` (shares of right answers in the panels), runs x systems; and
// `estimators`, a list with the estimates, intervals and identifiability of each estimator.
// [[Rcpp::export(rng = false)]]
List core_study(List design, List options, Function tick) {
  const Design settings = glue::design(design);
  const StudyOptions study = study_options(options);
  const auto runs =
      glue::interruptible([&] { return run_study(settings, study, glue::host(tick)); });

  const int n = static_cast<int>(runs.size()),
            systems = static_cast<int>(settings.visible_systems());
  CharacterVector identified(n);
  NumericVector agreement(n), kappa(n), rater_accuracy(n);
  NumericMatrix expected(n, systems), sample(n, systems);
  for (int r = 0; r < n; ++r) {
    identified[r] = name(runs[r].fit.identified);
    agreement[r] = runs[r].fit.agreement;
    kappa[r] = runs[r].fit.kappa;
    rater_accuracy[r] = runs[r].fit.rater_accuracy;
    for (int s = 0; s < systems; ++s) {
      expected(r, s) = runs[r].expected_accuracy[s];
      sample(r, s) = runs[r].panel_accuracy[s];
    }
  }
  List estimators;
  for (std::size_t e = 0; e < study.estimators.size(); ++e) {
    NumericMatrix estimate(n, systems);
    LogicalVector parameters(n);
    CharacterVector identifiable(n);
    NumericVector agreed(n);
    for (int r = 0; r < n; ++r) {
      const StudyEstimate& result = runs[r].estimates[e];
      parameters[r] = result.identified;
      agreed[r] = result.fit.agreement;
      identifiable[r] = name(result.fit.identified);
      if (result.identifiable == Identifiable::yes) identifiable[r] = "yes";
      if (result.identifiable == Identifiable::unrelated) identifiable[r] = "unrelated";
      if (result.identifiable == Identifiable::unequal) identifiable[r] = "unequal";
      if (result.identifiable == Identifiable::constant) identifiable[r] = "constant_raters";
    }
    std::vector<Interval> interval;
    for (int s = 0; s < systems; ++s) {
      for (int r = 0; r < n; ++r) {
        estimate(r, s) = runs[r].estimates[e].estimate[s];
        interval.push_back(runs[r].estimates[e].interval[s]);
      }
    }
    estimators.push_back(List::create(
        _["estimate"] = estimate, _["interval"] = glue::intervals(interval),
        _["identifiable"] = identifiable, _["identified"] = parameters, _["agreement"] = agreed));
  }
  return List::create(_["identified"] = identified, _["agreement"] = agreement, _["kappa"] = kappa,
                      _["rater_accuracy"] = rater_accuracy, _["expected"] = expected,
                      _["sample"] = sample, _["estimators"] = estimators);
}

// Returns a seed for each run of a study, see run_seed(). `first`: number of the first run.
// [[Rcpp::export(rng = false)]]
IntegerVector core_run_seeds(IntegerVector seed, double first, int runs) {
  IntegerVector seeds(runs);
  for (int r = 0; r < runs; ++r) {
    seeds[r] = run_seed(glue::seed(seed), static_cast<std::uint64_t>(first) + r);
  }
  return seeds;
}
