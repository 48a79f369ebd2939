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

constexpr int most_raters = 20;  // up to this number of raters, SmallPanel contains all of them
// Number of raters in SmallPanel if there are more: raters of one row.
constexpr int few_raters = 6;
// Highest number of categories in SmallPanel.
constexpr int few_categories = 4;
// A parameter is identified if its component in directions that change no score is below this.
constexpr double null_space_tolerance = 1e-4;
// Singular values below this share of the largest one count as zero.
constexpr double rank_tolerance = 1e-7;

// True if the judge's confusion matrix is known, or is estimated from a calibration sample.
bool has_matrix_information(const LatentRows& rows, int judge) {
  return rows.has_known_matrix(judge) || rows.has_calibration_sample(judge);
}

// Returns true for each judge with separate parameters, but without a known matrix or calibration
// sample, whose answers do not vary. Such answers are not sufficient to identify these parameters.
std::vector<bool> constant_judges(const LatentRows& rows, const LatentModel& model) {
  std::vector<int> last_answer(rows.judges, -1);
  std::vector<bool> has_varied(rows.judges, false);
  for (int i = 0; i < rows.size(); ++i) {
    for (int at = rows.start[i]; rows.weight[i] > 0 && at < rows.start[i + 1]; ++at) {
      const int u = rows.judge[at];
      if (last_answer[u] >= 0 && last_answer[u] != rows.answer(at)) has_varied[u] = true;
      last_answer[u] = rows.answer(at);
    }
  }
  std::vector<bool> out(rows.judges);
  for (int u = 0; u < rows.judges; ++u) {
    const bool has_parameters = model.by_rater || u >= rows.raters;
    out[u] = has_parameters && !has_matrix_information(rows, u) && !has_varied[u];
  }
  return out;
}

// A small data set of random answers, in which the same raters rate the same cases as in the data.
// It is sufficient, because identification depends on who rated what, not on the answers. If there
// are more than 20 raters, only six raters of the row with most raters are used. At most four
// categories are used: a further category adds more possible combinations of answers than
// parameters. Judges in constant_judges() are left out.
class SmallPanel {
 public:
  SmallPanel(const LatentRows& rows, const LatentModel& model)
      : rows_(rows), panel_index_(rows.judges, -1) {
    const std::vector<bool> is_constant = constant_judges(rows, model);
    const auto add_judge = [&](int u) {
      if (panel_index_[u] < 0 && !is_constant[u]) panel_index_[u] = judges_++;
    };
    if (rows.raters <= most_raters) {
      for (int u = 0; u < rows.raters; ++u) add_judge(u);
    } else {
      int most_informative = -1;
      for (int i = 0; i < rows.size(); ++i) {
        int n_informative = 0;
        for (const int at : rows.positions(i)) {
          n_informative += rows.judge[at] < rows.raters && !is_constant[rows.judge[at]];
        }
        if (rows.weight[i] > 0 && n_informative > most_informative) {
          most_informative = n_informative;
          row_with_most_raters_ = i;
        }
      }
      if (row_with_most_raters_ < 0) return;  // no row with ratings has weight
      for (const int at : rows.positions(row_with_most_raters_)) {
        if (rows.judge[at] < rows.raters && judges_ < few_raters) add_judge(rows.judge[at]);
      }
    }
    raters_ = judges_;
    if (rows.joined()) add_judge(rows.raters);
    // Groups rows by known truth. Each group is drawn equally often, so that rare truths are
    // included: identification does not depend on their frequency. Also groups rows by population,
    // unless there are more than two populations per coefficient. Any rows are then sufficient.
    const bool few_populations = rows.populations.size() <= 2 * rows.populations.coefficients();
    std::map<std::pair<int, int>, std::vector<int>> by_known;
    for (int i = 0; i < rows.size(); ++i) {
      bool is_in_panel = false;
      for (const int at : rows.positions(i)) {
        is_in_panel = is_in_panel || panel_index_[rows.judge[at]] >= 0;
      }
      if (!is_in_panel || rows.weight[i] == 0) continue;
      by_known[{few_populations ? rows.population_of(i) : 0,
                known_of(i, std::min(rows.categories, few_categories))}]
          .push_back(i);
    }
    for (auto& group : by_known) row_groups_.push_back(std::move(group.second));
  }

