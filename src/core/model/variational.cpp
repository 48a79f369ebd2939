#include "variational.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"
#include "passes.hpp"

namespace fallible {

namespace {

// Pseudo-ratings that shrink the accuracies of judges to the mean accuracy.
constexpr double shrinkage = 10;
// Prior guess of the mean accuracy, with the weight `guess_weight` (in raters).
constexpr double accuracy_guess = 0.6;
constexpr double guess_weight = 0.1;
constexpr double least_mean_entry = 1e-12;  // lower limit of the entries of a mean row
constexpr int newton_steps = 3;             // steps for the dispersion in each iteration.
constexpr int separate_error_rounds = 20;
// Optimiser steps per round. More steps are of little use, because the next round changes the
// probabilities of errors and so the function to maximise.
constexpr int separate_error_steps = 8;
// Rounds end if the bound increases by less than this.
constexpr double separate_error_gain = 1e-3;

// State of the iterations. `accuracy`, `mean` and `dispersion` are the parameters of the prior mean
// of each judge's confusion matrix. They are computed from expected numbers: `counts` of ratings
// (judges x ratings x truths) and `classes` of cases.
struct State {
  std::vector<double> accuracy;
  double mean = accuracy_guess, dispersion = 0;
  Squares counts;
  std::vector<double> classes;
};

// Returns the Kullback-Leibler divergence of the posterior Dirichlet(prior + n) from
// Dirichlet(prior). Also writes the expected logarithms of the probabilities under the posterior to
// `log_mean`. `n` and `log_mean` have `size` entries, one every `stride` positions, so that columns
// of matrices can be used.
double dirichlet_kl(const double* n, const double* prior, double* log_mean, int size, int stride) {
  double total = 0, n_total = 0;
  for (int i = 0; i < size; ++i) {
    total += prior[i];
    n_total += n[i * stride];
  }
  const double at_total = digamma(total + n_total);
  double out = n_total > 0 ? log_gamma(total + n_total) - log_gamma(total) : 0;
  for (int i = 0; i < size; ++i) {
    const double a = prior[i], count = n[i * stride];
    const double log = digamma(a + count) - at_total;
    log_mean[i * stride] = log;
    if (count > 0) out += log_gamma(a) - log_gamma(a + count) + count * log;
  }
  return out;
}

// The variational iteration: the current parameters, and quantities computed from them.
class DawidSkeneFit {
 public:
  DawidSkeneFit(const LatentRows& rows, const LatentPrior& prior, const VariationalOptions& options)
      : rows_(rows),
        options_(options),
        N_(rows.categories),
        U_(rows.judges),
        precision_(1 / (prior.dispersion * prior.dispersion)),
        base_rates_(prior.base_rates),
        separate_(std::isfinite(options.concentration)),
        log_(rows.judges, rows.categories) {
    state.accuracy.assign(U_, accuracy_guess);
    log_class_.resize(N_);
  }

  State state;

  void count_ratings(const std::vector<double>& posterior) {
    clear();
    for (int i = 0; i < rows_.size(); ++i) {
      count_steps(static_cast<unsigned>(N_));
      if (!(rows_.weight[i] > 0)) continue;
      rows_.add_expected(i, row_of(posterior, i, N_), N_, state.classes.data(),
                         state.counts.values().data());
    }
  }

