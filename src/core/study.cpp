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
  const Profiles profiles = make_profiles(
      patterns.view(static_cast<int>(raters), design.categories, static_cast<int>(systems)),
      weight);

  StudyRun out;
  out.fit = fit_algebraic(profiles, profiles.weight);
  out.expected = truths.expected;
  for (const double count : right) {
    out.sample.push_back(count / static_cast<double>(options.cases));
  }
  for (const StudyEstimator& estimator : options.estimators) {
    std::vector<double> estimate;
    for (const auto& system :
         system_accuracy(profiles, profiles.weight, out.fit, estimator.accuracy)) {
      estimate.push_back(system.estimate);
    }
    std::vector<PercentileInterval> interval(systems);
    if (estimator.replicates > 0 && out.fit.identified == Identified::yes) {
      const BootstrapOptions bootstrap{estimator.replicates, 1, options.bootstrap_seeds[run], {}};
      const auto replicates =
          bootstrap_accuracy(profiles, estimator.accuracy, bootstrap, Host());
      const std::size_t n = estimator.replicates;
      for (std::size_t s = 0; s < systems; ++s) {
        interval[s] = percentile_interval(replicates.data() + s * n, n, estimator.conf_level);
      }
    }
    out.estimate.push_back(std::move(estimate));
    out.interval.push_back(std::move(interval));
  }
  return out;
}

}  // namespace

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
