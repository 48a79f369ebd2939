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

constexpr int crowd = 20;   // largest number of raters that are all in the small panel
constexpr int busiest = 6;  // number of raters of a crowd in the small panel
constexpr int few_categories = 4;
constexpr double part_tolerance = 1e-4;  // of a parameter in directions without a slope
constexpr double rank_tolerance = 1e-7;  // relative; for singular values

// True if the matrix of a judge is known or has a calibration sample.
bool is_given(const LatentRows& rows, int judge) {
  return rows.is_known(judge) || rows.has_before(judge);
}

// Judges with separate parameters whose answers are all equal.
std::vector<bool> silent_judges(const LatentRows& rows, const LatentModel& model) {
  std::vector<int> only(rows.judges, -1);
  std::vector<bool> varied(rows.judges, false);
  for (int i = 0; i < rows.size(); ++i) {
    for (int at = rows.start[i]; rows.weight[i] > 0 && at < rows.start[i + 1]; ++at) {
      const int u = rows.judge[at];
      if (only[u] >= 0 && only[u] != rows.answer(at)) varied[u] = true;
      only[u] = rows.answer(at);
    }
  }
  std::vector<bool> out(rows.judges);
  for (int u = 0; u < rows.judges; ++u) {
    const bool own = model.by_rater || u >= rows.raters;
    out[u] = own && !is_given(rows, u) && !varied[u];
  }
  return out;
}

// A small panel with random answers by raters who rated the same cases. The same parameters are
// identified from it as from the data. The raters of a crowd are replaced by the raters of the row
// with most of them, because these raters link the others. The number of categories is limited:
// each further category adds more cells than parameters.
class SmallPanel {
 public:
  SmallPanel(const LatentRows& rows, const LatentModel& model)
      : rows_(rows), seat_(rows.judges, -1) {
    const std::vector<bool> silent = silent_judges(rows, model);
    const auto sit = [&](int u) {
      if (seat_[u] < 0 && !silent[u]) seat_[u] = judges_++;
    };
    if (rows.raters <= crowd) {
      for (int u = 0; u < rows.raters; ++u) sit(u);
    } else {
      int best = -1;
      for (int i = 0; i < rows.size(); ++i) {
        int heard = 0;
        for (const int at : rows.places(i)) {
          heard += rows.judge[at] < rows.raters && !silent[rows.judge[at]];
        }
        if (rows.weight[i] > 0 && heard > best) {
          best = heard;
          busiest_row_ = i;
        }
      }
      if (busiest_row_ < 0) return;  // no case has weight
      for (const int at : rows.places(busiest_row_)) {
        if (rows.judge[at] < rows.raters && judges_ < busiest) sit(rows.judge[at]);
      }
    }
    raters_ = judges_;
    if (rows.joined()) sit(rows.raters);
    // Groups rows by known truth, so that rare truths are included: identification does not depend
    // on their frequency. Also groups rows by population, unless there are many more populations
    // than coefficients. Then any rows are sufficient.
    const bool few = rows.populations.size() <= 2 * rows.populations.coefficients();
    std::map<std::pair<int, int>, std::vector<int>> by_known;
    for (int i = 0; i < rows.size(); ++i) {
      bool seated = false;
      for (const int at : rows.places(i)) seated = seated || seat_[rows.judge[at]] >= 0;
      if (!seated || rows.weight[i] == 0) continue;
      by_known[{few ? rows.population_of(i) : 0,
                known_of(i, std::min(rows.categories, few_categories))}]
          .push_back(i);
    }
    for (auto& of : by_known) seated_.push_back(std::move(of.second));
  }

  bool empty() const { return judges_ == 0 || seated_.empty(); }
  int seat(int judge) const { return seat_[judge]; }

