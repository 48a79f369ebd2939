#include "study.hpp"

#include <limits>

namespace fallible {

namespace {

StudyRun run_once(const Design& design, const StudyOptions& options, std::size_t run) {
  const std::size_t raters = design.raters.size(), systems = design.systems.size();
  Stream stream(options.seed, options.first + run);
  const Truths truths = draw_truths(design, stream);
  CaseSampler sampler(design, truths, options.cases);
  PatternBuilder builder(static_cast<int>(systems));
  std::vector<double> weight, right(systems, 0.0);
  for (std::size_t i = 0; i < options.cases; ++i) {
    sampler.next(stream);
    const std::vector<int>& answer = sampler.answers();
    for (std::size_t j = 0; j < raters; ++j) builder.rate(static_cast<int>(j) + 1, answer[j]);
    for (std::size_t s = 0; s < systems; ++s) {
      builder.answer(static_cast<int>(s), answer[raters + s]);
      right[s] += answer[raters + s] == sampler.truth();
    }
    const std::size_t pattern = builder.finish_case() - 1;
    if (pattern == weight.size()) weight.push_back(0);
    ++weight[pattern];
  }
  const Patterns patterns = builder.patterns();
  const PatternView view = patterns.view(static_cast<int>(raters), design.categories,
                                         static_cast<int>(systems));
  const Profiles profiles = make_profiles(view, weight);

  StudyRun out;
  out.fit = fit_algebraic(profiles, profiles.weight);
  out.expected = truths.expected;
  for (const double count : right) {
    out.sample.push_back(count / static_cast<double>(options.cases));
  }
  const StudyPanel panel{view, weight, profiles, out.fit};
  for (const StudyEstimator& estimator : options.estimators) {
    BootstrapOptions bootstrap;
    bootstrap.replicates = estimator.replicates;
    if (estimator.replicates > 0) bootstrap.seed = options.bootstrap_seeds[run];
    const StudyAnswer answer = estimator.method(panel, bootstrap);
    StudyEstimate estimate{answer.estimate, std::vector<PercentileInterval>(systems),
                           answer.identified};
    const std::size_t n = answer.replicates.size() / systems;
    for (std::size_t s = 0; n > 0 && s < systems; ++s) {
      estimate.interval[s] = percentile_interval(answer.replicates.data() + s * n, n,
                                                 estimator.conf_level, answer.tolerance);
    }
    out.estimates.push_back(std::move(estimate));
  }
  return out;
}

}  // namespace

StudyMethod k_model_method(const AccuracyOptions& options) {
  return [options](const StudyPanel& panel, const BootstrapOptions& bootstrap) {
    StudyAnswer out;
    for (const auto& system :
         system_accuracy(panel.profiles, panel.profiles.weight, panel.fit, options)) {
      out.estimate.push_back(system.estimate);
    }
    if (bootstrap.replicates > 0 && panel.fit.identified == Identified::yes) {
      out.replicates = bootstrap_accuracy(panel.profiles, options, bootstrap, Host());
    }
    return out;
  };
}

StudyMethod latent_method(const LatentAccuracyOptions& options) {
  return [options](const StudyPanel& panel, const BootstrapOptions& bootstrap) {
    StudyAnswer out;
    out.estimate.assign(panel.patterns.systems, std::numeric_limits<double>::quiet_NaN());
    if (panel.fit.identified != Identified::yes) return out;
    const LatentAccuracy accuracy(panel.patterns, panel.pattern_weight, Known(), options);
    out.identified = accuracy.identified();
    out.tolerance = iteration_tolerance;
    if (!out.identified) return out;
    out.estimate = accuracy.estimate();
    if (bootstrap.replicates > 0) {
      out.replicates = bootstrap_latent_accuracy(accuracy, panel.patterns, panel.pattern_weight,
                                                 bootstrap, Host());
    }
    return out;
  };
}

std::vector<StudyRun> run_study(const Design& design, const StudyOptions& options,
                                const Host& host) {
  std::vector<StudyRun> out(options.runs);
  for_each_item(options.runs, options.threads, host,
                [&](std::size_t run) { out[run] = run_once(design, options, run); });
  return out;
}

int run_seed(std::uint64_t seed, std::uint64_t item) {
  Stream stream(seed, item, 1);
  return static_cast<int>(stream.uniform() * std::numeric_limits<int>::max());
}

}  // namespace fallible
