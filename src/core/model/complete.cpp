#include "complete.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

CompleteCurvature::CompleteCurvature(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                                     const Counts& counts)
    : diagonal_(Eigen::VectorXd::Zero(layout.size)),
      categories_(layout.categories),
      mean_at_(layout.mean_at),
      accuracies_at_(layout.accuracies_at),
      errors_at_(layout.errors_at) {
  const int N = categories_;
  double cases = layout.prior.none ? 0 : layout.prior.base_rates * N;
  for (const double n : counts.classes) cases += n;
  for (int k = 0; k < N - 1; ++k) diagonal_[k] = cases * law.base_rates[k];
  last_rate_ = std::max(cases * law.base_rates[N - 1], least);
  if (errors_at_ >= 0) wrong_.assign(static_cast<std::size_t>(layout.groups) * N, 0.0);
  const Score score(layout, x, law);
  for (int u = 0; u < layout.rows.judges; ++u) {
    if (!layout.is_known(u) && layout.per_group > 0) add_judge(layout, score, u, law, counts);
  }
  if (layout.ordinal_at >= 0) add_ordinal(layout, score, law, counts);
  if (layout.levels_at >= 0) add_levels(layout, score, law, counts);
  if (errors_at_ >= 0) add_errors(layout, law);
  if (!layout.prior.none && !layout.prior.pooled) add_priors(layout, x);
  diagonal_ = diagonal_.cwiseMax(least);
}

// Of each of its parameters the expected square of the slope.
void CompleteCurvature::add_judge(const Layout& layout, const Score& score, int judge,
                                  const Law& law, const Counts& counts) {
  const int N = categories_;
  for (int k = 0; k < N; ++k) {
    double wrong = 0, before = 0;  // what a pooled prior adds to the numbers
    for (int l = 0; layout.prior.rows && l < N; ++l) {
      const double alpha = layout.prior_row(judge, k)[l];
      before += alpha;
      if (l != k) wrong += alpha;
    }
    for (int c = k; c < law.classes; c += N) {
      double n = before;
      for (int l = 0; l < N; ++l) {
        for (int symbol = l; symbol < law.symbols; symbol += N) {
          const double of = counts.ratings[law.place(judge, symbol) + c];
          n += of;
          if (l != k) wrong += of;
        }
      }
      const double p = law.of(judge, k, c);
      for (const bool right : {false, true}) {
        score.right_or_wrong(judge, c, right, [&](int at, double slope) {
          diagonal_[at] += n * (right ? p : 1 - p) * square(slope);
        });
      }
    }
    if (layout.errors_at >= 0) wrong_[layout.group[judge] * N + k] += wrong;
    if (layout.dispersions_at < 0) continue;
    double mean = 0;
    score.wrong(judge, k, [&](int, double slope) { mean = slope; });
    for (int l = 0; l < N; ++l) {
      score.answer(judge, k, l, [&](int at, double slope) {
        diagonal_[at] += wrong * law.error(judge)[k * N + l] * square(mean + slope);
      });
    }
  }
}

void CompleteCurvature::add_block(int first, const Eigen::MatrixXd& information) {
  const Eigen::Index size = information.rows();
  blocks_.push_back({first, (information + least * Eigen::MatrixXd::Identity(size, size)).llt()});
}

void CompleteCurvature::add_ordinal(const Layout& layout, const Score& score, const Law& law,
                                    const Counts& counts) {
  const int N = categories_;
  std::vector<Eigen::MatrixXd> of_group(layout.groups, Eigen::MatrixXd::Zero(N, N));
  for (int u = 0; u < layout.rows.judges; ++u) {
    for (int k = 0; k < N && !layout.is_known(u); ++k) {
      double n = 0;
      for (int symbol = 0; symbol < law.symbols; ++symbol) {
        n += counts.ratings[law.place(u, symbol) + k];
      }
      for (int l = 0; l < N; ++l) {
        Eigen::VectorXd slope = Eigen::VectorXd::Zero(N);
        score.answer(u, k, l, [&](int at, double of) { slope[at - layout.ordinal_of(u)] += of; });
        of_group[layout.group[u]] += n * law.of(u, l, k) * slope * slope.transpose();
      }
    }
  }
  for (int g = 0; g < layout.groups; ++g) add_block(layout.ordinal_at + g * N, of_group[g]);
}

