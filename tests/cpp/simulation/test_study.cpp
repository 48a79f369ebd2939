#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/accuracy/base_rates.hpp"
#include "core/accuracy/robust.hpp"
#include "core/simulation/study.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

Design violated() {
  Design out;
  out.categories = 4;
  out.raters = {0.5, 0.6, 0.7};
  out.systems = {0.3, 0.8};
  out.confusion.dispersion = 2;
  out.confusion.error_range = 1;
  out.strata = {{-0.2, 0.25}, {0, 0.5}, {0.2, 0.25}};
  out.missing = {0.1, 0.1, 0.1};
  out.copying = {{0, 1, 0.2}};
  return out;
}

EstimatorOptions by(Method method) {
  EstimatorOptions out;
  out.method = method;
  return out;
}

EstimatorOptions joint_by_rater() {
  EstimatorOptions out = by(Method::joint);
  out.model.separate_raters = true;
  return out;
}

StudyOptions options(std::size_t cases, std::size_t runs) {
  StudyOptions out;
  out.cases = cases;
  out.runs = runs;
  out.seed = 7;
  out.first = std::uint64_t{3} << 32;
  out.estimators = {{by(Method::binned)},
                    {by(Method::unbinned), IntervalKind::bootstrap, 50},
                    {joint_by_rater(), IntervalKind::bootstrap, 20}};
  for (std::size_t r = 0; r < runs; ++r) out.bootstrap_seeds.push_back(100 + r);
  return out;
}

// Panel of a run, drawn from its stream.
struct Drawn {
  PanelParameters parameters;
  Panel panel;
  Patterns patterns;

  Drawn(const Design& design, std::size_t cases, std::size_t run) {
    Stream stream(7, (std::uint64_t{3} << 32) + run);
    parameters = draw_panel_parameters(design, stream);
    panel = draw_panel(design, parameters, cases, stream);
    Columns raters, systems;
    for (int u = 0; u < 5; ++u) (u < 3 ? raters : systems).push_back(panel.answers[u].data());
    patterns = patterns_from_wide(raters, systems, cases);
  }

  Ratings ratings() const {
    const auto view = patterns.view(3, 4, 2);
    const std::size_t cases = patterns.index.size();
    return {
        view, pattern_weights(patterns.index.data(), nullptr, cases, view.patterns), {}, nullptr};
  }
};

// True if the numbers are exactly equal. NaN is equal to NaN.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("a run simulates the panel of its stream, fits it and evaluates the systems") {
  const Design design = violated();
  const StudyOptions study = options(80, 5);
  const auto runs = run_study(design, study, Host());
  REQUIRE(runs.size() == 5);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Drawn drawn(design, 80, r);
    const Panel& panel = drawn.panel;
    const Ratings ratings = drawn.ratings();
    const Tallies tallies = make_tallies(ratings.patterns, ratings.weight);
    CHECK(runs[r].fit.agreement == fit_algebraic(tallies, tallies.weight).agreement);
    CHECK(runs[r].expected_accuracy == drawn.parameters.expected_accuracy);
    for (int e = 0; e < 3; ++e) {
      const StudyEstimator& how = study.estimators[e];
      const auto fitted = make_estimator(ratings, how.options, Host());
      BootstrapOptions drawing;
      drawing.replicates = how.replicates;
      drawing.seed = 100 + r;
      const auto replicates = bootstrap(*fitted, Quantity::accuracy, drawing, Host());
      for (int s = 0; s < 2; ++s) {
        const StudyEstimate& estimate = runs[r].estimates[e];
        CHECK(same(estimate.estimate[s], fitted->systems()[s].estimate));
        if (how.interval == IntervalKind::none) {
          CHECK(std::isnan(estimate.interval[s].low));
        } else {
          const std::size_t n = how.replicates;
          const auto interval =
              percentile_interval(&replicates[n * s], n, 0.9, fitted->tolerance());
          CHECK(same(estimate.interval[s].low, interval.low));
          CHECK(same(estimate.interval[s].std_error, interval.std_error));
        }
      }
    }
    for (int s = 0; s < 2; ++s) {
      int right = 0;
      for (int i = 0; i < 80; ++i) right += panel.answers[3 + s][i] == panel.truth[i];
      CHECK(runs[r].panel_accuracy[s] == Approx(right / 80.0));
    }
  }
}

TEST_CASE("a study does not depend on the number of threads or of blocks" *
          doctest::test_suite("slow")) {
  StudyOptions study = options(60, 40);
  const auto one = run_study(violated(), study, Host());
  const auto equal = [](const StudyRun& a, const StudyRun& b) {
    bool out = same(a.fit.agreement, b.fit.agreement) && a.panel_accuracy == b.panel_accuracy;
    for (int e = 0; e < 3; ++e) {
      for (int s = 0; s < 2; ++s) {
        out = out && same(a.estimates[e].estimate[s], b.estimates[e].estimate[s]) &&
              same(a.estimates[e].interval[s].high, b.estimates[e].interval[s].high);
      }
    }
    return out;
  };
  for (const int threads : {2, 8}) {
    study.threads = threads;
    const auto many = run_study(violated(), study, Host());
    for (std::size_t r = 0; r < one.size(); ++r) CHECK(equal(one[r], many[r]));
  }
  study.first += 30;
  study.runs = 10;
  study.bootstrap_seeds.erase(study.bootstrap_seeds.begin(), study.bootstrap_seeds.begin() + 30);
  const auto end = run_study(violated(), study, Host());
  for (std::size_t r = 0; r < end.size(); ++r) CHECK(equal(one[30 + r], end[r]));
}

