// Methods joint and shared: accuracy under one latent class model. The system's errors are
// independent of the raters' errors (joint), or all shared with them (shared).
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
    const bool uses_profile = options_.deviance > 0 && !shared() && likelihood;
    const bool is_exchangeable =
        !options_.model.by_rater && ratings_.known.matrix.empty() && likelihood;
    PooledFit panel;  // fit of the raters, only with a pooled prior
    if (pooled) {
      panel = fit_pooled(latent_rows(ratings_.patterns, ratings_.weight, -1, ratings_.known), {});
      converged_ = panel.converged;
    }
    const int systems = ratings_.patterns.systems;
    for (int i = 0; i < (shared() ? 1 : systems); ++i) {
      Fitted fitted;
      const bool is_judge = !shared() && !gives_one_answer(ratings_, i);  // see JointData
      if (!shared()) fitted.is_used = patterns_to_fit(ratings_, i);
      fitted.rows = latent_rows(ratings_.patterns, masked(ratings_.weight, fitted.is_used),
                                is_judge ? i : -1, ratings_.known);
      fitted.prior = pooled ? given_centre(options_.prior, panel, fitted.rows) : options_.prior;
      const LatentFit latent_fit =
          uses_profile && is_judge
              ? profile_interval(model(fitted), options_.optimiser, options_.deviance).top
              : fit(fitted, true);
      fitted.x = latent_fit.x;
      converged_ = converged_ && latent_fit.converged;
      // A system that gives one answer may answer too few cases to identify a model. This must not
      // affect other systems. Identification is therefore checked for the model of the raters, with
      // all cases.
      const LatentRows to_identify =
          is_judge || shared()
              ? fitted.rows
              : latent_rows(ratings_.patterns, ratings_.weight, -1, ratings_.known);
      identified_ =
          identified_ &&
          identified_judges(to_identify, options_.model, fitted.prior, options_.fitting).model;
      resampled_.push_back(fitted);
      if (is_exchangeable) resampled_.back().rows = regardless_of_rater(fitted.rows).rows;
      fitted_.push_back(std::move(fitted));
    }
    for (int s = 0; identified_ && s < systems; ++s) {
      systems_[s].estimate = accuracy(s, fitted_[shared() ? 0 : s], ratings_.weight);
    }
  }

  std::vector<double> posterior(int system) const override {
    const Fitted& fitted = fitted_[shared() ? 0 : system];
    return by_pattern(fitted.rows, model(fitted).posterior(fitted.x));
  }

  std::vector<double> with_weights(const std::vector<double>& weight) const override {
    std::vector<double> out;
    refit(weight, [&](int s, const Fitted& fitted, const std::vector<double>& pattern_weight) {
      out.push_back(accuracy(s, fitted, pattern_weight));
    });
    return out;
  }

  std::vector<double> counts_with_weights(const std::vector<double>& weight) const override {
    std::vector<double> out;
    refit(weight, [&](int s, const Fitted& fitted, const std::vector<double>& pattern_weight) {
      const auto system_counts = answer_counts(ratings_, pattern_weight, s, fitted.rows,
                                               model(fitted).posterior(fitted.x));
      out.insert(out.end(), system_counts.begin(), system_counts.end());
    });
    return out;
  }

  std::size_t counts() const override {
    const std::size_t N = ratings_.patterns.categories;
    return systems_.size() * N * N;
  }

 private:
  // The model of one system (or of the raters), with its data and fit.
  struct Fitted {
    std::vector<bool> is_used;  // see patterns_to_fit()
    LatentRows rows;
    LatentPrior prior;
    Eigen::VectorXd x;  // parameters; empty before the fit
  };

  bool shared() const { return options_.method == Method::shared; }
  LatentClass model(const Fitted& fitted) const {
    return LatentClass(fitted.rows, options_.model, fitted.prior);
  }
  LatentFit fit(const Fitted& fitted, bool polished = false) const {
    return fit_latent(model(fitted), fitted.x, options_.optimiser, options_.fitting, polished);
  }

  // Refits the models to other weights of the cells. Starts where the fits to the data ended. Then
  // calls visit(system, its fit, weights of the patterns).
  template <class Visit>
  void refit(const std::vector<double>& weight, const Visit& visit) const {
    const std::vector<double> pattern_weight = expand_weights(weight);
    std::vector<Fitted> refitted = resampled_;
    for (Fitted& fitted : refitted) {
      fitted.rows.weight = row_weights(fitted.rows.of_pattern,
                                       masked(pattern_weight, fitted.is_used), fitted.rows.size());
      fitted.x = fit(fitted).x;
    }
    for (int s = 0; s < ratings_.patterns.systems; ++s)
      visit(s, refitted[shared() ? 0 : s], pattern_weight);
  }

  // Accuracy of a system: mean posterior probability of its answers. With a prior, one right and
  // one wrong answer are added for method joint.
  double accuracy(int system, const Fitted& fitted, const std::vector<double>& weight) const {
    const RightAnswers answers(ratings_, weight, system, fitted.rows,
                               model(fitted).posterior(fitted.x));
    if (answers.cases == 0) return not_a_number;
    const double prior_answers = shared() || options_.prior.none ? 0 : 1;
    return (answers.right + prior_answers) / (answers.cases + 2 * prior_answers);
  }

  EstimatorOptions options_;
  std::vector<Fitted> fitted_;
  // Fits that with_weights() refits. If raters are exchangeable, their rows are merged, so that
  // refits are faster.
  std::vector<Fitted> resampled_;
};

}  // namespace

std::unique_ptr<Estimator> make_latent(const Ratings& ratings, const EstimatorOptions& options) {
  auto out = std::make_unique<LatentEstimator>(ratings, options);
  out->fit_systems();
  return out;
}

}  // namespace fallible
