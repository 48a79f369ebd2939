// Methods joint and shared: accuracy under one latent class model. Method joint assumes that the
// system's errors are independent of the raters' errors. Method shared assumes that the system
// shares the raters' errors.
#include <utility>

#include "../base/special.hpp"
#include "../model/identified.hpp"
#include "../model/pooled.hpp"
#include "estimator.hpp"
#include "profile_interval.hpp"

namespace fallible {

namespace {

// Method shared has one fit of the raters for all systems. Method joint has one fit per system, in
// which the system is one more rater.
class LatentEstimator : public Estimator {
 public:
  LatentEstimator(const Ratings& ratings, const EstimatorOptions& options)
      : Estimator(ratings, pattern_cells(ratings)), options_(options) {}

  void fit_systems() {
    const bool likelihood = options_.fitting == Fitting::likelihood, pooled = options_.prior.pooled;
    const bool uses_profile = options_.deviance > 0 && !is_shared() && likelihood;
    const bool is_exchangeable =
        !options_.model.separate_raters && ratings_.known.matrix.empty() && likelihood;
    PooledFit rater_fit;  // fit of the raters, only with a pooled prior
    if (pooled) {
      rater_fit =
          fit_pooled(latent_rows(ratings_.patterns, ratings_.weight, -1, ratings_.known), {});
      converged_ = rater_fit.converged;
    }
    const int n_systems = ratings_.patterns.systems;
    for (int system = 0; system < (is_shared() ? 1 : n_systems); ++system) {
      FittedModel fitted;
      const bool is_judge = !is_shared() && !gives_one_answer(ratings_, system);  // see JointData
      if (!is_shared()) fitted.is_used = patterns_to_fit(ratings_, system);
      fitted.rows = latent_rows(ratings_.patterns, mask_weights(ratings_.weight, fitted.is_used),
                                is_judge ? system : -1, ratings_.known);
      fitted.prior = pooled ? given_centre(options_.prior, rater_fit, fitted.rows) : options_.prior;
      const LatentFit latent_fit =
          uses_profile && is_judge
              ? profile_interval(model(fitted), options_.optimiser, options_.deviance).best_fit
              : fit(fitted, true);
      fitted.x = latent_fit.x;
      converged_ = converged_ && latent_fit.converged;
      // If a system always gives the same answer, the model is fitted only to the cases that it
      // answers, which may be too few to identify the model. Because `identified_` is about all
      // systems, identification is then checked for the raters only, with all cases.
      const LatentRows rows_to_identify =
          is_judge || is_shared()
              ? fitted.rows
              : latent_rows(ratings_.patterns, ratings_.weight, -1, ratings_.known);
      identified_ =
          identified_ &&
          identified_judges(rows_to_identify, options_.model, fitted.prior, options_.fitting).model;
      models_to_refit_.push_back(fitted);
      if (is_exchangeable) models_to_refit_.back().rows = merge_raters(fitted.rows).rows;
      fitted_models_.push_back(std::move(fitted));
    }
    for (int s = 0; identified_ && s < n_systems; ++s) {
      systems_[s].estimate = accuracy(s, fitted_models_[is_shared() ? 0 : s], ratings_.weight);
    }
  }

  std::vector<double> posterior(int system) const override {
    const FittedModel& fitted = fitted_models_[is_shared() ? 0 : system];
    return copy_to_patterns(fitted.rows, model(fitted).posterior(fitted.x));
  }

  std::vector<double> estimate_with_weights(const std::vector<double>& weight) const override {
    std::vector<double> estimates;
    refit(weight, [&](int s, const FittedModel& fitted, const std::vector<double>& pattern_weight) {
      estimates.push_back(accuracy(s, fitted, pattern_weight));
    });
    return estimates;
  }

  std::vector<double> counts_with_weights(const std::vector<double>& weight) const override {
    std::vector<double> counts;
    refit(weight, [&](int s, const FittedModel& fitted, const std::vector<double>& pattern_weight) {
      const auto system_counts = answer_counts(ratings_, pattern_weight, s, fitted.rows,
                                               model(fitted).posterior(fitted.x));
      counts.insert(counts.end(), system_counts.begin(), system_counts.end());
    });
    return counts;
  }

  std::size_t n_counts() const override {
    const std::size_t N = ratings_.patterns.categories;
    return systems_.size() * N * N;
  }

 private:
  // The model of one system (or of the raters), with its data and fit.
  struct FittedModel {
    std::vector<bool> is_used;  // see patterns_to_fit()
    LatentRows rows;
    LatentPrior prior;
    Eigen::VectorXd x;  // parameters; empty before the fit
  };

  bool is_shared() const { return options_.method == Method::shared; }
  LatentClass model(const FittedModel& fitted) const {
    return LatentClass(fitted.rows, options_.model, fitted.prior);
  }
  LatentFit fit(const FittedModel& fitted, bool polished = false) const {
    return fit_latent(model(fitted), fitted.x, options_.optimiser, options_.fitting, polished);
  }

  // Refits the models to other weights of the cells. Starts where the fits to the data ended. Then
  // calls visit(system, its fit, weights of the patterns).
  template <class Visit>
  void refit(const std::vector<double>& weight, const Visit& visit) const {
    const std::vector<double> pattern_weight = expand_weights(weight);
    std::vector<FittedModel> refitted = models_to_refit_;
    for (FittedModel& fitted : refitted) {
      fitted.rows.weight =
          row_weights(fitted.rows.row_of_pattern, mask_weights(pattern_weight, fitted.is_used),
                      fitted.rows.size());
      fitted.x = fit(fitted).x;
    }
    for (int s = 0; s < ratings_.patterns.systems; ++s)
      visit(s, refitted[is_shared() ? 0 : s], pattern_weight);
  }

  // Accuracy of a system: mean posterior probability of its answers. With a prior, one right and
  // one wrong answer are added for method joint.
  double accuracy(int system, const FittedModel& fitted, const std::vector<double>& weight) const {
    const RightAnswers answers(ratings_, weight, system, fitted.rows,
                               model(fitted).posterior(fitted.x));
    if (answers.cases == 0) return not_a_number;
    const double prior_answers = is_shared() || options_.prior.none ? 0 : 1;
    return (answers.right + prior_answers) / (answers.cases + 2 * prior_answers);
  }

  EstimatorOptions options_;
  std::vector<FittedModel> fitted_models_;
  // Fits that estimate_with_weights() refits. If raters are exchangeable, their rows are merged, so
  // that refits are faster.
  std::vector<FittedModel> models_to_refit_;
};

}  // namespace

std::unique_ptr<Estimator> make_latent(const Ratings& ratings, const EstimatorOptions& options) {
  auto estimator = std::make_unique<LatentEstimator>(ratings, options);
  estimator->fit_systems();
  return estimator;
}

}  // namespace fallible
