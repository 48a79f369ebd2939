#include "simulate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "../base/host.hpp"
#include "../base/matrix.hpp"
#include "../base/special.hpp"

namespace fallible {

namespace {

// Returns the factor by which the diagonal of a confusion matrix is multiplied before its rows are
// normalised, so that the mean accuracy, weighted by base rates, becomes `accuracy`. `wrong`: sum
// of the off-diagonal entries of each row.
double diagonal_factor(double accuracy, const std::vector<double>& base_rates,
                       const std::vector<double>& wrong) {
  double log_factor = 0;
  for (int step = 0; step < 1000; ++step) {
    const double diagonal = std::exp(log_factor) * accuracy;
    double right = 0, wrong_share = 0;
    for (std::size_t k = 0; k < wrong.size(); ++k) {
      right += base_rates[k] * diagonal / (diagonal + wrong[k]);
      wrong_share += base_rates[k] * wrong[k] / (diagonal + wrong[k]);
    }
    const double difference = std::log(accuracy / (1 - accuracy)) - std::log(right / wrong_share);
    // The logit of the accuracy then changes by at most `difference`, so a step never overshoots.
    log_factor += difference;
    if (std::fabs(difference) < 1e-14) break;
  }
  return std::exp(log_factor);
}

}  // namespace

std::vector<double> confusion_matrix(double accuracy, const std::vector<double>& base_rates,
                                     const ConfusionOptions& options,
                                     const std::vector<double>& factor) {
  const int N = static_cast<int>(base_rates.size());
  accuracy = std::clamp(accuracy, 0.0, 1.0);
  Table<double> matrix(N, N);
  std::vector<double> wrong(N, 0.0);
  for (int k = 0; k < N; ++k) {
    double* row = matrix[k];
    double power_sum = 0;
    // Distance of the most probable error from the truth. An error at distance d has the weight
    // dispersion^(-d). All weights are divided by the weight at `most_probable_distance`. They are
    // then at most 1, so they cannot overflow.
    const int most_probable_distance = options.dispersion >= 1 ? 1 : std::max(k, N - 1 - k);
    for (int l = 0; l < N; ++l) {
      if (l != k)
        power_sum += row[l] =
            std::pow(options.dispersion, most_probable_distance - std::abs(k - l));
    }
    for (int l = 0; l < N; ++l) {
      wrong[k] += row[l] *= (1 - accuracy) / power_sum * row_of(factor, k, N)[l];
    }
  }
  const bool normalises_rows =
      options.normalise == Normalise::row || accuracy == 0 || accuracy == 1;
  const double right =
      normalises_rows ? 0 : accuracy * diagonal_factor(accuracy, base_rates, wrong);
  for (int k = 0; k < N; ++k) {
    double* row = matrix[k];
    const double total = normalises_rows ? 0 : right + wrong[k];
    const double error_scale = wrong[k] > 0 ? (1 - accuracy) / wrong[k] : 0;
    for (int l = 0; l < N; ++l) row[l] = normalises_rows ? row[l] * error_scale : row[l] / total;
    row[k] = normalises_rows ? accuracy : right / total;
  }
  return std::move(matrix.values());
}

std::vector<double> error_factors(int categories, double error_range, Stream& stream) {
  Table<double> factor(categories, categories, 1);
  for (int k = 0; k < categories && error_range != 0; ++k) {
    for (int l = 0; l < categories; ++l) {
      if (k == l) continue;
      // uniform() is below 1, so the factor is positive even if `error_range` is 1. The errors of a
      // row could not be rescaled if all their factors were 0.
      factor[k][l] += error_range * (1 - 2 * stream.uniform());
    }
  }
  return std::move(factor.values());
}

double expected_accuracy(const std::vector<double>& confusion,
                         const std::vector<double>& base_rates) {
  double accuracy = 0;
  const std::size_t N = base_rates.size();
  for (std::size_t k = 0; k < N; ++k) accuracy += base_rates[k] * row_of(confusion, k, N)[k];
  return accuracy;
}

namespace {

std::vector<double> draw_base_rates(const Design& design, Stream& stream) {
  if (design.law == BaseRateLaw::fixed) return design.base_rates;
  std::vector<double> rates(design.categories);
  if (design.law == BaseRateLaw::uniform) {
    for (double& rate : rates) rate = 1 - stream.uniform();
  } else {
    for (double& rate : rates) rate = stream.log_gamma(design.concentration);
    softmax(rates.begin(), rates.end());
  }
  const double total = std::accumulate(rates.begin(), rates.end(), 0.0);
  for (double& rate : rates) rate /= total;
  return rates;
}

// Returns the cumulative sums of n probabilities, rescaled so that the last sum is exactly 1.
std::vector<double> cumulate(const double* probability, std::size_t n) {
  std::vector<double> sums(n);
  std::partial_sum(probability, probability + n, sums.begin());
  const double total = sums.back();
  for (double& p : sums) p /= total;
  return sums;
}

// Draws an index from n probabilities with the cumulative sums `cumulative`. If n is at most 32,
// counts the sums that a uniform number reaches, which is fast because it needs no branches.
std::size_t draw_index(const double* cumulative, std::size_t n, Stream& stream) {
  const double u = stream.uniform();
  if (n > 32) return std::upper_bound(cumulative, cumulative + n, u) - cumulative;
  std::size_t n_below = 0;
  for (std::size_t i = 0; i < n; ++i) n_below += u >= cumulative[i];
  return n_below;
}

// Index of the first case after each stratum, if strata have exact shares of the cases. Cumulative
// shares are rounded, so the sizes of the strata sum to `cases`.
std::vector<std::size_t> stratum_ends(const std::vector<double>& cumulative, std::size_t cases) {
  std::vector<std::size_t> ends;
  ends.reserve(cumulative.size());
  for (const double share : cumulative) {
    ends.push_back(static_cast<std::size_t>(std::llround(share * static_cast<double>(cases))));
  }
  return ends;
}

// Returns the mean of a judge's accuracy over the cases of a panel. The accuracy changes linearly,
// by `drift` from the first to the last case, and is clipped to [0, 1]. `accuracy`: its value in
// the middle of the panel.
double mean_accuracy(double accuracy, double drift) {
  if (drift == 0) return accuracy;
  // Integral of the clipped accuracy: area(b) - area(a) is the integral from a to b.
  const auto area = [](double x) { return x <= 0 ? 0 : x < 1 ? x * x / 2 : x - 0.5; };
  return (area(accuracy + drift / 2) - area(accuracy - drift / 2)) / drift;
}

// Returns the mean accuracy of a confusion matrix, weighted by base rates, over the cases of a
// panel with drift.
double mean_accuracy_of_matrix(const std::vector<double>& matrix,
                               const std::vector<double>& base_rates, double drift) {
  const std::size_t N = base_rates.size();
  double mean = 0;
  for (std::size_t k = 0; k < N; ++k) {
    mean += base_rates[k] * mean_accuracy(row_of(matrix, k, N)[k], drift);
  }
  return mean;
}

// User-defined matrix of a judge in a stratum. `matrices` contains one matrix for all strata, or
// one per stratum, each row by row.
std::vector<double> custom_matrix(const std::vector<double>& matrices, std::size_t stratum, int N) {
  const std::size_t size = N * N;
  const double* first = row_of(matrices, matrices.size() == size ? 0 : stratum, size);
  return {first, first + size};
}

// Draws a uniform number. Its normal quantile has correlation `loading` with `effect`, a standard
// normal number that all judges share in a case. Judges with loadings of the same sign therefore
// tend to be wrong in the same cases.
double shared_uniform(double loading, double effect, Stream& stream) {
  const double noise = stream.normal();
  return normal_cdf(loading * effect + std::sqrt(1 - loading * loading) * noise);
}

// Returns the value of a judge (loading or drift) in `values`, which has one entry per judge.
// Returns 0 if `values` is empty.
double value_of_judge(const std::vector<double>& values, std::size_t judge) {
  return values.empty() ? 0 : values[judge];
}

bool has_nonzero(const std::vector<double>& x) {
  return std::any_of(x.begin(), x.end(), [](double value) { return value != 0; });
}

}  // namespace

PanelParameters draw_panel_parameters(const Design& design, Stream& stream) {
  PanelParameters panel;
  const int N = design.categories;
  panel.base_rates = draw_base_rates(design, stream);
  const std::size_t raters = design.raters.size(), judges = raters + design.systems.size();
  std::vector<double> share_right(judges, 0.0);
  for (std::size_t judge = 0; judge < judges; ++judge) {
    const bool is_system = judge >= raters;
    const double accuracy = is_system ? design.systems[judge - raters] : design.raters[judge];
    ConfusionOptions options = design.confusion;
    if (is_system && !design.system_errors) {
      options.dispersion = 1;
      options.error_range = 0;
    }
    std::vector<double> factor;
    for (std::size_t s = 0; s < design.strata.size(); ++s) {
      const Stratum& stratum = design.strata[s];
      if (judge < design.custom.size() && !design.custom[judge].empty()) {
        panel.matrix.push_back(custom_matrix(design.custom[judge], s, N));
      } else {
        if (factor.empty() || design.strata_redraw) {
          factor = error_factors(N, options.error_range, stream);
        }
        const double shift = is_system && !design.system_strata ? 0 : stratum.shift;
        panel.matrix.push_back(
            confusion_matrix(accuracy + shift, panel.base_rates, options, factor));
      }
      share_right[judge] +=
          stratum.weight * mean_accuracy_of_matrix(panel.matrix.back(), panel.base_rates,
                                                   value_of_judge(design.drift, judge));
    }
  }
  for (const Copying& copy : design.copying) {
    share_right[copy.to] += copy.probability * (share_right[copy.from] - share_right[copy.to]);
  }
  const auto first_system = share_right.begin() + static_cast<std::ptrdiff_t>(raters);
  panel.expected_accuracy.assign(
      first_system, first_system + static_cast<std::ptrdiff_t>(design.visible_systems()));
  return panel;
}

CaseSampler::CaseSampler(const Design& design, const PanelParameters& parameters, std::size_t cases)
    : design_(design),
      n_cases_(cases),
      has_loadings_(has_nonzero(design.loading)),
      has_missing_(has_nonzero(design.missing)),
      cumulative_rates_(cumulate(parameters.base_rates.data(), design.categories)) {
  const std::size_t N = design.categories, S = design.strata.size();
  answers_.resize(parameters.matrix.size() / S);
  std::vector<double> weight;
  for (const Stratum& stratum : design.strata) weight.push_back(stratum.weight);
  cumulative_strata_ = cumulate(weight.data(), S);
  stratum_ends_ = stratum_ends(cumulative_strata_, cases);
  cumulative_rows_.reserve(parameters.matrix.size() * N * N);
  for (const auto& matrix : parameters.matrix) {
    for (std::size_t k = 0; k < N; ++k) {
      const auto row = cumulate(row_of(matrix, k, N), N);
      cumulative_rows_.insert(cumulative_rows_.end(), row.begin(), row.end());
    }
  }
}

void CaseSampler::next(Stream& stream) {
  const std::size_t N = cumulative_rates_.size(), S = cumulative_strata_.size();
  if (!design_.strata_drawn) {
    while (n_drawn_ >= stratum_ends_[stratum_]) ++stratum_;
  } else if (S > 1) {
    stratum_ = draw_index(cumulative_strata_.data(), S, stream);
  }
  truth_ = draw_index(cumulative_rates_.data(), N, stream);
  if (has_loadings_) effect_ = stream.normal();
  for (std::size_t u = 0; u < answers_.size(); ++u) {
    answers_[u] = static_cast<int>(answer(u, stream)) + 1;
  }
  ++n_drawn_;
  for (const Copying& copy : design_.copying) {
    if (stream.uniform() < copy.probability) answers_[copy.to] = answers_[copy.from];
  }
  if (has_missing_) {
    for (std::size_t u = 0; u < design_.raters.size(); ++u) {
      if (stream.uniform() < design_.missing[u]) answers_[u] = 0;
    }
  }
}

// Draws the answer of a judge to the current case. If the judge has a loading, the answer is
// determined by a uniform number that is correlated with the numbers of other judges. If the judge
// has a drift, the probability of the right answer depends on the position of the case in the
// panel.
std::size_t CaseSampler::answer(std::size_t judge, Stream& stream) const {
  const std::size_t N = cumulative_rates_.size(), S = cumulative_strata_.size();
  const double* row = row_of(cumulative_rows_, (judge * S + stratum_) * N + truth_, N);
  const double loading = value_of_judge(design_.loading, judge),
               drift = value_of_judge(design_.drift, judge);
  if (loading == 0 && drift == 0) return draw_index(row, N, stream);
  const auto probability = [row](std::size_t l) { return l == 0 ? row[0] : row[l] - row[l - 1]; };
  const double position = (static_cast<double>(n_drawn_) + 0.5) / static_cast<double>(n_cases_);
  const double mean_right = probability(truth_);
  const double right = std::clamp(mean_right + drift * (position - 0.5), 0.0, 1.0);
  const double u = loading == 0 ? stream.uniform() : shared_uniform(loading, effect_, stream);
  if (u < right) return truth_;
  // The intervals of `u` for wrong answers have the same order for all judges. Judges with
  // correlated values of `u` therefore tend to give the same wrong answer.
  double cumulative = right;
  for (std::size_t step = 1; step + 1 < N; ++step) {
    const std::size_t l = (truth_ + step) % N;
    cumulative += mean_right < 1 ? probability(l) * (1 - right) / (1 - mean_right)
                                 : (1 - right) / static_cast<double>(N - 1);
    if (u < cumulative) return l;
  }
  return (truth_ + N - 1) % N;
}

Panel draw_panel(const Design& design, const PanelParameters& parameters, std::size_t cases,
                 Stream& stream) {
  CaseSampler sampler(design, parameters, cases);
  Panel panel;
  panel.truth.resize(cases);
  panel.stratum.resize(cases);
  panel.answers.assign(design.raters.size() + design.visible_systems(), std::vector<int>(cases));
  for (std::size_t i = 0; i < cases; ++i) {
    count_steps(1);
    sampler.next(stream);
    panel.stratum[i] = sampler.stratum();
    panel.truth[i] = sampler.truth();
    for (std::size_t u = 0; u < panel.answers.size(); ++u)
      panel.answers[u][i] = sampler.answers()[u];
  }
  return panel;
}

}  // namespace fallible