  // Computes accuracies and dispersion of the mean matrices from the expected numbers. Accuracies
  // of raters are shrunk to the raters' mean.
  void update_means() {
    std::vector<double> right(U_, 0.0), total(U_, 0.0);
    Table<double> error(N_, N_);
    for (int u = 0; u < U_; ++u) {
      for (int l = 0; l < N_; ++l) {
        for (int k = 0; k < N_; ++k) {
          total[u] += state.counts[u][l][k];
          (l == k ? right[u] : error[k][l]) += state.counts[u][l][k];
        }
      }
    }
    double sum = guess_weight * accuracy_guess, weight = guess_weight;
    for (int u = 0; u < rows_.raters; ++u) {
      const double reliability = total[u] / (total[u] + shrinkage);
      if (total[u] > 0) sum += reliability * right[u] / total[u];
      weight += reliability;
    }
    state.mean = std::clamp(sum / weight, 0.02, 0.995);
    for (int u = 0; u < U_; ++u) {
      const bool is_rater = u < rows_.raters;
      const double a = is_rater ? shrinkage * state.mean : 0.5,
                   prior_weight = is_rater ? shrinkage : 1;
      state.accuracy[u] = std::clamp((right[u] + a) / (total[u] + prior_weight), 1e-4, 1 - 1e-4);
    }
    for (int step = 0; options_.ordered && step < newton_steps; ++step) {
      double slope = -precision_ * state.dispersion, curvature = -precision_;
      const auto share = shares_by_distance(N_, state.dispersion);
      for (int k = 0; k < N_; ++k) {
        double mean = 0, mean_square = 0, n = 0, distance = 0;
        for (int l = 0; l < N_; ++l) {
          const int d = std::abs(k - l);
          mean += share[k][l] * d;
          mean_square += share[k][l] * d * d;
          n += error[k][l];
          distance += error[k][l] * d;
        }
        slope += n * mean - distance;
        curvature -= n * (mean_square - mean * mean);
      }
      state.dispersion += std::clamp(-slope / curvature, -1.0, 1.0);
    }
  }

  // One iteration: computes the Dirichlet posteriors of the rows of all matrices, then the
  // posterior of the truth and the expected numbers. Returns the bound on the log evidence.
  double step(std::vector<double>& posterior) {
    const double c = options_.concentration;
    const std::vector<double> rate_prior(N_, base_rates_);
    double out = -dirichlet_kl(state.classes.data(), rate_prior.data(), log_class_.data(), N_, 1);
    const auto share = shares_by_distance(N_, state.dispersion);
    const double a0 = shrinkage * state.mean, b0 = shrinkage - a0;
    const double log_beta = log_gamma(a0) + log_gamma(b0) - log_gamma(shrinkage);
    std::vector<double> mean(N_);
    for (int u = 0; u < U_; ++u) {
      const double p = state.accuracy[u];
      if (u < rows_.raters) {
        out += (a0 - 1) * std::log(p) + (b0 - 1) * std::log1p(-p) - log_beta;
      }
      for (int k = 0; k < N_; ++k) {
        for (int l = 0; l < N_; ++l) {
          mean[l] = std::max(k == l ? p : (1 - p) * share[k][l], least_mean_entry);
          if (!separate_) log_[u][l][k] = std::log(mean[l]);
          mean[l] *= separate_ ? c : 1;
        }
        if (separate_) {
          out -= dirichlet_kl(&state.counts[u][0][k], mean.data(), &log_[u][0][k], N_, N_);
        }
      }
    }
    out += expect(posterior);
    return out - 0.5 * precision_ * state.dispersion * state.dispersion;
  }

 private:
  void clear() {
    state.counts = Squares(U_, N_);
    state.classes.assign(N_, 0.0);
  }

  double expect(std::vector<double>& posterior) {
    clear();
    const auto exponent = [](double x) { return std::exp(x); };
    exp_.resize(log_.values().size());
    exp_class_.resize(N_);
    std::transform(log_.values().begin(), log_.values().end(), exp_.begin(), exponent);
    std::transform(log_class_.begin(), log_class_.end(), exp_class_.begin(), exponent);
    const AnswerTables tables{N_, exp_class_.data(), exp_.data(), log_class_.data(),
                              log_.values().data()};
    const AnswerSums sums{state.classes.data(), state.counts.values().data()};
    return pass_over(rows_, tables, &sums, true, [&](int row, const double* p) {
      std::copy_n(p, N_, row_of(posterior, row, N_));
    });
  }

