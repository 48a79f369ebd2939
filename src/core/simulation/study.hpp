// Many panels of one design: each is drawn, fitted and judged, and only the results are kept.
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
  int replicates = 0;  // of the bootstrap, and for the sampling error of a robust interval
  double conf_level = 0.9;
  double margin = 1.644853626951472;  // standard errors on either side of a robust interval
};

struct StudyOptions {
  std::size_t cases = 1;
  std::size_t runs = 1;
  std::uint64_t seed = 0;
  std::uint64_t first = 0;  // item of the first run; the others follow
  int threads = 1;
  std::vector<StudyEstimator> estimators;
  std::vector<std::uint64_t> bootstrap_seeds;  // one per run, where there are replicates
};

// Whether ratings carry information: as the K-model has it, or by association (see naming.hpp).
// unequal: too little for raters who are the same, enough for models in which they differ;
// constant: too little once raters who always give the same answer are left out.
enum class Identifiable { as_fit, yes, unrelated, unequal, constant };

// An entry per system.
struct StudyEstimate {
  std::vector<double> estimate;    // NaN where there is none
  std::vector<Interval> interval;  // empty ones if none are asked for
  bool identified = true;          // can these raters tell the parameters of the method apart?
  Identifiable identifiable = Identifiable::as_fit;
  KFit fit;  // of the raters that the estimator uses
};

struct StudyRun {
  KFit fit;
  std::vector<double> expected;          // accuracy of each system over base rates and strata
  std::vector<double> sample;            // share of its correct answers
  std::vector<StudyEstimate> estimates;  // one per estimator
};

std::vector<StudyRun> run_study(const Design& design, const StudyOptions& options,
                                const Host& host);

// A seed for what else a run needs at random, from another lane than that of its panel.
int run_seed(std::uint64_t seed, std::uint64_t item);

}  // namespace fallible
