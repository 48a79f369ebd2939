#include "law.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "../base/special.hpp"
#include "reading.hpp"

namespace fallible {

namespace {

// Lower limit of the probability of an answer, so that its logarithm is finite.
constexpr double least_probability = 1e-305;

// Each row of `x` contains logarithms. Replaces them by shares of the row: the numbers themselves,
// divided by their sum. The diagonal becomes 0, because right answers are not errors.
void softmax_rows(Square x) {
  for (int k = 0; k < x.size(); ++k) {
    x[k][k] = -std::numeric_limits<double>::infinity();
    softmax(x[k], x[k + 1]);
    x[k][k] = 0;
  }
}

}  // namespace

Table<double> shares_by_distance(int categories, double log_dispersion) {
  Table<double> share(categories, categories);
  for (int k = 0; k < categories; ++k) {
    for (int l = 0; l < categories; ++l) share[k][l] = -log_dispersion * std::abs(k - l);
  }
  softmax_rows({share[0], categories});
  return share;
}

Strata::Strata(double accuracy, double d) {
  // The probabilities of a right answer in the three strata are p - d, p and p + d, clipped at 0
  // and 1. Finds the p (`unclipped_middle`) for which their sum is three times the accuracy. The
  // sum is piecewise linear in p, and its slope changes only at the six points in `breakpoint`.
  double breakpoint[6] = {-d, 0, d, 1 - d, 1, 1 + d};
  std::sort(breakpoint, breakpoint + 6);
  const auto sum = [d](double x) {
    double total = 0;
    for (int s = -1; s <= 1; ++s) total += std::clamp(x + s * d, 0.0, 1.0);
    return total;
  };
  int i = 0;
  while (i < 4 && sum(breakpoint[i + 1]) < 3 * accuracy) ++i;
  const double low = sum(breakpoint[i]), high = sum(breakpoint[i + 1]);
  const double unclipped_middle = high > low
                                      ? breakpoint[i] + (3 * accuracy - low) / (high - low) *
                                                            (breakpoint[i + 1] - breakpoint[i])
                                      : breakpoint[i + 1];
  int n_unclipped = 0, sides = 0;
  for (int s = -1; s <= 1; ++s) {
    const double x = unclipped_middle + s * d;
    p[s + 1] = std::clamp(x, 0.0, 1.0);
    // Stores 1 for a stratum whose probability is not clipped, and 0 for others. The next loop
    // replaces 1 by the slope.
    accuracy_slope[s + 1] = x > 0 && x < 1;
    n_unclipped += x > 0 && x < 1;
    sides += x > 0 && x < 1 ? s : 0;
  }
  for (int s = -1; s <= 1; ++s) {
    shift_slope[s + 1] =
        accuracy_slope[s + 1] > 0 ? s - static_cast<double>(sides) / n_unclipped : 0;
    if (accuracy_slope[s + 1] > 0) accuracy_slope[s + 1] = 3.0 / n_unclipped;
  }
}

Law::Law(const Layout& layout, const Eigen::VectorXd& x) {
  const int N = layout.categories, judges = layout.rows.judges;
  const ParameterReader reader(layout, x);
  categories = N;
  answer_codes = layout.rows.answer_codes();
  classes = layout.classes();
  base_rates = reader.base_rates();
  rates = reader.population_rates();
  for (auto rate = rates.begin(); rate != rates.end(); rate += N) {
    for (int c = 0; c < classes; ++c) class_probability.push_back(rate[c % N] / layout.strata);
  }
  accuracy = Table<double>(judges, N);
  error_share_ = Squares(judges, N);
  probability.resize(judges * answer_codes * static_cast<std::size_t>(classes));
  for (int g = 0; layout.ordinal_at >= 0 && g < layout.groups; ++g) {
    ordinal.emplace_back(x.data() + layout.ordinal_at + g * N, N);
  }
  if (layout.levels_at >= 0) levels.emplace(x.data() + layout.levels_at, layout.rows.levels);
  Table<double> distance_shares;
  for (int u = 0; u < judges; ++u) {
    if (layout.has_known_matrix(u)) {
      set_from_matrix(layout, u, layout.rows.matrix[u], floor_probability);
    } else if (layout.ordinal_at >= 0) {
      set_from_matrix(layout, u, ordinal[layout.group[u]].matrix(), least_probability);
    } else {
      const int parameter = layout.dispersion_at(u);
      const Square share = error_share_[u];
      if (layout.fixed_values.log_error) {
        const ConstSquare log = (*layout.fixed_values.log_error)[u];
        std::transform(log.begin(), log.end(), share.begin(),
                       [](double value) { return std::exp(value); });
      } else if (layout.errors_at >= 0) {
        std::copy_n(&x[layout.error_at(u, 0, 0)], N * N, share.begin());
        softmax_rows(share);
      } else {
        if (distance_shares.values().empty() || (parameter >= 0 && u == layout.rows.raters)) {
          distance_shares = shares_by_distance(N, parameter < 0 ? 0 : x[parameter]);
        }
        std::copy(distance_shares.values().begin(), distance_shares.values().end(), share.begin());
      }
      set_judge(layout, x, reader.shift(layout.is_system(u)), u, share);
    }
    if (levels) set_levels(u);
  }
}

void Law::set_judge(const Layout& layout, const Eigen::VectorXd& x, double shift, int judge,
                    ConstSquare share) {
  const int N = categories;
  double mean_accuracy = 0;
  Strata by_stratum(0, 0);
  for (int k = 0; k < N; ++k) {
    if (k == 0 || layout.accuracies_per_group > 1) {
      mean_accuracy = logistic(x[layout.accuracy_at(judge, k)]);
      if (layout.strata > 1) by_stratum = Strata(mean_accuracy, shift);
    }
    accuracy[judge][k] = mean_accuracy;
    if (layout.strata > 1) strata.push_back(by_stratum);
    for (int s = 0; s < layout.strata; ++s) {
      const double right = clip_probability(layout.strata > 1 ? by_stratum.p[s] : mean_accuracy),
                   wrong = 1 - right;
      for (int l = 0; l < N; ++l) {
        probability[array_position(judge, l) + s * N + k] =
            l == k ? right : std::max(wrong * share[k][l], least_probability);
      }
    }
  }
}

// Sets the probabilities of a judge from a confusion matrix (truths x ratings). They are equal in
// all strata: known matrices and ordinal errors do not depend on difficulty.
void Law::set_from_matrix(const Layout& layout, int judge, const std::vector<double>& matrix,
                          double least) {
  const int N = categories;
  for (int k = 0; k < N; ++k) {
    const double* row = row_of(matrix, k, N);
    accuracy[judge][k] = row[k];
    for (int l = 0; l < N; ++l) {
      if (l != k && row[k] < 1) error_share_[judge][k][l] = row[l] / (1 - row[k]);
      for (int s = 0; s < layout.strata; ++s) {
        probability[array_position(judge, l) + s * N + k] = std::max(row[l], least);
      }
    }
    if (layout.strata > 1) strata.emplace_back(row[k], 0);
  }
}

void Law::set_levels(int judge) {
  for (int answer_code = categories; answer_code < answer_codes; ++answer_code) {
    const int l = answer_code % categories;
    for (int c = 0; c < classes; ++c) {
      probability[array_position(judge, answer_code) + c] =
          std::max(answer_probability(judge, l, c) *
                       levels->probability(l == c % categories, answer_code / categories - 1),
                   least_probability);
    }
  }
}

std::vector<double> Law::confusion(int judge) const {
  const int N = categories;
  std::vector<double> matrix;
  for (int k = 0; k < N; ++k) {
    for (int l = 0; l < N; ++l) {
      const double right = accuracy[judge][k];
      matrix.push_back(l == k ? right : (1 - right) * error(judge)[k][l]);
    }
  }
  return matrix;
}

}  // namespace fallible
