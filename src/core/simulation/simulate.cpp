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

// Factor by which the diagonal must be multiplied before rows are normalised, so that the mean
// accuracy, weighted by base rates, is `accuracy`. The logit of the mean accuracy increases with
// the logarithm of the factor, with a slope between 0 and 1. A step by the difference in logits
// therefore never overshoots. It is exact if all rows have the same probability of error.
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
  Table<double> out(N, N);
  std::vector<double> wrong(N, 0.0);
  for (int k = 0; k < N; ++k) {
    double* row = out[k];
    double spread = 0;
    // Distance of the most probable error. Powers are divided by the power of this distance, so
    // that large dispersions do not overflow.
    const int likeliest = options.dispersion >= 1 ? 1 : std::max(k, N - 1 - k);
    for (int l = 0; l < N; ++l) {
      if (l != k) spread += row[l] = std::pow(options.dispersion, likeliest - std::abs(k - l));
    }
    for (int l = 0; l < N; ++l) {
      wrong[k] += row[l] *= (1 - accuracy) / spread * row_of(factor, k, N)[l];
    }
  }
  const bool by_row = options.normalise == Normalise::row || accuracy == 0 || accuracy == 1;
  const double right = by_row ? 0 : accuracy * diagonal_factor(accuracy, base_rates, wrong);
  for (int k = 0; k < N; ++k) {
    double* row = out[k];
    const double total = by_row ? 0 : right + wrong[k];
    const double error_scale = wrong[k] > 0 ? (1 - accuracy) / wrong[k] : 0;
    for (int l = 0; l < N; ++l) row[l] = by_row ? row[l] * error_scale : row[l] / total;
    row[k] = by_row ? accuracy : right / total;
  }
  return std::move(out.values());
}

std::vector<double> error_factors(int categories, double error_range, Stream& stream) {
  Table<double> out(categories, categories, 1);
  for (int k = 0; k < categories && error_range != 0; ++k) {
    for (int l = 0; l < categories; ++l) {
      if (k == l) continue;
      // The factor is always positive, because uniform() is below 1. Otherwise a row could be left
      // without errors to rescale.
      out[k][l] += error_range * (1 - 2 * stream.uniform());
    }
  }
  return std::move(out.values());
}

double expected_accuracy(const std::vector<double>& confusion,
                         const std::vector<double>& base_rates) {
  double out = 0;
  const std::size_t N = base_rates.size();
  for (std::size_t k = 0; k < N; ++k) out += base_rates[k] * row_of(confusion, k, N)[k];
  return out;
}

namespace {

std::vector<double> draw_base_rates(const Design& design, Stream& stream) {
  if (design.law == BaseRateLaw::fixed) return design.base_rates;
  std::vector<double> out(design.categories);
  if (design.law == BaseRateLaw::uniform) {
    for (double& rate : out) rate = 1 - stream.uniform();
  } else {
    for (double& rate : out) rate = stream.log_gamma(design.concentration);
    softmax(out.begin(), out.end());
  }
  const double total = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& rate : out) rate /= total;
  return out;
}

// Cumulative sums, rescaled so that the last one is exactly 1.
std::vector<double> cumulate(const double* probability, std::size_t n) {
  std::vector<double> out(n);
  std::partial_sum(probability, probability + n, out.begin());
  const double total = out.back();
  for (double& p : out) p /= total;
  return out;
}

// Draws an index from probabilities whose cumulative sums are given. If there are few, counts the
// sums below a uniform number, which is fast because it needs no branches.
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
  std::vector<std::size_t> out;
  out.reserve(cumulative.size());
  for (const double share : cumulative) {
    out.push_back(static_cast<std::size_t>(std::llround(share * static_cast<double>(cases))));
  }
  return out;
}

