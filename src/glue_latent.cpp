// Latent class models.
#include <RcppEigen.h>

#include <string>

#include "core/latent_accuracy.hpp"
#include "core/latent_profile.hpp"
#include "glue.h"

namespace {

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

}  // namespace

// `system` from 0 joins the raters, -1 is none; `known` has the true category of each pattern, or is
// empty. Confusion matrices are units x truths x ratings, posteriors patterns x categories.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_fit_latent(Rcpp::List patterns, Rcpp::NumericVector weight, int system,
                           Rcpp::IntegerVector known, Rcpp::List model, int iterations) {
  const auto rows = fallible::latent_rows(glue::view(patterns), glue::doubles(weight), system,
                                          Rcpp::as<std::vector<int>>(known));
  const auto settings = latent_model(model);
  const auto prior = latent_prior(model["prior"]);
  const bool identified = fallible::is_identified(rows, settings, prior);
  const fallible::LatentClass latent(rows, settings, prior);
  fallible::OptimiserOptions options;
  options.iterations = iterations;
  const fallible::LatentFit fit = fallible::fit_latent(latent, options);

  const int N = rows.categories, P = static_cast<int>(rows.of_pattern.size());
  Rcpp::NumericVector confusion(Rcpp::Dimension(rows.units, N, N));
  for (int u = 0; u < rows.units; ++u) {
    const auto matrix = latent.confusion(fit.x, u);
    for (int k = 0; k < N; ++k) {
      for (int l = 0; l < N; ++l) confusion[u + rows.units * (k + N * l)] = matrix[k * N + l];
    }
  }
  const auto of_row = latent.posterior(fit.x);
  const auto base_rates = latent.base_rates(fit.x);
  Rcpp::NumericMatrix posterior(P, N);
  for (int p = 0; p < P; ++p) {
    for (int k = 0; k < N; ++k) {
      posterior(p, k) = rows.of_pattern[p] < 0 ? base_rates[k] : of_row[rows.of_pattern[p] * N + k];
    }
  }
  return Rcpp::List::create(
      Rcpp::Named("theta") = fit.x, Rcpp::Named("log_likelihood") = fit.log_likelihood,
      Rcpp::Named("log_posterior") = fit.log_posterior,
      Rcpp::Named("iterations") = fit.iterations, Rcpp::Named("converged") = fit.converged,
      Rcpp::Named("parameters") = latent.free_parameters(),
      Rcpp::Named("identified") = identified,
      Rcpp::Named("base_rates") = base_rates, Rcpp::Named("confusion") = confusion,
      Rcpp::Named("naturals") = latent.naturals(fit.x),
      Rcpp::Named("covariance") = fallible::natural_covariance(latent, fit.x),
      Rcpp::Named("posterior") = posterior);
}

namespace {

fallible::LatentAccuracyOptions accuracy_settings(const Rcpp::List& model,
                                                  const std::string& method) {
  fallible::LatentAccuracyOptions out;
  out.model = latent_model(model);
  out.prior = latent_prior(model["prior"]);
  out.dependence =
      method == "shared" ? fallible::Dependence::shared : fallible::Dependence::joint;
  return out;
}

}  // namespace

// Estimates by system, and replicates x systems (none, if there shall be no replicates).
// [[Rcpp::export(rng = false)]]
Rcpp::List core_latent_accuracy(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List model,
                                std::string method, Rcpp::List resampling, Rcpp::Function tick) {
  const auto view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  const fallible::LatentAccuracy accuracy(view, weights, accuracy_settings(model, method));
  const auto bootstrap = glue::bootstrap_options(resampling);
  const auto replicates = glue::interruptible([&] {
    return fallible::bootstrap_patterns(
        view, weights, view.systems,
        [&](const std::vector<double>& w) { return accuracy.with_weights(w); }, bootstrap,
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
                                       Rcpp::List model, std::string method,
                                       Rcpp::List resampling, Rcpp::Function tick) {
  const auto view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  const fallible::LatentAccuracy accuracy(view, weights, accuracy_settings(model, method));
  const auto bootstrap = glue::bootstrap_options(resampling);
  const int numbers = view.systems * view.categories * view.categories;
  const auto replicates = glue::interruptible([&] {
    return fallible::bootstrap_patterns(
        view, weights, numbers,
        [&](const std::vector<double>& w) { return accuracy.counts_with_weights(w); }, bootstrap,
        glue::host(tick));
  });
  return Rcpp::NumericMatrix(bootstrap.replicates, numbers, replicates.begin());
}

// For each system the ends of the profile, and whether all fits converged.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_latent_profile(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List model,
                               double deviance, int threads, Rcpp::Function tick) {
  const auto view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  const auto settings = latent_model(model);
  const auto prior = latent_prior(model["prior"]);
  std::vector<fallible::ProfileInterval> found(view.systems);
  glue::interruptible([&] {
    fallible::for_each_item(found.size(), threads, glue::host(tick), [&](std::size_t s) {
      const auto rows = fallible::latent_rows(view, weights, static_cast<int>(s), {});
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
