#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "../panel.hpp"
#include "../posterior.hpp"
#include "core/accuracy/bootstrap.hpp"
#include "core/accuracy/estimator.hpp"
#include "core/accuracy/member.hpp"
#include "core/model/algebraic.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

std::vector<SystemEstimate> judged(const Tallies& tallies, const KFit& fit) {
  return system_accuracy(tallies, tallies.weight, fit, {Clip::bin, 0.1});
}

std::unique_ptr<Estimator> estimator(const Panel& panel, const EstimatorOptions& options) {
  return make_estimator({panel.view(), panel.weights(), {}, nullptr}, options, Host());
}

EstimatorOptions binned() {
  EstimatorOptions out;
  out.method = Method::binned;
  return out;
}

double estimate(const Panel& panel, const EstimatorOptions& options) {
  return estimator(panel, options)->systems()[0].estimate;
}

// True if all numbers are exactly equal. NaN is equal to NaN.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  bool out = a.size() == b.size();
  for (std::size_t i = 0; out && i < a.size(); ++i) {
    out = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
  }
  return out;
}

}  // namespace

TEST_CASE("the worked example gives the published numbers") {
  const Panel panel = lehner();
  const Tallies tallies = panel.tallies();
  const KFit fit = fit_algebraic(tallies, tallies.weight);
  CHECK(fit.agreement == Approx(1.0 / 3));
  CHECK(fit.kappa == Approx(1.0 / 9));
  CHECK(fit.rater_accuracy == Approx(0.5));
  CHECK(fit.base_rates[0] == Approx(0.325));
  CHECK(fit.base_rates[3] == Approx(0.175));
  CHECK(fit.n_negative == 0);
  CHECK(posterior_of(tallies, fit, tallies.tally_of_pattern[0])[2] ==
        Approx(0.859873).epsilon(1e-6));

  const auto system = judged(tallies, fit)[0];
  CHECK(system.estimate == Approx(0.731427).epsilon(1e-6));
  CHECK(system.algebra->mean_posterior == Approx(0.466179).epsilon(1e-6));
  CHECK(system.algebra->bins.size() == 5);
  CHECK(system.algebra->uninformative == 0);
  EstimatorOptions options = binned();
  CHECK(estimate(panel, options) == system.estimate);
  options.clip = Clip::none;
  CHECK(estimate(panel, options) == Approx(1.269601).epsilon(1e-6));
  options.bin_width = 1;
  CHECK(estimate(panel, options) == Approx(0.892854).epsilon(1e-6));
}

TEST_CASE("fits that are not identified give a reason") {
  const Panel chance({"AABB", "ABAB"}, {"AAAA"}, 2);
  const Tallies tallies = chance.tallies();
  const KFit fit = fit_algebraic(tallies, tallies.weight);
  CHECK(fit.identified == Identified::chance);
  CHECK(std::string(name(fit.identified)) == "chance");
  CHECK(fit.rater_accuracy == 0.5);
  CHECK(std::isnan(fit.base_rates[0]));
  CHECK(std::isnan(covariance(tallies, fit)(0, 0)));
  const auto system = judged(tallies, fit)[0];
  CHECK(std::isnan(system.estimate));
  CHECK(system.algebra->cases == 4);

  const Panel single_raters({"A.", ".B"}, {"AA"}, 2);
  const Tallies single_tallies = single_raters.tallies();
  CHECK(fit_algebraic(single_tallies, single_tallies.weight).identified == Identified::no_pairs);
  CHECK(std::string(name(Identified::no_pairs)) == "no_pairs");
  CHECK(std::string(name(Identified::yes)) == "yes");
}

TEST_CASE("raters without errors give posteriors of 0 or 1, without division by zero") {
  const Panel panel({"ABA", "ABA"}, {"ABB"}, 3);
  const Tallies tallies = panel.tallies();
  const KFit fit = fit_algebraic(tallies, tallies.weight);
  CHECK(fit.rater_accuracy == 1);
  for (int i = 0; i < tallies.size(); ++i) {
    const auto p = posterior_of(tallies, fit, i);
    CHECK(p[0] + p[1] + p[2] == 1);
    CHECK(std::max(p[0], p[1]) == 1);
  }
  CHECK(estimate(panel, binned()) == Approx(2.0 / 3));
}