  bool empty() const { return judges_ == 0 || row_groups_.empty(); }
  // Index of a judge in the small panel; -1 for a judge that is left out.
  int panel_index(int judge) const { return panel_index_[judge]; }

  // Draws rows with random answers. If there are more than 20 raters, every second row has the
  // raters of the row with most raters.
  LatentRows draw(int n_rows, Stream& stream) const {
    LatentRows out;
    out.categories = std::min(rows_.categories, few_categories);
    out.levels = rows_.levels;
    out.raters = raters_;
    out.judges = judges_;
    add_random_matrices(out, stream);
    // Replaces covariates by random values. Nearly collinear covariates would make the model look
    // unidentified, but this function does not check covariates.
    out.populations = rows_.populations;
    double* value = out.populations.design.data();
    std::generate_n(value, out.populations.design.size(), [&] { return stream.uniform(); });
    const int groups = static_cast<int>(row_groups_.size());
    for (int i = 0; i < n_rows; ++i) {
      const int draw_number = row_with_most_raters_ >= 0 ? i / 2 : i;
      const std::vector<int>& group = row_groups_[draw_number % groups];
      const int rows = static_cast<int>(group.size());
      const int row_in_group = rows * groups <= n_rows ? draw_number / groups % rows
                                                       : static_cast<int>(stream.uniform() * rows);
      const int row =
          row_with_most_raters_ >= 0 && i % 2 == 0 ? row_with_most_raters_ : group[row_in_group];
      for (const int at : rows_.positions(row)) {
        if (panel_index_[rows_.judge[at]] < 0) continue;
        out.judge.push_back(panel_index_[rows_.judge[at]]);
        const bool has_level = rows_.levels > 0 && rows_.category[at] >= rows_.categories;
        const int level = has_level ? 1 + static_cast<int>(stream.uniform() * rows_.levels) : 0;
        out.category.push_back(level * out.categories +
                               static_cast<int>(stream.uniform() * out.categories));
      }
      out.end_row(out.judge.size());
      out.known.push_back(known_of(row, out.categories));
      out.weight.push_back(1);
      if (out.populations.size() > 1) out.population.push_back(rows_.population_of(row));
    }
    return out;
  }

 private:
  // Known category of a row, mapped to the categories of the small panel; -1 if unknown.
  int known_of(int row, int categories) const {
    return rows_.known[row] < 0 ? -1 : rows_.known[row] % categories;
  }

