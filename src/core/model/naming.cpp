#include "naming.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <numeric>

#include "../base/matrix.hpp"
#include "../base/special.hpp"

namespace fallible {

namespace {

// Highest number of answers and abstentions of a case that are used for the association of judges.
// It is limited because the time grows with the square of this number.
constexpr int max_replies = 100;
// names_by_majority() gives classes new names only if the sum of diagonal entries increases by more
// than this share of the total weight. A smaller gain counts as rounding error.
constexpr double least_gain = 1e-9;

// Assigns each row of the square matrix `gain` to a different column, so that the sum of the chosen
// entries is highest. Returns the column of each row. Uses shortest augmenting paths (Jonker and
// Volgenant, 1987).
std::vector<int> best_assignment(ConstSquare gain) {
  const int n = gain.size();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> row_potential(n + 1, 0.0), column_potential(n + 1, 0.0);
  std::vector<int> row_of_column(n + 1, 0), previous(n + 1, 0);
  for (int i = 1; i <= n; ++i) {
    row_of_column[0] = i;
    int j0 = 0;
    std::vector<double> slack(n + 1, infinity);
    std::vector<bool> is_visited(n + 1, false);
    do {
      is_visited[j0] = true;
      const int i0 = row_of_column[j0];
      double least_slack = infinity;
      int j1 = 0;
      for (int j = 1; j <= n; ++j) {
        if (is_visited[j]) continue;
        const double cost = -gain[i0 - 1][j - 1] - row_potential[i0] - column_potential[j];
        if (cost < slack[j]) {
          slack[j] = cost;
          previous[j] = j0;
        }
        if (slack[j] < least_slack) {
          least_slack = slack[j];
          j1 = j;
        }
      }
      for (int j = 0; j <= n; ++j) {
        if (is_visited[j]) {
          row_potential[row_of_column[j]] += least_slack;
          column_potential[j] -= least_slack;
        } else {
          slack[j] -= least_slack;
        }
      }
      j0 = j1;
    } while (row_of_column[j0] != 0);
    for (; j0 != 0; j0 = previous[j0]) row_of_column[j0] = row_of_column[previous[j0]];
  }
  std::vector<int> column_of_row(n);
  for (int j = 1; j <= n; ++j) column_of_row[row_of_column[j] - 1] = j - 1;
  return column_of_row;
}

}  // namespace

std::vector<double> ratings_by_judge(const LatentRows& rows) {
  std::vector<double> ratings(rows.judges, 0.0);
  for (int i = 0; i < rows.size(); ++i) {
    for (const int position : rows.positions(i)) ratings[rows.judge[position]] += rows.weight[i];
  }
  return ratings;
}

std::vector<int> names_by_majority(const std::vector<double>& matrices,
                                   const std::vector<double>& weight, int categories) {
  const int cells = categories * categories;
  std::vector<double> sum(cells, 0.0);
  const ConstSquare gain(sum.data(), categories);
  for (std::size_t j = 0; j < weight.size(); ++j) {
    for (int i = 0; i < cells && weight[j] > 0; ++i) {
      sum[i] += weight[j] * row_of(matrices, j, cells)[i];
    }
  }
  std::vector<int> name = best_assignment(gain);
  double best = 0, current = 0, total = 0;
  for (int k = 0; k < categories; ++k) {
    best += gain[k][name[k]];
    current += gain[k][k];
  }
  for (const double w : weight) total += w;
  if (best > current + least_gain * total) return name;
  for (int k = 0; k < categories; ++k) name[k] = k;
  return name;
}

namespace {

// `answer`: category, from 0. For an abstention, it is the number of categories.
struct Reply {
  int row, judge, answer;
};

// Tables that count the replies of two judges to the same cases: replies of the first judge x
// replies of the second judge. Contains the tables of one first judge at a time, because in a crowd
// there are more pairs of judges than ratings.
class PairTables {
 public:
  // `abstaining`: true to also count abstentions, with the code `categories`. In rows with more
  // than 100 replies, only replies of the judges with most ratings are used.
  PairTables(const LatentRows& rows, bool abstaining)
      : rows_(rows), size_(rows.categories + abstaining), table_index_(rows.judges, -1) {
    const std::vector<double> ratings_of_judge = ratings_by_judge(rows);
    std::vector<Reply> replies;
    for (int i = 0; i < rows.size(); ++i) {
      row_begin_.push_back(replies_.size());
      if (rows.weight[i] == 0) continue;
      replies.clear();
      for (const int position : rows.positions(i)) {
        replies.push_back({i, rows.judge[position], rows.answer(position)});
      }
      for (const int position : abstaining ? rows.abstentions_of(i) : Positions(0, 0)) {
        replies.push_back({i, rows.abstained[position], rows.categories});
      }
      const auto sort_by = [&](const auto& precedes) {
        std::stable_sort(replies.begin(), replies.end(), precedes);
      };
      if (static_cast<int>(replies.size()) > max_replies) {
        sort_by([&](const Reply& x, const Reply& y) {
          return ratings_of_judge[x.judge] > ratings_of_judge[y.judge];
        });
        replies.resize(max_replies);
      }
      sort_by([](const Reply& x, const Reply& y) { return x.judge < y.judge; });
      replies_.insert(replies_.end(), replies.begin(), replies.end());
    }
    row_begin_.push_back(replies_.size());
    sort_replies_by_judge();
  }

  // Computes the tables of `judge` with all judges of a higher number.
  void compute(int judge) {
    for (const int other : other_judges_) table_index_[other] = -1;
    other_judges_.clear();
    tables_.clear();
    visit(judge, [&](const Reply& first, const Reply& second) {
      int& table = table_index_[second.judge];
      if (table < 0) {
        table = static_cast<int>(other_judges_.size());
        other_judges_.push_back(second.judge);
        tables_.resize(tables_.size() + cells(), 0.0);
      }
      cell(first, second) += rows_.weight[first.row];
    });
  }