TEST_CASE("cases with one rating are counted, cases without ratings are not") {
  const Panel panel({"ABAB...", "ABBBAB."}, {"ABABABA"}, 2);
  const Tallies tallies = panel.tallies();
  const KFit fit = fit_algebraic(tallies, tallies.weight);
  REQUIRE(fit.identified == Identified::yes);
  CHECK(judged(tallies, fit)[0].algebra->cases == 6);
}

TEST_CASE("categories with the same probability share the credit") {
  // Base rates are equal. In the last two cases both categories are equally probable.
  const Panel panel({"AAABBBAB", "AAABBBBA"}, {"AAABBBAA"}, 2);
  const Tallies tallies = panel.tallies();
  const KFit fit = fit_algebraic(tallies, tallies.weight);
  const auto system = judged(tallies, fit)[0];
  CHECK(system.algebra->bins.back().agreement == 0.5);
  CHECK(std::isnan(system.algebra->bins.back().estimate_raw));
  CHECK(system.algebra->uninformative == 2);
  CHECK(system.algebra->cases == 8);
}

TEST_CASE("edges belong to the bin below, in spite of rounding errors") {
  const Panel panel = lehner();
  Tallies tallies = panel.tallies();
  KFit fit = fit_algebraic(tallies, tallies.weight);
  // A case without ratings has the base rates: .8 is in (.7, .8].
  tallies.answer.assign(tallies.size(), -1);
  tallies.answer[0] = 0;
  tallies.weight.assign(tallies.size(), 0);
  tallies.weight[0] = 1;
  tallies.start.assign(tallies.size() + 1, 0);
  for (const double edge : {0.8, 0.8 + 1e-12, 0.8 - 1e-12, std::nextafter(0.8, 1)}) {
    fit.base_rates = {edge, 1 - edge, 0, 0};
    const auto bins = judged(tallies, fit)[0].algebra->bins;
    REQUIRE(bins.size() == 1);
    CHECK(bins[0].upper == Approx(0.8));
  }
  fit.base_rates = {0.8 + 1e-6, 0.2 - 1e-6, 0, 0};
  CHECK(judged(tallies, fit)[0].algebra->bins[0].upper == Approx(0.9));
  fit.base_rates = {1, 0, 0, 0};
  CHECK(judged(tallies, fit)[0].algebra->bins[0].upper == 1);
}

TEST_CASE("unbinned estimates follow equation 7, with all cases in one bin") {
  // The second system is wrong more often than by chance.
  const std::vector<std::string> raters{"CBCBACAADA", "DDCBBBADBD", "CCDDBDABAA", "CCCDBAACAB"};
  for (const std::string answers : {"ACCBBAACDB", "AABCDBDDCC"}) {
    const Panel panel(raters, {answers}, 4);
    const Tallies tallies = panel.tallies();
    const KFit fit = fit_algebraic(tallies, tallies.weight);
    double squares = 0, agreement = 0;
    for (int i = 0; i < tallies.size(); ++i) {
      const auto p = posterior_of(tallies, fit, i);
      for (const double x : p) squares += tallies.weight[i] * x * x / 10;
      agreement += tallies.weight[i] * p[tallies.answer_of(i, 0)] / 10;
    }
    EstimatorOptions options;
    options.method = Method::unbinned;
    options.clip = Clip::none;
    const double expected = (3 * agreement - 1 + squares) / (4 * squares - 1);
    CHECK((expected < 0) == (answers[1] == 'A'));
    CHECK(estimate(panel, options) == Approx(expected).epsilon(1e-12));
    options.clip = Clip::overall;
    CHECK(estimate(panel, options) == Approx(std::max(expected, 0.0)).epsilon(1e-12));
  }
}