  // Replaces known matrices, and those of judges with calibration samples, by random matrices.
  // Identification does not depend on their values, and random ones have no special values such as
  // zero.
  void add_random_matrices(LatentRows& out, Stream& stream) const {
    const int N = out.categories;
    for (int u = 0; u < rows_.judges; ++u) {
      if (panel_index_[u] < 0 || !has_matrix_information(rows_, u)) continue;
      out.matrix.resize(judges_);
      auto& matrix = out.matrix[panel_index_[u]];
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

// Matrix of scores (gradients of the log likelihood of each row, or derivatives of pair
// probabilities) at random parameter values. The model is identified if the rank of the matrix is
// the number of free parameters. Columns are scaled to length 1.
Eigen::MatrixXd random_scores(const LatentClass& model, Fitting fitting, Stream& stream) {
  Eigen::VectorXd x(model.layout.size);
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = 0.2 + 0.6 * stream.uniform();
  Eigen::MatrixXd out = fitting == Fitting::pairs
                            ? PairObjective(model.layout, pair_frequencies(model.layout)).slopes(x)
                            : model.scores(x);
  for (Eigen::Index j = 0; j < out.cols(); ++j) {
    const double length = out.col(j).norm();
    // Makes judges with different numbers of ratings comparable.
    if (length > 0) out.col(j) /= length;
  }
  return out;
}

bool has_full_rank(const Eigen::MatrixXd& scores, const Layout& layout) {
  if (scores.rows() == 0) return layout.free_parameters() == 0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scores);
  qr.setThreshold(rank_tolerance);
  return qr.rank() >= layout.free_parameters();
}

// Returns, for each parameter, the length of its projection onto the null space of the scores, the
// directions that change no score. The length is 0 if the parameter is identified, and at most 1.
Eigen::VectorXd null_space_shares(const Eigen::MatrixXd& scores) {
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(scores, Eigen::ComputeThinU | Eigen::ComputeFullV);
  const Eigen::VectorXd& singular = svd.singularValues();
  Eigen::Index rank = 0;
  while (rank < singular.size() && singular[rank] > rank_tolerance * singular[0]) ++rank;
  return svd.matrixV().rightCols(scores.cols() - rank).rowwise().norm();
}

// Random probability tables: `size` replies x `columns`. Each column sums to 1.
Eigen::MatrixXd random_columns(int size, int columns, Stream& stream) {
  const auto random_weight = [&] { return 0.2 + stream.uniform(); };
  const Eigen::MatrixXd out = Eigen::MatrixXd::NullaryExpr(size, columns, random_weight);
  return out.array().rowwise() / out.colwise().sum().array();
}

}  // namespace

bool identified_by_replies(const LatentRows& rows, int K) {
  const int N = rows.categories;
  // `is_used[u][r]` is true if judge u gave reply r. A reply is a category, or N for an abstention.
  // `replies` contains the number of different replies of each judge.
  std::vector<std::vector<bool>> is_used(rows.judges, std::vector<bool>(N + 1));
  const auto each_reply = [&](int row, const auto& visit) {
    for (const int at : rows.positions(row)) visit(rows.judge[at], rows.answer(at));
    for (const int at : rows.abstentions_of(row)) visit(rows.abstained[at], N);
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
  if (static_cast<int>(judges.size()) > most_raters) {
    largest_set.resize(std::min<std::size_t>(largest_set.size(), few_raters));
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
  IdentifiedJudges out;
  out.judge.assign(rows.judges, true);
  const SmallPanel panel(rows, model);
  if (panel.empty()) return out;
  Stream stream(0, 0);
  // Draws more rows than there are parameters, so that the rank is not limited by the number of
  // rows. `single_row`: a single row, which is sufficient to count the parameters.
  const LatentRows single_row = panel.draw(1, stream);
  const LatentRows drawn = panel.draw(2 * Layout(single_row, model, prior).size + 20, stream);
  const LatentClass latent(drawn, model, prior);
  const Eigen::MatrixXd scores = random_scores(latent, fitting, stream);
  out.model = out.all = has_full_rank(scores, latent.layout);
  const bool separate_errors = model.by_rater && model.errors == Errors::free;
  if (out.all || !separate_errors || scores.rows() == 0) return out;
  const Eigen::VectorXd null_share = null_space_shares(scores);
  if (null_share.head(latent.layout.rates).maxCoeff() > null_space_tolerance) return out;
  int n_identified = 0;
  for (int u = 0; u < rows.judges; ++u) {
    const int panel_index = panel.panel_index(u);
    if (panel_index < 0) continue;
    for (int k = 0; k < latent.layout.categories && !latent.layout.has_known_matrix(panel_index);
         ++k) {
      if (null_share[latent.layout.accuracy_at(panel_index, k)] > null_space_tolerance) {
        out.judge[u] = false;
      }
    }
    n_identified += out.judge[u];
  }
  // The model counts as identified although some judges are not: base rates and at least three
  // judges are identified without them.
  out.model = n_identified > 2 && (!rows.joined() || out.judge[rows.raters]);
  return out;
}

}  // namespace fallible
