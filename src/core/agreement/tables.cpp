// Measures that are functions of the agreement matrix of two raters (categories of the first rater
// x categories of the second): Bangdiwala's B, Yule's Y and information agreement.
#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace fallible {

namespace {

// Agreement matrix of two raters. Row i of `ratings` is a pair of categories.
struct CrossTable {
  const RatedRows* ratings;
  Eigen::MatrixXd cell;  // weight of the cases with each pair of categories

  double total() const { return cell.sum(); }
  // Margins: weight of the cases in each row or column.
  Eigen::VectorXd row() const { return cell.rowwise().sum(); }
  Eigen::VectorXd column() const { return cell.colwise().sum(); }
  // Category of the first or the second rater in row i.
  int first(int i) const { return ratings->category[ratings->start[i]]; }
  int second(int i) const { return ratings->category[ratings->start[i] + 1]; }

  void add(int i, double w) { cell(first(i), second(i)) += w; }
};

// A table together with its measure. A measure has three functions. value(table) returns the value
// of the measure. has_derivative(table) is true if the measure has a derivative at this table.
// slopes(table) returns a function of (i, j), which computes the derivative with respect to cell
// (i, j); the cell must not be zero.
template <class Measure>
struct MeasuredTable : CrossTable {
  Measure measure;

  Estimate value() const {
    return total() > 0 ? measure.value(*this) : undefined(Undefined::no_pairs);
  }
};

template <class Measure>
class TableKernel : public SumKernel<MeasuredTable<Measure>> {
 public:
  TableKernel(const RatedRows& ratings, Measure measure) : ratings_(ratings), measure_(measure) {}

  std::vector<double> influence(const std::vector<double>& weight) const override {
    const auto table = this->total(weight);
    if (!measure_.has_derivative(table)) return {};
    std::vector<double> influence(weight.size(), 0.0);
    const auto slope = measure_.slopes(table);
    for (int i = 0; i < ratings_.size(); ++i) {
      if (weight[i] != 0) influence[i] = slope(table.first(i), table.second(i));
    }
    return influence;
  }

 protected:
  MeasuredTable<Measure> empty_sums() const override {
    const int k = ratings_.categories;
    return {{&ratings_, Eigen::MatrixXd::Zero(k, k)}, measure_};
  }

 private:
  const RatedRows& ratings_;
  Measure measure_;
};

// Bangdiwala's B: sum of the squared diagonal cells, divided by the sum of the products of
// corresponding margins (Munoz and Bangdiwala, 1997).
struct Bangdiwala {
  static double margin_product(const CrossTable& x) { return x.row().dot(x.column()); }
  Estimate value(const CrossTable& x) const {
    const double area = margin_product(x);
    // If the raters have no category in common, all products of margins are 0. The result is then
    // 0, which is also the limit of the measure.
    if (!(area > 0)) return {0, Undefined::no};
    return {x.cell.diagonal().squaredNorm() / area, Undefined::no};
  }
  bool has_derivative(const CrossTable& x) const { return margin_product(x) > 0; }
  auto slopes(const CrossTable& x) const {
    const double area = margin_product(x), b = value(x).value;
    return [&x, area, b, row = x.row(), column = x.column()](int i, int j) {
      return ((i == j ? 2 * x.cell(i, i) : 0) - b * (column[i] + row[j])) / area;
    };
  }
};

// Yule's Y of a table with cells a, b, c, d: (sqrt(ad) - sqrt(bc)) / (sqrt(ad) + sqrt(bc)). It is 1
// if only bc is 0, and -1 if only ad is 0. It is undefined if both are 0.
struct Yule {
  Estimate value(const CrossTable& x) const {
    const double agreeing = std::sqrt(x.cell(0, 0) * x.cell(1, 1));
    const double disagreeing = std::sqrt(x.cell(0, 1) * x.cell(1, 0));
    if (!(agreeing + disagreeing > 0)) return undefined(Undefined::zero_cells);
    return {(agreeing - disagreeing) / (agreeing + disagreeing), Undefined::no};
  }
  bool has_derivative(const CrossTable& x) const { return x.cell.minCoeff() > 0; }
  auto slopes(const CrossTable& x) const {
    const double y = value(x).value;
    return [&x, y](int i, int j) { return (i == j ? 1 : -1) * (1 - y * y) / (4 * x.cell(i, j)); };
  }
};

double entropy(const Eigen::MatrixXd& count) {
  const Eigen::ArrayXXd share = count.array() / count.sum();
  return (share > 0).select(-share * share.log(), 0.0).sum();
}

double count_used(const Eigen::VectorXd& count) {
  return static_cast<double>((count.array() > 0).count());
}

// Information agreement: mutual information divided by the smaller entropy. The ratio is 0/0 if a
// rater uses only one category. The measure is then undefined, or a limit if `continuity` is true.
struct Information {
  bool continuity;

  Estimate value(const CrossTable& x) const {
    const double rows = count_used(x.row()), columns = count_used(x.column());
    if (rows == 1 || columns == 1) {
      if (!continuity) return undefined(Undefined::no_entropy);
      // One rater uses only one category, and the other uses m of the k categories. If zero cells
      // are replaced by positive numbers that go to zero, the measure converges to 1 - m / k. Small
      // positive numbers would not be precise enough, because convergence is only logarithmic.
      return {1 - (columns == 1 ? rows : columns) / static_cast<double>(x.cell.rows()),
              Undefined::no};
    }
    const double first_entropy = entropy(x.row()), second_entropy = entropy(x.column());
    const double mutual_information = first_entropy + second_entropy - entropy(x.cell);
    return {std::max(mutual_information, 0.0) / std::min(first_entropy, second_entropy),
            Undefined::no};
  }
  // There is no derivative where the two entropies are equal, because the smaller entropy has a
  // kink there. If the measure is 1, there is no kink, because the derivatives of both entropies
  // are equal.
  bool has_derivative(const CrossTable& x) const {
    if (count_used(x.row()) == 1 || count_used(x.column()) == 1) return false;
    const double first_entropy = entropy(x.row()), second_entropy = entropy(x.column());
    return std::fabs(first_entropy - second_entropy) > certain_tolerance * first_entropy ||
           value(x).value > 1 - certain_tolerance;
  }
  auto slopes(const CrossTable& x) const {
    const double first_entropy = entropy(x.row()), second_entropy = entropy(x.column());
    const double joint_entropy = entropy(x.cell), agreement = value(x).value;
    return [=, &x, rows = x.row(), columns = x.column(), total = x.total()](int i, int j) {
      const double row = -std::log(rows[i] / total) - first_entropy;
      const double column = -std::log(columns[j] / total) - second_entropy;
      const double joint = -std::log(x.cell(i, j) / total) - joint_entropy;
      const double smaller = first_entropy < second_entropy ? row : column;
      return (row + column - joint - agreement * smaller) /
             (std::min(first_entropy, second_entropy) * total);
    };
  }
};

// Makes the kernel of the measure with the type `Measure`. `parts`: values of its settings, for
// example `continuity` of Information.
template <class Measure, auto... parts>
KernelPointer table_kernel(const RatedRows& rows, const KernelOptions&) {
  return std::make_unique<TableKernel<Measure>>(rows, Measure{parts...});
}

}  // namespace

const KernelTable& table_kernels() {
  static const KernelTable kernels = {
      {"bangdiwala_b", table_kernel<Bangdiwala>},
      {"yule_y", table_kernel<Yule>},
      {"information_agreement", table_kernel<Information, true>},
      {"information_agreement_plain", table_kernel<Information, false>}};
  return kernels;
}

}  // namespace fallible