TEST_CASE("a method with parameters that are not identified returns no estimate") {
  Design design;
  design.categories = 3;
  design.raters = {0.7, 0.7};
  design.systems = {0.8};
  EstimatorOptions dawid_skene = joint_by_rater();
  dawid_skene.model.errors = Errors::free;
  dawid_skene.method = Method::shared;
  StudyOptions study = options(100, 2);
  study.estimators = {{dawid_skene, IntervalKind::bootstrap, 10}, {joint_by_rater()}};
  for (const StudyRun& run : run_study(design, study, Host())) {
    CHECK(!run.estimates[0].identified);
    CHECK(std::isnan(run.estimates[0].estimate[0]));
    CHECK(std::isnan(run.estimates[0].interval[0].low));
    CHECK(run.estimates[1].identified);
    CHECK(!std::isnan(run.estimates[1].estimate[0]));
  }
}

TEST_CASE("robust intervals use quantities of the average for every method") {
  StudyOptions study = options(150, 2);
  for (StudyEstimator& estimator : study.estimators) estimator.interval = IntervalKind::bootstrap;
  study.estimators[0].replicates = 30;
  for (int e = 0; e < 3; ++e) {
    study.estimators.push_back(study.estimators[e]);
    study.estimators.back().interval = IntervalKind::robust;
  }
  study.estimators.push_back({by(Method::average)});
  study.estimators.push_back({by(Method::average), IntervalKind::robust});
  const auto runs = run_study(violated(), study, Host());
  for (std::size_t r = 0; r < 2; ++r) {
    const StudyRun& run = runs[r];
    const Drawn drawn(violated(), 150, r);
    const Ratings ratings = drawn.ratings();
    const auto average = make_estimator(ratings, by(Method::average), Host());
    const auto leans = leading_categories(ratings.patterns, ratings.weight);
    std::vector<double> range;
    for (int s = 0; s < 2; ++s) {
      range.push_back(base_rate_range(ratings.patterns, ratings.weight, s, leans));
    }
    for (int s = 0; s < 2; ++s) {
      const AverageParts& of_average = *average->systems()[s].average;
      const auto error = [&](double sampling, double value) {
        return robust_error(value,
                            {sampling, value - of_average.shared_estimate, of_average.dependence,
                             of_average.rater_error, range[s], 1},
                            RaterKind::people)
            .std_error;
      };
      for (int e = 0; e < 3; ++e) {
        const Interval &sampling = run.estimates[e].interval[s],
                       &robust = run.estimates[e + 3].interval[s];
        CHECK(same(run.estimates[e].estimate[s], run.estimates[e + 3].estimate[s]));
        CHECK((std::isnan(sampling.std_error) || robust.std_error >= sampling.std_error));
        CHECK(robust.missing == sampling.missing);
        CHECK(same(robust.std_error, error(sampling.std_error, run.estimates[e].estimate[s])));
      }
      CHECK(same(run.estimates[6].estimate[s], run.estimates[7].estimate[s]));
      CHECK(std::isnan(run.estimates[6].interval[s].low));
      const double value = run.estimates[7].estimate[s];
      const Interval& interval = run.estimates[7].interval[s];
      CHECK(interval.high == Approx(std::min(1.0, value + 1.644854 * interval.std_error)));
      CHECK(interval.low < value);
      CHECK(same(interval.std_error, error(of_average.std_error, of_average.independent_estimate)));
    }
  }
}

TEST_CASE("a study stops when the host requests it") {
  Host host;
  host.tick = [](std::size_t) { return false; };
  CHECK_THROWS_AS(run_study(violated(), options(5000, 200), host), Interrupted);
}

TEST_CASE("seeds of runs are distinct whole numbers, and do not change the panels") {
  std::set<int> seeds;
  for (std::uint64_t item = 0; item < 1000; ++item) seeds.insert(run_seed(1, item));
  CHECK(seeds.size() == 1000);
  CHECK(*seeds.begin() >= 0);
  Stream panel(1, 5), aside(1, 5, 1);
  CHECK(panel.uniform() != aside.uniform());
  Stream again(1, 5);
  CHECK(run_seed(1, 5) != static_cast<int>(again.uniform() * 2147483647));
}

TEST_CASE("hidden systems are not evaluated, even if others copy them") {
  Design design = violated();
  design.copying = {{4, 0, 0.2}};
  StudyOptions study = options(60, 1);
  study.estimators = {{by(Method::binned)}};
  for (const std::size_t hidden : {1, 2}) {
    design.hidden = hidden;
    const StudyRun run = run_study(design, study, Host()).front();
    const std::set<std::size_t> sizes{run.expected_accuracy.size(), run.panel_accuracy.size(),
                                      run.estimates[0].estimate.size()};
    CHECK(sizes == std::set<std::size_t>{2 - hidden});
  }
}
