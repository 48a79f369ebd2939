#include "check_k.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../base/special.hpp"

namespace fallible {

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
  const int N = law.categories;
  Eigen::MatrixXd observed = Eigen::MatrixXd::Zero(N, N), expected = observed;
  std::vector<int> set;  // of raters, with the cases of rows that stand together
  double cases = 0;
  // All pairs of answers, less those of a judge with itself.
  const auto flush = [&]() {
    if (set.size() < 2) return;
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(law.classes, N), of_themselves = expected * 0;
    for (auto i = set.begin(); i != set.end();) {
      const auto j = std::upper_bound(i, set.end(), *i);
      const Eigen::MatrixXd own = static_cast<double>(j - i) * law.of(*i).leftCols(N);
      all += own;
      of_themselves += own.transpose() * law.weights().asDiagonal() * own;
      i = j;
    }
    expected += cases * (all.transpose() * law.weights().asDiagonal() * all - of_themselves);
  };
  std::vector<int> raters;
  for (int i = 0; i < rows.size(); ++i) {
    raters.clear();
    for (const int a : rows.places(i)) {
      if (rows.judge[a] >= rows.raters) continue;
      raters.push_back(rows.judge[a]);
      for (int b = rows.start[i]; b < a; ++b) {
        if (rows.judge[b] == rows.judge[a]) continue;
        const auto pair = std::minmax(rows.category[a], rows.category[b]);
        observed(pair.first, pair.second) += rows.weight[i];
      }
    }
    if (raters != set) {
      flush();
      set = raters;
      cases = 0;
    }
    cases += rows.weight[i];
  }
  flush();
  DisagreeingPairs out;
  double of_observed = 0, of_expected = 0;
  for (int k = 0; k < N; ++k) {
    for (int l = k + 1; l < N; ++l) {
      of_observed += out.observed.emplace_back(observed(k, l));
      of_expected += out.expected.emplace_back(expected(k, l));
    }
  }
  for (double& value : out.expected) value *= of_expected > 0 ? of_observed / of_expected : 0;
  return out;
}

std::vector<PairAgreement> pair_agreement(const LatentRows& rows, const AnswerLaw& law,
                                          double least_cases) {
  const int U = rows.judges;
  Eigen::MatrixXd cases = Eigen::MatrixXd::Zero(U, U), agreeing = cases;
  for (int i = 0; i < rows.size(); ++i) {
    for (const int a : rows.places(i)) {
      for (int b = rows.start[i]; b < a; ++b) {  // judges ascend within a row
        cases(rows.judge[b], rows.judge[a]) += rows.weight[i];
        if (rows.category[a] == rows.category[b]) {
          agreeing(rows.judge[b], rows.judge[a]) += rows.weight[i];
        }
      }
    }
  }
  std::vector<PairAgreement> out;
  for (int u = 0; u < U; ++u) {
    for (int v = u + 1; v < U; ++v) {
      if (cases(u, v) < least_cases) continue;
      const auto both = law.of(u).cwiseProduct(law.of(v)).leftCols(law.categories);
      const double share = law.weights().dot(both.rowwise().sum());
      out.push_back({u, v, cases(u, v), agreeing(u, v), cases(u, v) * share});
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
  if (test.alternative) {
    const LatentClass alternative(rows, *test.alternative, prior);
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
  KStatistics out{not_a_number, not_a_number, not_a_number, not_a_number};
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
  if (!test_.alternative) return statistics(rows, fit, nullptr, law);
  const LatentClass alternative(rows, *test_.alternative, prior_);
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
