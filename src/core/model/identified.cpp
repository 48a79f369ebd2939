#include "identified.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "../base/random.hpp"
#include "latent.hpp"
#include "latent_pairs.hpp"

namespace fallible {

namespace {

constexpr int max_complete_raters =
    20;  // up to this number of raters, SmallPanel contains all of them
// If the data have more than 20 raters, SmallPanel contains at most this number of raters, all from
// one row.
constexpr int reduced_raters = 6;
// Highest number of categories in SmallPanel. More are not needed, because each further category
// adds more possible combinations of answers than parameters.
constexpr int max_categories = 4;
// A parameter counts as identified if null_space_shares() returns at most this value for it.
constexpr double null_space_tolerance = 1e-4;
// Pivots of a QR decomposition count as zero below this share of the largest pivot.
constexpr double rank_tolerance = 1e-7;

// True if the judge's confusion matrix is known, or is estimated from a calibration sample.
bool has_matrix_information(const LatentRows& rows, int judge) {
  return rows.has_known_matrix(judge) || rows.has_calibration_sample(judge);
}

// Returns true for each judge whose parameters are not identified because all answers of the judge
// are equal. Returns false for judges without separate parameters, and for judges with a known
// matrix or a calibration sample.
std::vector<bool> constant_judges(const LatentRows& rows, const LatentModel& model) {
  std::vector<int> last_answer(rows.judges, -1);
  std::vector<bool> has_varied(rows.judges, false);
  for (int i = 0; i < rows.size(); ++i) {
    for (int position = rows.start[i]; rows.weight[i] > 0 && position < rows.start[i + 1];
         ++position) {
      const int u = rows.judge[position];
      if (last_answer[u] >= 0 && last_answer[u] != rows.answer(position)) has_varied[u] = true;
      last_answer[u] = rows.answer(position);
    }
  }
  std::vector<bool> is_constant(rows.judges);
  for (int u = 0; u < rows.judges; ++u) {
    const bool has_parameters = model.separate_raters || u >= rows.raters;
    is_constant[u] = has_parameters && !has_matrix_information(rows, u) && !has_varied[u];
  }
  return is_constant;
}

// A small data set of random answers, in which the same judges rate the same cases as in the data.
// The answers may be random, because identification depends only on which judges rated which cases.
// Judges in constant_judges() are left out.
class SmallPanel {
 public:
  SmallPanel(const LatentRows& rows, const LatentModel& model)
      : rows_(rows), panel_index_(rows.judges, -1) {
    const std::vector<bool> is_constant = constant_judges(rows, model);
    const auto add_judge = [&](int u) {
      if (panel_index_[u] < 0 && !is_constant[u]) panel_index_[u] = judges_++;
    };
    if (rows.raters <= max_complete_raters) {
      for (int u = 0; u < rows.raters; ++u) add_judge(u);
    } else {
      // Uses at most six raters, from the row with most raters.
      int most_informative = -1;
      for (int i = 0; i < rows.size(); ++i) {
        int n_informative = 0;
        for (const int position : rows.positions(i)) {
          n_informative += rows.judge[position] < rows.raters && !is_constant[rows.judge[position]];
        }
        if (rows.weight[i] > 0 && n_informative > most_informative) {
          most_informative = n_informative;
          row_with_most_raters_ = i;
        }
      }
      if (row_with_most_raters_ < 0) return;  // no row with ratings has weight
      for (const int position : rows.positions(row_with_most_raters_)) {
        if (rows.judge[position] < rows.raters && judges_ < reduced_raters)
          add_judge(rows.judge[position]);
      }
    }
    raters_ = judges_;
    if (rows.joined()) add_judge(rows.raters);
    // Groups rows by known truth. Each group is later drawn equally often, so that rare known
    // categories are included. If there are few populations, rows are also grouped by population.
    // Otherwise, randomly drawn rows come from enough populations.
    const bool few_populations = rows.populations.size() <= 2 * rows.populations.coefficients();
    std::map<std::pair<int, int>, std::vector<int>> rows_by_truth;
    for (int i = 0; i < rows.size(); ++i) {
      bool is_in_panel = false;
      for (const int position : rows.positions(i)) {
        is_in_panel = is_in_panel || panel_index_[rows.judge[position]] >= 0;
      }
      if (!is_in_panel || rows.weight[i] == 0) continue;
      rows_by_truth[{few_populations ? rows.population_of(i) : 0,
                     known_of(i, std::min(rows.categories, max_categories))}]
          .push_back(i);
    }
    for (auto& group : rows_by_truth) row_groups_.push_back(std::move(group.second));
  }

