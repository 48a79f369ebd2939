// An estimator of the accuracy of systems: what it says of some ratings, and of resamples of them.
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

// average: over models of raters and system together. binned, unbinned: Lehner (2015), equation 7.
// shared: the system knows nothing that the raters do not; its accuracy is the mean posterior
// probability of its answers under the raters alone. joint: its errors are its own; it is one more
// rater.
enum class Method { average, binned, unbinned, joint, shared };
enum class Clip { bin, overall, none };

struct EstimatorOptions {
  Method method = Method::average;
  Clip clip = Clip::bin;  // of binned and unbinned
  double bin_width = 0.1;
  LatentModel model;  // of joint and shared
  LatentPrior prior;
  Fitting fitting = Fitting::likelihood;
  OptimiserOptions optimiser;
  double deviance = 0;  // of joint: if not 0, the top is looked for along so wide a profile, too
  std::optional<double> common;  // stated correction of the average, or the typical one
  bool ordered = false;  // categories: members whose errors depend on distance are for these alone
  int used = 0;          // categories that raters use, where patterns do not tell; 0 if they do
  int threads = 1;       // of the first fit of the average
};

struct KModelFit {
  Tallies tallies;
  KFit fit;
};

KModelFit fit_k_model(const PatternView& patterns, const std::vector<double>& weight);

// Patterns are somebody else's memory, which must outlive the estimator.
struct Ratings {
  PatternView patterns;
  std::vector<double> weight;  // of each pattern: total weight of its cases
  Known known;
  std::shared_ptr<const KModelFit> k_model;  // if somebody has it already
};

// Calls visit(pattern, its row, answer from 0) for each pattern with an answer of the system that
// can be judged: where there is nothing but the answer it would be judged by itself.
template <class Visit>
void for_each_answer(const Ratings& ratings, int system, const LatentRows& rows,
                     const Visit& visit) {
  for (int p = 0; p < ratings.patterns.patterns; ++p) {
    const int answer = ratings.patterns.answer_of(p, system);
    if (answer < 1 || !is_judged(ratings.patterns, ratings.known.truth, p)) continue;
    visit(p, rows.of_pattern[p], answer - 1);
  }
}

// Cases with an answer, and the sum of the probabilities, rows x categories, that these have.
struct RightAnswers {
  double cases = 0, right = 0;

  RightAnswers(const Ratings& ratings, const std::vector<double>& weight, int system,
               const LatentRows& rows, const std::vector<double>& posterior);
};

// Expected numbers of these cases, answers within truths.
std::vector<double> answer_counts(const Ratings& ratings, const std::vector<double>& weight,
                                  int system, const LatentRows& rows,
                                  const std::vector<double>& posterior);

// Cases whose highest probability lies in (lower, upper].
struct Bin {
  double lower;
  double upper;
  double probability;   // mean highest probability
  double cases;         // total weight
  double agreement;     // share of system answers equal to the most probable category
  double estimate_raw;  // NaN where the bin says nothing
  double estimate;      // clipped, if bins are
};

// In the words that users read.
struct MemberLabel {
  std::string accuracy;                 // "common" or "rater"
  std::string errors;                   // "uniform", "distance", "own" or "matrix"
  double difficulty = 0;                // shift of accuracy between strata, 0 for none
  double concentration = not_a_number;  // of own errors, NaN for none
};

// What a member of the average says.
struct MemberResult {
  MemberLabel label;
  double log_prior = 0;
  double log_evidence = not_a_number;  // NaN if it is ruled out
  double weight = 0;
  double estimate = 0;  // mean posterior probability of the system's answers
  double std_error = 0;
  double rater_accuracy = 0;  // mean over raters
};

// What an estimator says of one system; NaN where it says nothing.
struct SystemEstimate {
  double estimate = not_a_number;
  // By algebra:
  double cases = estimate;           // total weight of cases with an answer and a rating
  double uninformative = estimate;   // weight of those of them in bins that say nothing
  double mean_posterior = estimate;  // mean posterior of the system's answers
  std::vector<Bin> bins;             // highest first, those with cases; none when unbinned
  // By average:
  double independent = estimate;  // with errors of its own
  double shared = estimate;       // under the raters alone
  double dependence = estimate;   // its prior weight, see common.hpp
  double typical = estimate;      // likewise, the typical share
  double std_error = estimate;    // of sampling: within and between members
  double rater_error = estimate;  // share of ratings that are wrong
  // Of members with equal difficulty and no rows of their own.
  double independence_weight = estimate;
  // Expected numbers of cases with independent and with shared errors, answers within truths.
  std::vector<double> independent_counts, shared_counts;
  std::vector<MemberResult> members;
};

// Cases in bins of this width by their highest probability, an estimate for each bin (table 4); or,
// where it is 0, all cases at once, each category with its probability.
struct Rule {
  Clip clip = Clip::bin;
  double width = 0;
};

// One result per system. `weight` has one entry per tally.
std::vector<SystemEstimate> system_accuracy(const Tallies& tallies,
                                            const std::vector<double>& weight, const KFit& fit,
                                            const Rule& rule);

// What a bootstrap draws: cases that are the same to an estimator lie in one cell. Cells come in an
// order of their own, so that draws do not depend on the order of cases.
struct Cells {
  std::vector<double> cases;    // of each cell; 0 for those of which nothing is known
  std::vector<int> of_pattern;  // cell of each pattern
};

// A cell for each pattern.
Cells pattern_cells(const Ratings& ratings);

// Limits of intervals are equal but for rounding, or but for where iteration stops; relative.
constexpr double rounding_tolerance = 1e-9;
constexpr double iteration_tolerance = 1e-5;

class Estimator {
 public:
  virtual ~Estimator() = default;
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  const Ratings& ratings() const { return ratings_; }
  const std::vector<SystemEstimate>& systems() const { return systems_; }
  // Can these raters tell its parameters apart? If not, it estimates nothing.
  bool identified() const { return identified_; }
  bool converged() const { return converged_; }
  // Patterns x categories, as they judge this system; empty if the method has none of its own.
  virtual std::vector<double> posterior(int) const { return {}; }

  const Cells& cells() const { return cells_; }
  // Estimates with other weights of the cells, from where the fit to the data ended; NaN where a
  // system has no case left.
  virtual std::vector<double> with_weights(const std::vector<double>& weight) const = 0;
  // The same for confusion matrices: systems x truths x answers, expected numbers of cases, so many
  // numbers; none if the method has no confusion matrix.
  virtual std::vector<double> counts_with_weights(const std::vector<double>&) const { return {}; }
  virtual std::size_t counts() const { return 0; }
  // How far apart numbers must be to differ.
  virtual double tolerance() const { return iteration_tolerance; }

 protected:
  Estimator(const Ratings& ratings, Cells cells);
  std::vector<double> of_patterns(const std::vector<double>& weight_of_cells) const;

  Ratings ratings_;
  Cells cells_;
  std::vector<SystemEstimate> systems_;
  bool identified_ = true, converged_ = true;
};

// Fits. Tells the host how far it is, of `fit_steps`, if that takes long.
constexpr std::size_t fit_steps = 100;
std::unique_ptr<Estimator> make_estimator(const Ratings& ratings, const EstimatorOptions& options,
                                          const Host& host);

std::unique_ptr<Estimator> make_k_estimator(const Ratings& ratings, const Rule& rule);
std::unique_ptr<Estimator> make_average(const Ratings& ratings, const EstimatorOptions& options,
                                        const Host& host);
std::unique_ptr<Estimator> make_latent(const Ratings& ratings, const EstimatorOptions& options);

}  // namespace fallible