  LatentRows draw(int wanted, Stream& stream) const {
    LatentRows out;
    out.categories = std::min(rows_.categories, few_categories);
    out.levels = rows_.levels;
    out.raters = raters_;
    out.judges = judges_;
    fix_matrices(out, stream);
    // Replaces covariates by random values: collinearity of the data is not checked here.
    out.populations = rows_.populations;
    double* value = out.populations.design.data();
    std::generate_n(value, out.populations.design.size(), [&] { return stream.uniform(); });
    const int groups = static_cast<int>(seated_.size());
    for (int i = 0; i < wanted; ++i) {
      const int turn = busiest_row_ >= 0 ? i / 2 : i;
      const std::vector<int>& group = seated_[turn % groups];
      const int rows = static_cast<int>(group.size());
      const int any = rows * groups <= wanted ? turn / groups % rows
                                              : static_cast<int>(stream.uniform() * rows);
      const int row = busiest_row_ >= 0 && i % 2 == 0 ? busiest_row_ : group[any];
      for (const int at : rows_.places(row)) {
        if (seat_[rows_.judge[at]] < 0) continue;
        out.judge.push_back(seat_[rows_.judge[at]]);
        const bool sure = rows_.levels > 0 && rows_.category[at] >= rows_.categories;
        const int level = sure ? 1 + static_cast<int>(stream.uniform() * rows_.levels) : 0;
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
  int known_of(int row, int categories) const {
    return rows_.known[row] < 0 ? -1 : rows_.known[row] % categories;
  }

  // Replaces known matrices by random matrices, because identification does not depend on their
  // values.
  void fix_matrices(LatentRows& out, Stream& stream) const {
    const int N = out.categories;
    for (int u = 0; u < rows_.judges; ++u) {
      if (seat_[u] < 0 || !is_given(rows_, u)) continue;
      out.matrix.resize(judges_);
      auto& matrix = out.matrix[seat_[u]];
      for (int k = 0; k < N; ++k) {
        double total = 0;
        for (int l = 0; l < N; ++l) {
          matrix.push_back(0.2 + stream.uniform() + (k == l));
          total += matrix.back();
        }
        for (int l = 0; l < N; ++l) matrix[k * N + l] /= total;
      }
    }
  }

  const LatentRows& rows_;
  std::vector<int> seat_;
  std::vector<std::vector<int>> seated_;
  int raters_ = 0, judges_ = 0, busiest_row_ = -1;
};

// Scores at random parameters, with columns of length one. Identification depends on the model and
// on the sets of raters who rated the same cases, not on their answers.
Eigen::MatrixXd random_scores(const LatentClass& model, Fitting fitting, Stream& stream) {
  Eigen::VectorXd x(model.layout.size);
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = 0.2 + 0.6 * stream.uniform();
  Eigen::MatrixXd out = fitting == Fitting::pairs
                            ? Closeness(model.layout, pair_frequencies(model.layout)).slopes(x)
                            : model.scores(x);
  for (Eigen::Index j = 0; j < out.cols(); ++j) {
    const double length = out.col(j).norm();
    if (length > 0) out.col(j) /= length;  // makes columns of different judges comparable
  }
  return out;
}

bool has_full_rank(const Eigen::MatrixXd& scores, const Layout& layout) {
  if (scores.rows() == 0) return layout.free_parameters() == 0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scores);
  qr.setThreshold(rank_tolerance);
  return qr.rank() >= layout.free_parameters();
}

// Length of the projection of each parameter onto the directions that change no score.
Eigen::VectorXd null_parts(const Eigen::MatrixXd& scores) {
  const Eigen::BDCSVD<Eigen::MatrixXd> parts(scores, Eigen::ComputeThinU | Eigen::ComputeFullV);
  const Eigen::VectorXd& values = parts.singularValues();
  Eigen::Index rank = 0;
  while (rank < values.size() && values[rank] > rank_tolerance * values[0]) ++rank;
  return parts.matrixV().rightCols(scores.cols() - rank).rowwise().norm();
}

// Random probabilities. Each column is a distribution of `size` replies.
Eigen::MatrixXd random_columns(int size, int columns, Stream& stream) {
  const auto any = [&] { return 0.2 + stream.uniform(); };
  const Eigen::MatrixXd out = Eigen::MatrixXd::NullaryExpr(size, columns, any);
  return out.array().rowwise() / out.colwise().sum().array();
}

}  // namespace

bool identified_by_replies(const LatentRows& rows, int K) {
  const int N = rows.categories;
  // Number of different replies of each judge. Abstaining is a reply.
  std::vector<std::vector<bool>> used(rows.judges, std::vector<bool>(N + 1));
  const auto each_reply = [&](int row, const auto& visit) {
    for (const int at : rows.places(row)) visit(rows.judge[at], rows.answer(at));
    for (const int at : rows.abstentions_of(row)) visit(rows.abstained[at], N);
  };
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.weight[i] > 0) each_reply(i, [&](int u, int reply) { used[u][reply] = true; });
  }
  std::vector<Eigen::Index> replies;
  replies.reserve(used.size());
  for (const auto& of : used) replies.push_back(std::count(of.begin(), of.end(), true));
  // Sets of judges with several replies who replied to the same cases. In a crowd: only judges of
  // the row with most of them.
  std::set<std::vector<int>> together;
  std::vector<int> most, all;
  for (int i = 0; i < rows.size(); ++i) {
    std::vector<int> here;
    each_reply(i, [&](int u, int) {
      if (replies[u] > 1) here.push_back(u);
    });
    if (rows.weight[i] == 0 || here.empty()) continue;
    std::sort(here.begin(), here.end());
    if (here.size() > most.size()) most = here;
    together.insert(std::move(here));
  }
  for (int u = 0; u < rows.judges; ++u) {
    if (replies[u] > 1) all.push_back(u);
  }
  if (static_cast<int>(all.size()) > crowd) {
    most.resize(std::min<std::size_t>(most.size(), busiest));
    all = most;
    together = {most};
  }
  if (all.size() < 3) return false;
  Stream stream(0, 0);
  const Eigen::VectorXd rates = random_columns(K, 1, stream);
  std::map<int, Eigen::MatrixXd> law;  // replies x classes
  std::map<int, Eigen::Index> first;   // column of the first parameter of each judge
  Eigen::Index size = K - 1;
  for (const int u : all) {
    law[u] = random_columns(static_cast<int>(replies[u]), K, stream);
    first[u] = size;
    size += K * (replies[u] - 1);
  }
  const std::vector<std::vector<int>> sets(together.begin(), together.end());
  Eigen::MatrixXd scores = Eigen::MatrixXd::Zero(2 * size + 20, size);
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    std::map<int, Eigen::Index> drawn;
    Eigen::ArrayXd p = rates;
    for (const int u : sets[i % sets.size()]) {
      drawn[u] = static_cast<Eigen::Index>(stream.uniform() * static_cast<double>(replies[u]));
      p *= law[u].row(drawn[u]).transpose().array();
    }
    p /= p.sum();
    const Eigen::ArrayXd of_rates = p / rates.array();
    scores.row(i).head(K - 1) = of_rates.head(K - 1) - of_rates[K - 1];
    for (const auto& [u, reply] : drawn) {
      const Eigen::Index last = replies[u] - 1;
      for (int k = 0; k < K; ++k) {
        const double slope = p[k] / law[u](reply, k);
        auto row = scores.row(i).segment(first[u] + k * last, last);
        if (reply == last)
          row.setConstant(-slope);
        else
          row[reply] = slope;
      }
    }
  }
  const Eigen::VectorXd part = null_parts(scores.colwise().normalized());
  const auto known = [&](int u) {
    return part.segment(first[u], K * (replies[u] - 1)).maxCoeff() <= part_tolerance;
  };
  return part.head(K - 1).maxCoeff() <= part_tolerance &&
         std::count_if(all.begin(), all.end(), known) > 2;
}

