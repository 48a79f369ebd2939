#include "average_joint.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "evidence.hpp"

namespace fallible {

namespace {

// Difficulty is a grid, since its posterior has cliffs where strata meet 0 and 1. Prior weights:
// a third for none, the rest by the half-normal density with standard deviation 0.2.
constexpr double shifts[] = {0, 0.1, 0.2, 0.3};
constexpr double shift_sd = 0.2;
constexpr double prior_of_none = 1.0 / 3;
constexpr double own_errors[] = {30, 8};  // concentrations, the prior shared equally
constexpr int crowd = 120;  // raters; more are left to the Dawid-Skene member
constexpr double negligible = 1e-8;  // weight

double log_prior_of_shift(double shift) {
  if (shift == 0) return std::log(prior_of_none);
  const auto density = [](double d) { return std::exp(-0.5 * d * d / (shift_sd * shift_sd)); };
  double total = 0;
  for (const double d : shifts) total += d > 0 ? density(d) : 0;
  return std::log((1 - prior_of_none) * density(shift) / total);
}

LatentModel model_of(const AverageMember& member) {
  LatentModel out;
  out.by_rater = member.by_rater;
  out.errors = member.distance ? Errors::distance : Errors::uniform;
  out.strata = member.shift > 0;
  return out;
}

double mean_rater_accuracy(const LatentClass& model, const Eigen::VectorXd& x) {
  double out = 0;
  for (int u = 0; u < model.rows().raters; ++u) out += model.accuracy(x, u);
  return out / model.rows().raters;
}

}  // namespace

std::vector<double> weigh(const std::vector<double>& log_evidence) {
  double most = -std::numeric_limits<double>::infinity(), total = 0;
  for (const double x : log_evidence) {
    if (!std::isnan(x)) most = std::max(most, x);
  }
  std::vector<double> out;
  for (const double x : log_evidence) {
    const double w = std::exp(x - most);
    out.push_back(w > negligible ? w : 0);
    total += out.back();
  }
  for (double& w : out) w /= total;
  return out;
}

void add_scaled(const std::vector<double>& x, double scale, std::vector<double>& to) {
  to.resize(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) to[i] += scale * x[i];
}

std::vector<double> one_coin_posterior(const LatentRows& rows, bool by_rater) {
  LatentModel settings;
  settings.by_rater = by_rater;
  const LatentClass model(rows, settings, LatentPrior());
  return model.posterior(fit_latent(model, model.start(), coarse_options()).x);
}

JointAverage::JointAverage(const PatternView& patterns, const std::vector<double>& weight,
                           const std::vector<int>& known, int system)
    : rows_(latent_rows(patterns, weight, system, Known{known, {}})), N_(rows_.categories) {
  answer_.assign(rows_.size(), -1);
  for (int p = 0; p < patterns.patterns; ++p) {
    const int answer = patterns.answer_of(p, system);
    // Where there is nothing but the system's answer it would be judged by itself.
    if (answer < 1 || !is_judged(patterns, known, p)) continue;
    answer_[rows_.of_pattern[p]] = answer - 1;
  }
  count_cases();
}

JointAverage JointAverage::with_weights(const std::vector<double>& weight) const {
  JointAverage out = *this;
  out.rows_.weight.assign(rows_.size(), 0.0);
  for (std::size_t p = 0; p < weight.size(); ++p) {
    const int row = rows_.of_pattern[p];
    if (row >= 0) out.rows_.weight[row] += weight[p];
  }
  out.count_cases();
  return out;
}

void JointAverage::fit_chain(int chain) {
  if (empty()) return;
  Eigen::VectorXd x;
  for (const double shift : shifts) {
    Base base;
    base.fit.member.by_rater = chain % 2 == 1;
    base.fit.member.distance = chain >= 2;
    base.fit.member.shift = shift;
    base.fit.member.log_prior = log_prior_of_shift(shift);
    base.fit.x = x;
    fit_base(base);
    x = base.fit.x;
    if (base.fit.member.distance && rows_.raters <= crowd && !base.fit.ruled_out()) {
      for (const double concentration : own_errors) {
        Fitted own;
        own.member.concentration = concentration;
        if (!base.own.empty()) own.counts = base.own.back().counts;
        fit_own(base, own);
        base.own.push_back(std::move(own));
      }
    }
    chain_[chain].push_back(std::move(base));
  }
}

void JointAverage::refit() {
  for (auto& chain : chain_) {
    for (Base& base : chain) {
      const bool counts = &base == &base_of_matrices() && matrices_.matters();
      if (counts || base.matters()) {
        fit_base(base);
      } else {
        base.fit.rule_out();
      }
      for (Fitted& own : base.own) {
        if (own.matters()) {
          fit_own(base, own);
        } else {
          own.rule_out();
        }
      }
    }
  }
  if (matrices_.matters()) {
    fit_matrices({matrices_.posterior}, {one_coin_});
  } else {
    matrices_.rule_out();
  }
}

void JointAverage::fit_matrices() {
  if (empty()) return;
  const std::vector<std::vector<double>> starts{one_coin_posterior(rows_, false),
                                                one_coin_posterior(rows_, true)};
  fit_matrices(starts, starts);
}

AverageAccuracy JointAverage::average(double shared) {
  AverageAccuracy out;
  if (empty()) return out;
  std::vector<Fitted*> all;
  for (auto& chain : chain_) {
    for (Base& base : chain) {
      all.push_back(&base.fit);
      for (Fitted& own : base.own) all.push_back(&own);
    }
  }
  all.push_back(&matrices_);
  std::vector<double> log_weight;
  for (const Fitted* one : all) {
    log_weight.push_back(one->member.log_evidence + one->member.log_prior);
  }
  const auto weights = weigh(log_weight);
  std::vector<double> posterior;
  for (std::size_t i = 0; i < all.size(); ++i) {
    AverageMember& member = all[i]->member;
    member.weight = weights[i];
    out.members.push_back(member);
    if (member.weight == 0) continue;
    add_scaled(posterior_of(*all[i]), member.weight, posterior);
    if (member.concentration == 0 && member.shift == 0) out.simple_weight += member.weight;
  }
  const double mean = mean_posterior(posterior);
  double variance = 0;
  for (const AverageMember& member : out.members) {
    const double off = member.estimate - mean;
    variance += member.weight * (member.std_error * member.std_error + off * off);
  }
  // The system has been right once and wrong once before.
  out.estimate = (cases_ * mean + 1) / (cases_ + 2);
  const double floor = out.estimate * (1 - out.estimate) / (cases_ + 3);
  out.std_error = std::sqrt(std::max(variance, floor));
  out.rater_error = rater_error(posterior);
  out.shared = shared;
  out.posterior = by_pattern(rows_, posterior);
  return out;
}

void JointAverage::count_cases() {
  cases_ = 0;
  for (int i = 0; i < rows_.size(); ++i) cases_ += answer_[i] >= 0 ? rows_.weight[i] : 0;
}

void JointAverage::fit_base(Base& base) const {
  AverageMember& member = base.fit.member;
  const LatentClass model(rows_, model_of(member), prior_, {member.shift, nullptr});
  const Eigen::VectorXd start = base.fit.x.size() > 0 ? base.fit.x : model.start();
  const LatentFit fit = fit_latent(model, start, coarse_options());
  base.fit.x = fit.x;
  base.log_posterior = fit.log_posterior;
  const Evidence evidence = laplace_evidence(model, fit.x);
  member.log_evidence = evidence.log_evidence;
  member.std_error = evidence.std_error;
  member.rater_accuracy = mean_rater_accuracy(model, fit.x);
  // Raters must be better than chance where cases are hard.
  if (member.shift > 0 && member.rater_accuracy - member.shift < 1.0 / rows_.categories) {
    base.fit.rule_out();
  }
  member.estimate = mean_posterior(model.posterior(fit.x));
}

void JointAverage::fit_own(const Base& base, Fitted& own) const {
  const double concentration = own.member.concentration, weight = own.member.weight;
  OwnErrors fit =
      fit_own_errors(rows_, model_of(base.fit.member), prior_, base.fit.member.shift, base.fit.x,
                     concentration, std::move(own.counts));
  own.member = base.fit.member;
  own.member.weight = weight;
  own.member.concentration = concentration;
  own.member.log_prior -= std::log(static_cast<double>(std::size(own_errors)));
  own.member.log_evidence += fit.bound - base.log_posterior;
  own.x = std::move(fit.x);
  own.log_error = std::move(fit.log_error);
  own.counts = std::move(fit.counts);
  const auto posterior = posterior_of(own);
  own.member.estimate = mean_posterior(posterior);
  own.member.std_error = std::max(base.fit.member.std_error, conditional_error(posterior));
}

void JointAverage::fit_matrices(const std::vector<std::vector<double>>& starts,
                                const std::vector<std::vector<double>>& one_coin_starts) {
  VariationalOptions options;
  options.concentration = own_matrices;
  DawidSkene own = best_dawid_skene(starts, options);
  options.concentration = no_own_matrices;
  DawidSkene one_coin = best_dawid_skene(one_coin_starts, options);
  const AverageMember& base = base_of_matrices().fit.member;
  const double weight = matrices_.member.weight;
  matrices_.member = base;
  matrices_.member.weight = weight;
  matrices_.member.own_matrices = true;
  matrices_.member.concentration = own_matrices;
  matrices_.member.log_prior = 0;
  matrices_.member.log_evidence += own.bound - one_coin.bound;
  matrices_.member.estimate = mean_posterior(own.posterior);
  matrices_.member.std_error = std::max(base.std_error, conditional_error(own.posterior));
  matrices_.member.rater_accuracy = 0;
  for (int u = 0; u < rows_.raters; ++u) {
    matrices_.member.rater_accuracy += own.accuracy[u] / rows_.raters;
  }
  matrices_.posterior = std::move(own.posterior);
  one_coin_ = std::move(one_coin.posterior);
}

DawidSkene JointAverage::best_dawid_skene(const std::vector<std::vector<double>>& starts,
                                          const VariationalOptions& options) const {
  DawidSkene out;
  for (const auto& start : starts) {
    DawidSkene fit = fit_dawid_skene(rows_, prior_, start, options);
    if (fit.bound > out.bound) out = std::move(fit);
  }
  return out;
}

std::vector<double> JointAverage::posterior_of(const Fitted& one) const {
  if (one.member.own_matrices) return one.posterior;
  const Held held{one.member.shift, one.log_error.empty() ? nullptr : &one.log_error};
  return LatentClass(rows_, model_of(one.member), prior_, held).posterior(one.x);
}

double JointAverage::mean_posterior(const std::vector<double>& posterior) const {
  double out = 0;
  for (int i = 0; i < rows_.size(); ++i) {
    if (answer_[i] >= 0) out += rows_.weight[i] * posterior[i * N_ + answer_[i]] / cases_;
  }
  return out;
}

double JointAverage::conditional_error(const std::vector<double>& posterior) const {
  const double p = mean_posterior(posterior), all = p * (1 - p);
  double missing = 0;
  for (int i = 0; i < rows_.size(); ++i) {
    if (answer_[i] < 0) continue;
    const double q = posterior[i * N_ + answer_[i]];
    missing += rows_.weight[i] * q * (1 - q) / cases_;
  }
  return all / std::sqrt(std::max(cases_ * (all - missing), 0.05 * cases_ * all + 0.25));
}

double JointAverage::rater_error(const std::vector<double>& posterior) const {
  double wrong = 0, all = 0;
  for (int i = 0; i < rows_.size(); ++i) {
    for (int at = rows_.start[i]; at < rows_.start[i + 1]; ++at) {
      if (rows_.unit[at] >= rows_.raters) continue;
      all += rows_.weight[i];
      wrong += rows_.weight[i] * (1 - posterior[i * N_ + rows_.category[at]]);
    }
  }
  return wrong / all;
}

}  // namespace fallible
