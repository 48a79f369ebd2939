#include "variational.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"
#include "passes.hpp"

namespace fallible {

namespace {

// Number of pseudo-ratings that shrink the accuracy of each rater to the raters' mean.
constexpr double shrinkage = 10;
// Prior guess of the raters' mean accuracy. `guess_weight`: its weight, as a number of raters.
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

// State of the iterations. `accuracy`, `mean` and `dispersion` determine the prior means of the
// confusion matrices. `counts`: expected numbers of ratings, judges x ratings x truths. `classes`:
// expected numbers of cases.
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
  const double digamma_total = digamma(total + n_total);
  double divergence = n_total > 0 ? log_gamma(total + n_total) - log_gamma(total) : 0;
  for (int i = 0; i < size; ++i) {
    const double a = prior[i], count = n[i * stride];
    const double log = digamma(a + count) - digamma_total;
    log_mean[i * stride] = log;
    if (count > 0) divergence += log_gamma(a) - log_gamma(a + count) + count * log;
  }
  return divergence;
}

// The variational iteration: the current parameters, and quantities computed from them.
class DawidSkeneFit {
 public:
  DawidSkeneFit(const LatentRows& rows, const LatentPrior& prior, const VariationalOptions& options)
      : rows_(rows),
        options_(options),
        n_categories_(rows.categories),
        n_judges_(rows.judges),
        precision_(1 / (prior.dispersion * prior.dispersion)),
        base_rates_(prior.base_rates),
        has_separate_matrices_(std::isfinite(options.concentration)),
        expected_log_(rows.judges, rows.categories) {
    state.accuracy.assign(n_judges_, accuracy_guess);
    expected_log_rate_.resize(n_categories_);
  }

  State state;

  void count_ratings(const std::vector<double>& posterior) {
    clear();
    for (int i = 0; i < rows_.size(); ++i) {
      count_steps(static_cast<unsigned>(n_categories_));
      if (!(rows_.weight[i] > 0)) continue;
      rows_.add_expected(i, row_of(posterior, i, n_categories_), n_categories_,
                         state.classes.data(), state.counts.values().data());
    }
  }

