#include "latent_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "../base/host.hpp"
#include "curvature.hpp"

namespace fallible {

namespace {

// Sums of squared differences of frequencies are small. They are multiplied by this constant, so
// that the optimiser's tolerances have their usual meaning.
constexpr double scale = 1e4;
constexpr double max_jacobian_size = 3e7;  // limit for cells x parameters, a matrix in memory

using Kinds = std::map<std::pair<int, int>, int>;

// Calls visit(row, kind, rating of the first judge, rating of the second judge) for each pair of
// ratings of a row. Pairs by the same two judges are of the same kind. Raters with equal parameters
// count as one judge. Returns a map from two judges to the index of their kind, from 0.
template <class Visit>
Kinds for_each_pair(const Layout& layout, const Visit& visit) {
  const LatentRows& rows = layout.rows;
  const auto parameter_judge = [&](int position) {
    return layout.model.separate_raters || rows.judge[position] >= rows.raters
               ? rows.judge[position]
               : 0;
  };
  Kinds kinds;
  for (int i = 0; i < rows.size(); ++i) {
    count_steps(1);
    if (rows.weight[i] == 0) continue;
    for (const int a : rows.positions(i)) {
      for (int b = rows.start[i]; b < a; ++b) {
        if (rows.judge[a] == rows.judge[b]) continue;
        const auto [first, second] =
            parameter_judge(b) <= parameter_judge(a) ? std::make_pair(b, a) : std::make_pair(a, b);
        const int new_kind = static_cast<int>(kinds.size());
        const int kind = kinds.insert({{parameter_judge(first), parameter_judge(second)}, new_kind})
                             .first->second;
        visit(i, kind, rows.category[first], rows.category[second]);
      }
    }
  }
  return kinds;
}

}  // namespace

PairFrequencies pair_frequencies(const Layout& layout) {
  const LatentRows& rows = layout.rows;
  PairFrequencies pairs;
  pairs.categories = rows.categories;
  const int N = rows.categories;
  const auto table = [&](int kind) { return Square(row_of(pairs.frequency, kind, N * N), N); };
  double total = 0;
  const Kinds kinds = for_each_pair(layout, [&](int row, int kind, int k, int l) {
    if (kind >= pairs.kinds()) {
      pairs.share.resize(kind + 1, 0.0);
      pairs.frequency.resize((kind + 1) * N * N, 0.0);
    }
    total += rows.weight[row];
    pairs.share[kind] += rows.weight[row];
    table(kind)[k][l] += rows.weight[row];
  });
  pairs.first.resize(pairs.kinds());
  pairs.second.resize(pairs.kinds());
  for (const auto& entry : kinds) {
    const int kind = entry.second;
    pairs.first[kind] = entry.first.first;
    pairs.second[kind] = entry.first.second;
    const Square cell = table(kind);
    for (double& frequency : cell) frequency /= pairs.share[kind];
    pairs.share[kind] /= total;
    // If two judges with the same parameters give the ratings a and b, the pair adds 1/2 to both
    // cells (a, b) and (b, a).
    if (pairs.first[kind] != pairs.second[kind]) continue;
    for (int k = 0; k < N; ++k) {
      for (int l = 0; l < k; ++l) {
        cell[k][l] = cell[l][k] = (cell[k][l] + cell[l][k]) / 2;
      }
    }
  }
  return pairs;
}

// Calls visit(kind, cell, first, second, joint) for each cell of each kind (see PairFrequencies).
// `first`, `second`: positions in `law.probability` where the probabilities of the two ratings
// begin, one per class. `joint`: for each class, the joint probability of the class and both
// ratings.
template <class Visit>
void PairObjective::for_each_cell(const Law& law, const Visit& visit) const {
  std::vector<double> joint(law.classes);
  std::size_t cell = 0;
  for (int kind = 0; kind < pairs_.kinds(); ++kind) {
    for (int k = 0; k < law.categories; ++k) {
      const std::size_t first = law.array_position(pairs_.first[kind], k);
      for (int l = 0; l < law.categories; ++l, ++cell) {
        const std::size_t second = law.array_position(pairs_.second[kind], l);
        for (int c = 0; c < law.classes; ++c) {
          joint[c] =
              law.class_probability[c] * law.probability[first + c] * law.probability[second + c];
        }
        visit(kind, cell, first, second, joint.data());
      }
    }
  }
}

double PairObjective::evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) const {
  const Law law(layout_, x);
  ExpectedCounts counts(layout_);
  double loss = 0;
  for_each_cell(law, [&](int kind, std::size_t cell, std::size_t first, std::size_t second,
                         const double* joint) {
    double difference = pairs_.frequency[cell];
    for (int c = 0; c < law.classes; ++c) difference -= joint[c];
    loss += pairs_.share[kind] * difference * difference;
    if (!gradient) return;
    // `slope`: derivative of the objective with respect to the log of the joint probability of the
    // two ratings and class c. By the chain rule, add_gradient() needs the sums of these slopes in
    // place of expected counts.
    for (int c = 0; c < law.classes; ++c) {
      const double slope = scale * pairs_.share[kind] * difference * joint[c];
      counts.ratings[first + c] += slope;
      counts.ratings[second + c] += slope;
      counts.classes[c] += slope;
    }
  });
  if (gradient) {
    gradient->setZero(layout_.size);
    add_gradient(layout_, x, law, counts, *gradient);
  }
  return -scale * loss / 2 + log_prior(layout_, x, gradient);
}

