// Classes and functions that several agreement measures share, and lists of all measures with the
// functions that make their kernels.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "../base/special.hpp"
#include "../ratings/tallies.hpp"
#include "agreement.hpp"

namespace fallible {

constexpr double certain_tolerance = 1e-12;  // smaller differences from 1 are rounding errors

inline Estimate undefined(Undefined reason) { return {not_a_number, reason}; }

// Returns kappa, or the reason why kappa is undefined.
inline Estimate chance_corrected_estimate(double observed, double expected) {
  if (1 - expected <= certain_tolerance) return undefined(Undefined::certain);
  return {chance_corrected(observed, expected), Undefined::no};
}

// Base class of measures that are functions of sums over cases. The type `Sums` has a function
// add(row, weight), which adds a row with this weight, and a function value(), which returns the
// estimate. To leave out a case, its terms are subtracted from the sums, without a new pass over
// the rows.
template <class Sums>
class SumKernel : public Kernel {
 public:
  Estimate estimate(const std::vector<double>& weight) const override {
    return total(weight).value();
  }

  std::vector<double> estimates_without_case(const std::vector<double>& weight,
                                             const Host& host) const override {
    std::vector<double> estimates(weight.size(), not_a_number);
    Sums sums = total(weight);
    for_each_item(weight.size(), 1, host, [&](std::size_t i) {
      if (weight[i] < 1) return;
      sums.add(static_cast<int>(i), -1);
      estimates[i] = sums.value().value;
      sums.add(static_cast<int>(i), 1);
    });
    return estimates;
  }

 protected:
  virtual Sums empty_sums() const = 0;  // sums without any row

  Sums total(const std::vector<double>& weight) const {
    Sums sums = empty_sums();
    for (std::size_t i = 0; i < weight.size(); ++i) {
      if (weight[i] != 0) sums.add(static_cast<int>(i), weight[i]);
    }
    return sums;
  }
};

// Number of ratings of each category in each row, and number of pairs of ratings by different
// judges. Pairs are ordered: each pair of ratings counts twice.
struct RowCounts : Ragged {
  Eigen::MatrixXd scale;      // agreement weights: categories x categories, see KernelOptions
  std::vector<int> category;  // from 0; categories of row i in ascending order
  std::vector<double> count;
  std::vector<double> ratings;   // number of ratings of each row
  std::vector<double> pairs;     // number of ordered pairs of ratings of each row
  std::vector<double> agreeing;  // sum of the agreement weights of these pairs

  int size() const { return static_cast<int>(ratings.size()); }
};

RowCounts count_rows(const RatedRows& rows, const Eigen::MatrixXd& scale);

// Agreement weights in `options`: categories x categories.
inline Eigen::MatrixXd agreement_weights(const RatedRows& rows, const KernelOptions& options) {
  return Eigen::MatrixXd::Map(options.scale.data(), rows.categories, rows.categories).transpose();
}

// Observed agreement: weighted mean over cases of the share of agreeing pairs. Only cases with
// pairs of ratings by different judges are used.
struct ObservedAgreement {
  const RowCounts* rows = nullptr;
  Pooling pooling = Pooling::pairs;
  double agreeing = 0, pairs = 0;

  // Weight that one case with the ratings of row i has in the observed agreement. It is 0 if row i
  // has no pairs.
  double weight(int i) const {
    const double n_pairs = rows->pairs[i];
    if (pooling == Pooling::pairs) return n_pairs;
    if (pooling == Pooling::cases) return n_pairs > 0;
    return n_pairs > 0 ? n_pairs / rows->ratings[i] : 0;
  }
  double share_of_row(int i) const {
    return rows->pairs[i] > 0 ? rows->agreeing[i] / rows->pairs[i] : 0;
  }

  void add(int i, double w) {
    agreeing += w * (pooling == Pooling::pairs ? rows->agreeing[i] : weight(i) * share_of_row(i));
    pairs += w * weight(i);
  }
  double value() const { return agreeing / pairs; }
  double influence(int i) const { return weight(i) * (share_of_row(i) - value()) / pairs; }
};

// Agreement expected by chance.
//   none: 0.
//   uniform: mean agreement weight, as for random guesses.
//   shares: probability that two random ratings of the panel agree, from the category shares.
//   gwet: formula of Gwet's AC.
enum class Chance { none, uniform, shares, gwet };

using KernelPointer = std::unique_ptr<Kernel>;

// Name of a measure, and the function that makes its kernel.
struct NamedKernel {
  const char* name;
  KernelPointer (*make)(const RatedRows& rows, const KernelOptions& options);
};

// Lists of the measures in counts.cpp, alpha.cpp, raters.cpp and tables.cpp.
using KernelTable = std::vector<NamedKernel>;
const KernelTable& count_kernels();
const KernelTable& alpha_kernels();
const KernelTable& rater_kernels();
const KernelTable& table_kernels();

}  // namespace fallible
