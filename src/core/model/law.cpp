#include "law.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../base/special.hpp"
#include "reading.hpp"

namespace fallible {

namespace {

constexpr double least_probability = 1e-305;  // of an answer that has a logarithm

// Logarithms of each row become shares; what is on the diagonal is no error.
std::vector<double> shares_of_rows(std::vector<double> x, int N) {
  for (int k = 0; k < N; ++k) {
    double* row = &x[static_cast<std::size_t>(k) * N];
    row[k] = -std::numeric_limits<double>::infinity();
    to_shares(row, row + N);
    row[k] = 0;
  }
  return x;
}

// Of one judge, truths x ratings.
std::vector<double> error_shares(const Layout& layout, const Eigen::VectorXd& x, int judge) {
  if (layout.errors_at < 0) {
    return shares_by_distance(layout.categories,
                              layout.dispersions_at < 0 ? 0 : x[layout.dispersion_at(judge)]);
  }
  const double* logs = &x[layout.error_at(judge, 0, 0)];
  return shares_of_rows({logs, logs + layout.categories * layout.categories}, layout.categories);
}

}  // namespace

std::vector<double> shares_by_distance(int categories, double dispersion) {
  std::vector<double> logs;
  for (int k = 0; k < categories; ++k) {
    for (int l = 0; l < categories; ++l) logs.push_back(-dispersion * std::abs(k - l));
  }
  return shares_of_rows(std::move(logs), categories);
}

Strata::Strata(double accuracy, double d) {
  // The sum of the three rises with p and is linear between these points.
  double knot[6] = {-d, 0, d, 1 - d, 1, 1 + d};
  std::sort(knot, knot + 6);
  const auto sum = [d](double x) {
    double out = 0;
    for (int s = -1; s <= 1; ++s) out += std::min(std::max(x + s * d, 0.0), 1.0);
    return out;
  };
  int i = 0;
  while (i < 4 && sum(knot[i + 1]) < 3 * accuracy) ++i;
  const double low = sum(knot[i]), high = sum(knot[i + 1]);
  const double centre =
      high > low ? knot[i] + (3 * accuracy - low) / (high - low) * (knot[i + 1] - knot[i])
                 : knot[i + 1];
  int free = 0, side = 0;
  for (int s = -1; s <= 1; ++s) {
    const double x = centre + s * d;
    p[s + 1] = std::min(std::max(x, 0.0), 1.0);
    if (x > 0 && x < 1) {
      ++free;
      side += s;
    }
  }
  for (int s = -1; s <= 1; ++s) {
    const bool moves = p[s + 1] > 0 && p[s + 1] < 1;
    by_accuracy[s + 1] = moves ? 3.0 / free : 0;
    by_shift[s + 1] = moves ? s - static_cast<double>(side) / free : 0;
  }
}

Law::Law(const Layout& layout, const Eigen::VectorXd& x) {
  const int N = layout.categories, judges = layout.rows.judges;
  const std::size_t matrix = static_cast<std::size_t>(N) * N;
  const Reading reading(layout, x);
  const std::vector<double>* held = layout.held.log_error;
  categories = N;
  symbols = layout.rows.symbols();
  classes = layout.classes();
  base_rates = reading.base_rates();
  for (int s = 0; s < layout.strata; ++s) {
    for (const double rate : base_rates) weight.push_back(rate / layout.strata);
  }
  accuracy.resize(static_cast<std::size_t>(judges) * N);
  probability.resize(judges * symbols * static_cast<std::size_t>(classes));
  for (int g = 0; layout.ordinal_at >= 0 && g < layout.groups; ++g) {
    ordinal.emplace_back(x.data() + layout.ordinal_at + g * N, N);
  }
  if (layout.levels_at >= 0) levels.emplace(x.data() + layout.levels_at, layout.rows.levels);
  std::vector<double> share(held ? matrix : 0);
  for (int u = 0; u < judges; ++u) {
    error_of_.push_back(find_errors(layout, x, u));
    if (layout.is_known(u)) {
      fill_matrix(layout, u, layout.rows.matrix[u], floor_probability);
    } else if (layout.ordinal_at >= 0) {
      fill_matrix(layout, u, ordinal[layout.group[u]].matrix(), least_probability);
    } else {
      for (std::size_t i = 0; i < share.size(); ++i) share[i] = std::exp((*held)[u * matrix + i]);
      fill_judge(layout, x, reading.shift(layout.is_system(u)), u, held ? share.data() : error(u));
    }
    if (levels) fill_levels(u);
  }
}

// Judges whose errors have the same parameters have the same errors.
std::size_t Law::find_errors(const Layout& layout, const Eigen::VectorXd& x, int judge) {
  const std::size_t end = error_.size();
  const bool matrix = layout.is_known(judge) || layout.ordinal_at >= 0;
  const bool own = matrix || layout.errors_at >= 0;
  const bool same = judge > 0 && !own && !layout.is_known(judge - 1) &&
                    layout.dispersion_at(judge) == layout.dispersion_at(judge - 1);
  if (same) return error_of_.back();
  const std::size_t size = static_cast<std::size_t>(layout.categories) * layout.categories;
  const std::vector<double> shares = matrix || layout.held.log_error
                                         ? std::vector<double>(size, 0.0)
                                         : error_shares(layout, x, judge);
  error_.insert(error_.end(), shares.begin(), shares.end());
  return end;
}

void Law::fill_judge(const Layout& layout, const Eigen::VectorXd& x, double shift, int judge,
                     const double* share) {
  const int N = categories;
  double right[3], wrong[3];
  for (int k = 0; k < N; ++k) {
    if (k > 0 && layout.per_group == 1) {
      accuracy[judge * N + k] = accuracy[judge * N];
      if (layout.strata > 1) strata.push_back(strata.back());
    } else {
      const double mean = accuracy[judge * N + k] = logistic(x[layout.accuracy_at(judge, k)]);
      if (layout.strata > 1) strata.emplace_back(mean, shift);
      for (int s = 0; s < layout.strata; ++s) {
        right[s] = inside(layout.strata > 1 ? strata.back().p[s] : mean);
        wrong[s] = 1 - right[s];
      }
    }
    for (int s = 0; s < layout.strata; ++s) {
      for (int l = 0; l < N; ++l) {
        probability[place(judge, l) + s * N + k] =
            l == k ? right[s] : std::max(wrong[s] * share[k * N + l], least_probability);
      }
    }
  }
}

// A matrix that is given is what it is, whatever the difficulty.
void Law::fill_matrix(const Layout& layout, int judge, const std::vector<double>& matrix,
                      double least) {
  const int N = categories;
  for (int k = 0; k < N; ++k) {
    const double* row = &matrix[static_cast<std::size_t>(k) * N];
    accuracy[judge * N + k] = row[k];
    for (int l = 0; l < N; ++l) {
      if (l != k && row[k] < 1) error_[error_of_[judge] + k * N + l] = row[l] / (1 - row[k]);
      for (int s = 0; s < layout.strata; ++s) {
        probability[place(judge, l) + s * N + k] = std::max(row[l], least);
      }
    }
    if (layout.strata > 1) strata.emplace_back(row[k], 0);
  }
}

void Law::fill_levels(int judge) {
  for (int symbol = categories; symbol < symbols; ++symbol) {
    const int l = symbol % categories;
    for (int c = 0; c < classes; ++c) {
      probability[place(judge, symbol) + c] =
          std::max(of(judge, l, c) * levels->of(l == c % categories, symbol / categories - 1),
                   least_probability);
    }
  }
}

std::vector<double> Law::confusion(int judge) const {
  const int N = categories;
  std::vector<double> out(static_cast<std::size_t>(N) * N);
  for (int k = 0; k < N; ++k) {
    for (int l = 0; l < N; ++l) {
      const double right = accuracy[judge * N + k];
      out[k * N + l] = l == k ? right : (1 - right) * error(judge)[k * N + l];
    }
  }
  return out;
}

}  // namespace fallible
