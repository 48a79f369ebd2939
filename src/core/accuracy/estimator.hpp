// Estimators of the accuracy of systems from ratings: the methods of estimate_accuracy() in R. All
// have one interface, which the bootstrap and simulation studies use.
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

// Methods. A system is compared with raters, whose accuracy is estimated from their agreement.
//   average: average over several models in which the system is one more rater.
//   binned, unbinned: Lehner (2015), equation 7, for bins of cases or for all cases at once.
//   shared: the raters only are fitted. The system's accuracy is the mean posterior probability of
//     its answers, as if it had no information beyond the raters'.
//   joint: the system is one more rater, whose errors are independent of the raters' errors.
enum class Method { average, binned, unbinned, joint, shared };
// Estimates that are clipped to [0, 1]: the estimate of each bin, the overall estimate, or none.
enum class Clip { bin, overall, none };

struct EstimatorOptions {
  Method method = Method::average;
  Clip clip = Clip::bin;  // how binned and unbinned estimates are clipped to [0, 1]
  double bin_width = 0.1;
  LatentModel model;  // for methods joint and shared
  LatentPrior prior;
  Fitting fitting = Fitting::likelihood;
  OptimiserOptions optimiser;
  // For method joint. If this is above 0, the fit searches for a higher maximum: along the profile
  // likelihood of the system's accuracy, up to this deviance from the first maximum.
  double deviance = 0;
  // Correction for shared errors in method average, from 0 (the independent estimate) to 1 (the
  // shared estimate). Empty for the typical correction.
  std::optional<double> correction;
  // True if categories are ordered. The average then contains models in which the probability of a
  // wrong answer depends on its distance from the true category.
  bool ordered = false;
  // Number of categories that raters use. If it is 0, the categories in the patterns are counted.
  int used_categories = 0;
  int threads = 1;  // threads of the first fit of method average
};

// The tallies of a data set (groups of equivalent cases, see ratings/tallies.hpp), and the K-model
// fitted to them.
struct KModelFit {
  Tallies tallies;
  KFit fit;
};

// Fits the K-model (model/algebraic.hpp). `weight`: weight of each pattern.
KModelFit fit_k_model(const PatternView& patterns, const std::vector<double>& weight);

// The data of an estimator. The arrays of `patterns` must exist longer than the estimator.
struct Ratings {
  PatternView patterns;
  std::vector<double> weight;  // total weight of the cases of each pattern
  Known known;
  // A fit of the K-model that several estimators share, or null.
  std::shared_ptr<const KModelFit> k_model;
};

// Calls visit(pattern, row of the pattern, answer) for each pattern with an answer of the system.
// The answer is a category from 0. Patterns with neither a rating nor a known truth are left out,
// because their answers cannot be evaluated.
template <class Visit>
void for_each_answer(const Ratings& ratings, int system, const LatentRows& rows,
                     const Visit& visit) {
  for (int p = 0; p < ratings.patterns.patterns; ++p) {
    const int answer = ratings.patterns.answer_of(p, system);
    if (answer < 1 || !has_truth_information(ratings.patterns, ratings.known.truth, p)) continue;
    visit(p, rows.row_of_pattern[p], answer - 1);
  }
}

// True if the system gives the same answer to all cases that it answers. False without answers.
bool gives_one_answer(const Ratings& ratings, int system);

// Returns true for each pattern to which a model with this system is fitted; empty if all are used.
// If a system gives the same answer to all cases that it answers, only these cases are used.
std::vector<bool> patterns_to_fit(const Ratings& ratings, int system);
// Returns the weights of the patterns, with 0 for patterns that are not used. If `is_used` is
// empty, all patterns are used.
std::vector<double> mask_weights(std::vector<double> pattern_weight,
                                 const std::vector<bool>& is_used);

// Weight of the cases with an answer of the system (`cases`), and expected weight of the right
// answers (`right`): the weighted sum of the posterior probabilities of the answers. `posterior`:
// rows x categories.
struct RightAnswers {
  double cases = 0, right = 0;

  RightAnswers(const Ratings& ratings, const std::vector<double>& weight, int system,
               const LatentRows& rows, const std::vector<double>& posterior);
};

// Expected numbers of cases with each answer of the system and each true category: truths x
// answers, row by row.
std::vector<double> answer_counts(const Ratings& ratings, const std::vector<double>& weight,
                                  int system, const LatentRows& rows,
                                  const std::vector<double>& posterior);

// Cases whose most probable category, the best category, has a probability in (lower, upper].
struct Bin {
  double lower;
  double upper;
  double probability;   // mean probability of the best category
  double cases;         // weight of the cases in the bin
  double agreement;     // share of the system's answers that are the best category
  double estimate_raw;  // accuracy by equation 7; NaN without information
  double estimate;      // `estimate_raw`, clipped to [0, 1] if bins are clipped
};

// Properties of a model in the average, as users see them.
struct MemberLabel {
  std::string accuracy;  // "common" (one accuracy for all raters) or "rater"
  // Probabilities of wrong answers: `"uniform"` (equal), `"distance"` (depend on the distance from
  // the truth), `"own"` (separate rates per judge) or `"matrix"` (separate confusion matrix per
  // judge).
  std::string errors;
  double difficulty = 0;  // difference in accuracy between strata of difficulty; 0 without strata
  // Concentration (prior sample size) of the Dirichlet prior that shrinks the error probabilities
  // of each judge towards those of a one-coin model. NaN if the model has no such prior.
  double concentration = not_a_number;
};

