#include "study.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "../accuracy/base_rates.hpp"
#include "../accuracy/robust.hpp"
#include "../base/special.hpp"
#include "../model/naming.hpp"

namespace fallible {

namespace {

// What estimators say of one panel. The average is fitted once, whoever needs it.
class Judge {
 public:
  explicit Judge(const Ratings& ratings) : ratings_(ratings) {}

  StudyEstimate operator()(const StudyEstimator& how, std::uint64_t bootstrap_seed) {
    StudyEstimate out;
    std::unique_ptr<Estimator> own;
    const bool of_average = how.options.method == Method::average;
    if (!of_average) own = make_estimator(ratings_, how.options, Host());
    const Estimator& estimator = of_average ? average(how.options) : *own;
    for (const auto& system : estimator.systems()) out.estimate.push_back(system.estimate);
    out.interval.resize(out.estimate.size());
    out.identified = estimator.identified();
    if (!out.identified || how.interval == IntervalKind::none) return out;
    if (how.interval == IntervalKind::robust && of_average) {
      for (std::size_t s = 0; s < out.interval.size(); ++s) {
        out.interval[s].std_error = estimator.systems()[s].std_error;
      }
    } else {
      out.interval = percentiles(estimator, how, bootstrap_seed);
    }
    if (how.interval == IntervalKind::robust) widen(out, how);
    return out;
  }

 private:
  // Fitted once for all who assume the same.
  const Estimator& average(const EstimatorOptions& options) {
    std::unique_ptr<Estimator>& found = averages_[options.common];
    if (!found) {
      EstimatorOptions average = options;
      average.method = Method::average;
      found = make_estimator(ratings_, average, Host());
    }
    return *found;
  }

  static std::vector<Interval> percentiles(const Estimator& estimator, const StudyEstimator& how,
                                           std::uint64_t seed) {
    BootstrapOptions options;
    options.replicates = how.replicates;
    options.seed = seed;
    const auto replicates = bootstrap(estimator, Quantity::accuracy, options, Host());
    const std::size_t n = how.replicates;
    std::vector<Interval> out;
    for (std::size_t s = 0; s < estimator.systems().size(); ++s) {
      out.push_back(
          percentile_interval(&replicates[s * n], n, how.conf_level, estimator.tolerance()));
    }
    return out;
  }

  // What there is of sampling error becomes a robust interval: in a panel no truth is known, and
  // it is not known who rates.
  void widen(StudyEstimate& found, const StudyEstimator& how) {
    const bool of_average = how.options.method == Method::average;
    const auto& averages = average(how.options).systems();
    for (std::size_t s = 0; s < found.estimate.size(); ++s) {
      const double value = found.estimate[s];
      double error = found.interval[s].std_error;
      if (!how.options.common) {
        const SystemEstimate& average = averages[s];
        const double apart = (of_average ? average.independent : value) - average.shared;
        const ErrorParts parts{error, apart, average.dependence, average.rater_error,
                               range(static_cast<int>(s))};
        error = robust_error(value, parts, RaterKind::unknown).std_error;
      }
      set_limits(value, error, how.margin, found.interval[s]);
    }
  }

  double range(int system) {
    if (leans_.empty()) leans_ = rater_leans(ratings_.patterns, ratings_.weight);
    return base_rate_range(ratings_.patterns, ratings_.weight, system, leans_);
  }

  const Ratings& ratings_;
  std::vector<Lean> leans_;
  std::map<std::optional<double>, std::unique_ptr<Estimator>> averages_;
};

std::size_t who_rated(const PatternView& patterns) {
  const int* end = patterns.rater + patterns.start[patterns.patterns];
  return std::set<int>(patterns.rater, end).size();
}

// Models in which raters differ do not need agreement above chance, but association; two raters are
// too few for these.
Identifiable identifiable_by(const EstimatorOptions& options, const KFit& fit,
                             const Ratings& ratings) {
  const bool of_model = options.method == Method::joint || options.method == Method::shared;
  const bool differ = of_model && options.model.by_rater;
  const bool unequal = fit.identified == Identified::chance && who_rated(ratings.patterns) > 2;
  if (fit.identified == Identified::no_pairs || !(differ || unequal)) return Identifiable::as_fit;
  if (fit.agreement >= 1 - 1e-12) return Identifiable::yes;
  const LatentRows rows = latent_rows(ratings.patterns, ratings.weight, -1, ratings.known);
  const bool related = association(rows).informative();
  if (differ) return related ? Identifiable::yes : Identifiable::unrelated;
  return related ? Identifiable::unequal : Identifiable::as_fit;
}

StudyRun run_once(const Design& design, const StudyOptions& options, std::size_t run) {
  const std::size_t raters = design.raters.size(), systems = design.shown();
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
  const PatternView view =
      patterns.view(static_cast<int>(raters), design.categories, static_cast<int>(systems));
  const auto k_model = std::make_shared<const KModelFit>(fit_k_model(view, weight));
  const Ratings ratings{view, std::move(weight), Known(), k_model};

  StudyRun out;
  out.fit = k_model->fit;
  out.expected = truths.expected;
  for (const double count : right) {
    out.sample.push_back(count / static_cast<double>(options.cases));
  }
  Judge judge(ratings);
  const bool identified = out.fit.identified == Identified::yes;
  const StudyEstimate nothing{std::vector<double>(systems, not_a_number),
                              std::vector<Interval>(systems)};
  const bool seeded = !options.bootstrap_seeds.empty();
  for (const StudyEstimator& estimator : options.estimators) {
    const Identifiable how = identifiable_by(estimator.options, out.fit, ratings);
    const bool judged = how == Identifiable::as_fit ? identified : how == Identifiable::yes;
    out.estimates.push_back(judged ? judge(estimator, seeded ? options.bootstrap_seeds[run] : 0)
                                   : nothing);
    out.estimates.back().identifiable = how;
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
