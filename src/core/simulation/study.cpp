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

// True if method average is fitted without the constant raters, who always give the same answer.
// Method average uses them only if the user gives `correction`, the correction for shared errors.
bool excludes_constant_raters(const EstimatorOptions& options) { return !options.correction; }

// Computes estimates and intervals for one panel. `without_constant`: the ratings without constant
// raters.
class PanelAnalyser {
 public:
  PanelAnalyser(const Ratings& ratings, const Ratings& without_constant)
      : ratings_(ratings), without_constant_(without_constant) {}

  StudyEstimate operator()(const StudyEstimator& settings, std::uint64_t bootstrap_seed) {
    StudyEstimate result;
    std::unique_ptr<Estimator> fitted;
    const bool is_average = settings.options.method == Method::average;
    if (!is_average) fitted = make_estimator(ratings_, settings.options, Host());
    const Estimator& estimator = is_average ? average(settings.options) : *fitted;
    for (const auto& system : estimator.systems()) result.estimate.push_back(system.estimate);
    result.interval.resize(result.estimate.size());
    result.identified = estimator.identified();
    if (!result.identified || settings.interval == IntervalKind::none) return result;
    if (settings.interval == IntervalKind::robust && is_average) {
      for (std::size_t s = 0; s < result.interval.size(); ++s) {
        result.interval[s].std_error = average_parts(estimator, s).std_error;
      }
    } else {
      result.interval = percentile_intervals(estimator, settings, bootstrap_seed);
    }
    if (settings.interval == IntervalKind::robust) set_robust_intervals(result, settings);
    return result;
  }

 private:
  // Returns the quantities of method average for a system. All are NaN if the system has no case.
  static AverageParts average_parts(const Estimator& average, std::size_t system) {
    return average.systems()[system].average.value_or(AverageParts());
  }

  // Returns a fit of method average, which robust intervals of every method need. The first call
  // with each value of `options.correction` computes the fit, and later calls return the same fit.
  const Estimator& average(const EstimatorOptions& options) {
    std::unique_ptr<Estimator>& fitted = averages_[options.correction];
    if (!fitted) {
      EstimatorOptions average_options = options;
      average_options.method = Method::average;
      fitted = make_estimator(excludes_constant_raters(options) ? without_constant_ : ratings_,
                              average_options, Host());
    }
    return *fitted;
  }

  static std::vector<Interval> percentile_intervals(const Estimator& estimator,
                                                    const StudyEstimator& settings,
                                                    std::uint64_t seed) {
    BootstrapOptions options;
    options.replicates = settings.replicates;
    options.seed = seed;
    const auto replicates = bootstrap(estimator, Quantity::accuracy, options, Host());
    const std::size_t n = settings.replicates;
    std::vector<Interval> intervals;
    for (std::size_t s = 0; s < estimator.systems().size(); ++s) {
      intervals.push_back(
          percentile_interval(&replicates[s * n], n, settings.conf_level, estimator.tolerance()));
    }
    return intervals;
  }

  // Sets standard errors and limits of robust intervals. The standard error includes shared errors,
  // unless the user gives a correction for shared errors. Treats the truth of all cases as unknown,
  // and raters as people.
  void set_robust_intervals(StudyEstimate& result, const StudyEstimator& settings) {
    const bool is_average = settings.options.method == Method::average;
    const Estimator& averages = average(settings.options);
    for (std::size_t s = 0; s < result.estimate.size(); ++s) {
      const double value = result.estimate[s];
      double error = result.interval[s].std_error;
      if (!settings.options.correction) {
        const AverageParts average = average_parts(averages, s);
        const double gap =
            (is_average ? average.independent_estimate : value) - average.shared_estimate;
        const ErrorParts parts{error, gap, average.dependence, average.rater_error,
                               accuracy_range(static_cast<int>(s))};
        error = robust_error(value, parts, RaterKind::people).std_error;
      }
      set_limits(value, error, settings.margin, result.interval[s]);
    }
  }

