#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

#include "../panel.hpp"
#include "core/agreement/agreement.hpp"

using namespace fallible;

namespace {

Selection all_of(const Panel& panel, bool exchangeable, int least = 1) {
  const PatternView view = panel.view();
  Selection out;
  for (int j = 1; j <= view.raters; ++j) out.rater.push_back(j);
  out.system.assign(view.systems, 0);
  out.judges = view.raters;
  for (int k = 1; k <= view.categories; ++k) out.category.push_back(k);
  out.categories = view.categories;
  out.exchangeable = exchangeable;
  out.least_judges = least;
  return out;
}

KernelOptions nominal(const std::string& name, int k) {
  KernelOptions out;
  out.name = name;
  out.scale.assign(static_cast<std::size_t>(k) * k, 0.0);
  for (int a = 0; a < k; ++a) out.scale[static_cast<std::size_t>(a) * k + a] = 1;
  return out;
}

const char* many[] = {"percent_agreement", "chance_kappa",       "fleiss_kappa",
                      "gwet_ac",           "krippendorff_alpha", "krippendorff_alpha_ordinal",
                      "conger_kappa",      "light_kappa"};
const char* of_two_raters[] = {"bangdiwala_b", "yule_y", "information_agreement",
                               "information_agreement_plain"};

}  // namespace

TEST_CASE("rows do not depend on the order of raters and cases, if the measure does not") {
  const Panel one({"AABC.", "ABBC.", "CBAC."}, {}, 3), two({".CABC", ".CBBA", ".CBAA"}, {}, 3);
  const RatedRows x = select_rows(one.view(), one.weights(), all_of(one, true));
  const RatedRows y = select_rows(two.view(), two.weights(), all_of(two, true));
  CHECK(x.start == y.start);
  CHECK(x.category == y.category);
  CHECK(x.row_of_pattern.back() == -1);  // no rater rated this pattern
  CHECK(select_rows(one.view(), one.weights(), all_of(one, false)).size() == 4);
}

TEST_CASE("systems can be judges, and categories can be merged") {
  const Panel panel({"AABC", "ABBC"}, {"AAAA"}, 3);
  Selection selection = all_of(panel, false, 2);
  selection.rater = {1, 0};
  selection.system = {2};
  selection.category = {1, 2, 2};
  selection.categories = 2;
  const RatedRows x = select_rows(panel.view(), panel.weights(), selection);
  CHECK(x.judges == 2);
  CHECK(x.size() == 2);  // twice A with A, and twice B or C with A
  CHECK(x.weight == std::vector<double>{2, 2});
  CHECK(x.category == std::vector<int>{0, 0, 1, 0});
}

TEST_CASE("cases with too few judges are left out") {
  const Panel panel({"A.BC", "ABB."}, {}, 3);
  CHECK(select_rows(panel.view(), panel.weights(), all_of(panel, false, 2)).size() == 2);
  CHECK(select_rows(panel.view(), panel.weights(), all_of(panel, false, 1)).size() == 4);
}

TEST_CASE("influences sum to zero, and are close to the change if a case is left out") {
  const Panel panel({"AABCABCCABBCAABC", "AABBABCCCBBCAACC", "AABCACCCABACBABC"}, {}, 3);
  for (const char* name : many) {
    CAPTURE(name);
    const RatedRows rows = select_rows(panel.view(), panel.weights(), all_of(panel, false, 2));
    const auto kernel = make_kernel(rows, nominal(name, 3));
    const auto slope = kernel->influence(rows.weight);
    const auto jack = jackknife_influence(*kernel, rows.weight, Host());
    const double sum = std::inner_product(slope.begin(), slope.end(), rows.weight.begin(), 0.0);
    CHECK(std::fabs(sum) < 1e-12);
    REQUIRE(jack.size() == slope.size());
    for (std::size_t i = 0; i < slope.size(); ++i) {
      CHECK(jack[i] == doctest::Approx(slope[i]).epsilon(0.25).scale(0.02));
    }
  }
}

TEST_CASE("measures of two raters have influences too") {
  const Panel panel({"AABBABBAABBAAABA", "AABBABABABBAABBA"}, {}, 2);
  for (const char* name : of_two_raters) {
    CAPTURE(name);
    const RatedRows rows = select_rows(panel.view(), panel.weights(), all_of(panel, false, 2));
    const auto kernel = make_kernel(rows, nominal(name, 2));
    const auto slope = kernel->influence(rows.weight);
    const double h = 1e-6;
    for (std::size_t i = 0; i < slope.size(); ++i) {
      auto up = rows.weight, down = rows.weight;
      up[i] += h;
      down[i] -= h;
      const double change = (kernel->estimate(up).value - kernel->estimate(down).value) / (2 * h);
      CHECK(slope[i] == doctest::Approx(change).epsilon(1e-6));
    }
  }
}

TEST_CASE("undefined values are NaN, with the reason") {
  const Panel alone({"A.", ".B"}, {}, 2), same({"AA", "AA"}, {}, 2);
  const auto ask = [](const Panel& panel, const char* measure, int least) {
    const RatedRows rows = select_rows(panel.view(), panel.weights(), all_of(panel, false, least));
    return make_kernel(rows, nominal(measure, 2))->estimate(rows.weight);
  };
  CHECK(ask(alone, "fleiss_kappa", 1).reason == Undefined::no_pairs);
  CHECK(ask(alone, "bangdiwala_b", 2).reason == Undefined::no_pairs);
  CHECK(ask(alone, "light_kappa", 2).reason == Undefined::unshared);
  CHECK(ask(same, "conger_kappa", 1).reason == Undefined::certain);
  CHECK(ask(same, "krippendorff_alpha", 2).reason == Undefined::certain);
  CHECK(ask(same, "yule_y", 2).reason == Undefined::zero_cells);
  CHECK(ask(same, "information_agreement_plain", 2).reason == Undefined::no_entropy);
  CHECK(ask(same, "information_agreement", 2).value == 0.5);
  CHECK(std::isnan(ask(same, "conger_kappa", 1).value));
  CHECK_THROWS_AS(ask(same, "kappa", 1), std::invalid_argument);
}

TEST_CASE("a jackknife is missing if the measure is undefined without one of the cases") {
  const Panel panel({"AAAB", "AAAB"}, {}, 2);  // without the last case, only one category is left
  const RatedRows rows = select_rows(panel.view(), panel.weights(), all_of(panel, true));
  const auto kernel = make_kernel(rows, nominal("fleiss_kappa", 2));
  CHECK(jackknife_influence(*kernel, rows.weight, Host()).empty());
}

TEST_CASE("replicates do not depend on threads") {
  const Panel panel({"AABCABCCABBC", "AABBABCCCBBC", "AABCACCCABAC"}, {}, 3);
  const RatedRows rows = select_rows(panel.view(), panel.weights(), all_of(panel, true));
  const auto kernel = make_kernel(rows, nominal("fleiss_kappa", 3));
  BootstrapOptions options;
  options.replicates = 64;
  options.seed = 7;
  const auto one = bootstrap_kernel(rows, *kernel, options, Host());
  options.threads = 4;
  CHECK(bootstrap_kernel(rows, *kernel, options, Host()) == one);
  Stream stream(7, 3);
  const auto count = Resampler(rows.weight, {}, {}).draw(stream);
  CHECK(kernel->estimate(count).value == one[3]);
  CHECK(std::accumulate(count.begin(), count.end(), 0.0) == 12);
}
