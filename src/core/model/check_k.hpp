// Tests of the K-properties, the assumptions of the K-model (Lehner, 2015), by a parametric
// bootstrap. Statistics compare the data with a fitted model. The same statistics are computed for
// data sets that are drawn from the model, and p-values are computed from these draws.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../base/host.hpp"
#include "../base/resample.hpp"
#include "simplified_newton.hpp"

namespace fallible {

// A test of one K-property. The property holds in the model `null`, and is relaxed in the model
// `alternative`. There is no alternative if the test does not compare likelihoods.
struct KTest {
  LatentModel null;
  std::optional<LatentModel> alternative;
  // True to compare the frequencies of disagreeing pairs of ratings with the null model.
  bool uses_pairs = false;
  // True to compare the agreement of each pair of judges with the null model.
  bool uses_residual = false;
};

// Values of the statistics for one data set. NaN for statistics that the test does not use.
struct KStatistics {
  double ratio;        // twice the gain in log likelihood by the alternative model
  double pairs;        // chi-squared distance between observed and expected disagreeing pairs
  double lowest_rate;  // lowest base rate by Lehner's equation 5; not clipped at zero
  double residual;     // largest standardised excess of the agreement of two judges
};

// Agreement of two judges over the cases that both answered, in the data and as expected from a
// model.
struct PairAgreement {
  int judge1, judge2;
  double cases;     // Number of common cases.
  double observed;  // Number of common cases with equal answers in the data.
  double expected;  // Number of common cases with equal answers that the model predicts.
  // (observed - expected) / standard deviation of the number of equal answers. 0 if the standard
  // deviation is 0.
  double excess() const;
};

// Numbers of pairs of ratings in which two raters disagree. One entry for each pair of categories k
// < l: (0, 1), (0, 2), ..., (1, 2), ... `expected` is computed from a model and scaled to the same
// total as `observed`.
struct DisagreeingPairs {
  std::vector<double> observed, expected;
  double distance() const;  // chi-squared distance between `observed` and `expected`
};

// Returns the lowest base rate by Lehner's equations 2 and 5. It is not clipped at zero, so it may
// be negative if the K-model does not fit. Minus infinity if there are no pairs of ratings, or if
// agreement is at or below chance.
double lowest_base_rate(const LatentRows& rows);

// Counts disagreeing pairs of raters in the data, and computes the numbers expected from `law`.
DisagreeingPairs disagreeing_pairs(const LatentRows& rows, const AnswerLaw& law);

// Agreement of each pair of judges with at least `least_cases` common cases, in the order of the
// judges.
std::vector<PairAgreement> pair_agreement(const LatentRows& rows, const AnswerLaw& law,
                                          double least_cases);

// Draws data sets from a latent class model. In each data set, the same judges answer the same
// cases as in `rows`. Weights must be whole numbers. For each set of judges, either each case is
// drawn separately, or the number of cases with each possible combination of answers is drawn. The
// second way is faster. It is used if the number of combinations is at most the number of cases.
class RowSampler {
 public:
  RowSampler(const LatentRows& rows, const AnswerLaw& law);

  LatentRows draw(Stream& stream) const;

 private:
  struct Panel {  // all cases that were answered by the same judges
    std::vector<int> judges;
    std::int64_t cases;
    // Probability of each combination of answers. Empty if there are more combinations than cases.
    std::vector<double> combination_probabilities;
  };
  std::vector<double> combination_probabilities(const std::vector<int>& judges,
                                                std::size_t number) const;

  int raters_, judges_;
  AnswerLaw law_;
  // Cumulative probabilities of the ratings: (judges x classes) x ratings.
  Table<double> cumulative_;
  std::vector<Panel> panels_;
};

// One test applied to one data set: fits the models, computes the statistics, and draws replicates
// under the null model.
class KTester {
 public:
  KTester(KTest test, LatentPrior prior) : test_(std::move(test)), prior_(std::move(prior)) {}

  // Fits the models to the data set. Must be called before the functions below.
  void fit(const LatentRows& rows);

  const KStatistics& observed() const { return observed_; }  // statistics of the data set
  bool converged() const { return converged_; }  // true if the fits to the data set converged
  // Degrees of freedom of the test: number of free parameters by which the models differ.
  int degrees_of_freedom() const { return degrees_of_freedom_; }
  const AnswerLaw& law() const { return law_; }  // probabilities of the fitted null model

  // Draws a data set from the fitted null model, refits both models, and returns the statistics.
  KStatistics replicate(Stream& stream) const;

 private:
  // Fits both models to `rows` and returns the statistics. If `rows` are the data, stores the fits
  // in `fitted`. If `rows` are a replicate, `fitted` is null, and the fits start from the stored
  // fit of the null model to the data.
  KStatistics compare(const LatentRows& rows, KTester* fitted) const;

  KTest test_;
  LatentPrior prior_;
  Eigen::VectorXd null_start_;  // start of the fits of the null model to replicates
  SimplifiedNewton null_newton_, alternative_newton_;
  AnswerLaw law_;
  std::optional<RowSampler> sampler_;
  KStatistics observed_{};
  bool converged_ = false;
  int degrees_of_freedom_ = 0;
};

// Returns the statistics of the drawn data sets, for each test. A test ends early if two conditions
// hold for each of its statistics: the p-value would stay above `alpha` for any further draws, and
// at least ten draws are as extreme as the data. Results do not depend on the number of threads.
std::vector<std::vector<KStatistics>> bootstrap_k(const std::vector<KTester>& testers,
                                                  const BootstrapOptions& options, double alpha,
                                                  const Host& host);

// The agreement of two judges is not tested if they have fewer common cases than this.
constexpr double least_common_cases = 10;

}  // namespace fallible
