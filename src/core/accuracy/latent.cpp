// Accuracy under latent class models, at the two ends of what system and raters may have in common.
#include <utility>

#include "../base/special.hpp"
#include "../model/identified.hpp"
#include "../model/pooled.hpp"
#include "estimator.hpp"
#include "profile_interval.hpp"

namespace fallible {

namespace {

// One fit of the raters alone, or one joined by each system.
class LatentEstimator : public Estimator {
 public:
  LatentEstimator(const Ratings& ratings, const EstimatorOptions& options);

  std::vector<double> posterior(int system) const override;
  std::vector<double> with_weights(const std::vector<double>& weight) const override;
  std::vector<double> counts_with_weights(const std::vector<double>& weight) const override;
  std::size_t counts() const override {
    const std::size_t N = ratings_.patterns.categories;
    return systems_.size() * N * N;
  }

 private:
  struct Fitted {
    LatentRows rows;
    Eigen::VectorXd x;  // empty before it is fitted
    LatentPrior prior;
  };

  bool shared() const { return options_.method == Method::shared; }
  const Fitted& of(int system, const std::vector<Fitted>& all) const {
    return all[shared() ? 0 : system];
  }
  LatentClass model(const Fitted& of) const {
    return LatentClass(of.rows, options_.model, of.prior);
  }
  LatentFit fit(const Fitted& of) const {
    return fit_latent(model(of), of.x, options_.optimiser, options_.fitting);
  }
  // To other weights of patterns, from where the fit to the data ended.
  std::vector<Fitted> refit(const std::vector<double>& weight) const;
  double accuracy(int system, const Fitted& fitted, const std::vector<double>& weight) const;

  EstimatorOptions options_;
  std::vector<Fitted> fitted_;
  // The same for replicates, with fewer rows where raters are exchangeable.
  std::vector<Fitted> resampled_;
};

LatentEstimator::LatentEstimator(const Ratings& ratings, const EstimatorOptions& options)
    : Estimator(ratings, pattern_cells(ratings)), options_(options) {
  const int systems = ratings.patterns.systems;
  const bool along_profile =
      options.deviance > 0 && !shared() && options.fitting == Fitting::likelihood;
  const bool pooled = options.prior.pooled;
  PooledFit panel;
  if (pooled) {
    panel = fit_pooled(latent_rows(ratings.patterns, ratings.weight, -1, ratings.known), {});
    converged_ = panel.converged;
  }
  for (int i = 0; i < (shared() ? 1 : systems); ++i) {
    Fitted one;
    one.rows = latent_rows(ratings.patterns, ratings.weight, shared() ? -1 : i, ratings.known);
    one.prior = pooled ? given_centre(options.prior, panel, one.rows) : options.prior;
    const LatentFit found =
        along_profile ? profile_interval(model(one), options.optimiser, options.deviance).top
                      : fit(one);
    one.x = found.x;
    converged_ = converged_ && found.converged;
    identified_ =
        identified_ && identified_judges(one.rows, options.model, one.prior, options.fitting).model;
    const bool exchangeable = !options.model.by_rater && ratings.known.matrix.empty() &&
                              options.fitting == Fitting::likelihood;
    resampled_.push_back(one);
    if (exchangeable) resampled_.back().rows = regardless_of_rater(one.rows).rows;
    fitted_.push_back(std::move(one));
  }
  for (int s = 0; identified_ && s < systems; ++s) {
    systems_[s].estimate = accuracy(s, of(s, fitted_), ratings.weight);
  }
}

std::vector<LatentEstimator::Fitted> LatentEstimator::refit(
    const std::vector<double>& weight) const {
  std::vector<Fitted> out = resampled_;
  for (Fitted& one : out) {
    one.rows.weight = row_weights(one.rows.of_pattern, weight, one.rows.size());
    one.x = fit(one).x;
  }
  return out;
}

// With a weak prior the system has been right once and wrong once before.
double LatentEstimator::accuracy(int system, const Fitted& fitted,
                                 const std::vector<double>& weight) const {
  const RightAnswers of(ratings_, weight, system, fitted.rows, model(fitted).posterior(fitted.x));
  if (of.cases == 0) return not_a_number;
  const double before = shared() || options_.prior.none ? 0 : 1;
  return (of.right + before) / (of.cases + 2 * before);
}

std::vector<double> LatentEstimator::posterior(int system) const {
  const Fitted& fitted = of(system, fitted_);
  return by_pattern(fitted.rows, model(fitted).posterior(fitted.x));
}

std::vector<double> LatentEstimator::with_weights(const std::vector<double>& weight) const {
  const std::vector<double> now = of_patterns(weight);
  const std::vector<Fitted> again = refit(now);
  std::vector<double> out;
  for (int s = 0; s < ratings_.patterns.systems; ++s) out.push_back(accuracy(s, of(s, again), now));
  return out;
}

std::vector<double> LatentEstimator::counts_with_weights(const std::vector<double>& weight) const {
  const std::vector<double> now = of_patterns(weight);
  const std::vector<Fitted> again = refit(now);
  std::vector<double> out;
  for (int s = 0; s < ratings_.patterns.systems; ++s) {
    const Fitted& fitted = of(s, again);
    const auto found =
        answer_counts(ratings_, now, s, fitted.rows, model(fitted).posterior(fitted.x));
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

}  // namespace

std::unique_ptr<Estimator> make_latent(const Ratings& ratings, const EstimatorOptions& options) {
  return std::make_unique<LatentEstimator>(ratings, options);
}

}  // namespace fallible
