// Estimators of the accuracy of systems, from ratings and from resamples of these ratings.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../base/host.hpp"
#include "../base/special.hpp"
#include "../model/algebraic.hpp"
#include "../model/latent.hpp"
#include "common.hpp"

namespace fallible {

// average: average over models of raters and system together.
// binned, unbinned: Lehner (2015), equation 7.
// shared: the system has no information beyond the raters' information. Its accuracy is the mean
//   posterior probability of its answers, computed from the raters only.
// joint: errors of the system are independent of the raters' errors. The system is one more rater.
// rater.
enum class Method { average, binned, unbinned, joint, shared };
enum class Clip { bin, overall, none };

struct EstimatorOptions {
  Method method = Method::average;
  Clip clip = Clip::bin;  // for binned and unbinned
  double bin_width = 0.1;
  LatentModel model;  // for joint and shared
  LatentPrior prior;
  Fitting fitting = Fitting::likelihood;
  OptimiserOptions optimiser;
  double deviance = 0;           // for joint: if not 0, also searches along a profile of this width
  std::optional<double> common;  // correction for average; empty for the typical correction
  bool ordered = false;  // categories are ordered: includes members whose errors depend on distance
  int used = 0;          // number of categories that raters use; 0 to count them in the patterns
  int threads = 1;       // for the first fit of average
};

struct KModelFit {
  Tallies tallies;
  KFit fit;
};

KModelFit fit_k_model(const PatternView& patterns, const std::vector<double>& weight);

// The memory of the patterns must outlive the estimator.
struct Ratings {
  PatternView patterns;
  std::vector<double> weight;  // total weight of the cases of each pattern
  Known known;
  std::shared_ptr<const KModelFit> k_model;  // fit of the K-model, or null
};

// Calls visit(pattern, its row, answer from 0) for each pattern with an answer that can be
// evaluated. If the answer is the only information about a case, it cannot be evaluated and is left
// out.
template <class Visit>
void for_each_answer(const Ratings& ratings, int system, const LatentRows& rows,
                     const Visit& visit) {
  for (int p = 0; p < ratings.patterns.patterns; ++p) {
    const int answer = ratings.patterns.answer_of(p, system);
    if (answer < 1 || !is_judged(ratings.patterns, ratings.known.truth, p)) continue;
    visit(p, rows.of_pattern[p], answer - 1);
  }
}

// Weight of cases with an answer, and the sum of the posterior probabilities (rows x categories) of
// these answers.
struct RightAnswers {
  double cases = 0, right = 0;