TEST_CASE("accuracies of systems and raters are sums of posteriors over answered cases") {
  const Panel panel({"ABAB.", "AABB.", "ABBA."}, {"ABB.A"}, 2);
  // With few cases, the lower limit of the information applies.
  for (const double times : {1.0, 50.0}) {
    std::vector<double> weight = panel.weights();
    for (double& w : weight) w *= times;
    const JointData data({panel.view(), weight, {}, nullptr}, 0);
    const LatentRows& rows = data.rows();
    std::vector<double> posterior;
    double cases = 0, right = 0, missing = 0, ratings = 0, wrong = 0;
    for (int i = 0; i < rows.size(); ++i) {
      posterior.push_back(0.3 + 0.1 * i);
      posterior.push_back(0.7 - 0.1 * i);
      for (const int at : rows.positions(i)) {
        const double q = posterior[2 * i + rows.category[at]];
        if (rows.judge[at] < 3) {
          ratings += rows.weight[i];
          wrong += rows.weight[i] * (1 - q);
        } else if (rows.positions(i).size() > 1) {
          cases += rows.weight[i];
          right += rows.weight[i] * q;
          missing += rows.weight[i] * q * (1 - q);
        }
      }
    }
    REQUIRE(cases == 3 * times);
    const double p = right / cases, all = cases * p * (1 - p);
    CHECK(data.cases() == cases);
    CHECK(data.mean_posterior(posterior) == Approx(p));
    CHECK(data.rater_error(posterior) == Approx(wrong / ratings));
    CHECK(data.conditional_error(posterior) ==
          Approx(p * (1 - p) / std::sqrt(std::max(all - missing, 0.05 * all + 0.25))));
  }
}

TEST_CASE("a search that reaches its limit of iterations has not converged") {
  EstimatorOptions options;
  options.optimiser.iterations = 1;
  for (const Method method : {Method::joint, Method::shared}) {
    options.method = method;
    CHECK(!estimator(lehner(), options)->converged());
  }
}

TEST_CASE("cases without ratings are in cells with count zero, and are not used for accuracies") {
  const Panel panel({"AB.A", "AB.B", "AA.B"}, {"ABA."}, 2);
  const Ratings ratings{panel.view(), panel.weights(), {}, nullptr};
  CHECK(JointData(ratings, 0).cases() == 2);
  std::vector<int> truth(panel.view().patterns, 0);
  truth[panel.patterns.index[2] - 1] = 1;
  CHECK(JointData({panel.view(), panel.weights(), {truth, {}, {}}, nullptr}, 0).cases() == 3);
  const Cells cells = pattern_cells(ratings);
  for (int p = 0; p < panel.view().patterns; ++p) {
    const bool rated = panel.view().start[p] < panel.view().start[p + 1];
    CHECK(cells.cases[cells.cell_of_pattern[p]] == (rated ? panel.weights()[p] : 0));
  }
}

TEST_CASE("linear replicates are slopes of estimates times changes of weights") {
  const Panel panel({"AABBABABCCABC", "AABBBAABCCACB", "AABBABBACBCBC", "AABABBABCABBC"},
                    {"AABBAABACCABC", "ABBB..BACCAAC", ".............", "AA.A..AAA..A."}, 3);
  EstimatorOptions options;
  options.method = Method::joint;
  options.optimiser.gradient_tolerance = 1e-9;
  options.optimiser.value_tolerance = 1e-16;
  BootstrapOptions how;
  how.replicates = 3;
  how.seed = 11;
  for (const bool separate_raters : {false, true}) {
    for (const bool none : {false, true}) {
      options.model.separate_raters = separate_raters;
      options.prior.none = none;
      const Ratings ratings{panel.view(), panel.weights(), {}, nullptr};
      const auto fitted = make_estimator(ratings, options, Host());
      const auto linear = linear_replicates(ratings, options, how, Host());
      REQUIRE(linear.size() == 12);
      const Cells& cells = fitted->cells();
      const Resampler resampler(cells.cases, cells.cell_of_pattern, how.clusters);
      for (std::size_t r = 0; r < 3; ++r) {
        Stream stream(how.seed, r);
        const auto drawn = resampler.draw(stream);
        const auto along = [&](double share) {
          std::vector<double> weight = cells.cases;
          for (std::size_t i = 0; i < weight.size(); ++i) {
            weight[i] += share * (drawn[i] - cells.cases[i]);
          }
          return fitted->estimate_with_weights(weight);
        };
        const auto up = along(1e-3), down = along(-1e-3);
        for (const int s : {0, 1, 3}) {
          const double slope = (up[s] - down[s]) / 2e-3;
          CHECK(std::fabs(linear[s * 3 + r] - fitted->systems()[s].estimate - slope) < 1e-4);
        }
        CHECK(std::isnan(linear[6 + r]));
      }
    }
  }
}

