#include "naming.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>

namespace fallible {

namespace {

constexpr int most_ratings = 100;  // of a case, whose pairs are looked at
constexpr double worth_a_name = 1e-9;

// The assignment of columns to rows with the highest sum of a square matrix: shortest augmenting
// paths (Jonker and Volgenant, 1987).
std::vector<int> best_assignment(const std::vector<double>& gain, int n) {
  constexpr double far = std::numeric_limits<double>::infinity();
  std::vector<double> row(n + 1, 0.0), column(n + 1, 0.0);
  std::vector<int> of_column(n + 1, 0), way(n + 1, 0);
  for (int i = 1; i <= n; ++i) {
    of_column[0] = i;
    int j0 = 0;
    std::vector<double> least(n + 1, far);
    std::vector<bool> used(n + 1, false);
    do {
      used[j0] = true;
      const int i0 = of_column[j0];
      double delta = far;
      int j1 = 0;
      for (int j = 1; j <= n; ++j) {
        if (used[j]) continue;
        const double cost = -gain[(i0 - 1) * n + j - 1] - row[i0] - column[j];
        if (cost < least[j]) {
          least[j] = cost;
          way[j] = j0;
        }
        if (least[j] < delta) {
          delta = least[j];
          j1 = j;
        }
      }
      for (int j = 0; j <= n; ++j) {
        if (used[j]) {
          row[of_column[j]] += delta;
          column[j] -= delta;
        } else {
          least[j] -= delta;
        }
      }
      j0 = j1;
    } while (of_column[j0] != 0);
    for (; j0 != 0; j0 = way[j0]) of_column[j0] = of_column[way[j0]];
  }
  std::vector<int> out(n);
  for (int j = 1; j <= n; ++j) out[of_column[j] - 1] = j - 1;
  return out;
}

}  // namespace

std::vector<double> ratings_by_judge(const LatentRows& rows) {
  std::vector<double> out(rows.judges, 0.0);
  for (int i = 0; i < rows.size(); ++i) {
    for (const int at : rows.places(i)) out[rows.judge[at]] += rows.weight[i];
  }
  return out;
}

std::vector<int> names_by_majority(const std::vector<double>& matrices,
                                   const std::vector<double>& weight, int categories) {
  const std::size_t cells = static_cast<std::size_t>(categories) * categories;
  std::vector<double> gain(cells, 0.0);
  for (std::size_t j = 0; j < weight.size(); ++j) {
    for (std::size_t i = 0; i < cells && weight[j] > 0; ++i) {
      gain[i] += weight[j] * matrices[j * cells + i];
    }
  }
  std::vector<int> name = best_assignment(gain, categories);
  double best = 0, now = 0, total = 0;
  for (int k = 0; k < categories; ++k) {
    best += gain[k * categories + name[k]];
    now += gain[k * categories + k];
  }
  for (const double w : weight) total += w;
  if (best > now + worth_a_name * total) return name;
  for (int k = 0; k < categories; ++k) name[k] = k;
  return name;
}

Association association(const LatentRows& rows) {
  const int N = rows.categories;
  const std::vector<double> busy = ratings_by_judge(rows);
  std::unordered_map<std::uint64_t, Eigen::MatrixXd> tables;
  std::vector<int> places;
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.weight[i] == 0) continue;
    places.clear();
    for (const int at : rows.places(i)) places.push_back(at);
    if (static_cast<int>(places.size()) > most_ratings) {
      std::stable_sort(places.begin(), places.end(),
                       [&](int a, int b) { return busy[rows.judge[a]] > busy[rows.judge[b]]; });
      places.resize(most_ratings);
      std::sort(places.begin(), places.end());
    }
    for (std::size_t a = 0; a < places.size(); ++a) {
      for (std::size_t b = a + 1; b < places.size(); ++b) {
        const int first = rows.judge[places[a]], second = rows.judge[places[b]];
        if (first == second) continue;
        auto& table = tables[static_cast<std::uint64_t>(first) * rows.judges + second];
        if (table.size() == 0) table.setZero(N, N);
        table(rows.answer(places[a]), rows.answer(places[b])) += rows.weight[i];
      }
    }
  }
  Association out;
  for (const auto& of : tables) {
    const Eigen::MatrixXd& table = of.second;
    const Eigen::VectorXd row = table.rowwise().sum(), column = table.colwise().sum();
    const double n = row.sum();
    const Eigen::ArrayXXd expected = row * column.transpose() / n;
    const Eigen::ArrayXXd squares = (table.array() - expected).square();
    out.excess += table.trace() - row.dot(column) / n;
    out.statistic += (n - 1) / n * (expected > 0).select(squares / expected, 0.0).sum();
    out.df +=
        static_cast<double>(((row.array() > 0).count() - 1) * ((column.array() > 0).count() - 1));
  }
  return out;
}

}  // namespace fallible
