// Simulation studies: draws many panels of one design and analyses each. Only the results are
// stored, so memory does not depend on the number of cases.
#pragma once

#include <cstdint>
#include <vector>

#include "../accuracy/bootstrap.hpp"
#include "simulate.hpp"

namespace fallible {

enum class IntervalKind { none, bootstrap, robust };

struct StudyEstimator {
  EstimatorOptions options;
  IntervalKind interval = IntervalKind::none;
  // Replicates of the bootstrap, which also gives the sampling error of robust intervals.
  int replicates = 0;
  double conf_level = 0.9;
  // Half-width of a robust interval in standard errors; 1.64 for 90%.
  double margin = 1.644853626951472;
};

struct StudyOptions {
  std::size_t cases = 1;
  std::size_t runs = 1;
  std::uint64_t seed = 0;
  // Index of the first run; the following runs have the next indices. The index of a run selects
  // its random stream.
  std::uint64_t first = 0;
  int threads = 1;
  std::vector<StudyEstimator> estimators;
  // One seed per run; empty if no estimator has replicates.
  std::vector<std::uint64_t> bootstrap_seeds;
};

// Whether the ratings contain enough information for the estimator.
// as_fit: as for the K-model (KFit::identified).
// yes: the answers of different raters are associated. unrelated: they are not.
// unequal: yes, but only if the method allows raters of unequal accuracy.
// constant: no, because too little information is left without the constant raters.
enum class Identifiable { as_fit, yes, unrelated, unequal, constant };

// Results of one estimator for one panel. Vectors have one element per system.
struct StudyEstimate {
  std::vector<double> estimate;    // NaN if there is no estimate
  std::vector<Interval> interval;  // intervals are NaN if none are requested
  bool identified = true;  // true if the parameters of the method are identified from the ratings
  Identifiable identifiable = Identifiable::as_fit;
  KFit fit;  // K-model fit to the ratings that the estimator uses
};

struct StudyRun {
  KFit fit;                              // K-model fit to all ratings
  std::vector<double> expected;          // expected accuracy of each system
  std::vector<double> sample;            // share of right answers of each system in this panel
  std::vector<StudyEstimate> estimates;  // one per estimator
};

std::vector<StudyRun> run_study(const Design& design, const StudyOptions& options,
                                const Host& host);

// Seed for other random numbers of a run. `item`: index of the run. Uses a different stream from
// the one that draws the panel.
int run_seed(std::uint64_t seed, std::uint64_t item);

}  // namespace fallible
