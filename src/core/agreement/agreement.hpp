// Agreement measures: what they see of the ratings, and what can be asked of each.
//
// A measure is a kernel: a function of the weights of distinct rows of ratings. Its error follows
// from what one case more or less would change, row by row: costs grow with rows, not with cases.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../base/host.hpp"
#include "../base/resample.hpp"
#include "../ratings/patterns.hpp"
#include "../ratings/rated_rows.hpp"

namespace fallible {

// Which answers of patterns are compared, and as what. A judge is a rater or a system.
struct Selection {
  std::vector<int> rater;   // judge of each rater, from 1; 0 leaves it out
  std::vector<int> system;  // the same for systems
  int judges = 0;
  std::vector<int> category;  // new number of each category, from 1
  int categories = 0;
  bool exchangeable = false;  // forget who said what, unless a judge answers twice
  int least = 1;              // cases that fewer judges answered are left out
};

// Judges are slots where exchangeable.
RatedRows select_rows(const PatternView& patterns, const std::vector<double>& weight,
                      const Selection& selection);

// Why a measure has no value.
enum class Undefined { no, no_pairs, certain, unused, zero_cells, no_entropy, unshared };

// What goes by this name in R.
const char* name(Undefined why);

struct Estimate {
  double value;  // NaN if undefined
  Undefined why = Undefined::no;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  virtual Estimate estimate(const std::vector<double>& weight) const = 0;

  // The derivative of the estimate by the weight of each row, rows being as likely as their
  // weights say: their weighted sum is zero. Empty where there is no derivative.
  virtual std::vector<double> influence(const std::vector<double>& weight) const = 0;

  // The estimate with one case of each row left out; NaN where it is undefined and for rows without
  // a case.
  virtual std::vector<double> without_one(const std::vector<double>& weight,
                                          const Host& host) const = 0;

  // Standard error if ratings were independent of cases and of each other; NaN if not known.
  virtual double null_error(const std::vector<double>& weight) const;
};

// What counts the same where numbers of ratings differ: every pair of ratings, every case, or, as
// in Fleiss and Cuzick (1979), every rating of a case but one.
enum class Pooling { pairs, cases, fleiss_cuzick };

struct KernelOptions {
  std::string name;
  std::vector<double> scale;  // categories x categories: what an answer pair counts, 1 if equal
  Pooling pooling = Pooling::pairs;
};

// Throws std::invalid_argument for a name that it does not know.
std::unique_ptr<Kernel> make_kernel(const RatedRows& rows, const KernelOptions& options);

// As `influence`, from leaving out one case at a time. Empty where one of these is undefined.
std::vector<double> jackknife_influence(const Kernel& kernel, const std::vector<double>& weight,
                                        const Host& host);

// The estimate of each resample of rows (no clusters of them); NaN where it is undefined.
std::vector<double> bootstrap_kernel(const RatedRows& rows, const Kernel& kernel,
                                     const BootstrapOptions& options, const Host& host);

}  // namespace fallible