  // Calls visit(first, second) for each pair of replies to the same row. `first` is a reply of
  // `judge`. `second` is a reply of a judge with a higher number.
  template <class Visit>
  void visit(int judge, const Visit& visit) const {
    for (std::size_t k = judge_begin_[judge]; k < judge_begin_[judge + 1]; ++k) {
      const Reply& first = replies_[replies_by_judge_[k]];
      for (std::size_t position = replies_by_judge_[k] + 1; position < row_begin_[first.row + 1];
           ++position) {
        if (replies_[position].judge != judge) visit(first, replies_[position]);
      }
    }
  }

  // n_tables(): number of tables from the last call of compute(). table(i): one of these tables.
  // cell(): entry of a table for a pair of replies.
  int n_tables() const { return static_cast<int>(other_judges_.size()); }
  Eigen::Map<Eigen::MatrixXd> table(int i) { return {&tables_[i * cells()], size_, size_}; }
  double& cell(const Reply& first, const Reply& second) {
    return table(table_index_[second.judge])(first.answer, second.answer);
  }

 private:
  std::size_t cells() const { return static_cast<std::size_t>(size_) * size_; }

  void sort_replies_by_judge() {
    judge_begin_.assign(rows_.judges + 1, 0);
    for (const Reply& reply : replies_) ++judge_begin_[reply.judge + 1];
    std::partial_sum(judge_begin_.begin(), judge_begin_.end(), judge_begin_.begin());
    std::vector<std::size_t> next_position(judge_begin_.begin(), judge_begin_.end() - 1);
    replies_by_judge_.resize(replies_.size());
    for (std::size_t position = 0; position < replies_.size(); ++position)
      replies_by_judge_[next_position[replies_[position].judge]++] = position;
  }

  const LatentRows& rows_;
  int size_;
  std::vector<Reply> replies_;          // row by row, and in each row judge by judge
  std::vector<std::size_t> row_begin_;  // index of the first reply of each row

  // Indices of replies, judge by judge. The indices of judge j begin at `judge_begin_[j]`.
  std::vector<std::size_t> replies_by_judge_, judge_begin_;

  // `table_index_`: index of the table of each second judge, or -1 if there is none.
  // `other_judges_`: second judge of each table.
  std::vector<int> table_index_, other_judges_;
  // Entries of all tables, one table after the other.
  std::vector<double> tables_;
};

}  // namespace

Association association(const LatentRows& rows) {
  PairTables tables(rows, false);
  Association association_sum;
  Eigen::VectorXd row(rows.categories), column(rows.categories);
  for (int judge = 0; judge < rows.judges; ++judge) {
    tables.compute(judge);
    for (int i = 0; i < tables.n_tables(); ++i) {
      const auto table = tables.table(i);
      row = table.rowwise().sum();
      column = table.colwise().sum();
      const auto n_rows = (row.array() > 0).count(), n_columns = (column.array() > 0).count();
      if (n_rows < 2 || n_columns < 2) continue;  // answers that do not vary are independent
      const double n = row.sum();
      double statistic = 0;
      for (int c = 0; c < rows.categories; ++c) {
        for (int r = 0; r < rows.categories; ++r) {
          const double expected = row[r] * column[c] / n;
          if (expected > 0) statistic += square(table(r, c) - expected) / expected;
        }
      }
      association_sum.excess += table.trace() - row.dot(column) / n;
      association_sum.statistic += (n - 1) / n * statistic;
      association_sum.df += static_cast<double>((n_rows - 1) * (n_columns - 1));
    }
  }
  return association_sum;
}

ReplyAssociation reply_association(const LatentRows& rows) {
  const int N = rows.categories;
  ReplyAssociation association_sum;
  Eigen::ArrayXd share = Eigen::ArrayXd::Zero(N);
  for (int i = 0; i < rows.size(); ++i) {
    for (const int position : rows.positions(i)) share[rows.answer(position)] += rows.weight[i];
  }
  if ((share > 0).count() > 1)
    association_sum.chance_agreement = (share / share.sum()).square().sum();
  Eigen::MatrixXd agreement_weight =
      Eigen::MatrixXd::Constant(N + 1, N + 1, -association_sum.chance_agreement);
  agreement_weight.diagonal().array() += 1;
  agreement_weight.row(N).setZero();
  agreement_weight.col(N).setZero();
  std::vector<double> score(rows.size(), 0.0);
  PairTables tables(rows, true);
  for (int judge = 0; judge < rows.judges; ++judge) {
    tables.compute(judge);
    for (int i = 0; i < tables.n_tables(); ++i) {
      auto table = tables.table(i);
      const double n = table.sum();
      const Eigen::VectorXd p = table.rowwise().sum() / n, q = table.colwise().sum() / n;
      association_sum.excess += agreement_weight.cwiseProduct(table - n * p * q.transpose()).sum();
      // From here on, an entry of the table is not a count but a score: the agreement weight of the
      // two replies, centred so that its mean is 0 if the two judges are independent.
      table = agreement_weight;
      table.colwise() -= agreement_weight * q;
      table.rowwise() -= p.transpose() * agreement_weight;
      table.array() += p.dot(agreement_weight * q);
    }
    tables.visit(judge, [&](const Reply& first, const Reply& second) {
      score[first.row] += tables.cell(first, second);
    });
    association_sum.pairs += tables.n_tables();
  }
  for (int i = 0; i < rows.size(); ++i)
    association_sum.variance += rows.weight[i] * score[i] * score[i];
  return association_sum;
}

}  // namespace fallible