  bool empty() const { return judges_ == 0 || row_groups_.empty(); }
  // Index of a judge in the small panel; -1 for a judge that is left out.
  int panel_index(int judge) const { return panel_index_[judge]; }

  // Draws rows with random answers. If there are more than 20 raters, every second row has the
  // raters of the row with most raters.
  LatentRows draw(int n_rows, Stream& stream) const {
    LatentRows drawn_rows;
    drawn_rows.categories = std::min(rows_.categories, max_categories);
    drawn_rows.levels = rows_.levels;
    drawn_rows.raters = raters_;
    drawn_rows.judges = judges_;
    add_random_matrices(drawn_rows, stream);
    // Replaces covariates by random values, because nearly collinear covariates would make the
    // model look unidentified.
    drawn_rows.populations = rows_.populations;
    double* value = drawn_rows.populations.design.data();
    std::generate_n(value, drawn_rows.populations.design.size(), [&] { return stream.uniform(); });
    const int groups = static_cast<int>(row_groups_.size());
    for (int i = 0; i < n_rows; ++i) {
      const int draw_number = row_with_most_raters_ >= 0 ? i / 2 : i;
      const std::vector<int>& group = row_groups_[draw_number % groups];
      const int rows = static_cast<int>(group.size());
      const int row_in_group = rows * groups <= n_rows ? draw_number / groups % rows
                                                       : static_cast<int>(stream.uniform() * rows);
      const int row =
          row_with_most_raters_ >= 0 && i % 2 == 0 ? row_with_most_raters_ : group[row_in_group];
      for (const int position : rows_.positions(row)) {
        if (panel_index_[rows_.judge[position]] < 0) continue;
        drawn_rows.judge.push_back(panel_index_[rows_.judge[position]]);
        const bool has_level = rows_.levels > 0 && rows_.category[position] >= rows_.categories;
        const int level = has_level ? 1 + static_cast<int>(stream.uniform() * rows_.levels) : 0;
        drawn_rows.category.push_back(level * drawn_rows.categories +
                                      static_cast<int>(stream.uniform() * drawn_rows.categories));
      }
      drawn_rows.end_row(drawn_rows.judge.size());
      drawn_rows.known_truth.push_back(known_of(row, drawn_rows.categories));
      drawn_rows.weight.push_back(1);
      if (drawn_rows.populations.size() > 1)
        drawn_rows.population.push_back(rows_.population_of(row));
    }
    return drawn_rows;
  }

 private:
  // Known category of a row, mapped to the categories of the small panel; -1 if unknown.
  int known_of(int row, int categories) const {
    return rows_.known_truth[row] < 0 ? -1 : rows_.known_truth[row] % categories;
  }

  // Gives random known matrices to judges with a known matrix or a calibration sample.
  // Identification does not depend on the values in these matrices, and random matrices contain no
  // special values such as zero.
  void add_random_matrices(LatentRows& drawn_rows, Stream& stream) const {
    const int N = drawn_rows.categories;
    for (int u = 0; u < rows_.judges; ++u) {
      if (panel_index_[u] < 0 || !has_matrix_information(rows_, u)) continue;
      drawn_rows.matrix.resize(judges_);
      auto& matrix = drawn_rows.matrix[panel_index_[u]];
      for (int k = 0; k < N; ++k) {
        double total = 0;
        for (int l = 0; l < N; ++l) {
          matrix.push_back(0.2 + stream.uniform() + (k == l));
          total += matrix.back();
        }
        for (int l = 0; l < N; ++l) row_of(matrix, k, N)[l] /= total;
      }
    }
  }

