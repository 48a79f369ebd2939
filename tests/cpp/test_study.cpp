#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "core/study.hpp"

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
  out.missing = 0.1;
  out.copying = {{0, 1, 0.2}};
  return out;
}

LatentAccuracyOptions joint_by_rater() {
  LatentAccuracyOptions out;
  out.model.by_rater = true;
  return out;
}

StudyOptions options(std::size_t cases, std::size_t runs) {
  StudyOptions out;
  out.cases = cases;
  out.runs = runs;
  out.seed = 7;
  out.first = std::uint64_t{3} << 32;
  AccuracyOptions unbinned;
  unbinned.method = Method::unbinned;
  out.estimators.resize(3);
  out.estimators[0].method = k_model_method(AccuracyOptions());
  out.estimators[1] = {k_model_method(unbinned), 50, 0.9};
  out.estimators[2] = {latent_method(joint_by_rater()), 20, 0.9};
  for (std::size_t r = 0; r < runs; ++r) out.bootstrap_seeds.push_back(100 + r);
  return out;
}

// Equal to the bit, gaps included.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("a run is the panel of its stream, fitted and judged") {
  const Design design = violated();
  const auto runs = run_study(design, options(80, 5), Host());
  REQUIRE(runs.size() == 5);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    Stream stream(7, (std::uint64_t{3} << 32) + r);
    const Truths truths = draw_truths(design, stream);
    const Panel panel = draw_panel(design, truths, 80, stream);
    Columns raters, systems;
    for (int u = 0; u < 5; ++u) (u < 3 ? raters : systems).push_back(panel.answers[u].data());
    const Patterns patterns = patterns_from_wide(raters, systems, 80);
    const auto view = patterns.view(3, 4, 2);
    const auto profiles = make_profiles(
        view, pattern_weights(patterns.index.data(), nullptr, 80, view.patterns));
    const KFit fit = fit_algebraic(profiles, profiles.weight);
    CHECK(runs[r].fit.agreement == fit.agreement);
    CHECK(runs[r].expected == truths.expected);
    for (const int e : {0, 1}) {
      AccuracyOptions accuracy;
      accuracy.method = e == 0 ? Method::binned : Method::unbinned;
      const auto judged = system_accuracy(profiles, profiles.weight, fit, accuracy);
      const auto replicates =
          bootstrap_accuracy(profiles, accuracy, BootstrapOptions{50, 1, 100 + r}, Host());
      for (int s = 0; s < 2; ++s) {
        CHECK(same(runs[r].estimates[e].estimate[s], judged[s].estimate));
        const PercentileInterval interval = runs[r].estimates[e].interval[s];
        if (e == 0) {
          CHECK(std::isnan(interval.low));
        } else {
          const auto alone = percentile_interval(replicates.data() + 50 * s, 50, 0.9);
          CHECK(same(interval.low, alone.low));
          CHECK(same(interval.std_error, alone.std_error));
        }
      }
    }
    const auto weight = pattern_weights(patterns.index.data(), nullptr, 80, view.patterns);
    const LatentAccuracy joint(view, weight, {}, joint_by_rater());
    const auto replicates =
        bootstrap_latent_accuracy(joint, view, weight, BootstrapOptions{20, 1, 100 + r}, Host());
    for (int s = 0; s < 2; ++s) {
      CHECK(same(runs[r].estimates[2].estimate[s], joint.estimate()[s]));
      const auto alone = percentile_interval(replicates.data() + 20 * s, 20, 0.9);
      CHECK(same(runs[r].estimates[2].interval[s].high, alone.high));
    }
    for (int s = 0; s < 2; ++s) {
      int right = 0;
      for (int i = 0; i < 80; ++i) right += panel.answers[3 + s][i] == panel.truth[i];
      CHECK(runs[r].sample[s] == Approx(right / 80.0));
    }
  }
}