  // Computes accuracies and dispersion of the mean matrices from the expected numbers. Accuracies
  // of raters are shrunk to the raters' mean.
  void update_means() {
    std::vector<double> right(n_judges_, 0.0), total(n_judges_, 0.0);
    Table<double> error(n_categories_, n_categories_);
    for (int u = 0; u < n_judges_; ++u) {
      for (int l = 0; l < n_categories_; ++l) {
        for (int k = 0; k < n_categories_; ++k) {
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
    for (int u = 0; u < n_judges_; ++u) {
      const bool is_rater = u < rows_.raters;
      const double a = is_rater ? shrinkage * state.mean : 0.5,
                   prior_weight = is_rater ? shrinkage : 1;
      state.accuracy[u] = std::clamp((right[u] + a) / (total[u] + prior_weight), 1e-4, 1 - 1e-4);
    }
    for (int step = 0; options_.ordered && step < newton_steps; ++step) {
      double slope = -precision_ * state.dispersion, curvature = -precision_;
      const auto share = shares_by_distance(n_categories_, state.dispersion);
      for (int k = 0; k < n_categories_; ++k) {
        double mean = 0, mean_square = 0, n = 0, distance = 0;
        for (int l = 0; l < n_categories_; ++l) {
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
    const std::vector<double> rate_prior(n_categories_, base_rates_);
    double bound = -dirichlet_kl(state.classes.data(), rate_prior.data(), expected_log_rate_.data(),
                                 n_categories_, 1);
    const auto share = shares_by_distance(n_categories_, state.dispersion);
    const double a0 = shrinkage * state.mean, b0 = shrinkage - a0;
    const double log_beta = log_gamma(a0) + log_gamma(b0) - log_gamma(shrinkage);
    std::vector<double> mean(n_categories_);
    for (int u = 0; u < n_judges_; ++u) {
      const double judge_accuracy = state.accuracy[u];
      if (u < rows_.raters) {
        bound +=
            (a0 - 1) * std::log(judge_accuracy) + (b0 - 1) * std::log1p(-judge_accuracy) - log_beta;
      }
      for (int k = 0; k < n_categories_; ++k) {
        for (int l = 0; l < n_categories_; ++l) {
          mean[l] = std::max(k == l ? judge_accuracy : (1 - judge_accuracy) * share[k][l],
                             least_mean_entry);
          if (!has_separate_matrices_) expected_log_[u][l][k] = std::log(mean[l]);
          mean[l] *= has_separate_matrices_ ? c : 1;
        }
        if (has_separate_matrices_) {
          bound -= dirichlet_kl(&state.counts[u][0][k], mean.data(), &expected_log_[u][0][k],
                                n_categories_, n_categories_);
        }
      }
    }
    bound += expect(posterior);
    return bound - 0.5 * precision_ * state.dispersion * state.dispersion;
  }

 private:
  void clear() {
    state.counts = Squares(n_judges_, n_categories_);
    state.classes.assign(n_categories_, 0.0);
  }

  double expect(std::vector<double>& posterior) {
    clear();
    const auto exponent = [](double x) { return std::exp(x); };
    exp_log_.resize(expected_log_.values().size());
    exp_log_rate_.resize(n_categories_);
    std::transform(expected_log_.values().begin(), expected_log_.values().end(), exp_log_.begin(),
                   exponent);
    std::transform(expected_log_rate_.begin(), expected_log_rate_.end(), exp_log_rate_.begin(),
                   exponent);
    const AnswerTables tables{n_categories_, exp_log_rate_.data(), exp_log_.data(),
                              expected_log_rate_.data(), expected_log_.values().data()};
    const AnswerSums sums{state.classes.data(), state.counts.values().data()};
    return pass_over(rows_, tables, &sums, true, [&](int row, const double* p) {
      std::copy_n(p, n_categories_, row_of(posterior, row, n_categories_));
    });
  }

  const LatentRows& rows_;
  VariationalOptions options_;
  int n_categories_, n_judges_;
  // `precision_`: 1 / variance of the normal prior of the dispersion. `base_rates_`: parameter of
  // the symmetric Dirichlet prior of the base rates.
  double precision_, base_rates_;
  bool has_separate_matrices_;  // true if matrices differ from their means.
  Squares expected_log_;        // expected logarithms of probabilities: judges x ratings x truths
  std::vector<double> exp_log_, expected_log_rate_, exp_log_rate_;
};

}  // namespace

// Each iteration updates the mean matrices from the expected numbers. Such an update may decrease
// the bound. The first update that decreases the bound is undone, and the mean matrices stay fixed
// in all later iterations. The bound therefore never decreases.
DawidSkene fit_dawid_skene(const LatentRows& rows, const LatentPrior& prior,
                           std::vector<double> posterior, const VariationalOptions& options) {
  DawidSkene result;
  DawidSkeneFit fit(rows, prior, options);
  fit.count_ratings(posterior);
  bool updates_means = true;
  while (result.iterations < options.iterations && !result.converged) {
    ++result.iterations;
    Watch::check();
    const State previous_state = fit.state;
    if (updates_means) fit.update_means();
    const double bound = fit.step(posterior);
    if (updates_means && bound < result.bound) {
      updates_means = false;
      fit.state = previous_state;
      continue;
    }
    result.converged = bound - result.bound < options.tolerance * (1 + std::fabs(bound));
    result.bound = bound;
    result.bound_path.push_back(bound);
  }
  result.posterior = std::move(posterior);
  result.accuracy = fit.state.accuracy;
  result.dispersion = fit.state.dispersion;
  return result;
}

SeparateErrors fit_separate_errors(const LatentRows& rows, const LatentModel& model,
                                   const LatentPrior& prior, double shift, const Eigen::VectorXd& x,
                                   double concentration, Squares counts, double useful_value) {
  const int N = rows.categories;
  // If errors depend on distance, the last entry of `x` is the dispersion. The prior means `share`
  // of the error shares are computed from the dispersion.
  const double dispersion = model.errors == Errors::distance ? x[x.size() - 1] : 0;
  const Table<double> share = shares_by_distance(N, dispersion);
  SeparateErrors result;
  // `result.x` contains no dispersion, because `log_error` replaces the errors by distance.
  result.x = model.errors == Errors::distance ? x.head(x.size() - 1).eval() : x;
  result.log_error = Squares(rows.judges, N);
  if (counts.values().empty()) {
    counts = LatentClass(rows, model, prior, {shift, nullptr}).expected_ratings(x);
  }
  OptimiserOptions steps;
  steps.iterations = separate_error_steps;
  const LatentClass latent(rows, model, prior, {shift, &result.log_error});
  result.bound = -std::numeric_limits<double>::infinity();
  for (double gain = separate_error_gain;
       gain >= separate_error_gain && result.rounds < separate_error_rounds;) {
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
          if (l != k) result.log_error[u][k][l] = log_mean[i++];
        }
      }
    }
    const double penalty = divergence + 0.5 * std::pow(dispersion / prior.dispersion, 2);
    // If fit_latent() ends early, because it is not expected to reach this value, the rounds
    // continue. Each round also updates the errors, which may increase the bound.
    steps.useful_value = useful_value + penalty;
    const LatentFit fit = fit_latent(latent, result.x, steps);
    const double bound = fit.value - penalty;
    gain = bound - result.bound;
    result.x = fit.x;
    result.bound = bound;
    ++result.rounds;
    // Ends the rounds early if the bound is not expected to reach `useful_value`, given the gain of
    // this round.
    result.hopeless = is_hopeless(result.bound, gain, useful_value);
    if (result.hopeless) break;
    counts = latent.expected_ratings(result.x);
  }
  result.counts = std::move(counts);
  return result;
}

}  // namespace fallible
