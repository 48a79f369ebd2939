#include "member_one_coin.hpp"

#include <cmath>

#include "../model/curvature.hpp"

namespace fallible {

namespace {

// Prior of the shift in accuracy between strata. Shift 0 has probability 1/3. The other shifts
// share 2/3, in proportion to a half-normal density with standard deviation `shift_sd`.
constexpr double shift_sd = 0.2;
constexpr double prior_of_shift_zero = 1.0 / 3;

// Returns options with a small tolerance. With a larger one, the last digits of estimates would
// depend on the order of the categories.
OptimiserOptions fine_options() {
  OptimiserOptions options;
  options.value_tolerance = 1e-14;
  return options;
}

double mean_rater_accuracy(const LatentClass& model, const Eigen::VectorXd& x) {
  double sum = 0;
  for (int u = 0; u < model.layout.rows.raters; ++u) sum += model.accuracy(x, u);
  return sum / model.layout.rows.raters;
}

}  // namespace

double OneCoin::log_prior(const OneCoinSettings& settings) {
  if (settings.shift == 0) return std::log(prior_of_shift_zero);
  const auto density = [](double d) { return std::exp(-0.5 * d * d / (shift_sd * shift_sd)); };
  double total = 0;
  for (const double d : shifts) total += d > 0 ? density(d) : 0;
  return std::log((1 - prior_of_shift_zero) * density(settings.shift) / total);
}

LatentModel OneCoin::model(const OneCoinSettings& settings) {
  LatentModel model;
  model.separate_raters = settings.separate_raters;
  model.errors = settings.distance ? Errors::distance : Errors::uniform;
  model.strata = settings.shift > 0;
  return model;
}

OneCoin::OneCoin(const OneCoinSettings& settings, const OneCoin* start)
    : Member({settings.separate_raters ? "rater" : "common",
              settings.distance ? "distance" : "uniform", settings.shift},
             log_prior(settings)),
      settings_(settings),
      start_(start) {}

OneCoin OneCoin::refitted(const JointData& data) const {
  OneCoin member = *this;
  member.start_ = this;
  member.fit(data, no_weight_limit);
  return member;
}

void OneCoin::fit(const JointData& data, double log_weight_limit) {
  const double shift = settings_.shift;
  const LatentClass latent(model_rows(data), model(settings_), LatentPrior(), {shift, nullptr});
  OptimiserOptions optimiser_options = fine_options();
  if (start_) {
    optimiser_options.useful_value = log_weight_limit - result_.log_prior - start_->log_volume_;
  }
  LatentFit latent_fit =
      fit_latent(latent, start_ ? start_->x_ : latent.start(), optimiser_options);
  x_ = std::move(latent_fit.x);
  log_posterior_ = latent_fit.value;
  has_ended_early_ = latent_fit.hopeless;
  // If the fit ended early, the weight of this member is negligible. The volume of the posterior,
  // which is slow to compute, is then copied from `start_`, the member from which the fit started.
  const Evidence evidence =
      has_ended_early_ ? Evidence{log_posterior_ + start_->log_volume_, start_->result_.std_error}
                       : laplace_evidence(latent, x_);
  log_volume_ = evidence.log_evidence - log_posterior_;
  result_.log_evidence = evidence.log_evidence;
  result_.std_error = evidence.std_error;
  result_.rater_accuracy = mean_rater_accuracy(latent, x_);
  // Raters must be better than chance also in difficult cases. Otherwise the member is ruled out.
  if (shift > 0 && result_.rater_accuracy - shift < 1.0 / data.rows().categories) rule_out();
  const std::vector<double> truth_posterior = posterior(data);
  result_.estimate = data.mean_posterior(truth_posterior);
  if (!data.rows().joined() && data.cases() > 0)
    result_.std_error = data.conditional_error(truth_posterior);
}

const LatentRows& OneCoin::model_rows(const JointData& data) const {
  return settings_.separate_raters ? data.rows() : data.exchangeable().rows;
}

std::vector<double> OneCoin::posterior(const JointData& data) const {
  const FixedValues fixed_values{settings_.shift, nullptr};
  auto row_posterior =
      LatentClass(model_rows(data), model(settings_), LatentPrior(), fixed_values).posterior(x_);
  return settings_.separate_raters ? row_posterior
                                   : data.exchangeable().copy_to_rows(row_posterior);
}

std::vector<double> one_coin_posterior(const LatentRows& rows, bool separate_raters) {
  LatentModel settings;
  settings.separate_raters = separate_raters;
  const auto fit_posterior = [&](const LatentRows& fitted_rows) {
    const LatentClass model(fitted_rows, settings, LatentPrior());
    return model.posterior(fit_latent(model, model.start(), fine_options()).x);
  };
  if (separate_raters) return fit_posterior(rows);
  const ExchangeableRows merged = merge_raters(rows);
  return merged.copy_to_rows(fit_posterior(merged.rows));
}

}  // namespace fallible
