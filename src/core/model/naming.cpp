#include "naming.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>

namespace fallible {

namespace {

// A case with more replies counts only this number, because pairs grow quadratically.
constexpr int most_replies = 100;
constexpr double least_gain = 1e-9;

// Assigns each row of the n x n matrix `gain` to a different column, so that the sum of the chosen
// entries is highest. Returns the column of each row. Uses shortest augmenting paths (Jonker and
// Volgenant, 1987).
std::vector<int> best_assignment(const std::vector<double>& gain, int n) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> row(n + 1, 0.0), column(n + 1, 0.0);
  std::vector<int> of_column(n + 1, 0), previous(n + 1, 0);
  for (int i = 1; i <= n; ++i) {
    of_column[0] = i;
    int j0 = 0;
    std::vector<double> least(n + 1, infinity);
    std::vector<bool> used(n + 1, false);
    do {
      used[j0] = true;
      const int i0 = of_column[j0];
      double delta = infinity;
      int j1 = 0;
      for (int j = 1; j <= n; ++j) {
        if (used[j]) continue;
        const double cost = -gain[(i0 - 1) * n + j - 1] - row[i0] - column[j];
        if (cost < least[j]) {
          least[j] = cost;
          previous[j] = j0;
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
    for (; j0 != 0; j0 = previous[j0]) of_column[j0] = of_column[previous[j0]];
  }
  std::vector<int> out(n);
  for (int j = 1; j <= n; ++j) out[of_column[j] - 1] = j - 1;
  return out;
}

}  // namespace

std::vector<double> ratings_by_judge(const LatentRows& rows) {
  std::vector<double> out(rows.judges, 0.0);
  for (int i = 0; i < rows.size(); ++i) {
    for (const int at : rows.positions(i)) out[rows.judge[at]] += rows.weight[i];
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
  double best = 0, current = 0, total = 0;
  for (int k = 0; k < categories; ++k) {
    best += gain[k * categories + name[k]];
    current += gain[k * categories + k];
  }
  for (const double w : weight) total += w;
  if (best > current + least_gain * total) return name;
  for (int k = 0; k < categories; ++k) name[k] = k;
  return name;
}

namespace {

struct Reply {
  int judge, answer;
};

// Calls visit(row, first reply, second reply) for each pair of replies by different judges to a
// row. In rows with more than 100 replies, only those of the judges with most ratings are used. If
// `abstaining` is true, an abstention is also a reply. Its code is the number of categories.
template <class Visit>
void for_each_pair(const LatentRows& rows, bool abstaining, const Visit& visit) {
  const std::vector<double> ratings_of_judge = ratings_by_judge(rows);
  std::vector<Reply> replies;
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.weight[i] == 0) continue;
    replies.clear();
    for (const int at : rows.positions(i)) replies.push_back({rows.judge[at], rows.answer(at)});
    for (const int at : abstaining ? rows.abstentions_of(i) : Positions(0, 0)) {
      replies.push_back({rows.abstained[at], rows.categories});
    }
    const auto sort_by = [&](const auto& precedes) {
      std::stable_sort(replies.begin(), replies.end(), precedes);
    };
    if (static_cast<int>(replies.size()) > most_replies) {
      sort_by([&](const Reply& a, const Reply& b) {
        return ratings_of_judge[a.judge] > ratings_of_judge[b.judge];
      });
      replies.resize(most_replies);
    }
    sort_by([](const Reply& a, const Reply& b) { return a.judge < b.judge; });
    for (std::size_t a = 0; a < replies.size(); ++a) {
      for (std::size_t b = a + 1; b < replies.size(); ++b) {
        if (replies[a].judge != replies[b].judge) visit(i, replies[a], replies[b]);
      }
    }
  }
}

// For each pair of judges: table of their replies to the same cases, replies of the first judge x
// replies of the second judge, in cases.
using PairTables = std::unordered_map<std::uint64_t, Eigen::MatrixXd>;

std::uint64_t pair_key(const LatentRows& rows, const Reply& first, const Reply& second) {
  return static_cast<std::uint64_t>(first.judge) * rows.judges + second.judge;
}

PairTables pair_tables(const LatentRows& rows, bool abstaining) {
  const int size = rows.categories + abstaining;
  PairTables out;
  for_each_pair(rows, abstaining, [&](int row, const Reply& first, const Reply& second) {
    auto& table = out[pair_key(rows, first, second)];
    if (table.size() == 0) table.setZero(size, size);
    table(first.answer, second.answer) += rows.weight[row];
  });
  return out;
}

}  // namespace

Association association(const LatentRows& rows) {
  const PairTables tables = pair_tables(rows, false);
  Association out;
  for (const auto& entry : tables) {
    const Eigen::MatrixXd& table = entry.second;
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

ReplyAssociation reply_association(const LatentRows& rows) {
  const int N = rows.categories;
  ReplyAssociation out;
  Eigen::ArrayXd share = Eigen::ArrayXd::Zero(N);
  for (int i = 0; i < rows.size(); ++i) {
    for (const int at : rows.positions(i)) share[rows.answer(at)] += rows.weight[i];
  }
  if ((share > 0).count() > 1) out.by_chance = (share / share.sum()).square().sum();
  Eigen::MatrixXd agreement_weight = Eigen::MatrixXd::Constant(N + 1, N + 1, -out.by_chance);
  agreement_weight.diagonal().array() += 1;
  agreement_weight.row(N).setZero();
  agreement_weight.col(N).setZero();
  PairTables tables = pair_tables(rows, true);
  for (auto& entry : tables) {
    Eigen::MatrixXd& table = entry.second;
    const double n = table.sum();
    const Eigen::VectorXd p = table.rowwise().sum() / n, q = table.colwise().sum() / n;
    out.excess += agreement_weight.cwiseProduct(table - n * p * q.transpose()).sum();
    table = agreement_weight;
    table.colwise() -= agreement_weight * q;
    table.rowwise() -= p.transpose() * agreement_weight;
    table.array() += p.dot(agreement_weight * q);
  }
  std::vector<double> sum(rows.size(), 0.0);
  for_each_pair(rows, true, [&](int row, const Reply& first, const Reply& second) {
    sum[row] += tables[pair_key(rows, first, second)](first.answer, second.answer);
  });
  for (int i = 0; i < rows.size(); ++i) out.variance += rows.weight[i] * sum[i] * sum[i];
  out.pairs = static_cast<int>(tables.size());
  return out;
}

}  // namespace fallible
