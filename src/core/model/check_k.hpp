// Checks of the K-properties: statistics that compare data with a fitted model, and their values in
// panels drawn from the model.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../base/host.hpp"
#include "../base/resample.hpp"
#include "latent.hpp"

namespace fallible {

// A null model. The alternative relaxes one more property; it is empty if no models are compared.
struct KTest {
  LatentModel null;
  std::optional<LatentModel> alternative;
  bool pairs = false;     // compares frequencies of disagreeing pairs with the null
  bool residual = false;  // compares the agreement of pairs of judges
};

// NaN if the test does not need a statistic.
struct KStatistics {
  double ratio;        // likelihood ratio: twice the gain in log likelihood
  double pairs;        // chi-squared distance of numbers of disagreeing pairs
  double lowest_rate;  // lowest base rate, equation 5 of Lehner, not clipped
  double residual;     // largest standardised excess agreement of two judges
};

// Agreement of two judges over the cases that both answered.
struct PairAgreement {
  int judge1, judge2;
  double cases, observed, expected;  // `observed` and `expected` are numbers of cases
  double excess() const;             // standardised
};

// Numbers of disagreeing pairs of raters by their categories k < l, row by row of a triangle.
// `expected` is computed from a model and scaled to the same total.
struct DisagreeingPairs {
  std::vector<double> observed, expected;
  double distance() const;
};

// Lowest base rate by Lehner's equations 2 and 5 before it is clipped. Minus infinity if agreement
// is at or below chance.
double lowest_base_rate(const LatentRows& rows);

DisagreeingPairs disagreeing_pairs(const LatentRows& rows, const AnswerLaw& law);

// Pairs of judges with at least `least_cases` common cases, in order.
std::vector<PairAgreement> pair_agreement(const LatentRows& rows, const AnswerLaw& law,
                                          double least_cases);

// Draws panels from a latent class model. A panel has the number of cases of the data, and each
// case has the raters of a case of the data. Weights must be whole numbers. If there are fewer
// combinations of answers than cases, the numbers of combinations are drawn.
class RowSampler {
 public:
  RowSampler(const LatentRows& rows, const AnswerLaw& law);

  LatentRows draw(Stream& stream) const;

 private:
  struct Panel {  // cases rated by the same judges
    std::vector<int> judges;
    std::int64_t cases;
    // Probability of each combination of answers; empty if there are too many.
    std::vector<double> ways;
  };
  std::vector<double> ways(const std::vector<int>& judges, std::size_t number) const;

  int raters_, judges_;
  AnswerLaw law_;
  std::vector<double> cumulative_;  // probabilities of the answers of a judge within a class
  std::vector<Panel> panels_;
};

// One test, applied to one data set.
class KTester {
 public:
  KTester(const LatentRows& rows, const KTest& test, const LatentPrior& prior);

  const KStatistics& observed() const { return observed_; }
  bool converged() const { return converged_; }
  int degrees() const { return degrees_; }
  const AnswerLaw& law() const { return law_; }  // of the null model

  // Statistics of a panel drawn from the fitted null model.
  KStatistics replicate(Stream& stream) const;

 private:
  // Fits the null model from `start`, then the alternative. Stores the fits in `keep` unless it is
  // null.
  KStatistics compare(const LatentRows& rows, const Eigen::VectorXd& start,
                      const OptimiserOptions& options, KTester* keep) const;

  KTest test_;
  LatentPrior prior_;
  Eigen::VectorXd null_;
  AnswerLaw law_;
  std::optional<RowSampler> sampler_;
  KStatistics observed_;
  bool converged_;
  int degrees_;
};

// Returns the draws of each test. A test ends if, for each statistic, more draws cannot bring the
// p-value to `alpha` and at least ten draws are as extreme as the data. The result does not depend
// on the number of threads.
std::vector<std::vector<KStatistics>> bootstrap_k(const std::vector<KTester>& testers,
                                                  const BootstrapOptions& options, double alpha,
                                                  const Host& host);

constexpr double least_common_cases = 10;  // pairs with fewer are not tested

}  // namespace fallible