  RightAnswers(const Ratings& ratings, const std::vector<double>& weight, int system,
               const LatentRows& rows, const std::vector<double>& posterior);
};

// Expected numbers of these cases by answer within truth.
std::vector<double> answer_counts(const Ratings& ratings, const std::vector<double>& weight,
                                  int system, const LatentRows& rows,
                                  const std::vector<double>& posterior);

// Cases whose highest probability is in (lower, upper].
struct Bin {
  double lower;
  double upper;
  double probability;   // mean highest probability
  double cases;         // total weight
  double agreement;     // share of system answers equal to the most probable category
  double estimate_raw;  // NaN if the bin carries no information
  double estimate;      // clipped if bins are clipped
};

// Labels that users read.
struct MemberLabel {
  std::string accuracy;                 // `"common"` or `"rater"`
  std::string errors;                   // `"uniform"`, `"distance"`, `"own"` or `"matrix"`
  double difficulty = 0;                // shift of accuracy between strata, 0 for none
  double concentration = not_a_number;  // concentration of separate error rows; NaN for none
};

// Results of a member of the average.
struct MemberResult {
  MemberLabel label;
  double log_prior = 0;
  double log_evidence = not_a_number;  // NaN if the member is ruled out
  double weight = 0;
  double estimate = 0;  // mean posterior probability of the system's answers
  double std_error = 0;
  double rater_accuracy = 0;  // mean over raters
};

// Quantities computed by algebra.
struct AlgebraParts {
  double cases = 0;                      // total weight of cases with an answer and a rating
  double uninformative = 0;              // weight of the cases in bins without information
  double mean_posterior = not_a_number;  // mean posterior of the system's answers
  std::vector<Bin> bins;                 // bins with cases, highest first; empty when unbinned
};

// Quantities computed by average.
struct AverageParts {
  double independent = not_a_number;  // estimate with independent errors
  double shared = not_a_number;       // estimate from the raters only
  double dependence = not_a_number;   // weight of dependence, see common.hpp
  double typical = not_a_number;      // typical share, see common.hpp
  double std_error = not_a_number;    // sampling error: within and between members
  double rater_error = not_a_number;  // share of ratings that are wrong
  // Weight of the members with equally difficult cases and judges that differ at most in accuracy.
  double independence_weight = not_a_number;
  // Expected numbers of cases with independent and with shared errors, by answer within truth.
  std::vector<double> independent_counts, shared_counts;
  std::vector<MemberResult> members;
};

// Estimate for one system. A method computes at most one of the parts.
struct SystemEstimate {
  double estimate = not_a_number;  // NaN if it is not identified, or without a case
  std::optional<AlgebraParts> algebra;
  std::optional<AverageParts> average;  // empty without a case
};

// How cases are binned by their highest probability. There is an estimate for each bin of this
// width (table 4). If the width is 0, all cases are used at once, and each category counts with its
// probability.
struct Rule {
  Clip clip = Clip::bin;
  double width = 0;
};

// One result per system. `weight` has one entry per tally.
std::vector<SystemEstimate> system_accuracy(const Tallies& tallies,
                                            const std::vector<double>& weight, const KFit& fit,
                                            const Rule& rule);

// Cells for the bootstrap. Cases that are equal for an estimator are in one cell. The order of
// cells does not depend on the order of cases, so neither do the draws.
struct Cells {
  std::vector<double> cases;    // number of cases per cell; 0 without a rating or known truth
  std::vector<int> of_pattern;  // cell of each pattern
};

// One cell per pattern.
Cells pattern_cells(const Ratings& ratings);

// Relative tolerances for equal limits of intervals: for rounding, and for iterative estimates.
constexpr double rounding_tolerance = 1e-9;
constexpr double iteration_tolerance = 1e-5;

class Estimator {
 public:
  virtual ~Estimator() = default;
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  const Ratings& ratings() const { return ratings_; }
  const std::vector<SystemEstimate>& systems() const { return systems_; }
  // True if the parameters are identified from these ratings. Otherwise there is no estimate.
  bool identified() const { return identified_; }
  bool converged() const { return converged_; }
  // Posterior of the truth for this system (patterns x categories). Empty if the method has none.
  virtual std::vector<double> posterior(int) const { return {}; }

  const Cells& cells() const { return cells_; }
  // Estimates for other weights of the cells. Starts where the fit to the data ended. NaN for a
  // system without a case.
  virtual std::vector<double> with_weights(const std::vector<double>& weight) const = 0;
  // Expected numbers of cases for other weights: systems x truths x answers. Empty if the method
  // has no confusion matrix. counts() is the length.
  virtual std::vector<double> counts_with_weights(const std::vector<double>&) const { return {}; }
  virtual std::size_t counts() const { return 0; }
  // Smaller differences between estimates are ignored.
  virtual double tolerance() const { return iteration_tolerance; }

 protected:
  Estimator(const Ratings& ratings, Cells cells);
  std::vector<double> of_patterns(const std::vector<double>& weight_of_cells) const;

  Ratings ratings_;
  Cells cells_;
  std::vector<SystemEstimate> systems_;
  bool identified_ = true, converged_ = true;
};

// Fits an estimator. A long fit reports its progress to the host, from 0 to `fit_steps`.
constexpr std::size_t fit_steps = 100;
std::unique_ptr<Estimator> make_estimator(const Ratings& ratings, const EstimatorOptions& options,
                                          const Host& host);

std::unique_ptr<Estimator> make_k_estimator(const Ratings& ratings, const Rule& rule);
std::unique_ptr<Estimator> make_average(const Ratings& ratings, const EstimatorOptions& options,
                                        const Host& host);
std::unique_ptr<Estimator> make_latent(const Ratings& ratings, const EstimatorOptions& options);

}  // namespace fallible
