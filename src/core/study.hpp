// Many panels of one design: each is drawn, fitted and judged, and only the results are kept.
#ifndef FALLIBLE_CORE_STUDY_HPP
#define FALLIBLE_CORE_STUDY_HPP

#include <cstdint>
#include <functional>
#include <vector>

#include "host.hpp"
#include "latent_accuracy.hpp"
#include "simulate.hpp"

namespace fallible {

// A panel in the forms that methods want.
struct StudyPanel {
  PatternView patterns;
  const std::vector<double>& pattern_weight;
  const Profiles& profiles;
  const KFit& fit;
};

// What a method says of a panel.
struct StudyAnswer {
  std::vector<double> estimate;    // one per system; NaN where there is none
  std::vector<double> replicates;  // replicates x systems of a bootstrap; none if not asked for
  bool identified = true;          // can these raters tell the parameters of the method apart?
  double tolerance = rounding_tolerance;  // of replicates that do not vary
};

// A method of estimation: gives so many bootstrap replicates beside its estimates.
using StudyMethod = std::function<StudyAnswer(const StudyPanel&, const BootstrapOptions&)>;

StudyMethod k_model_method(const AccuracyOptions& options);
StudyMethod latent_method(const LatentAccuracyOptions& options);

struct StudyEstimator {
  StudyMethod method;
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

// An entry per system.
struct StudyEstimate {
  std::vector<double> estimate;
  std::vector<PercentileInterval> interval;  // empty ones without replicates
  bool identified = true;
};

struct StudyRun {
  KFit fit;
  std::vector<double> expected;          // accuracy of each system over base rates and strata
  std::vector<double> sample;            // share of its correct answers
  std::vector<StudyEstimate> estimates;  // one per estimator
};

std::vector<StudyRun> run_study(const Design& design, const StudyOptions& options,
                                const Host& host);

// A seed for what else a run needs at random, from a lane beside that of its panel.
int run_seed(std::uint64_t seed, std::uint64_t item);

}  // namespace fallible

#endif
