#include "start.hpp"

#include <algorithm>

#include "../base/host.hpp"
#include "likelihood.hpp"

namespace fallible {

namespace {

constexpr int em_steps = 30;

// Of raters alone, or what is known.
std::vector<double> vote_shares(const Layout& layout, int row) {
  const LatentRows& rows = layout.rows;
  std::vector<double> out(layout.categories, 0.0);
  const int known = rows.known[row];
  if (known >= 0) {
    out[known] = 1;
    return out;
  }
  int votes = 0;
  for (const int at : rows.places(row)) {
    if (layout.is_system(rows.judge[at])) continue;
    ++votes;
    ++out[rows.answer(at)];
  }
  for (double& share : out) share = votes > 0 ? share / votes : 1.0 / layout.categories;
  return out;
}

// The same model of the first raters.
LatentRows first_raters(const LatentRows& rows, int raters) {
  LatentRows out;
  out.raters = out.judges = raters;
  out.categories = rows.categories;
  out.levels = rows.levels;
  out.matrix = rows.matrix;
  if (out.matrix.size() > static_cast<std::size_t>(raters)) out.matrix.resize(raters);
  return out;
}

}  // namespace

Eigen::VectorXd start_from_votes(const Layout& layout) {
  const LatentRows& rows = layout.rows;
  std::vector<double> posterior(layout.classes());
  Counts counts(layout);
  // A pooled prior knows what raters are like, and what classes are called.
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.weight[i] == 0 || layout.prior.rows) continue;
    steps_done(static_cast<unsigned>(layout.classes()));
    const auto share = vote_shares(layout, i);
    for (int c = 0; c < layout.classes(); ++c) {
      posterior[c] = share[c % layout.categories] / layout.strata;
    }
    counts.add(rows, i, rows.weight[i], posterior.data());
  }
  Eigen::VectorXd x = reestimate(layout, counts);
  // Where every accuracy and error rate is free this is the step of the EM algorithm, whose path
  // from the votes is the one that is published.
  const bool em = layout.errors_at >= 0 && layout.strata == 1;
  for (int step = 0; em && step < em_steps; ++step) {
    counts.clear();
    Likelihood(layout).expect(Law(layout, x), &counts);
    x = reestimate(layout, counts);
  }
  return x;
}

std::vector<Eigen::VectorXd> all_starts(const Layout& layout) {
  std::vector<Eigen::VectorXd> out{start_from_votes(layout)};
  if (layout.shifts_at < 0) return out;
  const double shift[2] = {0.02, 0.3};
  for (const int raters : {0, 1}) {
    Eigen::VectorXd x = out.front();
    x[layout.shifts_at] = shift[raters];
    if (layout.kinds > 1) x[layout.shifts_at + 1] = shift[1 - raters];
    out.push_back(std::move(x));
  }
  return out;
}

Eigen::VectorXd warm_start(const Layout& layout, const Eigen::VectorXd& x, int raters) {
  const LatentRows rows = first_raters(layout.rows, raters);
  const Layout before(rows, layout.model, layout.prior, layout.held);
  if (x.size() != before.size || before.groups == 0 || layout.rows.joined()) return {};
  Eigen::VectorXd out = Eigen::VectorXd::Zero(layout.size);
  out.head(layout.categories - 1) = x.head(layout.categories - 1);
  if (layout.mean_at >= 0) out[layout.mean_at] = x[before.mean_at];
  // Raters of before come first in both.
  const auto copy = [&](int from, int to, int each) {
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(each);
    for (int g = 0; g < before.groups; ++g) mean += x.segment(from + g * each, each);
    mean /= before.groups;
    for (int g = 0; g < layout.groups; ++g) {
      if (g < before.groups) {
        out.segment(to + g * each, each) = x.segment(from + g * each, each);
      } else {
        out.segment(to + g * each, each) = mean;
      }
    }
  };
  const int N = layout.categories;
  if (layout.per_group > 0) copy(before.accuracies_at, layout.accuracies_at, layout.per_group);
  if (layout.errors_at >= 0) copy(before.errors_at, layout.errors_at, N * N);
  if (layout.ordinal_at >= 0) copy(before.ordinal_at, layout.ordinal_at, N);
  if (layout.levels_at >= 0) {
    const int size = layout.size - layout.levels_at;
    out.tail(size) = x.tail(size);
  }
  if (layout.dispersions_at >= 0) out[layout.dispersions_at] = x[before.dispersions_at];
  if (layout.shifts_at >= 0) out[layout.shifts_at] = x[before.shifts_at];
  return out;
}

}  // namespace fallible
