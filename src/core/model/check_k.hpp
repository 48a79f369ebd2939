// Do the K-properties hold? Statistics that compare data with a fitted model, and what they are in
// panels drawn from it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../base/host.hpp"
#include "../base/resample.hpp"
#include "latent.hpp"

namespace fallible {

// A null model, and the model that lets go of one property more, if the two are to be compared.
struct KTest {
  LatentModel null;
  std::optional<LatentModel> alternative;
  bool pairs = false;     // do disagreeing pairs have the frequencies that the null expects?
  bool residual = false;  // do pairs of judges agree as often?
};

// NaN where the test does not ask for it.
struct KStatistics {
  double ratio;        // likelihood ratio, twice the gain in log likelihood
  double pairs;        // chi-squared distance of the numbers of disagreeing pairs of categories
  double lowest_rate;  // lowest base rate by Lehner's equation 5, unclipped
  double residual;     // largest standardised excess agreement of a pair of judges
};

// How often two judges agree, over the cases that both answered.
struct PairAgreement {
  int judge1, judge2;
  double cases, observed, expected;  // the last two are numbers of cases
  double excess() const;             // standardised
};

// Numbers of disagreeing pairs of raters by their categories k < l, row by row of a triangle, and
// what a model expects, scaled to the same total.
struct DisagreeingPairs {
  std::vector<double> observed, expected;
  double distance() const;
};

// The lowest base rate by Lehner's equations 2 and 5 before it is clipped; minus infinity where
// raters agree no better than by chance.
double lowest_base_rate(const LatentRows& rows);

DisagreeingPairs disagreeing_pairs(const LatentRows& rows, const AnswerLaw& law);

// Pairs of judges with at least so many common cases, in order.
std::vector<PairAgreement> pair_agreement(const LatentRows& rows, const AnswerLaw& law,
                                          double least_cases);

// Panels drawn from a latent class model: as many cases as the data have, each with raters of a
// case of the data. Weights must be
// whole numbers. Where the ways to answer are fewer than the cases, their numbers are drawn.
class RowSampler {
 public:
  RowSampler(const LatentRows& rows, const AnswerLaw& law);

  LatentRows draw(Stream& stream) const;

 private:
  struct Panel {  // cases rated by the same judges
    std::vector<int> judges;
    std::int64_t cases;
    std::vector<double> ways;  // probability of each way to answer; empty where they are too many
  };
  std::vector<double> ways(const std::vector<int>& judges, std::size_t number) const;

  int raters_, judges_;
  AnswerLaw law_;
  std::vector<double> cumulative_;  // of the answers of a judge within a class
  std::vector<Panel> panels_;
};

// One test of certain data.
class KTester {
 public:
  KTester(const LatentRows& rows, const KTest& test, const LatentPrior& prior);

  const KStatistics& observed() const { return observed_; }
  bool converged() const { return converged_; }
  int degrees() const { return degrees_; }
  const AnswerLaw& law() const { return law_; }  // of the null

  // Of a panel drawn from the fitted null.
  KStatistics replicate(Stream& stream) const;

 private:
  // Fits the null from `start`, then the alternative; what is found goes to `keep` unless null.
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

// By test, then replicate.
std::vector<std::vector<KStatistics>> bootstrap_k(const std::vector<KTester>& testers,
                                                  const BootstrapOptions& options,
                                                  const Host& host);

constexpr double least_common_cases = 10;  // of a pair of judges whose agreement is looked at

}  // namespace fallible
