// Simulated panels and studies with a fixed seed, compared with recorded sums.
#include <doctest/doctest.h>

#include <vector>

#include "../recorded.hpp"
#include "core/simulation/simulate.hpp"
#include "core/simulation/study.hpp"

using namespace fallible;

namespace {

std::vector<Design> designs() {
  Design plain;
  plain.categories = 3;
  plain.raters = {0.6, 0.75, 0.8};
  plain.systems = {0.7, 0.5};
  Design full = plain;
  full.categories = 4;
  full.law = BaseRateLaw::dirichlet;
  full.concentration = 2.5;
  full.confusion.dispersion = 1.7;
  full.confusion.error_range = 0.6;
  full.strata = {{-0.25, 0.3}, {0, 0.5}, {0.15, 0.2}};
  full.missing = {0.1, 0, 0.3};
  full.copying = {{0, 1, 0.3}, {4, 2, 0.4}, {1, 3, 0.25}};
  full.hidden = 1;
  full.drift = {0, -0.2, 0.1, 0, 0.3};
  Design rows = full;
  rows.confusion.normalise = Normalise::row;
  rows.strata_drawn = rows.strata_redraw = rows.system_strata = rows.system_errors = false;
  rows.law = BaseRateLaw::fixed;
  rows.base_rates = {0.1, 0.4, 0.3, 0.2};
  rows.copying.clear();
  rows.loading = {0.3, 0.5, 0, 0.8, 0.2};
  rows.hidden = 0;
  rows.custom.assign(5, {});
  rows.custom[1] = {0.7, 0.1, 0.1, 0.1, 0.2, 0.6, 0.1, 0.1, 0, 0.1, 0.9, 0, 0.25, 0.25, 0, 0.5};
  return {plain, full, rows};
}

}  // namespace

TEST_CASE("simulated panels with a seed are those that were recorded") {
  Recorded recorded({77.21515498, 1526.3, 77.24844674, 1551.7, 76.6996615, 1398.8, 277.8752015,
                     1388.3, 276.4709638, 1805.3, 276.8682866, 1891.8, 282.3170937, 1667.1,
                     281.440517, 1680.3, 281.3102588, 1900.5},
                    1e-9);
  for (const Design& design : designs()) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      Stream stream(seed, 8);
      const Truths truths = draw_truths(design, stream);
      recorded.add_all(truths.base_rates);
      recorded.add_all(truths.expected);
      for (const auto& matrix : truths.matrix) recorded.add_all(matrix);
      recorded.check();
      const Panel panel = draw_panel(design, truths, 23 + seed, stream);
      recorded.add_all(panel.truth);
      recorded.add_all(panel.stratum);
      for (const auto& answers : panel.answers) recorded.add_all(answers);
      recorded.check();
    }
  }
}

TEST_CASE("studies with a seed are those that were recorded") {
  Recorded recorded({425.0789059, 428.2238644, 451.3078568, 323.1510812, 301.1486409, 327.495846,
                     426.7006524, 414.5726441, 413.0320546, 1.087003463e+10},
                    1e-6);
  StudyOptions options;
  options.cases = 40;
  options.runs = 3;
  options.seed = 5;
  options.bootstrap_seeds = {7, 8, 9};
  for (const Method method : {Method::binned, Method::unbinned, Method::joint, Method::shared}) {
    for (const IntervalKind kind :
         {IntervalKind::none, IntervalKind::bootstrap, IntervalKind::robust}) {
      StudyEstimator one;
      one.options.method = method;
      one.options.model.by_rater = kind != IntervalKind::robust;
      one.interval = kind;
      one.replicates = kind == IntervalKind::none ? 0 : 12;
      options.estimators.push_back(one);
    }
  }
  const auto add_fit = [&](const KFit& fit) {
    recorded.add_all(std::vector<double>{fit.agreement, fit.kappa, fit.rater_accuracy,
                                         static_cast<double>(fit.negative)});
    recorded.add_all(fit.base_rates);
  };
  for (const Design& design : designs()) {
    for (const StudyRun& run : run_study(design, options, Host())) {
      add_fit(run.fit);
      recorded.add_all(run.expected);
      recorded.add_all(run.sample);
      for (const StudyEstimate& of : run.estimates) {
        recorded.add_all(of.estimate);
        for (const Interval& interval : of.interval) {
          recorded.add_all(std::vector<double>{interval.low, interval.high, interval.std_error});
        }
        recorded.add(of.identified);
        recorded.add(static_cast<int>(of.identifiable));
        add_fit(of.fit);
      }
      recorded.check();
    }
  }
  for (const std::uint64_t item : {0, 1, 77}) recorded.add(run_seed(5, item));
  recorded.check();
}
