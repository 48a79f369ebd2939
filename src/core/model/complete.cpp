#include "complete.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../base/special.hpp"

namespace fallible {

Eigen::MatrixXd information_of_rates(const Layout& layout, const Law& law,
                                     const ExpectedCounts& counts) {
  const int N = layout.categories, K = layout.classes();
  const double prior_cases = layout.prior.none ? 0 : layout.prior.base_rates * N;
  Eigen::MatrixXd information =
                      Eigen::MatrixXd::Zero(layout.n_rate_parameters, layout.n_rate_parameters),
                  block(N - 1, N - 1);
  for (int g = 0; g < layout.populations(); ++g) {
    const double* first = row_of(counts.classes, g, K);
    const double cases = std::accumulate(first, first + K, prior_cases * layout.share[g]);
    const Eigen::Map<const Eigen::VectorXd> rate(row_of(law.rates, g, N), N - 1);
    block = -cases * rate * rate.transpose();
    block.diagonal() += cases * rate;
    for (int i = 0; i < layout.coefficients(); ++i) {
      for (int j = 0; j < layout.coefficients(); ++j) {
        const double x = layout.rows.populations.value(g, i) * layout.rows.populations.value(g, j);
        information.block(layout.rate_at(i, 0), layout.rate_at(j, 0), N - 1, N - 1) += x * block;
      }
    }
  }
  return information;
}

CompleteCurvature::CompleteCurvature(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                                     const ExpectedCounts& counts)
    : layout_(&layout), diagonal_(Eigen::VectorXd::Zero(layout.size)) {
  const int N = layout.categories;
  if (layout.coefficients() > 1) {
    add_block(0, information_of_rates(layout, law, counts));
  } else {
    double cases = layout.prior.none ? 0 : layout.prior.base_rates * N;
    for (const double n : counts.classes) cases += n;
    for (int k = 0; k < N - 1; ++k) diagonal_[k] = cases * law.base_rates[k];
    last_rate_curvature_ = std::max(cases * law.base_rates[N - 1], least_curvature);
  }
  if (layout.errors_at >= 0) {
    expected_errors_.assign(static_cast<std::size_t>(layout.groups) * N, 0.0);
  }
  const Score score(layout, x, law);
  for (int u = 0; u < layout.rows.judges; ++u) {
    if (!layout.has_known_matrix(u) && layout.accuracies_per_group > 0)
      add_judge(score, u, law, counts);
  }
  if (layout.ordinal_at >= 0) add_ordinal(score, law, counts);
  if (layout.levels_at >= 0) add_levels(score, law, counts);
  if (layout.errors_at >= 0) add_errors(law);
  if (!layout.prior.none && !layout.prior.pooled) add_priors(x);
  diagonal_ = diagonal_.cwiseMax(least_curvature);
}

// Adds the expected information on the parameters of one judge to the diagonal of the curvature.
// The information is a sum over answers: the squared derivative of the log probability of an
// answer, times its probability, times the expected number of ratings. Also adds expected numbers
// of wrong answers to `expected_errors_`.
void CompleteCurvature::add_judge(const Score& score, int judge, const Law& law,
                                  const ExpectedCounts& counts) {
  const int N = layout_->categories;
  for (int k = 0; k < N; ++k) {
    // `prior_total`: sum of the Dirichlet parameters of row k of the judge's confusion matrix; 0
    // without a pooled prior.
    double wrong = 0, prior_total = 0;
    for (int l = 0; layout_->prior.rows && l < N; ++l) {
      const double alpha = layout_->prior_row(judge, k)[l];
      prior_total += alpha;
      if (l != k) wrong += alpha;
    }
    for (int c = k; c < law.classes; c += N) {
      double n = prior_total;
      for (int l = 0; l < N; ++l) {
        for (int answer_code = l; answer_code < law.answer_codes; answer_code += N) {
          const double count = counts.ratings[law.array_position(judge, answer_code) + c];
          n += count;
          if (l != k) wrong += count;
        }
      }
      const double p = law.answer_probability(judge, k, c);
      for (const bool right : {false, true}) {
        score.put_right_or_wrong(judge, c, right, [&](int parameter, double slope) {
          diagonal_[parameter] += n * (right ? p : 1 - p) * square(slope);
        });
      }
    }
    if (layout_->errors_at >= 0) row_of(expected_errors_, layout_->group[judge], N)[k] += wrong;
    if (layout_->dispersions_at < 0) continue;
    double mean = 0;
    score.put_wrong(judge, k, [&](int, double slope) { mean = slope; });
    for (int l = 0; l < N; ++l) {
      score.put_answer(judge, k, l, [&](int parameter, double slope) {
        diagonal_[parameter] += wrong * law.error(judge)[k][l] * square(mean + slope);
      });
    }
  }
}

void CompleteCurvature::add_block(int first, const Eigen::MatrixXd& information) {
  const Eigen::Index size = information.rows();
  blocks_.push_back(
      {first, (information + least_curvature * Eigen::MatrixXd::Identity(size, size)).llt()});
}

void CompleteCurvature::add_ordinal(const Score& score, const Law& law,
                                    const ExpectedCounts& counts) {
  const int N = layout_->categories;
  std::vector<Eigen::MatrixXd> information(layout_->groups, Eigen::MatrixXd::Zero(N, N));
  for (int u = 0; u < layout_->rows.judges; ++u) {
    for (int k = 0; k < N && !layout_->has_known_matrix(u); ++k) {
      double n = 0;
      for (int answer_code = 0; answer_code < law.answer_codes; ++answer_code) {
        n += counts.ratings[law.array_position(u, answer_code) + k];
      }
      for (int l = 0; l < N; ++l) {
        Eigen::VectorXd slope = Eigen::VectorXd::Zero(N);
        score.put_answer(u, k, l, [&](int parameter, double derivative) {
          slope[parameter - layout_->first_ordinal_at(u)] += derivative;
        });
        information[layout_->group[u]] +=
            n * law.answer_probability(u, l, k) * slope * slope.transpose();
      }
    }
  }
  for (int g = 0; g < layout_->groups; ++g) add_block(layout_->ordinal_at + g * N, information[g]);
}

void CompleteCurvature::add_levels(const Score& score, const Law& law,
                                   const ExpectedCounts& counts) {
  const std::vector<double> level_counts = counts.levels(*layout_);
  const int size = LevelLaw::size(layout_->rows.levels);
  Eigen::MatrixXd information = Eigen::MatrixXd::Zero(size, size);
  for (const bool right : {false, true}) {
    double n = 0;
    for (std::size_t i = right; i < level_counts.size(); i += 2) n += level_counts[i];
    for (int level = 0; level < layout_->rows.levels; ++level) {
      Eigen::VectorXd slope = Eigen::VectorXd::Zero(size);
      score.put_confidence(right, level, [&](int parameter, double derivative) {
        slope[parameter - layout_->levels_at] += derivative;
      });
      information += n * law.levels->probability(right, level) * slope * slope.transpose();
    }
  }
  add_block(layout_->levels_at, information);
}

void CompleteCurvature::add_errors(const Law& law) {
  const int N = layout_->categories;
  const double prior_precision = layout_->prior.none || layout_->prior.pooled
                                     ? least_curvature
                                     : 1 / square(layout_->prior.errors);
  error_share_.resize(expected_errors_.size() * N);
  for (int u = 0; u < layout_->rows.judges; ++u) {
    if (layout_->has_known_matrix(u)) continue;
    std::copy_n(law.error(u).begin(), N * N, row_of(error_share_, layout_->group[u], N * N));
  }
  for (std::size_t i = 0; i < error_share_.size(); ++i) {
    diagonal_[layout_->errors_at + static_cast<Eigen::Index>(i)] =
        expected_errors_[i / N] * error_share_[i] + prior_precision;
  }
}

void CompleteCurvature::add_priors(const Eigen::VectorXd& x) {
  const LatentPrior& prior = layout_->prior;
  const bool joined = layout_->rows.joined();
  const double rater_weight = prior.correct + prior.wrong;
  const auto add_beta = [&](int parameter, double weight) {
    const double p = logistic(x[parameter]);
    diagonal_[parameter] += weight * p * (1 - p);
  };
  const int accuracies = layout_->groups * layout_->accuracies_per_group,
            n_system = joined ? layout_->accuracies_per_group : 0;
  if (layout_->mean_at >= 0) {
    accuracies_around_mean_ = accuracies - n_system;
    mean_precision_ = 1 / square(prior.spread);
    add_beta(layout_->mean_at, rater_weight);
    diagonal_[layout_->mean_at] += accuracies_around_mean_ * mean_precision_;
  }
  for (int i = 0; i < accuracies; ++i) {
    if (i < accuracies_around_mean_) {
      diagonal_[layout_->accuracies_at + i] += mean_precision_;
    } else {
      add_beta(layout_->accuracies_at + i, i >= accuracies - n_system ? 2 : rater_weight);
    }
  }
  for (int i = 0; i < layout_->judge_types; ++i) {
    if (layout_->dispersions_at >= 0) {
      diagonal_[layout_->dispersions_at + i] += 1 / square(prior.dispersion);
    }
    if (layout_->shifts_at >= 0) diagonal_[layout_->shifts_at + i] += 1 / square(prior.difficulty);
  }
}

// Returns curvature^-1 * gradient. Blocks that are a diagonal matrix plus a matrix of rank one are
// inverted by the Sherman-Morrison formula. First computes the step of the mean accuracy, and then
// the steps of the raters' accuracies given the mean.
Eigen::VectorXd CompleteCurvature::solve(const Eigen::VectorXd& gradient) const {
  const int N = layout_->categories;
  Eigen::VectorXd newton_step = gradient.cwiseQuotient(diagonal_);
  newton_step.head(N - 1).array() += gradient.head(N - 1).sum() / last_rate_curvature_;
  for (const Block& block : blocks_) {
    newton_step.segment(block.first, block.root.rows()) =
        block.root.solve(gradient.segment(block.first, block.root.rows()));
  }
  if (accuracies_around_mean_ > 0) {
    auto steps = newton_step.segment(layout_->accuracies_at, accuracies_around_mean_);
    const auto curvature = diagonal_.segment(layout_->accuracies_at, accuracies_around_mean_);
    const double pivot =
        diagonal_[layout_->mean_at] - square(mean_precision_) * curvature.cwiseInverse().sum();
    newton_step[layout_->mean_at] =
        (gradient[layout_->mean_at] + mean_precision_ * steps.sum()) / pivot;
    steps += mean_precision_ * newton_step[layout_->mean_at] * curvature.cwiseInverse();
  }
  for (std::size_t row = 0; row < expected_errors_.size(); ++row) {
    const Eigen::Map<const Eigen::VectorXd> error(row_of(error_share_, row, N), N);
    const auto first = layout_->errors_at + static_cast<Eigen::Index>(row) * N;
    auto step = newton_step.segment(first, N);
    const Eigen::VectorXd direction = error.cwiseQuotient(diagonal_.segment(first, N));
    step += expected_errors_[row] * error.dot(step) /
            (1 - expected_errors_[row] * error.dot(direction)) * direction;
  }
  return newton_step;
}

}  // namespace fallible
