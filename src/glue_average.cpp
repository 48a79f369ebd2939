// Accuracy averaged over models.
#include <RcppEigen.h>

#include "core/average.hpp"
#include "glue.h"

namespace {

Rcpp::DataFrame member_table(const std::vector<fallible::AverageMember>& members) {
  const R_xlen_t n = static_cast<R_xlen_t>(members.size());
  Rcpp::CharacterVector accuracy(n), errors(n);
  Rcpp::NumericMatrix value(n, 8);
  for (R_xlen_t i = 0; i < n; ++i) {
    const fallible::AverageMember& member = members[i];
    accuracy[i] = member.by_rater ? "rater" : "common";
    errors[i] = member.own_matrices        ? "matrix"
                : member.concentration > 0 ? "own"
                : member.distance          ? "distance"
                                           : "uniform";
    value(i, 0) = member.shift;
    value(i, 1) = member.concentration > 0 ? member.concentration : R_NaN;
    value(i, 2) = member.log_prior;
    value(i, 3) = member.log_evidence;
    value(i, 4) = member.weight;
    value(i, 5) = member.estimate;
    value(i, 6) = member.std_error;
    value(i, 7) = member.rater_accuracy;
  }
  const auto column = [&](int j) { return Rcpp::NumericVector(value(Rcpp::_, j)); };
  return Rcpp::DataFrame::create(
      Rcpp::Named("accuracy") = accuracy, Rcpp::Named("errors") = errors,
      Rcpp::Named("difficulty") = column(0), Rcpp::Named("concentration") = column(1),
      Rcpp::Named("log_prior") = column(2), Rcpp::Named("log_evidence") = column(3),
      Rcpp::Named("weight") = column(4), Rcpp::Named("estimate") = column(5),
      Rcpp::Named("std.error") = column(6), Rcpp::Named("rater_accuracy") = column(7));
}

Rcpp::List system_list(const std::vector<fallible::AverageAccuracy>& systems, int categories) {
  Rcpp::List out;
  for (const fallible::AverageAccuracy& system : systems) {
    out.push_back(Rcpp::List::create(
        Rcpp::Named("estimate") = system.estimate, Rcpp::Named("shared") = system.shared,
        Rcpp::Named("std.error") = system.std_error,
        Rcpp::Named("rater_error") = system.rater_error,
        Rcpp::Named("simple_weight") = system.simple_weight,
        Rcpp::Named("members") = member_table(system.members),
        Rcpp::Named("posterior") = glue::by_row(system.posterior, categories)));
  }
  return out;
}

}  // namespace

// `systems` has a list per system, `replicates` a column; `known` has the true category of each
// pattern, or is empty. `tick` is told of five fits per system (three, if there are two
// categories), then `resampled` of replicates.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_average(Rcpp::List patterns, Rcpp::NumericVector weight,
                        Rcpp::IntegerVector known, Rcpp::List options, Rcpp::Function tick,
                        Rcpp::Function resampled) {
  const auto view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  const auto bootstrap = glue::bootstrap_options(options);
  return glue::interruptible([&] {
    const fallible::Average average(view, weights, Rcpp::as<std::vector<int>>(known),
                                    bootstrap.threads, glue::host(tick));
    const auto replicates =
        fallible::bootstrap_average(average, view, weights, bootstrap, glue::host(resampled));
    return Rcpp::List::create(
        Rcpp::Named("systems") = system_list(average.systems(), view.categories),
        Rcpp::Named("replicates") =
            Rcpp::NumericMatrix(bootstrap.replicates, view.systems, replicates.begin()));
  });
}