IdentifiedJudges identified_judges(const LatentRows& rows, const LatentModel& model,
                                   const LatentPrior& prior, Fitting fitting) {
  IdentifiedJudges out;
  out.judge.assign(rows.judges, true);
  const SmallPanel panel(rows, model);
  if (panel.empty()) return out;
  Stream stream(0, 0);
  // Draws more cases than there are parameters.
  const LatentRows one = panel.draw(1, stream);
  const LatentRows drawn = panel.draw(2 * Layout(one, model, prior).size + 20, stream);
  const LatentClass latent(drawn, model, prior);
  const Eigen::MatrixXd scores = random_scores(latent, fitting, stream);
  out.model = out.all = has_full_rank(scores, latent.layout);
  const bool apart = model.by_rater && model.errors == Errors::free;
  if (out.all || !apart || scores.rows() == 0) return out;
  const Eigen::VectorXd part = null_parts(scores);
  if (part.head(latent.layout.rates).maxCoeff() > part_tolerance) return out;
  int judged = 0;
  for (int u = 0; u < rows.judges; ++u) {
    const int seat = panel.seat(u);
    if (seat < 0) continue;
    for (int k = 0; k < latent.layout.categories && !latent.layout.is_known(seat); ++k) {
      if (part[latent.layout.accuracy_at(seat, k)] > part_tolerance) out.judge[u] = false;
    }
    judged += out.judge[u];
  }
  // A judge without common cases with others is not identified, but others are not affected.
  out.model = judged > 2 && (!rows.joined() || out.judge[rows.raters]);
  return out;
}

}  // namespace fallible
