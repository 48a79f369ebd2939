#include "check_k.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fallible {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double PairAgreement::excess() const {
  const double share = expected / cases;
  const double sd = std::sqrt(cases * share * (1 - share));
  return sd > 0 ? (observed - expected) / sd : 0;
}

double DisagreeingPairs::distance() const {
  double out = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const double off = observed[i] - expected[i];
    if (expected[i] > 0) out += off * off / expected[i];
  }
  return out;
}

double lowest_base_rate(const LatentRows& rows) {
  const int N = rows.categories;
  std::vector<double> share(N, 0.0);
  double pairs = 0, agreeing = 0, ratings = 0;
  for (int i = 0; i < rows.size(); ++i) {
    const double w = rows.weight[i];
    for (const int a : rows.places(i)) {
      if (rows.judge[a] >= rows.raters) continue;
      share[rows.category[a]] += w;
      ratings += w;
      for (int b = rows.start[i]; b < a; ++b) {
        if (rows.judge[b] == rows.judge[a]) continue;
        pairs += w;
        if (rows.category[b] == rows.category[a]) agreeing += w;
      }
    }
  }
  const double root = ((N - 1) * agreeing / pairs - (N - 1.0) / N) / N;
  if (!(root > 1e-9)) return -std::numeric_limits<double>::infinity();
  const double accuracy = 1.0 / N + std::sqrt(root);
  const double least = *std::min_element(share.begin(), share.end()) / ratings;
  return ((N - 1) * least - 1 + accuracy) / (N * accuracy - 1);
}

DisagreeingPairs disagreeing_pairs(const LatentRows& rows, const AnswerLaw& law) {
  const int N = law.categories, K = law.classes;
  const auto place = [N](int k, int l) {  // k < l
    return static_cast<std::size_t>(k) * N - static_cast<std::size_t>(k) * (k + 1) / 2 + l - k - 1;
  };
  DisagreeingPairs out;
  out.observed.assign(static_cast<std::size_t>(N) * (N - 1) / 2, 0.0);
  out.expected = out.observed;
  // Expected numbers: of all pairs of answers, less those of a judge with itself.
  std::vector<double> all(static_cast<std::size_t>(K) * N), own(all);
  std::vector<int> set;
  double cases = 0;
  const auto flush = [&]() {
    if (set.size() < 2) return;
    std::fill(all.begin(), all.end(), 0.0);
    std::vector<double> both(out.expected.size(), 0.0);
    for (std::size_t i = 0; i < set.size();) {
      std::size_t j = i;
      while (j < set.size() && set[j] == set[i]) ++j;
      const double times = static_cast<double>(j - i);
      for (int c = 0; c < K; ++c) {
        for (int k = 0; k < N; ++k) {
          own[c * N + k] = times * law.of(set[i], k, c);
          all[c * N + k] += own[c * N + k];
        }
        for (int k = 0; k < N; ++k) {
          for (int l = k + 1; l < N; ++l) {
            both[place(k, l)] -= law.weight[c] * own[c * N + k] * own[c * N + l];
          }
        }
      }
      i = j;
    }
    for (int c = 0; c < K; ++c) {
      for (int k = 0; k < N; ++k) {
        for (int l = k + 1; l < N; ++l) {
          both[place(k, l)] += law.weight[c] * all[c * N + k] * all[c * N + l];
        }
      }
    }
    for (std::size_t i = 0; i < both.size(); ++i) out.expected[i] += cases * both[i];
  };
  std::vector<int> raters;
  for (int i = 0; i < rows.size(); ++i) {
    raters.clear();
    for (const int a : rows.places(i)) {
      if (rows.judge[a] >= rows.raters) continue;
      raters.push_back(rows.judge[a]);
      for (int b = rows.start[i]; b < a; ++b) {
        const int k = std::min(rows.category[a], rows.category[b]);
        const int l = std::max(rows.category[a], rows.category[b]);
        if (k < l && rows.judge[b] != rows.judge[a]) out.observed[place(k, l)] += rows.weight[i];
      }
    }
    if (raters != set) {  // rows by the same raters mostly stand together
      flush();
      set = raters;
      cases = 0;
    }
    cases += rows.weight[i];
  }
  flush();
  double observed = 0, expected = 0;
  for (std::size_t i = 0; i < out.observed.size(); ++i) {
    observed += out.observed[i];
    expected += out.expected[i];
  }
  for (double& value : out.expected) value *= expected > 0 ? observed / expected : 0;
  return out;
}