  const LatentRows& rows_;
  VariationalOptions options_;
  int N_, U_;
  // `precision_`: of the prior of the dispersion. `base_rates_`: Dirichlet parameter of base rates.
  double precision_, base_rates_;
  bool separate_;  // true if matrices differ from their means.
  Squares log_;    // expected logarithms of probabilities: judges x ratings x truths
  std::vector<double> exp_, log_class_, exp_class_;
};

}  // namespace

// The mean matrices are computed from the expected numbers. This need not increase the bound. As
// soon as it would decrease the bound, the mean matrices stay fixed, so that the bound never
// decreases.
DawidSkene fit_dawid_skene(const LatentRows& rows, const LatentPrior& prior,
                           std::vector<double> posterior, const VariationalOptions& options) {
  DawidSkene out;
  DawidSkeneFit fit(rows, prior, options);
  fit.count_ratings(posterior);
  bool updates_means = true;
  while (out.iterations < options.iterations && !out.converged) {
    ++out.iterations;
    Watch::check();
    const State previous_state = fit.state;
    if (updates_means) fit.update_means();
    const double bound = fit.step(posterior);
    if (updates_means && bound < out.bound) {
      updates_means = false;
      fit.state = previous_state;
      continue;
    }
    out.converged = bound - out.bound < options.tolerance * (1 + std::fabs(bound));
    out.bound = bound;
    out.path.push_back(bound);
  }
  out.posterior = std::move(posterior);
  out.accuracy = fit.state.accuracy;
  out.dispersion = fit.state.dispersion;
  return out;
}

SeparateErrors fit_separate_errors(const LatentRows& rows, const LatentModel& model,
                                   const LatentPrior& prior, double shift, const Eigen::VectorXd& x,
                                   double concentration, Squares counts, double useful_value) {
  const int N = rows.categories;
  // The shift is fixed and not in `x`. If errors depend on distance, the dispersion is the last
  // parameter. It is removed from `x`, because `log_error` replaces it.
  const double dispersion = model.errors == Errors::distance ? x[x.size() - 1] : 0;
  const Table<double> share = shares_by_distance(N, dispersion);
  SeparateErrors out;
  out.x = model.errors == Errors::distance ? x.head(x.size() - 1).eval() : x;
  out.log_error = Squares(rows.judges, N);
  if (counts.values().empty()) {
    counts = LatentClass(rows, model, prior, {shift, nullptr}).expected_ratings(x);
  }
  OptimiserOptions steps;
  steps.iterations = separate_error_steps;
  const LatentClass latent(rows, model, prior, {shift, &out.log_error});
  out.bound = -std::numeric_limits<double>::infinity();
  for (double gain = separate_error_gain;
       gain >= separate_error_gain && out.rounds < separate_error_rounds;) {
    double divergence = 0;
    std::vector<double> n(N - 1), prior_parameters(N - 1), log_mean(N - 1);
    for (int u = 0; u < rows.judges; ++u) {
      for (int k = 0; k < N; ++k) {
        for (int l = 0, i = 0; l < N; ++l) {
          if (l == k) continue;
          n[i] = counts[u][l][k];
          prior_parameters[i++] = concentration * share[k][l];
        }
        divergence += dirichlet_kl(n.data(), prior_parameters.data(), log_mean.data(), N - 1, 1);
        for (int l = 0, i = 0; l < N; ++l) {
          if (l != k) out.log_error[u][k][l] = log_mean[i++];
        }
      }
    }
    const double penalty = divergence + 0.5 * std::pow(dispersion / prior.dispersion, 2);
    steps.useful_value = useful_value + penalty;
    const LatentFit fit = fit_latent(latent, out.x, steps);
    const double bound = fit.value - penalty;
    gain = bound - out.bound;
    out.x = fit.x;
    out.bound = bound;
    ++out.rounds;
    // The optimiser may end early because a few steps cannot reach `useful_value`. This does not
    // end the loop, because each round also updates the errors. The loop ends only if the gains of
    // whole rounds are too small.
    out.hopeless = is_hopeless(out.bound, gain, useful_value);
    if (out.hopeless) break;
    counts = latent.expected_ratings(out.x);
  }
  out.counts = std::move(counts);
  return out;
}

}  // namespace fallible
