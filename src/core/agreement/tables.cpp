// Measures of the agreement matrix of two raters, the first in rows, the second in columns:
// Bangdiwala's B, Yule's Y and information agreement.
#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace fallible {

namespace {

struct Table {
  const RatedRows* ratings;
  int k;
  std::vector<double> cell;         // row by row
  std::vector<double> row, column;  // sums
  double total = 0;

  double at(int i, int j) const { return cell[static_cast<std::size_t>(i) * k + j]; }
  int first(int i) const { return ratings->category[ratings->start[i]]; }
  int second(int i) const { return ratings->category[ratings->start[i] + 1]; }

  void add(int i, double w) {
    cell[static_cast<std::size_t>(first(i)) * k + second(i)] += w;
    row[first(i)] += w;
    column[second(i)] += w;
    total += w;
  }
};

// A measure has value(table), smooth(table), which says if there is a derivative, and
// slopes(table), a function that gives it for a cell that is not zero.
template <class Measure>
struct MeasuredTable : Table {
  Measure measure;

  Estimate value() const {
    return total > 0 ? measure.value(*this) : undefined(Undefined::no_pairs);
  }
};

template <class Measure>
class TableKernel : public SumKernel<MeasuredTable<Measure>> {
 public:
  TableKernel(const RatedRows& ratings, Measure measure) : ratings_(ratings), measure_(measure) {}

  std::vector<double> influence(const std::vector<double>& weight) const override {
    const auto table = this->total(weight);
    if (!measure_.smooth(table)) return {};
    std::vector<double> out(weight.size(), 0.0);
    const auto slope = measure_.slopes(table);
    for (int i = 0; i < ratings_.size(); ++i) {
      if (weight[i] != 0) out[i] = slope(table.first(i), table.second(i));
    }
    return out;
  }

 protected:
  MeasuredTable<Measure> none() const override {
    const auto k = static_cast<std::size_t>(ratings_.categories);
    const std::vector<double> zeros(k, 0.0);
    return {{&ratings_, ratings_.categories, std::vector<double>(k * k, 0.0), zeros, zeros},
            measure_};
  }

 private:
  const RatedRows& ratings_;
  Measure measure_;
};

// Squares of agreement over the rectangles of the marginals: Munoz and Bangdiwala (1997).
struct Bangdiwala {
  static double rectangles(const Table& x) {
    double out = 0;
    for (int i = 0; i < x.k; ++i) out += x.row[i] * x.column[i];
    return out;
  }
  Estimate value(const Table& x) const {
    double squares = 0;
    for (int i = 0; i < x.k; ++i) squares += x.at(i, i) * x.at(i, i);
    const double all = rectangles(x);
    if (!(all > 0)) return {0, Undefined::no};  // no category in common: the limit as well
    return {squares / all, Undefined::no};
  }
  bool smooth(const Table& x) const { return rectangles(x) > 0; }
  auto slopes(const Table& x) const {
    const double all = rectangles(x), b = value(x).value;
    return [&x, all, b](int i, int j) {
      return ((i == j ? 2 * x.at(i, i) : 0) - b * (x.column[i] + x.row[j])) / all;
    };
  }
};

// (sqrt(ad) - sqrt(bc)) / (sqrt(ad) + sqrt(bc)): one where bc = 0, as in the limit.
struct Yule {
  Estimate value(const Table& x) const {
    const double agreeing = std::sqrt(x.at(0, 0) * x.at(1, 1));
    const double crossed = std::sqrt(x.at(0, 1) * x.at(1, 0));
    if (!(agreeing + crossed > 0)) return undefined(Undefined::zero_cells);
    return {(agreeing - crossed) / (agreeing + crossed), Undefined::no};
  }
  bool smooth(const Table& x) const { return *std::min_element(x.cell.begin(), x.cell.end()) > 0; }
  auto slopes(const Table& x) const {
    const double y = value(x).value;
    return [&x, y](int i, int j) { return (i == j ? 1 : -1) * (1 - y * y) / (4 * x.at(i, j)); };
  }
};

double entropy(const std::vector<double>& count, double total) {
  double out = 0;
  for (const double n : count) {
    if (n > 0) out -= n / total * std::log(n / total);
  }
  return out;
}

double in_use(const std::vector<double>& count) {
  return static_cast<double>(
      std::count_if(count.begin(), count.end(), [](double n) { return n > 0; }));
}

// Mutual information over the smaller entropy. Where a rater uses one category the ratio is 0/0;
// its continuous extension is the limit of a table whose zeros are positive and vanish:
// 1 - (categories that the other uses) / k. That limit is written out, since it is approached only
// like the inverse of a logarithm.
struct Information {
  bool continuity;

  Estimate value(const Table& x) const {
    const double rows = in_use(x.row), columns = in_use(x.column);
    if (rows == 1 || columns == 1) {
      if (!continuity) return undefined(Undefined::no_entropy);
      return {1 - (columns == 1 ? rows : columns) / x.k, Undefined::no};
    }
    const double hx = entropy(x.row, x.total), hy = entropy(x.column, x.total);
    const double shared = hx + hy - entropy(x.cell, x.total);
    return {std::max(shared, 0.0) / std::min(hx, hy), Undefined::no};
  }
  // Not where both entropies are the smaller one.
  bool smooth(const Table& x) const {
    if (in_use(x.row) == 1 || in_use(x.column) == 1) return false;
    const double hx = entropy(x.row, x.total), hy = entropy(x.column, x.total);
    return std::fabs(hx - hy) > certain_tolerance * hx || value(x).value > 1 - certain_tolerance;
  }
  auto slopes(const Table& x) const {
    const double hx = entropy(x.row, x.total), hy = entropy(x.column, x.total);
    const double hxy = entropy(x.cell, x.total), ia = value(x).value;
    return [=, &x](int i, int j) {
      const double row = -std::log(x.row[i] / x.total) - hx;
      const double column = -std::log(x.column[j] / x.total) - hy;
      const double both = -std::log(x.at(i, j) / x.total) - hxy;
      const double least = hx < hy ? row : column;
      return (row + column - both - ia * least) / (std::min(hx, hy) * x.total);
    };
  }
};

}  // namespace

std::unique_ptr<Kernel> make_table_kernel(const RatedRows& rows, const KernelOptions& options) {
  if (options.name == "bangdiwala_b") {
    return std::make_unique<TableKernel<Bangdiwala>>(rows, Bangdiwala{});
  }
  if (options.name == "yule_y") return std::make_unique<TableKernel<Yule>>(rows, Yule{});
  if (options.name == "information_agreement") {
    return std::make_unique<TableKernel<Information>>(rows, Information{true});
  }
  if (options.name == "information_agreement_plain") {
    return std::make_unique<TableKernel<Information>>(rows, Information{false});
  }
  return nullptr;
}

}  // namespace fallible
