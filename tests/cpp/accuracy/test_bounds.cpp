#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "../panel.hpp"
#include "core/accuracy/bounds.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// Two raters and two systems. Both raters agree in all but the last two cases.
const Panel panel({"AAAAAABB", "AAAAAAAA"}, {"AAABBBAB", "AAAB..AB"}, 2);

// Posterior probabilities: patterns x 2. Category A has probability `agreed` if both raters rated
// A, and `split` if they disagree.
std::vector<double> posterior(const PatternView& view, double agreed, double split) {
  std::vector<double> out(2 * view.patterns);
  for (int p = 0; p < view.patterns; ++p) {
    const bool same = view.category[view.start[p]] == view.category[view.start[p] + 1];
    out[p] = same ? agreed : split;
    out[view.patterns + p] = 1 - out[p];
  }
  return out;
}

}  // namespace

TEST_CASE("lower and upper bounds are sums over patterns") {
  const PatternView view = panel.view();
  const auto weight = panel.weights();
  const auto p = posterior(view, 0.9, 0.5);
  const AccuracyBounds bounds(view, {}, weight, p.data(), 1);
  CHECK(bounds.groups() == 2);
  // Ratings AA: six cases, probabilities of the truth .9 .1, shares of the answers .5 .5. Ratings
  // BA: two cases, truth .5 .5, answers .5 .5.
  CHECK(bounds.system(0).highest == Approx((6 * 0.6 + 2 * 1.0) / 8));
  CHECK(bounds.system(0).lowest == Approx((6 * 0.4 + 2 * 0.0) / 8));
  // Cases without an answer of the second system are left out. Four cases with ratings AA remain,
  // answers .75 .25.
  CHECK(bounds.system(1).highest == Approx((4 * 0.85 + 2 * 1.0) / 6));
  // In the cases that both systems answered, they gave the same answers.
  CHECK(bounds.difference(0, 1).lowest == Approx(0));
  CHECK(bounds.difference(0, 1).highest == Approx(0));
}

TEST_CASE("merged patterns count categories by rank, and never narrow the bounds") {
  const PatternView view = panel.view();
  const auto weight = panel.weights();
  const auto p = posterior(view, 0.9, 0.2);
  const AccuracyBounds apart(view, {}, weight, p.data(), 1);
  const AccuracyBounds joined(view, {}, weight, p.data(), 100);
  CHECK(joined.groups() == 1);
  // First rank: mean probability (6 * .9 + 2 * .8) / 8 = .875, share of answers (3 + 1) / 8 = .5.
  CHECK(joined.system(0).highest == Approx(0.625));
  CHECK(joined.system(0).lowest == Approx(0.375));
  CHECK(joined.system(0).highest >= apart.system(0).highest);
  CHECK(joined.system(0).lowest <= apart.system(0).lowest);
}

TEST_CASE("bounds of differences use only cases on which two systems differ") {
  const Panel other({"AAAAAABB", "AAAAAAAA"}, {"AAABBBAB", "ABBAB.BB"}, 2);
  const PatternView view = other.view();
  const auto weight = other.weights();
  const auto p = posterior(view, 0.9, 0.2);
  const AccuracyBounds bounds(view, {}, weight, p.data(), 1);
  // Ratings AA: five cases, expected truths 4.5 A and .5 B. In three cases the answers differ: the
  // systems have 1.5 to 2.5 and .5 to 1.5 right answers.
  // Ratings BA: two cases, expected truths .4 A and 1.6 B. In one case the answers differ: the
  // systems have 0 to .4 and .6 to 1 right answers.
  CHECK(bounds.difference(0, 1).lowest == Approx((0.0 - 1.0) / 7));
  CHECK(bounds.difference(0, 1).highest == Approx((2.0 - 0.2) / 7));
  CHECK(bounds.difference(1, 0).lowest == Approx((-2.0 + 0.2) / 7));
  CHECK(std::isnan(AccuracyBounds(view, std::vector<int>(view.patterns, 0),
                                  std::vector<double>(view.patterns, 0.0), p.data(), 1)
                       .difference(0, 1)
                       .lowest));
}

TEST_CASE("small groups are merged by highest probability until they are large enough") {
  const Panel mixed({"AAAABBCCA", "AABCBBCCC"}, {"ABCCBABCB"}, 3);
  const PatternView view = mixed.view();
  const auto weight = mixed.weights();
  // Ratings AA, BB, CC and AC occur twice, AB once.
  std::vector<double> p(3 * view.patterns);
  for (int i = 0; i < view.patterns; ++i) {
    const int a = view.category[view.start[i]], b = view.category[view.start[i] + 1];
    const double highest = a == b ? (a == 1 ? 0.8 : 0.7) : b == 2 ? 0.5 : 0.4;
    for (int k = 1; k <= 3; ++k) p[(k - 1) * view.patterns + i] = (1 - highest) / 2;
    p[(a - 1) * view.patterns + i] = highest;
  }
  const auto groups = [&](double size) {
    return AccuracyBounds(view, {}, weight, p.data(), size).groups();
  };
  CHECK(groups(1) == 5);
  CHECK(groups(2) == 5);    // AB is the only small group
  CHECK(groups(2.5) == 2);  // AC with AB; BB with CC and AA
  CHECK(groups(4) == 1);    // BB and CC are tied; AA joins them
  CHECK(groups(100) == 1);
  // All nine cases by rank: expected number of cases whose first rank is true, 1.6 + 2.8 + .5 + .8,
  // and number of answers of the first rank.
  const Range range = AccuracyBounds(view, {}, weight, p.data(), 100).system(0);
  double first = 0;
  const std::string ratings = "AAAABBCCA", answers = "ABCCBABCB";
  for (std::size_t i = 0; i < answers.size(); ++i) first += ratings[i] == answers[i];
  const double rest = (9 - first) / 2, truth = 1.6 + 2.8 + 0.5 + 0.8;
  const double later = 2 * std::min(rest, (9 - truth) / 2);
  CHECK(range.highest == Approx((std::min(first, truth) + later) / 9));
  CHECK(range.lowest == Approx(std::max(0.0, first + truth - 9) / 9));
}

TEST_CASE("if all truths are known, the bounds equal the accuracy") {
  const PatternView view = panel.view();
  const auto weight = panel.weights();
  std::vector<double> p(2 * view.patterns, 0.0);
  std::vector<int> truth(view.patterns, 1);
  for (int i = 0; i < view.patterns; ++i) p[i] = 1;
  const AccuracyBounds bounds(view, truth, weight, p.data(), 1);
  CHECK(bounds.system(0).lowest == Approx(0.5));
  CHECK(bounds.system(0).highest == Approx(0.5));
}

TEST_CASE("a system without a case has no range") {
  const Panel silent({"AB", "AA"}, {".."}, 2);
  const PatternView view = silent.view();
  const auto weight = silent.weights();
  const std::vector<double> p(2 * view.patterns, 0.5);
  CHECK(std::isnan(AccuracyBounds(view, {}, weight, p.data(), 1).system(0).lowest));
}

TEST_CASE("categories whose probabilities differ only by rounding have the same rank") {
  const Panel one({"AAAA"}, {"AAAA"}, 2);
  const auto highest = [&](double more) {
    const std::vector<double> p{0.5 + more / 2, 0.5 - more / 2};
    return AccuracyBounds(one.view(), {}, one.weights(), p.data(), 100).system(0).highest;
  };
  CHECK(highest(0) == Approx(1));  // tied: answers may have the first or the second rank
  CHECK(highest(5e-10) == Approx(1));
  CHECK(highest(1e-8) == Approx(0.5));  // all answers have the first rank
}