TEST_CASE("the bootstrap of every estimator does not depend on the number of threads" *
          doctest::test_suite("slow")) {
  const Panel panel = lehner();
  BootstrapOptions how;
  how.replicates = 20;
  how.seed = 42;
  for (const Method method :
       {Method::binned, Method::unbinned, Method::joint, Method::shared, Method::average}) {
    EstimatorOptions options;
    options.method = method;
    const auto fitted = estimator(panel, options);
    for (const Quantity quantity : {Quantity::accuracy, Quantity::counts}) {
      how.threads = 1;
      const auto one = bootstrap(*fitted, quantity, how, Host());
      CHECK(one.size() == how.replicates * count_quantities(*fitted, quantity));
      for (const int threads : {2, 8}) {
        how.threads = threads;
        CHECK(same(bootstrap(*fitted, quantity, how, Host()), one));
      }
    }
  }
}

TEST_CASE("estimators with the weights of the data return the original estimate") {
  const Panel panel({"AABBABABCC", "AABBBAABCC", "AABBABBACB", "AABBABABCA"}, {"AABBAABACC"}, 3);
  for (const Method method : {Method::binned, Method::unbinned, Method::joint, Method::shared}) {
    EstimatorOptions options;
    options.method = method;
    const auto fitted = estimator(panel, options);
    const bool by_algebra = method == Method::binned || method == Method::unbinned;
    CHECK(fitted->identified());
    CHECK(fitted->converged());
    CHECK(fitted->tolerance() == (by_algebra ? rounding_tolerance : iteration_tolerance));
    CHECK(fitted->estimate_with_weights(fitted->cells().cases)[0] ==
          Approx(fitted->systems()[0].estimate).epsilon(1e-6));
    CHECK(fitted->posterior(0).empty() == by_algebra);
    const auto counts = fitted->counts_with_weights(fitted->cells().cases);
    REQUIRE(counts.size() == fitted->n_counts());
    double total = 0;
    for (const double count : counts) total += count;
    CHECK(total == Approx(by_algebra ? 0 : 10));
  }
}

TEST_CASE("the shared and joint methods have replicates that do not depend on threads") {
  Panel panel({"ABCABCABBC", "ABCABCACBA", "ABCBBCABCC"}, {"ABCABBABBC", "..CABCABBA"}, 3);
  EstimatorOptions options;
  options.model.separate_raters = true;
  for (const Method end : {Method::shared, Method::joint}) {
    options.method = end;
    const auto fitted = estimator(panel, options);
    CHECK(fitted->converged());
    CHECK(fitted->identified());
    const auto again = fitted->estimate_with_weights(fitted->cells().cases);
    for (int s = 0; s < 2; ++s) {
      const double estimate = fitted->systems()[s].estimate;
      CHECK(estimate > 0.5);
      CHECK(estimate < 1);
      CHECK(again[s] == Approx(estimate).epsilon(1e-5));
    }
    BootstrapOptions how{30, 1, 9, {}};
    const auto one = bootstrap(*fitted, Quantity::accuracy, how, Host());
    how.threads = 3;
    CHECK(bootstrap(*fitted, Quantity::accuracy, how, Host()) == one);
    CHECK(one[0] != one[1]);
  }
}

TEST_CASE("cases that differ only in their known truth are resampled separately") {
  Panel panel({"ABCABCABBC", "ABCABCACBA", "ABCBBCABCC"}, {"ABCABBABBC"}, 3);
  // Each pattern occurs twice, once with a known truth.
  Patterns twice = panel.patterns;
  const int P = static_cast<int>(twice.start.size()) - 1;
  Known known;
  std::vector<double> weights = panel.weights();
  for (int p = 0; p < P; ++p) {
    known.truth.push_back(0);
    for (int i = panel.patterns.start[p]; i < panel.patterns.start[p + 1]; ++i) {
      twice.rater.push_back(panel.patterns.rater[i]);
      twice.category.push_back(panel.patterns.category[i]);
    }
    twice.start.push_back(static_cast<int>(twice.rater.size()));
    twice.answer.push_back(panel.patterns.answer[p]);
    weights.push_back(weights[p]);
  }
  for (int p = 0; p < P; ++p) known.truth.push_back(1 + p % 3);
  const PatternView view = twice.view(3, 3, 1);
  CHECK_THROWS(canonical_order(view));
  CHECK(canonical_order(view, known.truth).size() == 2u * P);
  EstimatorOptions options;
  options.method = Method::joint;
  const auto fitted = make_estimator({view, weights, known, nullptr}, options, Host());
  const auto run = [&] { return bootstrap(*fitted, Quantity::accuracy, {40, 1, 3, {}}, Host()); };
  const auto one = run();
  CHECK(run() == one);
  for (const double estimate : one) CHECK((estimate > 0.2 && estimate < 1));
}
