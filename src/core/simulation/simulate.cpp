#include "simulate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fallible {

namespace {

// Marsaglia and Tsang (2000), ACM Trans. Math. Softw. 26, 363-372; normal numbers by Box and
// Muller. The logarithm, since small shapes give numbers that would underflow. One number per
// statement: the order in which an expression draws its numbers would be the compiler's.
double draw_log_gamma(double shape, Stream& stream) {
  if (shape < 1) {
    const double u = 1 - stream.uniform();
    return draw_log_gamma(shape + 1, stream) + std::log(u) / shape;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double radius = std::sqrt(-2 * std::log(1 - stream.uniform()));
    const double x = radius * std::cos(6.283185307179586477 * stream.uniform());
    const double u = 1 - stream.uniform();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double log_v = 3 * std::log(root);
    if (std::log(u) < x * x / 2 + d - d * std::exp(log_v) + d * log_v) return std::log(d) + log_v;
  }
}

std::vector<double> draw_base_rates(const Design& design, Stream& stream) {
  if (design.law == BaseRateLaw::fixed) return design.base_rates;
  std::vector<double> out(design.categories);
  if (design.law == BaseRateLaw::uniform) {
    for (double& rate : out) rate = 1 - stream.uniform();
  } else {
    for (double& rate : out) rate = draw_log_gamma(design.concentration, stream);
    const double most = *std::max_element(out.begin(), out.end());
    for (double& rate : out) rate = std::exp(rate - most);
  }
  const double total = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& rate : out) rate /= total;
  return out;
}

// Cumulative probabilities, the last of them exactly one.
std::vector<double> cumulate(const double* probability, std::size_t n) {
  std::vector<double> out(n);
  std::partial_sum(probability, probability + n, out.begin());
  const double total = out.back();
  for (double& p : out) p /= total;
  return out;
}

// Counts the bounds that are passed, without branches: a search would be mispredicted.
std::size_t draw_index(const double* cumulative, std::size_t n, Stream& stream) {
  const double u = stream.uniform();
  if (n > 32) return std::upper_bound(cumulative, cumulative + n, u) - cumulative;
  std::size_t passed = 0;
  for (std::size_t i = 0; i < n; ++i) passed += u >= cumulative[i];
  return passed;
}

// Where strata of exactly their share of the cases end, rounded so that they add up.
std::vector<std::size_t> stratum_ends(const std::vector<double>& cumulative, std::size_t cases) {
  std::vector<std::size_t> out;
  for (const double share : cumulative) {
    out.push_back(static_cast<std::size_t>(std::llround(share * static_cast<double>(cases))));
  }
  return out;
}

}  // namespace

Truths draw_truths(const Design& design, Stream& stream) {
  Truths out;
  const int N = design.categories;
  out.base_rates = draw_base_rates(design, stream);
  const std::size_t raters = design.raters.size(), judges = raters + design.systems.size();
  std::vector<double> correct(judges, 0.0);
  for (std::size_t u = 0; u < judges; ++u) {
    const bool is_system = u >= raters;
    const double accuracy = is_system ? design.systems[u - raters] : design.raters[u];
    ConfusionOptions options = design.confusion;
    if (is_system && !design.system_errors) {
      options.dispersion = 1;
      options.error_range = 0;
    }
    std::vector<double> factor;
    for (const Stratum& stratum : design.strata) {
      if (u < design.custom.size() && !design.custom[u].empty()) {
        out.matrix.push_back(design.custom[u]);
      } else {
        if (factor.empty() || design.strata_redraw) {
          factor = error_factors(N, options.error_range, stream);
        }
        const double shift = is_system && !design.system_strata ? 0 : stratum.shift;
        out.matrix.push_back(
            confusion_matrix(accuracy + shift, out.base_rates, options, factor));
      }
      correct[u] += stratum.weight * expected_accuracy(out.matrix.back(), out.base_rates);
    }
  }
  for (const Copying& copy : design.copying) {
    correct[copy.to] += copy.probability * (correct[copy.from] - correct[copy.to]);
  }
  out.expected.assign(correct.begin() + static_cast<std::ptrdiff_t>(raters), correct.end());
  return out;
}

CaseSampler::CaseSampler(const Design& design, const Truths& truths, std::size_t cases)
    : design_(design), categories_(cumulate(truths.base_rates.data(), design.categories)) {
  const std::size_t N = design.categories, S = design.strata.size();
  answers_.resize(truths.matrix.size() / S);
  std::vector<double> weight;
  for (const Stratum& stratum : design.strata) weight.push_back(stratum.weight);
  strata_ = cumulate(weight.data(), S);
  ends_ = stratum_ends(strata_, cases);
  rows_.reserve(truths.matrix.size() * N * N);
  for (const auto& matrix : truths.matrix) {
    for (std::size_t k = 0; k < N; ++k) {
      const auto row = cumulate(matrix.data() + k * N, N);
      rows_.insert(rows_.end(), row.begin(), row.end());
    }
  }
}

void CaseSampler::next(Stream& stream) {
  const std::size_t N = categories_.size(), S = strata_.size();
  if (!design_.strata_drawn) {
    while (drawn_ >= ends_[stratum_]) ++stratum_;
    ++drawn_;
  } else if (S > 1) {
    stratum_ = draw_index(strata_.data(), S, stream);
  }
  truth_ = draw_index(categories_.data(), N, stream);
  for (std::size_t u = 0; u < answers_.size(); ++u) {
    const double* row = rows_.data() + ((u * S + stratum_) * N + truth_) * N;
    answers_[u] = static_cast<int>(draw_index(row, N, stream)) + 1;
  }
  for (const Copying& copy : design_.copying) {
    if (stream.uniform() < copy.probability) answers_[copy.to] = answers_[copy.from];
  }
  if (design_.missing > 0) {
    for (std::size_t u = 0; u < design_.raters.size(); ++u) {
      if (stream.uniform() < design_.missing) answers_[u] = 0;
    }
  }
}

Panel draw_panel(const Design& design, const Truths& truths, std::size_t cases, Stream& stream) {
  CaseSampler sampler(design, truths, cases);
  Panel out;
  out.truth.resize(cases);
  out.stratum.resize(cases);
  out.answers.assign(sampler.answers().size(), std::vector<int>(cases));
  for (std::size_t i = 0; i < cases; ++i) {
    sampler.next(stream);
    out.stratum[i] = sampler.stratum();
    out.truth[i] = sampler.truth();
    for (std::size_t u = 0; u < out.answers.size(); ++u) out.answers[u][i] = sampler.answers()[u];
  }
  return out;
}

}  // namespace fallible
