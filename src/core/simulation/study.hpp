// Simulation studies: draws many panels of one design and analyses each panel. Stores only the
// results, so memory does not depend on the number of cases.
#pragma once

#include <cstdint>
#include <vector>

#include "../accuracy/bootstrap.hpp"
#include "simulate.hpp"

namespace fallible {

enum class IntervalKind { none, bootstrap, robust };

// An estimator of a study, and its intervals.
struct StudyEstimator {
  EstimatorOptions options;
  IntervalKind interval = IntervalKind::none;
  // Number of replicates of the bootstrap. The bootstrap also gives the sampling error of robust
  // intervals.
  int replicates = 0;
  double conf_level = 0.9;
  // Half-width of a robust interval in standard errors; 1.64 for 90%.
  double margin = 1.644853626951472;
};

// Settings of a study.
struct StudyOptions {
  std::size_t cases = 1;  // number of cases of each panel
  std::size_t runs = 1;   // number of panels
  std::uint64_t seed = 0;
  // Index of the first run; the following runs have the next indices. The index of a run selects
  // its random stream.
  std::uint64_t first = 0;
  int threads = 1;
  std::vector<StudyEstimator> estimators;
  // One seed per run; empty if no estimator has replicates.
  std::vector<std::uint64_t> bootstrap_seeds;
};

// States whether the estimator can be computed from the ratings.
//   as_fit: yes if the K-model is identified from the ratings (KFit::identified), otherwise no.
//   yes: yes, because the answers of different raters are associated or always agree.
//   unrelated: no, because the answers of different raters are not associated.
//   unequal: no, but methods that allow raters of unequal accuracy can be computed.
//   constant: no, because too little information remains without the constant raters.
enum class Identifiable { as_fit, yes, unrelated, unequal, constant };

// Results of one estimator for one panel. Vectors have one element per system.
struct StudyEstimate {
  std::vector<double> estimate;    // NaN if there is no estimate
  std::vector<Interval> interval;  // intervals are NaN if none are requested
  bool identified = true;  // true if the parameters of the method are identified from the ratings
  Identifiable identifiable = Identifiable::as_fit;
  KFit fit;  // K-model fit to the ratings that the estimator uses
};

// Results of one run: estimates for one simulated panel.
struct StudyRun {
  KFit fit;                               // K-model fit to all ratings
  std::vector<double> expected_accuracy;  // expected accuracy of each system
  std::vector<double> panel_accuracy;     // share of right answers of each system in this panel
  std::vector<StudyEstimate> estimates;   // one per estimator
};

// Runs the study. Reports the number of finished runs to `host`.
std::vector<StudyRun> run_study(const Design& design, const StudyOptions& options,
                                const Host& host);

// Returns a seed for random numbers of a run that are not part of the panel. `item`: index of the
// run. The seed comes from a different stream than the panel.
int run_seed(std::uint64_t seed, std::uint64_t item);

}  // namespace fallible