  // Returns the highest minus the lowest accuracy of a system over the possible base rates. If the
  // agreement of raters may be due to chance, all base rates are possible, and the result is 1.
  double accuracy_range(int system) {
    if (leading_.empty()) {
      leading_ = leading_categories(without_constant_.patterns, without_constant_.weight);
    }
    if (may_agree_by_chance(leading_)) return 1;
    return base_rate_range(without_constant_.patterns, without_constant_.weight, system, leading_);
  }

  const Ratings &ratings_, &without_constant_;
  std::vector<LeadingCategory> leading_;
  std::map<std::optional<double>, std::unique_ptr<Estimator>> averages_;
};

// Number of raters with at least one rating.
std::size_t count_active_raters(const PatternView& patterns) {
  const int* end = patterns.rater + patterns.start[patterns.patterns];
  return std::set<int>(patterns.rater, end).size();
}

double fleiss_kappa(const Ratings& ratings, double agreement) {
  std::vector<double> share(ratings.patterns.categories, 0.0);
  double total = 0, chance = 0;
  for (int p = 0; p < ratings.patterns.patterns; ++p) {
    for (const int position : ratings.patterns.positions(p)) {
      share[ratings.patterns.category[position] - 1] += ratings.weight[p];
      total += ratings.weight[p];
    }
  }
  for (const double category_weight : share) chance += square(category_weight / total);
  return chance_corrected(agreement, chance);
}

Association association_of(const Ratings& ratings) {
  return association(latent_rows(ratings.patterns, ratings.weight, -1, ratings.known));
}

// True if the ratings without the constant raters do not identify the estimate of method average.
bool needs_constant_raters(const Ratings& without_constant) {
  const KFit& fit = without_constant.k_model->fit;
  if (fit.identified == Identified::no_pairs) return true;
  const PatternView& patterns = without_constant.patterns;
  if (std::set<int>(patterns.category, patterns.category + patterns.start[patterns.patterns])
          .size() < 2)
    return true;
  return !(fleiss_kappa(without_constant, fit.agreement) > 1e-9) &&
         association_of(without_constant).df == 0;
}

// Checks whether the ratings contain enough information for a method. Methods with separate rater
// accuracies need an association between the answers of different raters. Other methods need the
// K-model to be identified (Identifiable::as_fit).
Identifiable check_identifiable(const EstimatorOptions& options, const KFit& fit,
                                const Ratings& ratings) {
  const bool is_latent = options.method == Method::joint || options.method == Method::shared;
  const bool separate_raters = is_latent && options.model.separate_raters;
  // Raters of unequal accuracy may be associated although they agree only by chance.
  const bool unequal =
      fit.identified == Identified::chance && count_active_raters(ratings.patterns) > 2;
  if (fit.identified == Identified::no_pairs || !(separate_raters || unequal))
    return Identifiable::as_fit;
  if (fit.agreement >= 1 - 1e-12) return Identifiable::yes;
  const bool is_associated =
      fleiss_kappa(ratings, fit.agreement) > 1e-9 || association_of(ratings).informative();
  if (separate_raters) return is_associated ? Identifiable::yes : Identifiable::unrelated;
  return is_associated ? Identifiable::unequal : Identifiable::as_fit;
}

