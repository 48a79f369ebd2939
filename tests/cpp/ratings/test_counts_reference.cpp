// Counts of ratings and pairs, against plain loops over random patterns with repeated ratings.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "core/base/random.hpp"
#include "core/ratings/constant.hpp"
#include "core/ratings/patterns.hpp"
#include "core/ratings/tallies.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

const int raters = 5, categories = 4, systems = 2;

// Random cases, with repeated ratings and missing answers. Equal cases are one pattern.
struct Drawn {
  Patterns patterns;
  std::vector<double> weight;

  explicit Drawn(std::uint64_t seed) {
    Stream stream(seed, 4);
    PatternBuilder builder(systems);
    const auto category = [&] { return 1 + static_cast<int>(stream.uniform() * categories); };
    for (int i = 0; i < 14; ++i) {
      for (int j = 1; j <= raters; ++j) {
        const double u = stream.uniform();
        if (u < 0.3) continue;
        builder.rate(j, category());
        if (u > 0.8) builder.rate(j, category());
        if (u > 0.9) builder.rate(j, category());
      }
      for (int s = 0; s < systems; ++s) {
        if (stream.uniform() < 0.7) builder.answer(s, category());
      }
      const int pattern = builder.finish_case();
      if (pattern > static_cast<int>(weight.size())) weight.push_back(0);
      weight[pattern - 1] += i == 3 ? 0 : 1 + i % 3;
    }
    patterns = builder.patterns();
  }

  PatternView view() const { return patterns.view(raters, categories, systems); }
};

}  // namespace

TEST_CASE("each rater is compared with all ratings by others") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Drawn drawn(seed);
    const PatternView x = drawn.view();
    const RaterCounts found = rater_counts(x, drawn.weight);
    for (int j = 0; j < raters; ++j) {
      double ratings = 0, pairs = 0, agreeing = 0;
      for (int p = 0; p < x.patterns; ++p) {
        for (const int r : x.positions(p)) {
          if (x.rater[r] != j + 1) continue;
          ratings += drawn.weight[p];
          for (const int q : x.positions(p)) {
            if (x.rater[q] == j + 1) continue;
            pairs += drawn.weight[p];
            agreeing += x.category[q] == x.category[r] ? drawn.weight[p] : 0;
          }
        }
      }
      CHECK(found.ratings[j] == ratings);
      CHECK(found.pairs[j] == pairs);
      CHECK(found.agreeing[j] == agreeing);
    }
  }
}

TEST_CASE("pairs of judges are counted on the cases that both answered") {
  for (std::uint64_t seed = 21; seed <= 40; ++seed) {
    const Drawn drawn(seed);
    const PatternView x = drawn.view();
    const int judge_of[raters] = {2, 1, 0, 2, 3};  // raters 1 and 4 are one judge, 3 is left out
    const PairCounts found = pair_counts(x, drawn.weight, judge_of, 3);
    REQUIRE(found.judges == 5);
    for (int a = 0; a < 5; ++a) {
      for (int b = 0; b < 5; ++b) {
        double pairs = 0, agreeing = 0;
        for (int p = 0; p < x.patterns; ++p) {
          const auto answers = [&](int judge) {
            std::vector<int> out;
            for (const int r : x.positions(p)) {
              if (judge_of[x.rater[r] - 1] == judge + 1) out.push_back(x.category[r]);
            }
            if (judge >= 3 && x.answer_of(p, judge - 3) > 0)
              out.push_back(x.answer_of(p, judge - 3));
            return out;
          };
          for (const int first : answers(a)) {
            for (const int second : answers(b)) {
              if (a == b) continue;
              pairs += drawn.weight[p];
              agreeing += first == second ? drawn.weight[p] : 0;
            }
          }
        }
        CHECK(found.pairs[a * 5 + b] == pairs);
        CHECK(found.agreeing[a * 5 + b] == agreeing);
      }
    }
  }
}

TEST_CASE("tallies have the numbers of each category, pairs and answers of their patterns") {
  for (std::uint64_t seed = 41; seed <= 60; ++seed) {
    const Drawn drawn(seed);
    const PatternView x = drawn.view();
    const Tallies found = make_tallies(x, drawn.weight);
    CHECK(found.categories == categories);
    CHECK(found.systems == systems);
    std::map<int, double> weight;
    std::map<std::tuple<double, double, std::vector<int>, std::vector<int>>, int> distinct;
    for (int p = 0; p < x.patterns; ++p) {
      const int t = found.tally_of_pattern[p];
      weight[t] += drawn.weight[p];
      std::vector<int> count(categories), answers;
      double pairs = 0, agreeing = 0;
      int ratings = 0;
      for (const int r : x.positions(p)) {
        ++count[x.category[r] - 1];
        ++ratings;
        for (const int q : x.positions(p)) {
          if (q >= r || x.rater[q] == x.rater[r]) continue;
          ++pairs;
          agreeing += x.category[q] == x.category[r];
        }
      }
      for (int s = 0; s < systems; ++s) {
        answers.push_back(std::max(x.answer_of(p, s), 0) - 1);
        CHECK(found.answer_of(t, s) == answers.back());
      }
      CHECK(found.ratings[t] == ratings);
      CHECK(found.pairs[t] == pairs);
      CHECK(found.agreeing[t] == agreeing);
      std::vector<int> of_tally(categories);
      int before = -1;
      for (const int at : found.positions(t)) {
        CHECK(found.category[at] > before);
        before = found.category[at];
        of_tally[before] = found.count[at];
        CHECK(found.count[at] > 0);
      }
      CHECK(of_tally == count);
      distinct[{pairs, agreeing, count, answers}] = t;
    }
    CHECK(found.size() == static_cast<int>(distinct.size()));
    for (const auto& of : weight) CHECK(found.weight[of.first] == of.second);
  }
}

TEST_CASE("constant raters gave one category more often than chance explains") {
  for (const int cases : {2, 4, 5, 6, 7, 8, 9, 10, 12, 30}) {
    PatternBuilder builder(0);
    std::vector<double> weight;
    for (int i = 0; i < cases; ++i) {
      builder.rate(1, 1);
      builder.rate(2, 1 + i % 2);
      builder.rate(3, i == 1 ? 2 : 1);
      if (i < 2) builder.rate(4, 2);
      const int pattern = builder.finish_case();
      if (pattern > static_cast<int>(weight.size())) weight.push_back(0);
      weight[pattern - 1] += 1;
    }
    const Patterns patterns = builder.patterns();
    const auto found = constant_raters(patterns.view(5, 2, 0), weight);
    const double n = cases, other = std::floor(n / 2) + 1 + 2, all = 3 * n + 2;
    const double chance = std::pow(1 - other / all, n) + std::pow(other / all, n);
    CHECK(found == std::vector<bool>{chance <= 0.01, false, false, false, false});
  }
}