  const LatentRows& rows_;
  std::vector<int> panel_index_;              // see panel_index()
  std::vector<std::vector<int>> row_groups_;  // rows of each known truth and population
  int raters_ = 0, judges_ = 0, row_with_most_raters_ = -1;
};

// Returns the derivatives of log likelihoods with respect to the parameters: rows of data x
// parameters. With `Fitting::pairs`, returns the derivatives of the probabilities of pairs of
// ratings instead. Parameter values are random, and columns are scaled to length 1. The model is
// identified if the rank of the matrix is the number of free parameters.
Eigen::MatrixXd random_scores(const LatentClass& model, Fitting fitting, Stream& stream) {
  Eigen::VectorXd x(model.layout.size);
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = 0.2 + 0.6 * stream.uniform();
  Eigen::MatrixXd scores =
      fitting == Fitting::pairs
          ? PairObjective(model.layout, pair_frequencies(model.layout)).probability_jacobian(x)
          : model.scores(x);
  for (Eigen::Index j = 0; j < scores.cols(); ++j) {
    const double length = scores.col(j).norm();
    // Otherwise, columns of judges with many ratings would be longer.
    if (length > 0) scores.col(j) /= length;
  }
  return scores;
}

bool has_full_rank(const Eigen::MatrixXd& scores, const Layout& layout) {
  if (scores.rows() == 0) return layout.free_parameters() == 0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scores);
  qr.setThreshold(rank_tolerance);
  return qr.rank() >= layout.free_parameters();
}

// Returns, for each parameter, the length of its projection onto the null space of the scores. The
// null space contains the directions in which no log likelihood (or pair probability) changes. The
// length is 0 if the parameter is identified, and at most 1.
Eigen::VectorXd null_space_shares(const Eigen::MatrixXd& scores) {
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scores.transpose());
  qr.setThreshold(rank_tolerance);
  // The first columns of Q span the rows of the scores, and the others their null space.
  const Eigen::MatrixXd directions = qr.householderQ();
  return directions.rightCols(scores.cols() - qr.rank()).rowwise().norm();
}

// Random probability tables: `size` replies x `columns`. Each column sums to 1.
Eigen::MatrixXd random_columns(int size, int columns, Stream& stream) {
  const auto random_weight = [&] { return 0.2 + stream.uniform(); };
  const Eigen::MatrixXd table = Eigen::MatrixXd::NullaryExpr(size, columns, random_weight);
  return table.array().rowwise() / table.colwise().sum().array();
}

}  // namespace