std::vector<PairAgreement> pair_agreement(const LatentRows& rows, const AnswerLaw& law,
                                          double least_cases) {
  const std::size_t U = rows.judges;
  std::vector<double> cases(U * U, 0.0), agreeing(U * U, 0.0);
  for (int i = 0; i < rows.size(); ++i) {
    for (const int a : rows.places(i)) {
      for (int b = rows.start[i]; b < a; ++b) {
        const std::size_t at = rows.judge[b] * U + rows.judge[a];  // judges ascend within a row
        cases[at] += rows.weight[i];
        if (rows.category[a] == rows.category[b]) agreeing[at] += rows.weight[i];
      }
    }
  }
  std::vector<PairAgreement> out;
  for (std::size_t u = 0; u < U; ++u) {
    for (std::size_t v = u + 1; v < U; ++v) {
      const std::size_t at = u * U + v;
      if (cases[at] < least_cases) continue;
      double share = 0;
      for (int c = 0; c < law.classes; ++c) {
        for (int k = 0; k < law.categories; ++k) {
          share +=
              law.weight[c] * law.of(static_cast<int>(u), k, c) * law.of(static_cast<int>(v), k, c);
        }
      }
      out.push_back(
          {static_cast<int>(u), static_cast<int>(v), cases[at], agreeing[at], cases[at] * share});
    }
  }
  return out;
}

KTester::KTester(const LatentRows& rows, const KTest& test, const LatentPrior& prior)
    : test_(test), prior_(prior) {
  const LatentClass null(rows, test.null, prior);
  null_ = fit_latent(null, OptimiserOptions{});
  law_ = null.law(null_.x);
  converged_ = null_.converged;
  degrees_ = 0;
  if (test.compare) {
    const LatentClass alternative(rows, test.alternative, prior);
    const LatentFit fit =
        fit_latent(alternative, alternative.start_from(null, null_.x), OptimiserOptions{});
    converged_ = converged_ && fit.converged;
    degrees_ = alternative.layout().free_parameters() - null.layout().free_parameters();
    observed_ = statistics(rows, null_, &fit, law_);
  } else {
    observed_ = statistics(rows, null_, nullptr, law_);
  }
  sampler_.emplace(rows, law_);
}

KStatistics KTester::statistics(const LatentRows& rows, const LatentFit& null,
                                const LatentFit* other, const AnswerLaw& law) const {
  KStatistics out{nothing, nothing, nothing, nothing};
  if (other) out.ratio = 2 * (other->log_likelihood - null.log_likelihood);
  if (test_.pairs) {
    out.pairs = disagreeing_pairs(rows, law).distance();
    out.lowest_rate = lowest_base_rate(rows);
  }
  if (test_.residual) {
    for (const PairAgreement& pair : pair_agreement(rows, law, least_common_cases)) {
      if (!(out.residual >= pair.excess())) out.residual = pair.excess();
    }
  }
  return out;
}

KStatistics KTester::replicate(Stream& stream) const {
  const LatentRows rows = sampler_->draw(stream);
  const LatentClass null(rows, test_.null, prior_);
  const LatentFit fit = fit_latent(null, null_.x, coarse_options());
  const AnswerLaw law = null.law(fit.x);
  if (!test_.compare) return statistics(rows, fit, nullptr, law);
  const LatentClass alternative(rows, test_.alternative, prior_);
  const LatentFit other =
      fit_latent(alternative, alternative.start_from(null, fit.x), coarse_options());
  return statistics(rows, fit, &other, law);
}

std::vector<std::vector<KStatistics>> bootstrap_k(const std::vector<KTester>& testers,
                                                  const BootstrapOptions& options,
                                                  const Host& host) {
  const std::size_t replicates = options.replicates;
  std::vector<std::vector<KStatistics>> out(testers.size(), std::vector<KStatistics>(replicates));
  for_each_item(testers.size() * replicates, options.threads, host, [&](std::size_t item) {
    Stream stream(options.seed, item);
    const std::size_t test = item / replicates;
    out[test][item % replicates] = testers[test].replicate(stream);
  });
  return out;
}

}  // namespace fallible
