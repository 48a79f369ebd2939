#include "latent_accuracy.hpp"

#include <cmath>
#include <limits>

#include "latent_pairs.hpp"

namespace fallible {

LatentAccuracy::LatentAccuracy(const PatternView& patterns, const std::vector<double>& weight,
                               const Known& known, const LatentAccuracyOptions& options)
    : patterns_(patterns), options_(options), known_truth_(known.truth) {
  const bool shared = options.dependence == Dependence::shared;
  const int fits = shared ? 1 : patterns.systems;
  for (int i = 0; i < fits; ++i) {
    rows_.push_back(latent_rows(patterns, weight, shared ? -1 : i, known));
    const LatentClass model(rows_.back(), options.model, options.prior);
    const LatentFit found = fit(rows_.back(), model, nullptr);
    fitted_.push_back(found.x);
    converged_ = converged_ && found.converged;
    identified_ = identified_ && is_identified(rows_.back(), options.model, options.prior,
                                               options.fitting);
  }
  for (int s = 0; s < patterns.systems; ++s) {
    const int i = fit_of(s);
    const LatentClass model(rows_[i], options.model, options.prior);
    estimate_.push_back(mean_posterior(rows_[i], model, fitted_[i], weight, s));
  }
}

LatentFit LatentAccuracy::fit(const LatentRows& rows, const LatentClass& model,
                              const Eigen::VectorXd* start) const {
  const OptimiserOptions& how = options_.optimiser;
  if (options_.fitting == Fitting::pairs) {
    const PairFrequencies pairs = pair_frequencies(rows, options_.model);
    return start ? fit_pairs(model, pairs, *start, how) : fit_pairs(model, pairs, how);
  }
  return start ? fit_latent(model, *start, how) : fit_latent(model, how);
}

// With a weak prior the system has been right once and wrong once before.
double LatentAccuracy::mean_posterior(const LatentRows& rows, const LatentClass& model,
                                      const Eigen::VectorXd& x,
                                      const std::vector<double>& weight, int system) const {
  const auto posterior = model.posterior(x);
  double right = 0, cases = 0;
  for (int p = 0; p < patterns_.patterns; ++p) {
    const int answer = patterns_.answer_of(p, system);
    if (answer < 1 || weight[p] == 0 || !is_judged(patterns_, known_truth_, p)) continue;
    cases += weight[p];
    right += weight[p] * posterior[static_cast<std::size_t>(rows.of_pattern[p]) *
                                   rows.categories + answer - 1];
  }
  if (cases == 0) return std::numeric_limits<double>::quiet_NaN();
  const bool before = options_.dependence == Dependence::joint && !options_.prior.none;
  return (right + before) / (cases + 2 * before);
}

std::vector<double> LatentAccuracy::posterior(int system) const {
  const int i = fit_of(system);
  const LatentClass model(rows_[i], options_.model, options_.prior);
  return by_pattern(rows_[i], model.posterior(fitted_[i]));
}

LatentAccuracy::Refit LatentAccuracy::refit(const std::vector<double>& weight) const {
  Refit out{rows_, {}};
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    LatentRows& rows = out.rows[i];
    rows.weight.assign(rows.weight.size(), 0.0);
    for (int p = 0; p < patterns_.patterns; ++p) {
      if (rows.of_pattern[p] >= 0) rows.weight[rows.of_pattern[p]] += weight[p];
    }
    const LatentClass model(rows, options_.model, options_.prior);
    out.fitted.push_back(fit(rows, model, &fitted_[i]).x);
  }
  return out;
}

std::vector<double> LatentAccuracy::with_weights(const std::vector<double>& weight) const {
  std::vector<double> out;
  const Refit now = refit(weight);
  for (int s = 0; s < patterns_.systems; ++s) {
    const int i = fit_of(s);
    const LatentClass model(now.rows[i], options_.model, options_.prior);
    out.push_back(mean_posterior(now.rows[i], model, now.fitted[i], weight, s));
  }
  return out;
}

std::vector<double> LatentAccuracy::counts_with_weights(const std::vector<double>& weight) const {
  const Refit now = refit(weight);
  const int N = patterns_.categories;
  std::vector<double> out;
  for (int s = 0; s < patterns_.systems; ++s) {
    const int i = fit_of(s);
    const auto posterior = LatentClass(now.rows[i], options_.model, options_.prior)
                               .posterior(now.fitted[i]);
    std::vector<double> counts(static_cast<std::size_t>(N) * N, 0.0);
    for (int p = 0; p < patterns_.patterns; ++p) {
      const int answer = patterns_.answer_of(p, s);
      if (answer < 1 || weight[p] == 0 || !is_judged(patterns_, known_truth_, p)) continue;
      const double* of = &posterior[static_cast<std::size_t>(now.rows[i].of_pattern[p]) * N];
      for (int k = 0; k < N; ++k) counts[k * N + answer - 1] += weight[p] * of[k];
    }
    out.insert(out.end(), counts.begin(), counts.end());
  }
  return out;
}

std::vector<double> bootstrap_latent_accuracy(const LatentAccuracy& accuracy,
                                              const PatternView& patterns,
                                              const std::vector<double>& weight,
                                              const BootstrapOptions& options, const Host& host) {
  return bootstrap_patterns(
      patterns, accuracy.known_truth(), weight, patterns.systems,
      [&](const std::vector<double>& w) { return accuracy.with_weights(w); }, options, host);
}

std::vector<double> bootstrap_latent_counts(const LatentAccuracy& accuracy,
                                            const PatternView& patterns,
                                            const std::vector<double>& weight,
                                            const BootstrapOptions& options, const Host& host) {
  return bootstrap_patterns(
      patterns, accuracy.known_truth(), weight,
      patterns.systems * patterns.categories * patterns.categories,
      [&](const std::vector<double>& w) { return accuracy.counts_with_weights(w); }, options, host);
}

}  // namespace fallible