// Mean over the cases of an accuracy that changes linearly, by `drift` from the first case to the
// last, and is clipped to [0, 1].
double mean_accuracy(double accuracy, double drift) {
  if (drift == 0) return accuracy;
  // Integral of the clipped accuracy: area(b) - area(a) is the integral from a to b.
  const auto area = [](double x) { return x <= 0 ? 0 : x < 1 ? x * x / 2 : x - 0.5; };
  return (area(accuracy + drift / 2) - area(accuracy - drift / 2)) / drift;
}

// Mean accuracy, weighted by base rates, over the cases of a panel with drift.
double mean_accuracy_of_matrix(const std::vector<double>& matrix,
                               const std::vector<double>& base_rates, double drift) {
  const std::size_t N = base_rates.size();
  double out = 0;
  for (std::size_t k = 0; k < N; ++k) {
    out += base_rates[k] * mean_accuracy(row_of(matrix, k, N)[k], drift);
  }
  return out;
}

// User-defined matrix of a judge in a stratum. `matrices` contains one matrix for all strata, or
// one per stratum, each row by row.
std::vector<double> custom_matrix(const std::vector<double>& matrices, std::size_t stratum, int N) {
  const std::size_t size = N * N;
  const double* first = row_of(matrices, matrices.size() == size ? 0 : stratum, size);
  return {first, first + size};
}

// Uniform variable that is correlated with the effect of the case, a normal variable that all
// judges share. Judges with loadings are then wrong in the same cases.
double shared_uniform(double loading, double effect, Stream& stream) {
  const double noise = stream.normal();
  return normal_cdf(loading * effect + std::sqrt(1 - loading * loading) * noise);
}

double value_of_judge(const std::vector<double>& values, std::size_t judge) {
  return values.empty() ? 0 : values[judge];
}

bool has_nonzero(const std::vector<double>& x) {
  return std::any_of(x.begin(), x.end(), [](double value) { return value != 0; });
}

}  // namespace

Truths draw_truths(const Design& design, Stream& stream) {
  Truths out;
  const int N = design.categories;
  out.base_rates = draw_base_rates(design, stream);
  const std::size_t raters = design.raters.size(), judges = raters + design.systems.size();
  std::vector<double> share_right(judges, 0.0);
  for (std::size_t u = 0; u < judges; ++u) {
    const bool is_system = u >= raters;
    const double accuracy = is_system ? design.systems[u - raters] : design.raters[u];
    ConfusionOptions options = design.confusion;
    if (is_system && !design.system_errors) {
      options.dispersion = 1;
      options.error_range = 0;
    }
    std::vector<double> factor;
    for (std::size_t s = 0; s < design.strata.size(); ++s) {
      const Stratum& stratum = design.strata[s];
      if (u < design.custom.size() && !design.custom[u].empty()) {
        out.matrix.push_back(custom_matrix(design.custom[u], s, N));
      } else {
        if (factor.empty() || design.strata_redraw) {
          factor = error_factors(N, options.error_range, stream);
        }
        const double shift = is_system && !design.system_strata ? 0 : stratum.shift;
        out.matrix.push_back(confusion_matrix(accuracy + shift, out.base_rates, options, factor));
      }
      share_right[u] += stratum.weight * mean_accuracy_of_matrix(out.matrix.back(), out.base_rates,
                                                                 value_of_judge(design.drift, u));
    }
  }
  for (const Copying& copy : design.copying) {
    share_right[copy.to] += copy.probability * (share_right[copy.from] - share_right[copy.to]);
  }
  const auto first = share_right.begin() + static_cast<std::ptrdiff_t>(raters);
  out.expected.assign(first, first + static_cast<std::ptrdiff_t>(design.visible_systems()));
  return out;
}

