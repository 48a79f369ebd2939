#include "average.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "evidence.hpp"

namespace fallible {

namespace {

// Difficulty is a grid, since its posterior has cliffs where strata meet 0 and 1. Prior weights:
// a third for none, the rest by the half-normal density with standard deviation 0.2.
constexpr double shifts[] = {0, 0.1, 0.2, 0.3};
constexpr double shift_sd = 0.2;
constexpr double prior_of_none = 1.0 / 3;
constexpr double own_errors[] = {30, 8};  // concentrations, the prior shared equally
constexpr double own_matrices = 4;
constexpr int crowd = 120;  // raters; more are left to the Dawid-Skene member
constexpr double negligible = 1e-8;  // weight

double log_prior_of_shift(double shift) {
  if (shift == 0) return std::log(prior_of_none);
  const auto density = [](double d) { return std::exp(-0.5 * d * d / (shift_sd * shift_sd)); };
  double total = 0;
  for (const double d : shifts) total += d > 0 ? density(d) : 0;
  return std::log((1 - prior_of_none) * density(shift) / total);
}

// Weights of models from their log evidence and prior; what is NaN or negligible has none.
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

OptimiserOptions optimiser() {
  OptimiserOptions out;
  out.iterations = 300;
  out.gradient_tolerance = 1e-4;
  out.value_tolerance = 1e-10;
  return out;
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

std::vector<double> one_coin_posterior(const LatentRows& rows, bool by_rater) {
  LatentModel settings;
  settings.by_rater = by_rater;
  const LatentClass model(rows, settings, LatentPrior());
  return model.posterior(fit_latent(model, model.start(), optimiser()).x);
}

// The raters joined by one system.
class JointAverage {
 public:
  JointAverage(const PatternView& patterns, const std::vector<double>& weight,
               const std::vector<int>& known, int system)
      : rows_(latent_rows(patterns, weight, system, known)), N_(rows_.categories) {
    answer_.assign(rows_.size(), -1);
    answer_weight_.assign(rows_.size(), 0.0);
    for (int p = 0; p < patterns.patterns; ++p) {
      const int answer = patterns.answer_of(p, system);
      // Where there is nothing but the system's answer it would be judged by itself.
      if (answer < 1 || patterns.start[p] == patterns.start[p + 1]) continue;
      answer_[rows_.of_pattern[p]] = answer - 1;
      answer_weight_[rows_.of_pattern[p]] += weight[p];
      cases_ += weight[p];
    }
  }

  // Members that differ in difficulty alone, each fitted from where the last one ended.
  void fit_chain(int chain) {
    if (cases_ == 0) return;
    std::vector<Fitted> out;
    Eigen::VectorXd x;
    for (const double shift : shifts) {
      Fitted one;
      one.member.by_rater = chain % 2 == 1;
      one.member.distance = chain >= 2;
      one.member.shift = shift;
      one.member.log_prior = log_prior_of_shift(shift);
      const LatentClass model(rows_, model_of(one.member), prior_, {shift, nullptr});
      const LatentFit fit = fit_latent(model, shift == 0 ? model.start() : x, optimiser());
      one.x = x = fit.x;
      const Evidence evidence = laplace_evidence(model, x);
      one.member.log_evidence = evidence.log_evidence;
      one.member.std_error = evidence.std_error;
      one.member.rater_accuracy = mean_rater_accuracy(model, x);
      // Raters must be better than chance where cases are hard.
      if (shift > 0 && one.member.rater_accuracy - shift < 1.0 / rows_.categories) {
        one.member.log_evidence = std::numeric_limits<double>::quiet_NaN();
      }
      one.member.estimate = mean_posterior(model.posterior(x));
      out.push_back(one);
      if (one.member.distance && rows_.raters <= crowd && !std::isnan(one.member.log_evidence)) {
        add_own_errors(one, fit.log_posterior, out);
      }
    }
    chain_[chain] = std::move(out);
  }

  void fit_matrices() {
    if (cases_ == 0) return;
    std::vector<std::vector<double>> starts;
    for (const bool by_rater : {false, true}) starts.push_back(one_coin_posterior(rows_, by_rater));
    DawidSkene best[2];
    VariationalOptions options;
    for (const int own : {0, 1}) {
      options.concentration = own ? own_matrices : no_own_matrices;
      for (const auto& start : starts) {
        DawidSkene fit = fit_dawid_skene(rows_, prior_, start, options);
        if (fit.bound > best[own].bound) best[own] = std::move(fit);
      }
    }
    const AverageMember& base = chain_[rows_.categories > 2 ? 3 : 1].front().member;
    Fitted& out = matrices_;
    out.member = base;
    out.member.own_matrices = true;
    out.member.concentration = own_matrices;
    out.member.log_prior = 0;
    out.member.log_evidence += best[1].bound - best[0].bound;
    out.posterior = std::move(best[1].posterior);
    out.member.estimate = mean_posterior(out.posterior);
    out.member.std_error = std::max(base.std_error, conditional_error(out.posterior));
    out.member.rater_accuracy = 0;
    for (int u = 0; u < rows_.raters; ++u) {
      out.member.rater_accuracy += best[1].accuracy[u] / rows_.raters;
    }
  }

  AverageAccuracy average(double shared) const {
    AverageAccuracy out;
    if (cases_ == 0) return out;
    std::vector<const Fitted*> all;
    for (const auto& chain : chain_) {
      for (const Fitted& one : chain) all.push_back(&one);
    }
    all.push_back(&matrices_);
    std::vector<double> log_evidence;
    for (const Fitted* one : all) {
      log_evidence.push_back(one->member.log_evidence + one->member.log_prior);
    }
    const auto weights = weigh(log_evidence);
    std::vector<double> posterior;
    for (std::size_t i = 0; i < all.size(); ++i) {
      AverageMember member = all[i]->member;
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

 private:
  struct Fitted {
    AverageMember member;
    Eigen::VectorXd x;
    std::vector<double> log_error;  // of own error rows
    std::vector<double> posterior;  // of own matrices
  };

  void add_own_errors(const Fitted& base, double log_posterior, std::vector<Fitted>& out) {
    const double models = std::size(own_errors);
    std::vector<double> counts;
    for (const double concentration : own_errors) {
      Fitted one;
      one.member = base.member;
      one.member.concentration = concentration;
      one.member.log_prior -= std::log(models);
      OwnErrors fit = fit_own_errors(rows_, model_of(base.member), prior_, base.member.shift,
                                     base.x, concentration, std::move(counts));
      one.x = std::move(fit.x);
      one.log_error = std::move(fit.log_error);
      counts = std::move(fit.counts);
      one.member.log_evidence += fit.bound - log_posterior;
      const auto posterior = posterior_of(one);
      one.member.estimate = mean_posterior(posterior);
      one.member.std_error = std::max(base.member.std_error, conditional_error(posterior));
      out.push_back(std::move(one));
    }
  }

  std::vector<double> posterior_of(const Fitted& one) const {
    if (!one.posterior.empty()) return one.posterior;
    const Held held{one.member.shift, one.log_error.empty() ? nullptr : &one.log_error};
    return LatentClass(rows_, model_of(one.member), prior_, held).posterior(one.x);
  }

  double mean_posterior(const std::vector<double>& posterior) const {
    double out = 0;
    for (int i = 0; i < rows_.size(); ++i) {
      if (answer_[i] >= 0) out += answer_weight_[i] * posterior[i * N_ + answer_[i]] / cases_;
    }
    return out;
  }

  // Standard error of the share of right answers if all else were known: the information of as many
  // judged answers, less what is missing since they are judged by probabilities.
  double conditional_error(const std::vector<double>& posterior) const {
    const double p = mean_posterior(posterior), all = p * (1 - p);
    double missing = 0;
    for (int i = 0; i < rows_.size(); ++i) {
      if (answer_[i] < 0) continue;
      const double q = posterior[i * N_ + answer_[i]];
      missing += answer_weight_[i] * q * (1 - q) / cases_;
    }
    return all / std::sqrt(std::max(cases_ * (all - missing), 0.05 * cases_ * all + 0.25));
  }

  double rater_error(const std::vector<double>& posterior) const {
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

  LatentPrior prior_;
  LatentRows rows_;
  std::size_t N_;
  std::vector<int> answer_;           // of the system in each row, -1 for none that can be judged
  std::vector<double> answer_weight_;
  double cases_ = 0;
  std::vector<Fitted> chain_[4];
  Fitted matrices_;
};

double shared_accuracy(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const LatentRows& raters, const std::vector<double>& posterior) {
  double right = 0, cases = 0;
  for (int p = 0; p < patterns.patterns; ++p) {
    const int answer = patterns.answer_of(p, system), row = raters.of_pattern[p];
    if (answer < 1 || row < 0) continue;
    cases += weight[p];
    right += weight[p] * posterior[static_cast<std::size_t>(row) * raters.categories + answer - 1];
  }
  return right / cases;
}

}  // namespace

std::vector<double> shared_posterior(const LatentRows& raters) {
  const auto start = one_coin_posterior(raters, false);
  VariationalOptions options;
  options.concentration = no_own_matrices;
  const DawidSkene one_coin = fit_dawid_skene(raters, LatentPrior(), start, options);
  options.concentration = own_matrices;
  const DawidSkene own = fit_dawid_skene(raters, LatentPrior(), start, options);
  const auto weights = weigh({one_coin.bound, own.bound});
  std::vector<double> out;
  add_scaled(one_coin.posterior, weights[0], out);
  add_scaled(own.posterior, weights[1], out);
  return out;
}

std::vector<AverageAccuracy> average_accuracy(const PatternView& patterns,
                                              const std::vector<double>& weight,
                                              const std::vector<int>& known, int threads,
                                              const Host& host) {
  std::vector<JointAverage> systems;
  for (int s = 0; s < patterns.systems; ++s) systems.emplace_back(patterns, weight, known, s);
  const LatentRows raters = latent_rows(patterns, weight, -1, known);
  const auto shared = shared_posterior(raters);
  const std::size_t chains = patterns.categories > 2 ? 4 : 2;
  const std::size_t fits = systems.size() * chains;
  for_each_item(fits, threads, host,
                [&](std::size_t i) { systems[i / chains].fit_chain(static_cast<int>(i % chains)); });
  Host rest;
  rest.tick = [&](std::size_t done) { return host.tick(fits + done); };
  std::vector<AverageAccuracy> out(systems.size());
  for_each_item(systems.size(), threads, rest, [&](std::size_t s) {
    systems[s].fit_matrices();
    out[s] = systems[s].average(
        shared_accuracy(patterns, weight, static_cast<int>(s), raters, shared));
  });
  return out;
}

}  // namespace fallible
