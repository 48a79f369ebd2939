#include "study.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "../accuracy/base_rates.hpp"
#include "../accuracy/robust.hpp"
#include "../base/special.hpp"
#include "../model/naming.hpp"
#include "../ratings/constant.hpp"

namespace fallible {

namespace {

// True if constant raters are left out of the average. If the user gives the correction for shared
// errors, they are not.
bool leaves_out_constant(const EstimatorOptions& options) { return !options.common; }

// Computes the estimates of all estimators for one panel. The average is fitted once and used by
// all. `varied`: the ratings without constant raters, who always give the same answer.
class Judge {
 public:
  Judge(const Ratings& ratings, const Ratings& varied) : ratings_(ratings), varied_(varied) {}

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
        out.interval[s].std_error = average_parts(estimator, s).std_error;
      }
    } else {
      out.interval = percentiles(estimator, how, bootstrap_seed);
    }
    if (how.interval == IntervalKind::robust) widen(out, how);
    return out;
  }

 private:
  // Quantities of the average for a system. All are NaN if the system has no case.
  static AverageParts average_parts(const Estimator& average, std::size_t system) {
    return average.systems()[system].average.value_or(AverageParts());
  }

  // Returns the fitted average. It is fitted at the first call for each value of the option
  // `common`.
  const Estimator& average(const EstimatorOptions& options) {
    std::unique_ptr<Estimator>& found = averages_[options.common];
    if (!found) {
      EstimatorOptions average = options;
      average.method = Method::average;
      found = make_estimator(leaves_out_constant(options) ? varied_ : ratings_, average, Host());
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

  // Replaces sampling errors by the total errors of robust intervals. No truth is known in a
  // simulated panel, and raters are treated as people.
  void widen(StudyEstimate& found, const StudyEstimator& how) {
    const bool of_average = how.options.method == Method::average;
    const Estimator& averages = average(how.options);
    for (std::size_t s = 0; s < found.estimate.size(); ++s) {
      const double value = found.estimate[s];
      double error = found.interval[s].std_error;
      if (!how.options.common) {
        const AverageParts average = average_parts(averages, s);
        const double apart = (of_average ? average.independent : value) - average.shared;
        const ErrorParts parts{error, apart, average.dependence, average.rater_error,
                               range(static_cast<int>(s))};
        error = robust_error(value, parts, RaterKind::people).std_error;
      }
      set_limits(value, error, how.margin, found.interval[s]);
    }
  }

  double range(int system) {
    if (leans_.empty()) leans_ = rater_leans(varied_.patterns, varied_.weight);
    return base_rate_range(varied_.patterns, varied_.weight, system, leans_);
  }

  const Ratings &ratings_, &varied_;
  std::vector<Lean> leans_;
  std::map<std::optional<double>, std::unique_ptr<Estimator>> averages_;
};

std::size_t who_rated(const PatternView& patterns) {
  const int* end = patterns.rater + patterns.start[patterns.patterns];
  return std::set<int>(patterns.rater, end).size();
}

double fleiss_kappa(const Ratings& ratings, double agreement) {
  std::vector<double> share(ratings.patterns.categories, 0.0);
  double total = 0, chance = 0;
  for (int p = 0; p < ratings.patterns.patterns; ++p) {
    for (const int at : ratings.patterns.positions(p)) {
      share[ratings.patterns.category[at] - 1] += ratings.weight[p];
      total += ratings.weight[p];
    }
  }
  for (const double of : share) chance += square(of / total);
  return chance_corrected(agreement, chance);
}

Association association_of(const Ratings& ratings) {
  return association(latent_rows(ratings.patterns, ratings.weight, -1, ratings.known));
}

// True if too little information is left without the constant raters, so that the average would not
// be identified.
bool rests_on_constant(const Ratings& varied) {
  const KFit& fit = varied.k_model->fit;
  if (fit.identified == Identified::no_pairs) return true;
  const PatternView& of = varied.patterns;
  if (std::set<int>(of.category, of.category + of.start[of.patterns]).size() < 2) return true;
  return association_of(varied).df == 0 && !(fleiss_kappa(varied, fit.agreement) > 1e-9);
}

// Checks whether the ratings contain enough information for a method. In models with separate rater
// accuracies, raters must be associated; agreement above chance is not needed. Two raters are too
// few for these models.
Identifiable identifiable_by(const EstimatorOptions& options, const KFit& fit,
                             const Ratings& ratings) {
  const bool of_model = options.method == Method::joint || options.method == Method::shared;
  const bool differ = of_model && options.model.by_rater;
  const bool unequal = fit.identified == Identified::chance && who_rated(ratings.patterns) > 2;
  if (fit.identified == Identified::no_pairs || !(differ || unequal)) return Identifiable::as_fit;
  if (fit.agreement >= 1 - 1e-12) return Identifiable::yes;
  const bool related = association_of(ratings).informative(fleiss_kappa(ratings, fit.agreement));
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
  const auto rated = [&](const Patterns& of, std::size_t by, std::vector<double> weights) {
    const PatternView view =
        of.view(static_cast<int>(by), design.categories, static_cast<int>(systems));
    const auto fit = std::make_shared<const KModelFit>(fit_k_model(view, weights));
    return Ratings{view, std::move(weights), Known(), fit};
  };
  const Ratings ratings = rated(patterns, raters, weight);
  // The ratings without constant raters.
  std::vector<int> number(raters), pattern(weight.size());
  std::size_t stay = 0;
  const std::vector<bool> left_out = constant_raters(ratings.patterns, weight);
  for (std::size_t j = 0; j < raters; ++j) {
    number[j] = left_out[j] ? 0 : static_cast<int>(++stay);
  }
  std::iota(pattern.begin(), pattern.end(), 1);
  const bool some = stay < raters;
  const Patterns others =
      some ? patterns_subset(ratings.patterns, pattern.data(), pattern.size(), number.data())
           : Patterns();
  const Ratings without =
      some
          ? rated(others, stay,
                  pattern_weights(others.index.data(), weight.data(), weight.size(), others.rows()))
          : ratings;
  const bool lacking = some && rests_on_constant(without);
  const Ratings& varied = lacking ? ratings : without;

  StudyRun out;
  out.fit = ratings.k_model->fit;
  out.expected = truths.expected;
  for (const double count : right) {
    out.sample.push_back(count / static_cast<double>(options.cases));
  }
  Judge judge(ratings, varied);
  StudyEstimate nothing;
  nothing.estimate.assign(systems, not_a_number);
  nothing.interval.resize(systems);
  const bool seeded = !options.bootstrap_seeds.empty();
  for (const StudyEstimator& estimator : options.estimators) {
    const bool of_varied =
        estimator.options.method == Method::average && leaves_out_constant(estimator.options);
    const Ratings& of = of_varied ? varied : ratings;
    const KFit& fit = of.k_model->fit;
    const Identifiable how =
        of_varied && lacking ? Identifiable::constant : identifiable_by(estimator.options, fit, of);
    const bool judged =
        how == Identifiable::as_fit ? fit.identified == Identified::yes : how == Identifiable::yes;
    out.estimates.push_back(judged ? judge(estimator, seeded ? options.bootstrap_seeds[run] : 0)
                                   : nothing);
    out.estimates.back().identifiable = how;
    out.estimates.back().fit = fit;
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