bool identified_by_replies(const LatentRows& rows, int K) {
  const int N = rows.categories;
  // `is_used[u][r]` is true if judge u gave reply r. A reply is a category, or N for an abstention.
  // `replies` contains the number of different replies of each judge.
  std::vector<std::vector<bool>> is_used(rows.judges, std::vector<bool>(N + 1));
  const auto each_reply = [&](int row, const auto& visit) {
    for (const int position : rows.positions(row))
      visit(rows.judge[position], rows.answer(position));
    for (const int position : rows.abstentions_of(row)) visit(rows.abstained[position], N);
  };
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.weight[i] > 0) each_reply(i, [&](int u, int reply) { is_used[u][reply] = true; });
  }
  std::vector<Eigen::Index> replies;
  replies.reserve(is_used.size());
  for (const auto& judge_replies : is_used)
    replies.push_back(std::count(judge_replies.begin(), judge_replies.end(), true));
  // Sets of judges who replied to the same cases. Only judges with at least two different replies
  // are included. If there are more than 20 judges, only those of the largest set are used.
  std::set<std::vector<int>> judge_sets;
  std::vector<int> largest_set, judges;
  for (int i = 0; i < rows.size(); ++i) {
    std::vector<int> judge_set;
    each_reply(i, [&](int u, int) {
      if (replies[u] > 1) judge_set.push_back(u);
    });
    if (rows.weight[i] == 0 || judge_set.empty()) continue;
    std::sort(judge_set.begin(), judge_set.end());
    if (judge_set.size() > largest_set.size()) largest_set = judge_set;
    judge_sets.insert(std::move(judge_set));
  }
  for (int u = 0; u < rows.judges; ++u) {
    if (replies[u] > 1) judges.push_back(u);
  }
  if (static_cast<int>(judges.size()) > max_complete_raters) {
    largest_set.resize(std::min<std::size_t>(largest_set.size(), reduced_raters));
    judges = largest_set;
    judge_sets = {largest_set};
  }
  if (judges.size() < 3) return false;
  Stream stream(0, 0);
  const Eigen::VectorXd rates = random_columns(K, 1, stream);
  std::map<int, Eigen::MatrixXd> reply_probability;  // judge -> probabilities: replies x classes
  std::map<int, Eigen::Index> column;  // judge -> first column of this judge in the scores
  Eigen::Index size = K - 1;
  for (const int u : judges) {
    reply_probability[u] = random_columns(static_cast<int>(replies[u]), K, stream);
    column[u] = size;
    size += K * (replies[u] - 1);
  }
  const std::vector<std::vector<int>> sets(judge_sets.begin(), judge_sets.end());
  Eigen::MatrixXd scores = Eigen::MatrixXd::Zero(2 * size + 20, size);
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    std::map<int, Eigen::Index> drawn;
    Eigen::ArrayXd p = rates;
    for (const int u : sets[i % sets.size()]) {
      drawn[u] = static_cast<Eigen::Index>(stream.uniform() * static_cast<double>(replies[u]));
      p *= reply_probability[u].row(drawn[u]).transpose().array();
    }
    p /= p.sum();
    const Eigen::ArrayXd rate_slope = p / rates.array();
    scores.row(i).head(K - 1) = rate_slope.head(K - 1) - rate_slope[K - 1];
    for (const auto& [u, reply] : drawn) {
      const Eigen::Index last = replies[u] - 1;
      for (int k = 0; k < K; ++k) {
        const double slope = p[k] / reply_probability[u](reply, k);
        auto row = scores.row(i).segment(column[u] + k * last, last);
        if (reply == last)
          row.setConstant(-slope);
        else
          row[reply] = slope;
      }
    }
  }
  const Eigen::VectorXd null_share = null_space_shares(scores.colwise().normalized());
  const auto is_identified = [&](int u) {
    return null_share.segment(column[u], K * (replies[u] - 1)).maxCoeff() <= null_space_tolerance;
  };
  return null_share.head(K - 1).maxCoeff() <= null_space_tolerance &&
         std::count_if(judges.begin(), judges.end(), is_identified) > 2;
}

IdentifiedJudges identified_judges(const LatentRows& rows, const LatentModel& model,
                                   const LatentPrior& prior, Fitting fitting) {
  IdentifiedJudges result;
  result.judge.assign(rows.judges, true);
  const SmallPanel panel(rows, model);
  if (panel.empty()) return result;
  Stream stream(0, 0);
  // Draws more rows than there are parameters, so that the rank is not limited by the number of
  // rows. `single_row`: a single row, which is sufficient to count the parameters.
  const LatentRows single_row = panel.draw(1, stream);
  const LatentRows drawn = panel.draw(2 * Layout(single_row, model, prior).size + 20, stream);
  const LatentClass latent(drawn, model, prior);
  const Eigen::MatrixXd scores = random_scores(latent, fitting, stream);
  result.model = result.all = has_full_rank(scores, latent.layout);
  const bool separate_errors = model.separate_raters && model.errors == Errors::free;
  if (result.all || !separate_errors || scores.rows() == 0) return result;
  const Eigen::VectorXd null_share = null_space_shares(scores);
  if (null_share.head(latent.layout.n_rate_parameters).maxCoeff() > null_space_tolerance)
    return result;
  int n_identified = 0;
  for (int u = 0; u < rows.judges; ++u) {
    const int panel_index = panel.panel_index(u);
    if (panel_index < 0) continue;
    for (int k = 0; k < latent.layout.categories && !latent.layout.has_known_matrix(panel_index);
         ++k) {
      if (null_share[latent.layout.accuracy_at(panel_index, k)] > null_space_tolerance) {
        result.judge[u] = false;
      }
    }
    n_identified += result.judge[u];
  }
  // At this point, the base rates are identified, but not all parameters are. The model still
  // counts as identified if two conditions hold: the parameters of at least three judges are
  // identified, and the system, if it is a judge, is one of them.
  result.model = n_identified > 2 && (!rows.joined() || result.judge[rows.raters]);
  return result;
}

}  // namespace fallible
