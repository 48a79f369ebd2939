// Latent class models.
#include <RcppEigen.h>

#include <string>

#include "core/latent_accuracy.hpp"
#include "core/latent_pairs.hpp"
#include "core/latent_profile.hpp"
#include "glue.h"

namespace glue {

fallible::LatentModel latent_model(const Rcpp::List& x) {
  using fallible::Errors;
  const std::string accuracy = x["accuracy"], errors = x["errors"], difficulty = x["difficulty"],
                    system = x["system"];
  fallible::LatentModel out;
  out.by_rater = accuracy == "rater";
  out.errors = errors == "uniform"    ? Errors::uniform
               : errors == "distance" ? Errors::distance
                                      : Errors::free;
  out.strata = difficulty == "strata";
  out.own = system == "own";
  return out;
}

fallible::LatentPrior latent_prior(const Rcpp::List& x) {
  fallible::LatentPrior out;
  out.none = x.size() == 0;
  if (out.none) return out;
  const Rcpp::NumericVector accuracy = x["accuracy"];
  out.base_rates = x["base_rates"];
  out.correct = accuracy[0];
  out.wrong = accuracy[1];
  out.spread = x["spread"];
  out.dispersion = x["dispersion"];
  out.difficulty = x["difficulty"];
  out.errors = x["errors"];
  return out;
}

fallible::LatentAccuracyOptions latent_options(const std::string& method,
                                               const Rcpp::List& model) {
  using fallible::Dependence;
  fallible::LatentAccuracyOptions out;
  out.model = latent_model(model);
  out.prior = latent_prior(model["prior"]);
  out.dependence = method == "shared" ? Dependence::shared : Dependence::joint;
  return out;
}

}  // namespace glue

namespace {

// truth: category of each pattern, or empty; raters: a matrix each, NULL where unknown, or empty.
fallible::Known latent_known(const Rcpp::List& x) {
  fallible::Known out;
  out.truth = Rcpp::as<std::vector<int>>(x["truth"]);
  const Rcpp::List raters = x["raters"];
  for (R_xlen_t j = 0; j < raters.size(); ++j) {
    out.matrix.emplace_back();
    if (Rf_isNull(raters[j])) continue;
    const Rcpp::NumericMatrix matrix = raters[j];
    for (int k = 0; k < matrix.nrow(); ++k) {
      for (int l = 0; l < matrix.ncol(); ++l) out.matrix.back().push_back(matrix(k, l));
    }
  }
  return out;
}

fallible::Fitting latent_fitting(const std::string& method) {
  return method == "pairs" ? fallible::Fitting::pairs : fallible::Fitting::likelihood;
}

fallible::LatentAccuracy latent_accuracy(const fallible::PatternView& patterns,
                                         const std::vector<double>& weight,
                                         const Rcpp::List& fitting, const std::string& method) {
  fallible::LatentAccuracyOptions options = glue::latent_options(method, fitting["model"]);
  options.fitting = latent_fitting(fitting["method"]);
  return fallible::LatentAccuracy(patterns, weight, latent_known(fitting["known"]), options);
}

// Patterns x categories; patterns without ratings have the base rates.
Rcpp::NumericMatrix posterior_of_patterns(const fallible::LatentClass& latent,
                                          const Eigen::VectorXd& x) {
  const fallible::LatentRows& rows = latent.rows();
  return glue::by_row(fallible::by_pattern(rows, latent.posterior(x), latent.base_rates(x)),
                      rows.categories);
}

}  // namespace

// `known`: see latent_known(); `method`: "likelihood" or "pairs". Confusion matrices are units x
// truths x ratings, posteriors patterns x categories.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_fit_latent(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List known,
                           Rcpp::List model, std::string method, int iterations) {
  const auto rows = fallible::latent_rows(glue::view(patterns), glue::doubles(weight), -1,
                                          latent_known(known));
  const auto settings = glue::latent_model(model);
  const auto prior = glue::latent_prior(model["prior"]);
  const auto fitting = latent_fitting(method);
  const bool identified = fallible::is_identified(rows, settings, prior, fitting);
  const fallible::LatentClass latent(rows, settings, prior);
  fallible::OptimiserOptions options;
  options.iterations = iterations;
  fallible::LatentFit fit;
  Eigen::MatrixXd covariance;
  if (fitting == fallible::Fitting::pairs) {
    const auto pairs = fallible::pair_frequencies(rows, settings);
    fit = fallible::fit_pairs(latent, pairs, options);
    covariance = fallible::pair_covariance(rows, settings, latent, pairs, fit.x);
  } else {
    fit = fallible::fit_latent(latent, options);
    covariance = fallible::natural_covariance(latent, fit.x);
  }

  const int N = rows.categories;
  Rcpp::NumericVector confusion(Rcpp::Dimension(rows.units, N, N));
  for (int u = 0; u < rows.units; ++u) {
    const auto matrix = latent.confusion(fit.x, u);
    for (int k = 0; k < N; ++k) {
      for (int l = 0; l < N; ++l) confusion[u + rows.units * (k + N * l)] = matrix[k * N + l];
    }
  }
  return Rcpp::List::create(
      Rcpp::Named("theta") = fit.x, Rcpp::Named("log_likelihood") = fit.log_likelihood,
      Rcpp::Named("log_posterior") = fit.log_posterior,
      Rcpp::Named("iterations") = fit.iterations, Rcpp::Named("converged") = fit.converged,
      Rcpp::Named("parameters") = latent.free_parameters(),
      Rcpp::Named("identified") = identified,
      Rcpp::Named("base_rates") = latent.base_rates(fit.x), Rcpp::Named("confusion") = confusion,
      Rcpp::Named("naturals") = latent.naturals(fit.x),
      Rcpp::Named("covariance") = covariance,
      Rcpp::Named("posterior") = posterior_of_patterns(latent, fit.x));
}

