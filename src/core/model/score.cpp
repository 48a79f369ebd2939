#include "score.hpp"

#include <algorithm>
#include <cmath>

namespace fallible {

ExpectedCounts::ExpectedCounts(const Layout& layout)
    : ratings(static_cast<std::size_t>(layout.rows.judges) * layout.rows.answer_codes() *
              layout.classes()),
      classes(static_cast<std::size_t>(layout.populations()) * layout.classes()) {}

std::vector<double> ExpectedCounts::levels(const Layout& layout) const {
  const std::size_t N = layout.categories, K = layout.classes(),
                    answer_codes = layout.rows.answer_codes();
  std::vector<double> count(2 * layout.rows.levels, 0.0);
  for (std::size_t i = 0; i < ratings.size(); ++i) {
    const std::size_t answer_code = i / K % answer_codes;
    if (answer_code >= N) {
      count[2 * (answer_code / N - 1) + (answer_code % N == i % K % N)] += ratings[i];
    }
  }
  return count;
}

Squares ExpectedCounts::ratings_by_truth(const Layout& layout) const {
  const int N = layout.categories;
  Squares count(layout.rows.judges, N);
  const double* number = ratings.data();
  for (int u = 0; u < layout.rows.judges; ++u) {
    for (int answer_code = 0; answer_code < layout.rows.answer_codes(); ++answer_code) {
      for (int c = 0; c < layout.classes(); ++c) count[u][answer_code % N][c % N] += *number++;
    }
  }
  return count;
}

void add_gradient(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                  const ExpectedCounts& counts, Eigen::VectorXd& gradient) {
  const int N = layout.categories, S = layout.strata;
  for (int g = 0; g < layout.populations(); ++g) {
    double cases = 0;
    std::vector<double> category_cases(N, 0.0);
    for (int c = 0; c < law.classes; ++c) {
      const double n = row_of(counts.classes, g, law.classes)[c];
      category_cases[c % N] += n;
      cases += n;
    }
    for (int k = 0; k < N - 1; ++k) {
      const double excess = category_cases[k] - cases * row_of(law.rates, g, N)[k];
      for (int j = 0; j < layout.coefficients(); ++j) {
        gradient[layout.rate_at(j, k)] += excess * layout.rows.populations.value(g, j);
      }
    }
  }

  const Score score(layout, x, law);
  const auto add_times = [&gradient](double n) {
    return [&gradient, n](int parameter, double slope) { gradient[parameter] += n * slope; };
  };
  for (int u = 0; u < layout.rows.judges; ++u) {
    for (int k = 0; k < N && !layout.has_known_matrix(u); ++k) {
      double wrong_total = 0;
      for (int s = 0; s < S; ++s) {
        double right = 0, wrong = 0;
        for (int answer_code = 0; answer_code < law.answer_codes; ++answer_code) {
          const int l = answer_code % N;
          const double n = counts.ratings[law.array_position(u, answer_code) + s * N + k];
          if (n == 0) continue;
          (l == k ? right : wrong) += n;
          score.put_answer(u, k, l, add_times(n));
        }
        wrong_total += wrong;
        if (layout.ordinal_at >= 0) continue;
        score.put_right_or_wrong(u, s * N + k, true, add_times(right));
        score.put_right_or_wrong(u, s * N + k, false, add_times(wrong));
      }
      if (layout.ordinal_at < 0) score.put_wrong(u, k, add_times(wrong_total));
    }
  }
  if (!law.levels) return;
  const std::vector<double> level_counts = counts.levels(layout);
  for (std::size_t i = 0; i < level_counts.size(); ++i) {
    score.put_confidence(i % 2 == 1, static_cast<int>(i / 2), add_times(level_counts[i]));
  }
}

namespace {

// Writes the parameters of the error rates to `x`. The parameter of an error (truth and rating) is
// the logarithm of its number of ratings, minus the mean logarithm of its row. `errors`: numbers of
// ratings at the positions of the parameters.
void set_free_errors(const Layout& layout, const Eigen::VectorXd& errors, Eigen::VectorXd& x) {
  const int N = layout.categories;
  for (int g = 0; g < layout.groups; ++g) {
    for (int k = 0; k < N; ++k) {
      const int row = layout.errors_at + (g * N + k) * N;
      double centre = 0;
      for (int l = 0; l < N; ++l) {
        if (l != k) centre += (x[row + l] = std::log(errors[row + l])) / (N - 1);
      }
      for (int l = 0; l < N; ++l) {
        if (l != k) x[row + l] -= centre;
      }
    }
  }
}

}  // namespace

Eigen::VectorXd estimate_from_counts(const Layout& layout, const ExpectedCounts& counts,
                                     double pseudo_ratings) {
  const int N = layout.categories;
  const bool pooled = layout.prior.pooled;
  // Number of pseudo-ratings that are added to each count, so that no probability is zero.
  const double pseudo_count = pseudo_ratings + (layout.prior.none || pooled ? 1e-10 : 0.2);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(layout.size);
  std::vector<double> cases(N, pooled ? layout.prior.base_rates : pseudo_count);
  for (std::size_t c = 0; c < counts.classes.size(); ++c) cases[c % N] += counts.classes[c];
  for (int k = 0; k < N - 1; ++k) x[k] = std::log(cases[k] / cases[N - 1]);

  const Squares ratings = counts.ratings_by_truth(layout);
  Eigen::VectorXd right = Eigen::VectorXd::Constant(layout.size, pseudo_count), wrong = right,
                  errors = right;
  for (int u = 0; u < layout.rows.judges; ++u) {
    for (int k = 0; k < N && !layout.has_known_matrix(u) && layout.accuracies_per_group > 0; ++k) {
      for (int l = 0; l < N; ++l) {
        const double n = ratings[u][l][k] + (layout.prior.rows ? layout.prior_row(u, k)[l] : 0);
        (l == k ? right : wrong)[layout.accuracy_at(u, k)] += n;
        if (l != k && layout.errors_at >= 0) errors[layout.error_at(u, k, l)] += n;
      }
    }
  }
  const int accuracies = layout.groups * layout.accuracies_per_group;
  double mean = 0;
  for (int parameter = layout.accuracies_at; parameter < layout.accuracies_at + accuracies;
       ++parameter) {
    x[parameter] = std::log(right[parameter] / wrong[parameter]);
    mean += x[parameter] / accuracies;
  }
  if (layout.mean_at >= 0) x[layout.mean_at] = mean;
  if (layout.errors_at >= 0) set_free_errors(layout, errors, x);
  for (int i = 0; i < layout.judge_types; ++i) {
    // Dispersions and shifts get fixed starting values.
    if (layout.dispersions_at >= 0) x[layout.dispersions_at + i] = 0.2;
    if (layout.shifts_at >= 0) x[layout.shifts_at + i] = 0.1;
  }
  for (int g = 0; layout.ordinal_at >= 0 && g < layout.groups; ++g) {
    OrdinalLaw::start(&x[layout.ordinal_at + g * N], N);
  }
  if (layout.levels_at >= 0) {
    LevelLaw::start(counts.levels(layout), &x[layout.levels_at]);
  }
  return x;
}

}  // namespace fallible
