// Pairs of judges, and nearer answers, compared with results computed by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "../panel.hpp"
#include "core/agreement/shared.hpp"

using namespace fallible;
using doctest::Approx;

TEST_CASE("counts of pairs equal a count by hand") {
  const Panel panel({"AABB..", "ABAB..", "....CC"}, {"AAAB.."}, 3);
  const auto view = panel.view();
  std::vector<Cell> cells;
  const std::vector<int> truth{1, 1, 1, 2, 0, 0};  // the last two are unknown
  for (int i = 0; i < 6; ++i) cells.push_back({panel.patterns.index[i] - 1, truth[i], 1});
  const auto pairs = shared_pairs(view, cells, Host());
  REQUIRE(pairs.size() == 3);  // the third rater has no common case with others
  const SharedPair& raters = pairs[0];
  CHECK(raters.first == 0);
  CHECK(raters.second == 1);
  CHECK(raters.n == 4);
  CHECK(raters.known == 4);
  CHECK(raters.agreeing == 2);
  CHECK(raters.both_right == 2);  // the first and the last case
  CHECK(raters.first_right == 3);
  CHECK(raters.second_right == 3);
  CHECK(raters.both_wrong == 0);
  CHECK(std::isnan(raters.coinciding));
  CHECK(pairs[1].second == 3);
  CHECK(pairs[2].first == 1);
  CHECK(pairs[2].agreeing == 3);
}

TEST_CASE("wrong answers coincide more or less often than by chance") {
  const Panel panel({"BBCA", "BCCB"}, {}, 3);
  const auto view = panel.view();
  std::vector<Cell> cells;
  for (int p = 0; p < view.patterns; ++p) cells.push_back({p, 1, 1});
  const auto pairs = shared_pairs(view, cells, Host());
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].both_wrong == 3);
  CHECK(pairs[0].coinciding == Approx(2. / 3));
  // Wrong answers: b twice and c once; b twice and c twice. There are 12 pairs of them, 3 of the
  // same case. Of the 6 pairs with equal answers, 2 are of the same case.
  CHECK(pairs[0].expected == Approx(4. / 9));
  CHECK(pairs[0].surplus == Approx(2. / 3 - 4. / 9));
}

TEST_CASE("cells with weight zero are ignored, and a cancelled computation throws") {
  const Panel panel({"AB", "AB"}, {}, 2);
  CHECK(shared_pairs(panel.view(), {{0, 1, 0}, {1, 1, 0}}, Host()).empty());
  const Watch unwanted([] { return false; });
  const std::vector<Cell> many(1000, {0, 1, 1});
  CHECK_THROWS_AS(shared_pairs(panel.view(), many, Host()), Interrupted);
}

TEST_CASE("the nearer answer is returned for each rating") {
  const Panel panel({"AAB", "ABA", "AB."}, {"AB."}, 2);
  const std::vector<double> same{1, 0, 0, 1};
  const auto view = panel.view();
  const auto sign = nearer_answers(view, 0, same.data());
  std::vector<int> expected(view.start[view.patterns], 0);
  for (int p = 0; p < view.patterns; ++p) {
    for (const int r : view.positions(p)) {
      // Ratings a, b, b and answer b: the first rating is farther from the other ratings than the
      // answer.
      if (view.answer_of(p, 0) == 2 && view.category[r] == 1) expected[r] = 1;
    }
  }
  CHECK(sign == expected);
  // Ratings a, a, a and answer b: each rating is nearer to the other ratings than the answer.
  const Panel farther({"A", "A", "A"}, {"B"}, 2);
  CHECK(nearer_answers(farther.view(), 0, same.data()) == std::vector<int>{-1, -1, -1});
}
