// Many panels of one design: each is drawn, fitted and judged, and only the results are kept.
#ifndef FALLIBLE_CORE_STUDY_HPP
#define FALLIBLE_CORE_STUDY_HPP

#include <cstdint>
#include <vector>

#include "accuracy.hpp"
#include "bootstrap.hpp"
#include "host.hpp"
#include "simulate.hpp"

namespace fallible {

// An estimate of the K-model, with a bootstrap interval if there are replicates.
struct StudyEstimator {
  AccuracyOptions accuracy;
  int replicates = 0;
  double conf_level = 0.9;
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

// One run. Vectors have an entry per system, estimates one per estimator and system.
struct StudyRun {
  KFit fit;
  std::vector<double> expected;  // accuracy over base rates and strata
  std::vector<double> sample;    // share of correct answers
  std::vector<std::vector<double>> estimate;
  std::vector<std::vector<PercentileInterval>> interval;  // empty ones without replicates
};

std::vector<StudyRun> run_study(const Design& design, const StudyOptions& options,
                                const Host& host);

// A seed for what else a run needs at random, from a lane beside that of its panel.
int run_seed(std::uint64_t seed, std::uint64_t item);

}  // namespace fallible

#endif
