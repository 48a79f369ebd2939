// Agreement measures: selection of the answers that are compared, and the interface of a measure.
//
// A measure is implemented as a kernel, a function of the weights of the distinct rows of ratings.
// The standard error of the measure is computed from the change of its value if a row has one case
// more or one case less. Time is proportional to the number of distinct rows, not to the number of
// cases.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../base/host.hpp"
#include "../base/resample.hpp"
#include "../ratings/patterns.hpp"
#include "../ratings/rated_rows.hpp"

namespace fallible {

// Selects the answers that are compared. A judge is a rater or a system. Several raters may be the
// same judge.
struct Selection {
  std::vector<int> rater;   // judge of each rater, from 1; 0 if the rater is left out
  std::vector<int> system;  // judge of each system, from 1; 0 if the system is left out
  int judges = 0;           // number of judges
  // New index of each category, from 1. Categories with the same new index are merged.
  std::vector<int> category;
  int categories = 0;  // number of new categories
  // True if it does not matter which judge gave an answer. Ignored in cases that a judge answered
  // twice, because pairs of answers by the same judge must be excluded.
  bool exchangeable = false;
  int least_judges = 1;  // cases with answers of fewer judges than this number are left out
};

// Returns the rows of the selected answers. Equal rows are merged, and their weights are added. If
// judges are exchangeable, the judges of each case are renumbered 0, 1, ..., except in cases that a
// judge answered twice.
RatedRows select_rows(const PatternView& patterns, const std::vector<double>& weight,
                      const Selection& selection);

// Reason why a measure has no value; `no` if it has a value.
//   no_pairs: no case has answers of two judges.
//   certain: agreement expected by chance is 1.
//   unused: no answer is in the category for which specific agreement is computed.
//   zero_cells: both products in Yule's Y are 0.
//   no_entropy: a judge uses only one category.
//   unshared: two judges have no common case.
enum class Undefined { no, no_pairs, certain, unused, zero_cells, no_entropy, unshared };

// Name of the reason in R; "" for `no`.
const char* name(Undefined reason);

// Value of a measure.
struct Estimate {
  double value;  // NaN if the measure is undefined
  Undefined reason = Undefined::no;
};

// An agreement measure for given rows. All functions take the weight of each row.
class Kernel {
 public:
  virtual ~Kernel() = default;

  virtual Estimate estimate(const std::vector<double>& weight) const = 0;

  // Derivative of the estimate with respect to the weight of each row. The sum of weight x
  // derivative over all rows is zero, because the estimate depends only on the proportions of the
  // weights. Empty if there is no derivative.
  virtual std::vector<double> influence(const std::vector<double>& weight) const = 0;

  // For each row, the estimate if one case of the row is left out. NaN if this estimate is
  // undefined, or if the weight of the row is below 1.
  virtual std::vector<double> estimates_without_case(const std::vector<double>& weight,
                                                     const Host& host) const = 0;

  // Standard error under the null hypothesis that ratings are independent of the cases and of each
  // other. NaN if there is no formula.
  virtual double null_error(const std::vector<double>& weight) const;
};

// How cases with different numbers m of ratings are weighted in the observed agreement: each pair
// of ratings has the same weight, each case has the same weight, or each case has the weight m - 1
// (Fleiss and Cuzick, 1979).
enum class Pooling { pairs, cases, fleiss_cuzick };

// Settings of a measure.
struct KernelOptions {
  std::string name;
  // Agreement weight of each pair of categories: categories x categories, 1 on the diagonal.
  std::vector<double> scale;
  Pooling pooling = Pooling::pairs;
};

// Makes the kernel with the name `options.name`. Throws std::invalid_argument if there is no such
// measure. The rows must exist as long as the kernel.
std::unique_ptr<Kernel> make_kernel(const RatedRows& rows, const KernelOptions& options);

// Influence of each row, as in Kernel::influence(), from estimates without one case (jackknife).
// Empty if one of these estimates is undefined.
std::vector<double> jackknife_influence(const Kernel& kernel, const std::vector<double>& weight,
                                        const Host& host);

// Estimates for bootstrap resamples of the cases, one per replicate. NaN if an estimate is
// undefined.
std::vector<double> bootstrap_kernel(const RatedRows& rows, const Kernel& kernel,
                                     const BootstrapOptions& options, const Host& host);

}  // namespace fallible
