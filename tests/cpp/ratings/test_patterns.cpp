#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "../panel.hpp"
#include "core/ratings/constant.hpp"
#include "core/ratings/patterns.hpp"
#include "core/ratings/rated_rows.hpp"
#include "core/ratings/tallies.hpp"

using namespace fallible;

TEST_CASE("equal cases share a pattern, and missing ratings are not stored") {
  const Panel panel({"AAB.", "BBB."}, {"AAAB"}, 2);
  CHECK(panel.patterns.index == std::vector<int>{1, 1, 2, 3});
  CHECK(panel.patterns.start == std::vector<int>{0, 2, 4, 4});
  CHECK(panel.patterns.answer == std::vector<int>{1, 1, 2});
}

TEST_CASE("R's missing integer is a missing rating and a missing answer") {
  const int na = std::numeric_limits<int>::min();
  const std::vector<int> r1{1, na}, r2{2, 2}, system{na, 1};
  const Patterns x = patterns_from_wide({r1.data(), r2.data()}, {system.data()}, 2);
  CHECK(x.start == std::vector<int>{0, 2, 3});
  CHECK(x.answer == std::vector<int>{0, 1});
}

TEST_CASE("long data in any order give the patterns of wide data") {
  const std::vector<int> which{3, 1, 2, 1, 3, 2}, rater{2, 1, 2, 2, 1, 1},
      category{2, 1, 2, 1, 2, 1};
  const Patterns x = patterns_from_long(which.data(), rater.data(), category.data(), 6, {}, 4);
  const Panel wide({"AAB.", "ABB."}, {}, 2);
  CHECK(x.index == wide.patterns.index);
  CHECK(x.start == wide.patterns.start);
  CHECK(x.category == wide.patterns.category);
}

TEST_CASE("counts are converted to slots") {
  const std::vector<int> a{2, 0}, b{1, 0};
  const Patterns x = patterns_from_counts({a.data(), b.data()}, {}, 2);
  CHECK(x.rater == std::vector<int>{1, 2, 3});
  CHECK(x.category == std::vector<int>{1, 1, 2});
  CHECK(x.start == std::vector<int>{0, 3, 3});
}

TEST_CASE("a subset without a rater merges patterns") {
  const Panel panel({"AAB", "BBB", "ABA"}, {"AAA"}, 2);
  const std::vector<int> index{1, 2, 3, 1}, keep{1, 2, 0};
  const Patterns x = patterns_subset(panel.view(), index.data(), 4, keep.data());
  CHECK(x.index == std::vector<int>{1, 1, 2, 1});
  CHECK(x.rater == std::vector<int>{1, 2, 1, 2});
}

TEST_CASE("weights add up by pattern") {
  const std::vector<int> index{2, 1, 2};
  const std::vector<double> weight{0.5, 2, 0.25};
  CHECK(pattern_weights(index.data(), weight.data(), 3, 2) == std::vector<double>{2, 0.75});
  CHECK(pattern_weights(index.data(), nullptr, 3, 2) == std::vector<double>{1, 2});
}

TEST_CASE("tallies do not depend on raters or on order") {
  const Panel panel({"ABA", "BAA", "AAB"}, {"AAA"}, 2);
  const Tallies x = panel.tallies();
  CHECK(x.size() == 1);
  CHECK(x.pairs[0] == 3);
  CHECK(x.agreeing[0] == 1);
  CHECK(x.weight[0] == 3);
  CHECK(x.category == std::vector<int>{0, 1});
  CHECK(x.count == std::vector<int>{2, 1});
  CHECK(x.answer == std::vector<int>{0});
  const Panel reversed({"BAA", "AAB", "ABA"}, {"AAA"}, 2);
  CHECK(reversed.tallies().count == x.count);
}