Eigen::MatrixXd PairObjective::probability_jacobian(const Eigen::VectorXd& x,
                                                    Eigen::VectorXd* expected) const {
  const Law law(layout_, x);
  Eigen::MatrixXd jacobian(pairs_.cells(), layout_.size);
  Eigen::VectorXd gradient(layout_.size);
  ExpectedCounts counts(layout_);
  if (expected) expected->setZero(pairs_.cells());
  for_each_cell(
      law, [&](int, std::size_t cell, std::size_t first, std::size_t second, const double* joint) {
        const Eigen::Index row = static_cast<Eigen::Index>(cell);
        for (int c = 0; c < law.classes; ++c) {
          if (expected) (*expected)[row] += joint[c];
          counts.classes[c] = joint[c];
          counts.ratings[first + c] += joint[c];
          counts.ratings[second + c] += joint[c];
        }
        gradient.setZero();
        add_gradient(layout_, x, law, counts, gradient);
        jacobian.row(row) = gradient.transpose();
        for (int c = 0; c < law.classes; ++c)
          counts.ratings[first + c] = counts.ratings[second + c] = 0;
      });
  return jacobian;
}

// Sandwich estimator. At the optimum, the gradients of all cases sum to zero. Their covariance
// between cases, multiplied by the inverse curvature on both sides, is the covariance of the
// parameters.
Eigen::MatrixXd pair_covariance(const Layout& layout, const Eigen::VectorXd& x) {
  const PairFrequencies pairs = pair_frequencies(layout);
  if (static_cast<double>(pairs.cells()) * static_cast<double>(x.size()) >= max_jacobian_size)
    return {};
  const LatentRows& rows = layout.rows;
  const PairObjective objective(layout, pairs);
  const auto slope = [&objective](const Eigen::VectorXd& point) {
    Eigen::VectorXd gradient;
    objective.evaluate(point, &gradient);
    return gradient;
  };
  const Eigen::MatrixXd second_derivatives = fallible::jacobian(slope, x);
  const Curvature curvature(layout, 0.5 * (second_derivatives + second_derivatives.transpose()), x);
  const Eigen::Index per_kind = static_cast<Eigen::Index>(pairs.categories) * pairs.categories;
  Eigen::VectorXd expected;
  const Eigen::MatrixXd slopes = objective.probability_jacobian(x, &expected);
  Eigen::MatrixXd mean_slope(pairs.kinds(), x.size());
  for (int kind = 0; kind < pairs.kinds(); ++kind) {
    mean_slope.row(kind) = expected.segment(kind * per_kind, per_kind).transpose() *
                           slopes.middleRows(kind * per_kind, per_kind);
  }
  Eigen::MatrixXd scores = Eigen::MatrixXd::Zero(rows.size(), x.size());
  double total = 0;
  for_each_pair(layout, [&](int row, int kind, int k, int l) {
    total += rows.weight[row];
    const Eigen::Index cell = kind * per_kind + k * pairs.categories + l;
    scores.row(row) += slopes.row(cell) - mean_slope.row(kind);
  });
  Eigen::MatrixXd spread = Eigen::MatrixXd::Zero(x.size(), x.size());
  for (int i = 0; i < rows.size(); ++i) {
    spread += rows.weight[i] * scores.row(i).transpose() * scores.row(i);
  }
  return curvature.sandwich(spread * (scale / total) * (scale / total));
}

}  // namespace fallible