// Posteriors of any patterns of the same raters under parameters `theta`, and the probability of
// each rating: classes (category within stratum) x ratings x raters.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_latent_probabilities(Rcpp::List patterns, Rcpp::NumericVector weight,
                                     Rcpp::List known, Rcpp::List model,
                                     Rcpp::NumericVector theta) {
  const auto rows = fallible::latent_rows(glue::view(patterns), glue::doubles(weight), -1,
                                          latent_known(known));
  const fallible::LatentClass latent(rows, glue::latent_model(model),
                                     glue::latent_prior(model["prior"]));
  const Eigen::VectorXd x = Rcpp::as<Eigen::VectorXd>(theta);
  const auto law = latent.law(x);
  Rcpp::NumericVector probability(law.probability.begin(), law.probability.end());
  probability.attr("dim") = Rcpp::Dimension(law.classes, law.categories, rows.units);
  return Rcpp::List::create(
      Rcpp::Named("posterior") = posterior_of_patterns(latent, x),
      Rcpp::Named("probability") = probability);
}

// Estimates by system, and replicates x systems (none, if there shall be no replicates). `fitting`
// has known (see latent_known()), model, and method, "likelihood" or "pairs"; `method` is "joint"
// or "shared".
// [[Rcpp::export(rng = false)]]
Rcpp::List core_latent_accuracy(Rcpp::List patterns, Rcpp::NumericVector weight,
                                Rcpp::List fitting, std::string method, Rcpp::List resampling,
                                Rcpp::Function tick) {
  const auto view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  const fallible::LatentAccuracy accuracy = latent_accuracy(view, weights, fitting, method);
  const auto bootstrap = glue::bootstrap_options(resampling);
  const auto replicates = glue::interruptible([&] {
    return fallible::bootstrap_latent_accuracy(accuracy, view, weights, bootstrap,
                                               glue::host(tick));
  });
  Rcpp::List posteriors;
  for (int s = 0; s < view.systems; ++s) {
    posteriors.push_back(glue::by_row(accuracy.posterior(s), view.categories));
  }
  return Rcpp::List::create(
      Rcpp::Named("estimate") = accuracy.estimate(), Rcpp::Named("posterior") = posteriors,
      Rcpp::Named("identified") = accuracy.identified(),
      Rcpp::Named("converged") = accuracy.converged(),
      Rcpp::Named("replicates") =
          Rcpp::NumericMatrix(bootstrap.replicates, view.systems, replicates.begin()));
}

// Expected numbers of cases by truth and answer: replicates x (answers within truths within
// systems).
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_latent_counts(Rcpp::List patterns, Rcpp::NumericVector weight,
                                       Rcpp::List fitting, std::string method,
                                       Rcpp::List resampling, Rcpp::Function tick) {
  const auto view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  const fallible::LatentAccuracy accuracy = latent_accuracy(view, weights, fitting, method);
  const auto bootstrap = glue::bootstrap_options(resampling);
  const int numbers = view.systems * view.categories * view.categories;
  const auto replicates = glue::interruptible([&] {
    return fallible::bootstrap_latent_counts(accuracy, view, weights, bootstrap,
                                             glue::host(tick));
  });
  return Rcpp::NumericMatrix(bootstrap.replicates, numbers, replicates.begin());
}

// For each system the ends of the profile, and whether all fits converged.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_latent_profile(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List known,
                               Rcpp::List model, double deviance, int threads,
                               Rcpp::Function tick) {
  const auto view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  const auto settings = glue::latent_model(model);
  const auto prior = glue::latent_prior(model["prior"]);
  std::vector<fallible::ProfileInterval> found(view.systems);
  glue::interruptible([&] {
    fallible::for_each_item(found.size(), threads, glue::host(tick), [&](std::size_t s) {
      const auto rows =
          fallible::latent_rows(view, weights, static_cast<int>(s), latent_known(known));
      found[s] = fallible::profile_interval(fallible::LatentClass(rows, settings, prior),
                                            fallible::OptimiserOptions(), deviance);
    });
    return 0;
  });
  Rcpp::NumericVector low, high;
  Rcpp::LogicalVector converged;
  for (const auto& of : found) {
    low.push_back(of.low);
    high.push_back(of.high);
    converged.push_back(of.converged);
  }
  return Rcpp::List::create(Rcpp::Named("low") = low, Rcpp::Named("high") = high,
                            Rcpp::Named("converged") = converged);
}