TEST_CASE("patterns with the same key are merged into one row") {
  const std::vector<std::vector<int>> keys{{7, 1, 0}, {7, 0, 2, 1, 1}, {}, {7, 1, 0}};
  const RowGroups groups(4, [&](int p, std::vector<int>& key) {
    key = keys[p];
    return !key.empty();
  });
  CHECK(groups.size() == 2);
  CHECK(groups.group_of_pattern() == std::vector<int>{1, 0, -1, 1});
  CHECK(groups.appearance_rank() == std::vector<int>{1, 0});
  RatedRows rows;
  rows.add_groups(groups, 1, {1, 2, 4, 8});
  CHECK(rows.start == std::vector<int>{0, 2, 3});
  CHECK(rows.judge == std::vector<int>{0, 1, 1});
  CHECK(rows.category == std::vector<int>{2, 1, 0});
  CHECK(rows.weight == std::vector<double>{2, 9});
  CHECK(rows.row_of_pattern == groups.group_of_pattern());
}

TEST_CASE("repeated ratings are ratings, but do not form pairs of raters") {
  // Ratings of one case: A, A, B by rater 1 and A by rater 2.
  const std::vector<int> which{1, 1, 1, 1}, rater{1, 1, 1, 2}, category{1, 1, 2, 1};
  const Patterns x = patterns_from_long(which.data(), rater.data(), category.data(), 4, {}, 1);
  PatternView view;
  view.patterns = 1;
  view.raters = 2;
  view.categories = 2;
  view.start = x.start.data();
  view.rater = x.rater.data();
  view.category = x.category.data();
  const Tallies tallies = make_tallies(view, {1.0});
  CHECK(tallies.ratings[0] == 4);
  CHECK(tallies.pairs[0] == 3);
  CHECK(tallies.agreeing[0] == 2);

  const RaterCounts counts = rater_counts(view, {2.0});
  CHECK(counts.ratings == std::vector<double>{6, 2});
  CHECK(counts.pairs == std::vector<double>{6, 6});
  CHECK(counts.agreeing == std::vector<double>{4, 4});
}

TEST_CASE("too many ratings of one case are an error") {
  const std::vector<int> a{46341};
  const Patterns x = patterns_from_counts({a.data()}, {}, 1);
  PatternView view;
  view.patterns = 1;
  view.raters = 46341;
  view.categories = 1;
  view.start = x.start.data();
  view.rater = x.rater.data();
  view.category = x.category.data();
  CHECK_THROWS_AS(make_tallies(view, {1.0}), std::length_error);
}

TEST_CASE("pairs of raters and systems are counted on common cases") {
  const Panel panel({"AAB", "AB.", ".BB"}, {"AAA"}, 2);
  const std::vector<int> judge{1, 2, 0};
  const PairCounts x = pair_counts(panel.view(), panel.weights(), judge.data(), 2);
  CHECK(x.judges == 3);
  CHECK(x.pairs[0 * 3 + 1] == 2);
  CHECK(x.agreeing[0 * 3 + 1] == 1);
  CHECK(x.pairs[2 * 3 + 0] == 3);
  CHECK(x.agreeing[2 * 3 + 0] == 2);
  CHECK(x.pairs[0] == 0);
}

TEST_CASE("raters are constant if equal answers are improbable for ratings of the panel") {
  const auto who = [](const Panel& panel) {
    return constant_raters(panel.view(), panel.weights());
  };
  // With shares .5 and .5, four equal ratings have probability 2 / 16.
  CHECK(who(Panel({"AAAA", "BBBB", "ABAB"}, {}, 2)) == std::vector<bool>{false, false, false});
  const std::string a(20, 'A'), b(20, 'B');
  // (2/3)^20 + (1/3)^20 is .0003.
  CHECK(who(Panel({a, a, b}, {}, 2)) == std::vector<bool>{true, true, true});
  const Panel panel({"AAABBBABAB", "AAABBBABBB", "AAAAAAAAAA", "AAAABBBBBB", ".........B"}, {}, 2);
  // .56^10 + .44^10 is .0034; a single rating is no evidence.
  CHECK(who(panel) == std::vector<bool>{false, false, true, false, false});
}