// Draws one panel and applies all estimators. `index`: index of the run.
StudyRun run_once(const Design& design, const StudyOptions& options, std::size_t index) {
  const std::size_t raters = design.raters.size(), systems = design.visible_systems();
  Stream stream(options.seed, options.first + index);
  const PanelParameters parameters = draw_panel_parameters(design, stream);
  CaseSampler sampler(design, parameters, options.cases);
  PatternBuilder builder(static_cast<int>(systems));
  std::vector<double> weight, n_right(systems, 0.0);
  for (std::size_t i = 0; i < options.cases; ++i) {
    sampler.next(stream);
    const std::vector<int>& answer = sampler.answers();
    for (std::size_t j = 0; j < raters; ++j) builder.rate(static_cast<int>(j) + 1, answer[j]);
    for (std::size_t s = 0; s < systems; ++s) {
      builder.answer(static_cast<int>(s), answer[raters + s]);
      n_right[s] += answer[raters + s] == sampler.truth();
    }
    const std::size_t pattern = builder.finish_case() - 1;
    if (pattern == weight.size()) weight.push_back(0);
    ++weight[pattern];
  }
  const Patterns patterns = builder.patterns();
  const auto make_ratings = [&](const Patterns& rated_patterns, std::size_t n_raters,
                                std::vector<double> weights) {
    const PatternView view = rated_patterns.view(static_cast<int>(n_raters), design.categories,
                                                 static_cast<int>(systems));
    const auto fit = std::make_shared<const KModelFit>(fit_k_model(view, weights));
    return Ratings{view, std::move(weights), Known(), fit};
  };
  const Ratings ratings = make_ratings(patterns, raters, weight);
  // The ratings without constant raters.
  std::vector<int> new_rater(raters), pattern(weight.size());
  std::size_t remaining_raters = 0;
  const std::vector<bool> is_constant = constant_raters(ratings.patterns, weight);
  for (std::size_t j = 0; j < raters; ++j) {
    new_rater[j] = is_constant[j] ? 0 : static_cast<int>(++remaining_raters);
  }
  std::iota(pattern.begin(), pattern.end(), 1);
  const bool any_excluded = remaining_raters < raters;
  const Patterns remaining_patterns =
      any_excluded
          ? patterns_subset(ratings.patterns, pattern.data(), pattern.size(), new_rater.data())
          : Patterns();
  const Ratings remaining_ratings =
      any_excluded ? make_ratings(remaining_patterns, remaining_raters,
                                  pattern_weights(remaining_patterns.index.data(), weight.data(),
                                                  weight.size(), remaining_patterns.rows()))
                   : ratings;
  const bool needs_constant = any_excluded && needs_constant_raters(remaining_ratings);
  const Ratings& without_constant = needs_constant ? ratings : remaining_ratings;

  StudyRun run;
  run.fit = ratings.k_model->fit;
  run.expected_accuracy = parameters.expected_accuracy;
  for (const double count : n_right) {
    run.panel_accuracy.push_back(count / static_cast<double>(options.cases));
  }
  PanelAnalyser analyse(ratings, without_constant);
  StudyEstimate no_estimate;
  no_estimate.estimate.assign(systems, not_a_number);
  no_estimate.interval.resize(systems);
  const bool has_seeds = !options.bootstrap_seeds.empty();
  for (const StudyEstimator& estimator : options.estimators) {
    const bool excludes_constant =
        estimator.options.method == Method::average && excludes_constant_raters(estimator.options);
    const Ratings& used_ratings = excludes_constant ? without_constant : ratings;
    const KFit& fit = used_ratings.k_model->fit;
    const Identifiable identifiable =
        excludes_constant && needs_constant
            ? Identifiable::constant
            : check_identifiable(estimator.options, fit, used_ratings);
    const bool is_identifiable = identifiable == Identifiable::as_fit
                                     ? fit.identified == Identified::yes
                                     : identifiable == Identifiable::yes;
    run.estimates.push_back(is_identifiable
                                ? analyse(estimator, has_seeds ? options.bootstrap_seeds[index] : 0)
                                : no_estimate);
    run.estimates.back().identifiable = identifiable;
    run.estimates.back().fit = fit;
  }
  return run;
}

}  // namespace

std::vector<StudyRun> run_study(const Design& design, const StudyOptions& options,
                                const Host& host) {
  std::vector<StudyRun> runs(options.runs);
  for_each_item(options.runs, options.threads, host,
                [&](std::size_t run) { runs[run] = run_once(design, options, run); });
  return runs;
}

int run_seed(std::uint64_t seed, std::uint64_t item) {
  Stream stream(seed, item, 1);
  return static_cast<int>(stream.uniform() * std::numeric_limits<int>::max());
}

}  // namespace fallible
