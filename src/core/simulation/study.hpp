// Many panels of one design: each is drawn and analysed, and only the results are stored.
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
  int replicates = 0;  // for the bootstrap, and for the sampling error of a robust interval
  double conf_level = 0.9;
  double margin = 1.644853626951472;  // half-width of a robust interval in standard errors
};

struct StudyOptions {
  std::size_t cases = 1;
  std::size_t runs = 1;
  std::uint64_t seed = 0;
  std::uint64_t first = 0;  // item of the first run; the others follow
  int threads = 1;
  std::vector<StudyEstimator> estimators;
  std::vector<std::uint64_t> bootstrap_seeds;  // one per run, if there are replicates
};

// Do ratings carry information, according to the K-model or by association (see naming.hpp)?
// unequal: too little for raters who are equal, enough for models in which they differ; constant:
// too little without constant raters.
enum class Identifiable { as_fit, yes, unrelated, unequal, constant };

// Vectors have an element per system.
struct StudyEstimate {
  std::vector<double> estimate;    // NaN if there is none
  std::vector<Interval> interval;  // empty intervals if none are requested
  bool identified = true;          // do these raters identify the parameters of the method?
  Identifiable identifiable = Identifiable::as_fit;
  KFit fit;  // for the raters that the estimator uses
};

struct StudyRun {
  KFit fit;
  std::vector<double> expected;          // accuracy of each system over base rates and strata
  std::vector<double> sample;            // share of its correct answers
  std::vector<StudyEstimate> estimates;  // one per estimator
};

std::vector<StudyRun> run_study(const Design& design, const StudyOptions& options,
                                const Host& host);

// Seed for other random parts of a run, from another stream than its panel.
int run_seed(std::uint64_t seed, std::uint64_t item);

}  // namespace fallible
