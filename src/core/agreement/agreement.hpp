// Agreement measures: selection of ratings, and the interface of a measure.

// A measure is a kernel: a function of the weights of distinct rows of ratings. Its standard error
// comes from the change of the estimate if a row has one case more or less. Costs grow with the
// number of distinct rows, not of cases.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../base/host.hpp"
#include "../base/resample.hpp"
#include "../ratings/patterns.hpp"
#include "../ratings/rated_rows.hpp"

namespace fallible {

// Answers of patterns that are compared. A judge is a rater or a system.
struct Selection {
  std::vector<int> rater;   // judge of each rater, from 1; 0 if left out
  std::vector<int> system;  // the same for systems
  int judges = 0;
  std::vector<int> category;  // new number of each category, from 1
  int categories = 0;
  bool exchangeable = false;  // ignore who gave a rating, unless a judge answers twice
  int least = 1;              // cases with answers of fewer judges are left out
};

// Distinct rows of selected answers. If judges are exchangeable, they are numbered slots.
RatedRows select_rows(const PatternView& patterns, const std::vector<double>& weight,
                      const Selection& selection);

// Why a measure has no value.
enum class Undefined { no, no_pairs, certain, unused, zero_cells, no_entropy, unshared };

// Name of the reason in R.
const char* name(Undefined why);

struct Estimate {
  double value;  // NaN if undefined
  Undefined why = Undefined::no;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  virtual Estimate estimate(const std::vector<double>& weight) const = 0;

  // Derivative of the estimate with respect to the weight of each row. Shares of rows are
  // proportional to weights, so that the weighted sum is zero. Empty if there is no derivative.
  virtual std::vector<double> influence(const std::vector<double>& weight) const = 0;

  // Estimate without one case of each row; NaN if it is undefined, and for rows without a case.
  virtual std::vector<double> without_one(const std::vector<double>& weight,
                                          const Host& host) const = 0;

  // Standard error if ratings are independent of cases and of each other; NaN if not known.
  virtual double null_error(const std::vector<double>& weight) const;
};

// Unit of equal weight if cases have different numbers of ratings: pairs of ratings, cases, or, as
// in Fleiss and Cuzick (1979), all ratings of a case but one.
enum class Pooling { pairs, cases, fleiss_cuzick };

struct KernelOptions {
  std::string name;
  std::vector<double> scale;  // categories x categories: weight of a pair of answers, 1 if equal
  Pooling pooling = Pooling::pairs;
};

// Throws std::invalid_argument for an unknown name.
std::unique_ptr<Kernel> make_kernel(const RatedRows& rows, const KernelOptions& options);

// Influences as in `influence`, by leaving out one case at a time. Empty if an estimate is
// undefined.
std::vector<double> jackknife_influence(const Kernel& kernel, const std::vector<double>& weight,
                                        const Host& host);

// Estimates for resamples of rows (without clusters); NaN if undefined.
std::vector<double> bootstrap_kernel(const RatedRows& rows, const Kernel& kernel,
                                     const BootstrapOptions& options, const Host& host);

}  // namespace fallible
