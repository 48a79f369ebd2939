#include "warm.hpp"

namespace fallible {

namespace {

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