// Results of one model in the average (a member).
struct MemberResult {
  MemberLabel label;
  double log_prior = 0;
  double log_evidence = not_a_number;  // NaN if the member is ruled out
  double weight = 0;
  double estimate = 0;  // mean posterior probability of the system's answers
  double std_error = 0;
  double rater_accuracy = 0;  // mean accuracy of the raters
};

// Quantities that only methods binned and unbinned compute.
struct AlgebraParts {
  double cases = 0;                      // weight of cases with answer and rating
  double uninformative = 0;              // weight of cases in bins without information
  double mean_posterior = not_a_number;  // mean posterior probability of the system's answers
  std::vector<Bin> bins;  // bins with cases, highest probability first; empty for method unbinned
};

// Quantities that are computed only by method average.
struct AverageParts {
  // Estimate if errors of the system are independent of raters' errors.
  double independent_estimate = not_a_number;
  double shared_estimate = not_a_number;  // estimate if the system shares the raters' errors
  double dependence = not_a_number;       // weight of dependence, from 0 to 1 (dependence_weight())
  double typical_correction = not_a_number;  // from 0 to 1, see the function typical_correction()
  // Standard error of `independent_estimate`. Its square is the variance within and between the
  // averaged models, but at least the sampling variance. Excludes the error due to shared errors.
  double std_error = not_a_number;
  double rater_error = not_a_number;  // share of wrong ratings
  // Total weight of the averaged models without shared errors. In these models, all cases are
  // equally difficult, and judges differ at most in accuracy.
  double independence_weight = not_a_number;
  // Expected numbers of cases, truths x answers, for independent and for shared errors.
  std::vector<double> independent_counts, shared_counts;
  std::vector<MemberResult> members;
};

// Result for one system. `algebra` is set by methods binned and unbinned, `average` by method
// average.
struct SystemEstimate {
  double estimate = not_a_number;  // NaN if it is not identified or the system has no case
  std::optional<AlgebraParts> algebra;
  std::optional<AverageParts> average;  // empty if the system has no case
};

// How cases are binned by the probability of their most probable category. Each bin has a separate
// estimate (table 4 of Lehner, 2015). If the width is 0, there are no bins: one estimate is
// computed from all cases, with each category weighted by its probability.
struct BinningRule {
  Clip clip = Clip::bin;
  double width = 0;
};

// Estimates by equation 7 of Lehner (2015), one per system. `weight`: weight of each tally.
std::vector<SystemEstimate> system_accuracy(const Tallies& tallies,
                                            const std::vector<double>& weight, const KFit& fit,
                                            const BinningRule& rule);

// The units that a bootstrap draws. A cell contains all cases that are equivalent for an estimator.
// The order of the cells does not depend on the order of cases. Therefore the draws do not depend
// on this order either.
struct Cells {
  // Number of cases in each cell. 0 if the cases have neither a rating nor a known truth.
  std::vector<double> cases;
  std::vector<int> cell_of_pattern;  // cell of each pattern, from 0
};

// Cells for an estimator that distinguishes all patterns: one cell per pattern.
Cells pattern_cells(const Ratings& ratings);

// Replicates that differ by less than a tolerance count as equal. The first tolerance covers
// rounding errors and is relative. The second tolerance covers errors of iterative fits and is
// absolute.
constexpr double rounding_tolerance = 1e-9;
constexpr double iteration_tolerance = 1e-5;

// A fitted method. Contains the results for the data, and computes estimates for resamples.
class Estimator {
 public:
  virtual ~Estimator() = default;
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  const Ratings& ratings() const { return ratings_; }
  const std::vector<SystemEstimate>& systems() const { return systems_; }
  // True if the parameters are identified from the ratings. If they are not, there are no
  // estimates.
  bool identified() const { return identified_; }
  bool converged() const { return converged_; }
  // Posterior of the truth for this system: patterns x categories, row by row. Empty if the method
  // computes none.
  virtual std::vector<double> posterior(int) const { return {}; }

  const Cells& cells() const { return cells_; }
  // Returns estimates for other weights of the cells, for example in a resample: one per system.
  // Starts where the fit to the data ended. NaN for a system without cases.
  virtual std::vector<double> estimate_with_weights(const std::vector<double>& weight) const = 0;
  // counts_with_weights() returns expected numbers of cases for other weights of the cells: systems
  // x truths x answers. The vector is empty if the method has no confusion matrix. n_counts()
  // returns the length of this vector.
  virtual std::vector<double> counts_with_weights(const std::vector<double>&) const { return {}; }
  virtual std::size_t n_counts() const { return 0; }
  // Estimates that differ by less than this count as equal.
  virtual double tolerance() const { return iteration_tolerance; }

 protected:
  Estimator(const Ratings& ratings, Cells cells);
  // Converts weights of cells to weights of patterns: each pattern gets the weight of its cell.
  std::vector<double> expand_weights(const std::vector<double>& weight_of_cells) const;

  Ratings ratings_;
  Cells cells_;
  std::vector<SystemEstimate> systems_;
  bool identified_ = true, converged_ = true;
};

// Fits an estimator to the ratings. A long fit reports its progress to the host, as a number from 0
// to `fit_steps` (percent).
constexpr std::size_t fit_steps = 100;
std::unique_ptr<Estimator> make_estimator(const Ratings& ratings, const EstimatorOptions& options,
                                          const Host& host);

std::unique_ptr<Estimator> make_k_estimator(const Ratings& ratings, const BinningRule& rule);
std::unique_ptr<Estimator> make_average(const Ratings& ratings, const EstimatorOptions& options,
                                        const Host& host);
std::unique_ptr<Estimator> make_latent(const Ratings& ratings, const EstimatorOptions& options);

}  // namespace fallible