TEST_CASE("a study does not depend on the number of threads, nor on how it is cut") {
  StudyOptions study = options(60, 40);
  const auto one = run_study(violated(), study, Host());
  const auto equal = [](const StudyRun& a, const StudyRun& b) {
    bool out = same(a.fit.agreement, b.fit.agreement) && a.sample == b.sample;
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

TEST_CASE("a method with more parameters than raters can tell apart estimates nothing") {
  Design design;
  design.categories = 3;
  design.raters = {0.7, 0.7};
  design.systems = {0.8};
  LatentAccuracyOptions dawid_skene = joint_by_rater();
  dawid_skene.model.errors = Errors::free;
  dawid_skene.dependence = Dependence::shared;
  StudyOptions study = options(100, 2);
  study.estimators = {{latent_method(dawid_skene), 10, 0.9},
                      {latent_method(joint_by_rater()), 0, 0.9}};
  for (const StudyRun& run : run_study(design, study, Host())) {
    CHECK(!run.estimates[0].identified);
    CHECK(std::isnan(run.estimates[0].estimate[0]));
    CHECK(std::isnan(run.estimates[0].interval[0].low));
    CHECK(run.estimates[1].identified);
    CHECK(!std::isnan(run.estimates[1].estimate[0]));
  }
}

TEST_CASE("a study stops when the host says so") {
  Host host;
  host.tick = [](std::size_t) { return false; };
  CHECK_THROWS_AS(run_study(violated(), options(5000, 200), host), Interrupted);
}

TEST_CASE("seeds of runs are whole numbers that differ, and leave the panels alone") {
  std::set<int> seeds;
  for (std::uint64_t item = 0; item < 1000; ++item) seeds.insert(run_seed(1, item));
  CHECK(seeds.size() == 1000);
  CHECK(*seeds.begin() >= 0);
  Stream panel(1, 5), aside(1, 5, 1);
  CHECK(panel.uniform() != aside.uniform());
  Stream again(1, 5);
  CHECK(run_seed(1, 5) != static_cast<int>(again.uniform() * 2147483647));
}

TEST_CASE("percentile intervals interpolate, and say why there is none") {
  const double nan = std::nan("");
  const std::vector<double> x{0.5, nan, 0.1, 0.4, 0.2, 0.3};
  const auto found = percentile_interval(x.data(), x.size(), 0.9);
  CHECK(found.lack == PercentileInterval::Lack::none);
  CHECK(found.low == Approx(0.12));
  CHECK(found.high == Approx(0.48));
  CHECK(found.std_error == Approx(std::sqrt(0.025)));

  const std::vector<double> few{0.5, nan, 0.1, nan, nan};
  CHECK(percentile_interval(few.data(), few.size(), 0.9).lack ==
        PercentileInterval::Lack::failed);

  const std::vector<double> half{0.5, nan, 0.1, nan}, one{0.5, nan}, near{1, 1 - 1e-12};
  CHECK(percentile_interval(half.data(), 4, 0.9).lack == PercentileInterval::Lack::none);
  CHECK(percentile_interval(one.data(), 2, 0.9).lack == PercentileInterval::Lack::failed);
  CHECK(percentile_interval(near.data(), 2, 0.9).lack == PercentileInterval::Lack::constant);
  const std::vector<double> close{1, 1 - 1e-6};
  CHECK(percentile_interval(close.data(), 2, 0.9).lack == PercentileInterval::Lack::none);
  CHECK(percentile_interval(close.data(), 2, 0.9, iteration_tolerance).lack ==
        PercentileInterval::Lack::constant);

  std::vector<double> constant(100, 1.0);
  constant[0] = 0.5;
  const auto stuck = percentile_interval(constant.data(), constant.size(), 0.9);
  CHECK(stuck.lack == PercentileInterval::Lack::constant);
  CHECK(stuck.same == Approx(0.99));
  CHECK(stuck.value == 1);
  CHECK(std::isnan(stuck.high));
}
