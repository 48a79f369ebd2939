// Where to begin to fit a latent class model.
#include "../base/host.hpp"
#include "latent.hpp"

namespace fallible {

namespace {

constexpr int em_steps = 30;

// Of raters alone, or what is known.
std::vector<double> vote_shares(const LatentRows& rows, int row) {
  std::vector<double> out(rows.categories, 0.0);
  const int known = rows.known[row];
  if (known >= 0) {
    out[known] = 1;
    return out;
  }
  int votes = 0;
  for (const int at : rows.places(row)) {
    if (rows.judge[at] >= rows.raters) continue;
    ++votes;
    ++out[rows.answer(at)];
  }
  for (double& share : out) share = votes > 0 ? share / votes : 1.0 / rows.categories;
  return out;
}

}  // namespace

Eigen::VectorXd LatentClass::start() const {
  std::vector<double> posterior(classes());
  Counts counts(*this);
  // A pooled prior knows what raters are like, and what classes are called.
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.weight[i] == 0 || prior.rows) continue;
    steps_done(static_cast<unsigned>(classes()));
    const auto share = vote_shares(rows, i);
    for (int c = 0; c < classes(); ++c) posterior[c] = share[c % categories] / strata;
    counts.add(rows, i, rows.weight[i], posterior.data());
  }
  Eigen::VectorXd x = reestimate(*this, counts);
  // Where every accuracy and error rate is free this is the step of the EM algorithm, whose path
  // from the votes is the one that is published.
  const bool em = errors_at >= 0 && strata == 1;
  for (int step = 0; em && step < em_steps; ++step) {
    counts = Counts(*this);
    expect(Law(*this, x), &counts);
    x = reestimate(*this, counts);
  }
  return x;
}

std::vector<Eigen::VectorXd> LatentClass::starts() const {
  std::vector<Eigen::VectorXd> out{start()};
  if (shifts_at < 0) return out;
  const double shift[2] = {0.02, 0.3};
  for (const int raters : {0, 1}) {
    Eigen::VectorXd x = out.front();
    x[shifts_at] = shift[raters];
    if (kinds > 1) x[shifts_at + 1] = shift[1 - raters];
    out.push_back(std::move(x));
  }
  return out;
}

Eigen::VectorXd LatentClass::warm_start(const Eigen::VectorXd& x, int raters) const {
  LatentRows first;
  first.raters = first.judges = raters;
  first.categories = categories;
  first.levels = rows.levels;
  first.matrix = rows.matrix;
  if (first.matrix.size() > static_cast<std::size_t>(raters)) first.matrix.resize(raters);
  const Layout before(first, model, prior, held);
  if (x.size() != before.size || before.groups == 0 || rows.joined()) return {};
  Eigen::VectorXd out = Eigen::VectorXd::Zero(size);
  out.head(categories - 1) = x.head(categories - 1);
  if (mean_at >= 0) out[mean_at] = x[before.mean_at];
  // Raters of before come first in both.
  const auto copy = [&](int from, int to, int each) {
    if (to < 0) return;
    const auto old = Eigen::MatrixXd::Map(x.data() + from, each, before.groups);
    auto now = Eigen::MatrixXd::Map(out.data() + to, each, groups);
    now.colwise() = Eigen::VectorXd(old.rowwise().sum() / before.groups);
    now.leftCols(before.groups) = old;
  };
  copy(before.accuracies_at, accuracies_at, per_group);
  copy(before.errors_at, errors_at, categories * categories);
  copy(before.ordinal_at, ordinal_at, categories);
  if (levels_at >= 0) out.tail(size - levels_at) = x.tail(size - levels_at);
  if (dispersions_at >= 0) out[dispersions_at] = x[before.dispersions_at];
  if (shifts_at >= 0) out[shifts_at] = x[before.shifts_at];
  return out;
}

}  // namespace fallible