void CompleteCurvature::add_levels(const Layout& layout, const Score& score, const Law& law,
                                   const Counts& counts) {
  const std::vector<double> seen = counts.levels(layout);
  const int size = LevelLaw::size(layout.rows.levels);
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(size, size);
  for (const bool right : {false, true}) {
    double n = 0;
    for (std::size_t i = right; i < seen.size(); i += 2) n += seen[i];
    for (int level = 0; level < layout.rows.levels; ++level) {
      Eigen::VectorXd slope = Eigen::VectorXd::Zero(size);
      score.confidence(right, level,
                       [&](int at, double of) { slope[at - layout.levels_at] += of; });
      out += n * law.levels->of(right, level) * slope * slope.transpose();
    }
  }
  add_block(layout.levels_at, out);
}

void CompleteCurvature::add_errors(const Layout& layout, const Law& law) {
  const int N = categories_;
  const double pull =
      layout.prior.none || layout.prior.pooled ? least : 1 / square(layout.prior.errors);
  error_.resize(wrong_.size() * N);
  for (int u = 0; u < layout.rows.judges; ++u) {
    if (layout.is_known(u)) continue;
    std::copy_n(law.error(u), N * N, &error_[static_cast<std::size_t>(layout.group[u]) * N * N]);
  }
  for (std::size_t i = 0; i < error_.size(); ++i) {
    diagonal_[errors_at_ + static_cast<Eigen::Index>(i)] = wrong_[i / N] * error_[i] + pull;
  }
}

void CompleteCurvature::add_priors(const Layout& layout, const Eigen::VectorXd& x) {
  const LatentPrior& prior = layout.prior;
  const bool joined = layout.rows.joined();
  const double of_raters = prior.correct + prior.wrong;
  const auto beta = [&](int at, double weight) {
    const double p = logistic(x[at]);
    diagonal_[at] += weight * p * (1 - p);
  };
  const int accuracies = layout.groups * layout.per_group,
            of_system = joined ? layout.per_group : 0;
  if (mean_at_ >= 0) {
    around_mean_ = accuracies - of_system;
    pull_ = 1 / square(prior.spread);
    beta(mean_at_, of_raters);
    diagonal_[mean_at_] += around_mean_ * pull_;
  }
  for (int i = 0; i < accuracies; ++i) {
    if (i < around_mean_) {
      diagonal_[accuracies_at_ + i] += pull_;
    } else {
      beta(accuracies_at_ + i, i >= accuracies - of_system ? 2 : of_raters);
    }
  }
  for (int i = 0; i < layout.kinds; ++i) {
    if (layout.dispersions_at >= 0) {
      diagonal_[layout.dispersions_at + i] += 1 / square(prior.dispersion);
    }
    if (layout.shifts_at >= 0) diagonal_[layout.shifts_at + i] += 1 / square(prior.difficulty);
  }
}

// Blocks that are a diagonal and a matrix of rank one, by the formula of Sherman and Morrison; the
// mean, with the accuracies that it bends, by elimination.
Eigen::VectorXd CompleteCurvature::solve(const Eigen::VectorXd& gradient) const {
  const int N = categories_;
  Eigen::VectorXd out = gradient.cwiseQuotient(diagonal_);
  out.head(N - 1).array() += gradient.head(N - 1).sum() / last_rate_;
  for (const Block& block : blocks_) {
    out.segment(block.first, block.root.rows()) =
        block.root.solve(gradient.segment(block.first, block.root.rows()));
  }
  if (around_mean_ > 0) {
    auto raters = out.segment(accuracies_at_, around_mean_);
    const auto of_raters = diagonal_.segment(accuracies_at_, around_mean_);
    const double bend = diagonal_[mean_at_] - square(pull_) * of_raters.cwiseInverse().sum();
    out[mean_at_] = (gradient[mean_at_] + pull_ * raters.sum()) / bend;
    raters += pull_ * out[mean_at_] * of_raters.cwiseInverse();
  }
  for (std::size_t row = 0; row < wrong_.size(); ++row) {
    const Eigen::Map<const Eigen::VectorXd> error(&error_[row * N], N);
    const auto at = errors_at_ + static_cast<Eigen::Index>(row) * N;
    auto step = out.segment(at, N);
    const Eigen::VectorXd way = error.cwiseQuotient(diagonal_.segment(at, N));
    step += wrong_[row] * error.dot(step) / (1 - wrong_[row] * error.dot(way)) * way;
  }
  return out;
}

}  // namespace fallible
