// Accuracy averaged over models.
#include <RcppEigen.h>

#include "core/average.hpp"
#include "core/latent_accuracy.hpp"
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

}  // namespace

// One list per system. `known` has the true category of each pattern, or is empty; `tick` is told of
// five fits per system (three, if there are two categories).
// [[Rcpp::export(rng = false)]]
Rcpp::List core_average(Rcpp::List patterns, Rcpp::NumericVector weight,
                        Rcpp::IntegerVector known, int threads, Rcpp::Function tick) {
  const auto view = glue::view(patterns);
  const auto systems = glue::interruptible([&] {
    return fallible::average_accuracy(view, glue::doubles(weight),
                                      Rcpp::as<std::vector<int>>(known), threads,
                                      glue::host(tick));
  });
  Rcpp::List out;
  for (const fallible::AverageAccuracy& system : systems) {
    out.push_back(Rcpp::List::create(
        Rcpp::Named("estimate") = system.estimate, Rcpp::Named("shared") = system.shared,
        Rcpp::Named("std.error") = system.std_error,
        Rcpp::Named("rater_error") = system.rater_error,
        Rcpp::Named("simple_weight") = system.simple_weight,
        Rcpp::Named("members") = member_table(system.members),
        Rcpp::Named("posterior") = glue::by_row(system.posterior, view.categories)));
  }
  return out;
}

// Replicates x systems of a bootstrap in which all models are fitted and weighed anew.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_average_replicates(Rcpp::List patterns, Rcpp::NumericVector weight,
                                            Rcpp::List resampling, Rcpp::Function tick) {
  const auto view = glue::view(patterns);
  const auto bootstrap = glue::bootstrap_options(resampling);
  const auto estimates = [&](const std::vector<double>& w) {
    std::vector<double> out;
    for (const auto& system : fallible::average_accuracy(view, w, {}, 1, fallible::Host())) {
      out.push_back(system.estimate);
    }
    return out;
  };
  const auto replicates = glue::interruptible([&] {
    return fallible::bootstrap_patterns(view, glue::doubles(weight), view.systems, estimates,
                                        bootstrap, glue::host(tick));
  });
  return Rcpp::NumericMatrix(bootstrap.replicates, view.systems, replicates.begin());
}