CaseSampler::CaseSampler(const Design& design, const Truths& truths, std::size_t cases)
    : design_(design),
      cases_(cases),
      has_loadings_(has_nonzero(design.loading)),
      has_missing_(has_nonzero(design.missing)),
      categories_(cumulate(truths.base_rates.data(), design.categories)) {
  const std::size_t N = design.categories, S = design.strata.size();
  answers_.resize(truths.matrix.size() / S);
  std::vector<double> weight;
  for (const Stratum& stratum : design.strata) weight.push_back(stratum.weight);
  strata_ = cumulate(weight.data(), S);
  ends_ = stratum_ends(strata_, cases);
  rows_.reserve(truths.matrix.size() * N * N);
  for (const auto& matrix : truths.matrix) {
    for (std::size_t k = 0; k < N; ++k) {
      const auto row = cumulate(row_of(matrix, k, N), N);
      rows_.insert(rows_.end(), row.begin(), row.end());
    }
  }
}

void CaseSampler::next(Stream& stream) {
  const std::size_t N = categories_.size(), S = strata_.size();
  if (!design_.strata_drawn) {
    while (drawn_ >= ends_[stratum_]) ++stratum_;
  } else if (S > 1) {
    stratum_ = draw_index(strata_.data(), S, stream);
  }
  truth_ = draw_index(categories_.data(), N, stream);
  if (has_loadings_) effect_ = stream.normal();
  for (std::size_t u = 0; u < answers_.size(); ++u) {
    answers_[u] = static_cast<int>(answer(u, stream)) + 1;
  }
  ++drawn_;
  for (const Copying& copy : design_.copying) {
    if (stream.uniform() < copy.probability) answers_[copy.to] = answers_[copy.from];
  }
  if (has_missing_) {
    for (std::size_t u = 0; u < design_.raters.size(); ++u) {
      if (stream.uniform() < design_.missing[u]) answers_[u] = 0;
    }
  }
}

// Draws the answer of a judge to the current case. With a loading, the uniform number that
// determines the answer depends on the effect of the case. It is then correlated with the numbers
// of other judges. Answers are ordered: the right one first, then the wrong ones from the next
// category on, so judges who are wrong together also give the same answer. With drift, the
// probability of the right answer depends on the number of the case, and wrong answers share the
// rest in proportion.
std::size_t CaseSampler::answer(std::size_t judge, Stream& stream) const {
  const std::size_t N = categories_.size(), S = strata_.size();
  const double* row = row_of(rows_, (judge * S + stratum_) * N + truth_, N);
  const double loading = value_of_judge(design_.loading, judge),
               drift = value_of_judge(design_.drift, judge);
  if (loading == 0 && drift == 0) return draw_index(row, N, stream);
  const auto probability = [row](std::size_t l) { return l == 0 ? row[0] : row[l] - row[l - 1]; };
  const double position = (static_cast<double>(drawn_) + 0.5) / static_cast<double>(cases_);
  const double mean_right = probability(truth_);
  const double right = std::clamp(mean_right + drift * (position - 0.5), 0.0, 1.0);
  const double u = loading == 0 ? stream.uniform() : shared_uniform(loading, effect_, stream);
  if (u < right) return truth_;
  double cumulative = right;
  for (std::size_t step = 1; step + 1 < N; ++step) {
    const std::size_t l = (truth_ + step) % N;
    cumulative += mean_right < 1 ? probability(l) * (1 - right) / (1 - mean_right)
                                 : (1 - right) / static_cast<double>(N - 1);
    if (u < cumulative) return l;
  }
  return (truth_ + N - 1) % N;
}

Panel draw_panel(const Design& design, const Truths& truths, std::size_t cases, Stream& stream) {
  CaseSampler sampler(design, truths, cases);
  Panel out;
  out.truth.resize(cases);
  out.stratum.resize(cases);
  out.answers.assign(design.raters.size() + design.visible_systems(), std::vector<int>(cases));
  for (std::size_t i = 0; i < cases; ++i) {
    count_steps(1);
    sampler.next(stream);
    out.stratum[i] = sampler.stratum();
    out.truth[i] = sampler.truth();
    for (std::size_t u = 0; u < out.answers.size(); ++u) out.answers[u][i] = sampler.answers()[u];
  }
  return out;
}

}  // namespace fallible
