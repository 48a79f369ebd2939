// Comparisons of pairs of judges, and of answers with other ratings, against plain loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../panel.hpp"
#include "core/agreement/agreement.hpp"
#include "core/agreement/shared.hpp"
#include "core/base/random.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

const int categories = 4, raters = 4, systems = 2;

struct Drawn {
  Panel panel;
  std::vector<Cell> cells;

  explicit Drawn(std::uint64_t seed, int cases = 24)
      : panel(draw(seed, raters, cases), draw(seed + 1000, systems, cases), categories) {
    Stream stream(seed, 9);
    const auto weight = panel.weights();
    for (int p = 0; p < panel.view().patterns; ++p) {
      const double u = stream.uniform();
      const int truth = u < 0.3 ? 0 : 1 + static_cast<int>(stream.uniform() * 2);
      cells.push_back({p, truth, u > 0.95 ? 0 : weight[p] * (u < 0.6 ? 1 : 2)});
    }
  }

 private:
  static std::vector<std::string> draw(std::uint64_t seed, int columns, int cases) {
    Stream stream(seed, 1);
    std::vector<std::string> out(columns);
    for (auto& text : out) {
      for (int i = 0; i < cases; ++i) {
        const int answer = static_cast<int>(stream.uniform() * categories);
        text += stream.uniform() < 0.2 ? '.' : static_cast<char>('A' + answer);
      }
    }
    return out;
  }
};

int answer_of(const PatternView& x, int p, int judge) {
  if (judge >= raters) return std::max(x.answer_of(p, judge - raters), 0);
  for (const int r : x.positions(p)) {
    if (x.rater[r] == judge + 1) return x.category[r];
  }
  return 0;
}

void check_equal(double found, double expected) {
  if (std::isnan(expected)) {
    CHECK(std::isnan(found));
  } else {
    CHECK(found == Approx(expected).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("counts of pairs of judges equal plain loops") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Drawn drawn(seed, seed < 15 ? 24 : 5);
    const PatternView x = drawn.panel.view();
    const auto found = shared_pairs(x, drawn.cells, Host());
    std::size_t at = 0;
    for (int a = 0; a < raters + systems; ++a) {
      for (int b = a + 1; b < raters + systems; ++b) {
        SharedPair expected;
        double equal = 0, wrong_used = 0, equal_used = 0, by_chance = 0;
        for (int truth = 0; truth <= categories; ++truth) {
          double pairs = 0, same = 0, both = 0, same_case = 0;
          for (const Cell& one : drawn.cells) {
            const int y = answer_of(x, one.pattern, a), z = answer_of(x, one.pattern, b);
            if (one.truth != truth) continue;
            if (y > 0 && z > 0) {
              expected.n += one.weight;
              expected.agreeing += y == z ? one.weight : 0;
            }
            if (truth == 0 || y == 0 || z == 0) continue;
            expected.known += one.weight;
            expected.first_right += y == truth ? one.weight : 0;
            expected.second_right += z == truth ? one.weight : 0;
            expected.both_right += y == truth && z == truth ? one.weight : 0;
            if (y != truth && z != truth) {
              both += one.weight;
              same_case += y == z ? one.weight : 0;
            }
            // Pairs of a wrong answer of the first judge and a wrong answer of the second to
            // another case.
            for (const Cell& other : drawn.cells) {
              const int v = answer_of(x, other.pattern, a), w = answer_of(x, other.pattern, b);
              if (other.truth != truth || v == 0 || w == 0) continue;
              if (y == truth || w == truth) continue;
              pairs += one.weight * other.weight;
              same += y == w ? one.weight * other.weight : 0;
            }
          }
          expected.both_wrong += both;
          equal += same_case;
          if (both > 0 && pairs - both > 0.5) {
            wrong_used += both;
            equal_used += same_case;
            by_chance += both * (same - same_case) / (pairs - both);
          }
        }
        if (expected.n == 0) continue;
        REQUIRE(at < found.size());
        const SharedPair& pair = found[at++];
        CHECK(pair.first == a);
        CHECK(pair.second == b);
        CHECK(pair.n == expected.n);
        CHECK(pair.agreeing == expected.agreeing);
        CHECK(pair.known == expected.known);
        CHECK(pair.both_right == expected.both_right);
        CHECK(pair.first_right == expected.first_right);
        CHECK(pair.second_right == expected.second_right);
        CHECK(pair.both_wrong == expected.both_wrong);
        check_equal(pair.coinciding,
                    expected.both_wrong > 0 ? equal / expected.both_wrong : std::nan(""));
        check_equal(pair.expected, wrong_used > 0 ? by_chance / wrong_used : std::nan(""));
        check_equal(pair.surplus,
                    wrong_used > 0 ? (equal_used - by_chance) / wrong_used : std::nan(""));
        ++compared;
      }
    }
    CHECK(at == found.size());
  }
  CHECK(compared > 200);
}

TEST_CASE("signs of nearer answers equal plain loops") {
  const std::vector<double> closeness{1,   0.4, 0.1, 0,   0.4, 1,   0.5, 0.1,
                                      0.1, 0.5, 1,   0.4, 0,   0.1, 0.4, 1};
  for (std::uint64_t seed = 31; seed <= 40; ++seed) {
    const Drawn drawn(seed);
    const PatternView x = drawn.panel.view();
    for (int s = 0; s < systems; ++s) {
      const auto found = nearer_answers(x, s, closeness.data());
      REQUIRE(static_cast<int>(found.size()) == x.start[x.patterns]);
      for (int p = 0; p < x.patterns; ++p) {
        const int answer = x.answer_of(p, s);
        for (const int r : x.positions(p)) {
          double nearer = 0;
          for (const int q : x.positions(p)) {
            if (q == r || answer < 1) continue;
            nearer += closeness[(x.category[q] - 1) * 4 + answer - 1] -
                      closeness[(x.category[q] - 1) * 4 + x.category[r] - 1];
          }
          CHECK(found[r] == (std::fabs(nearer) < 1e-9 ? 0 : nearer > 0 ? 1 : -1));
        }
      }
    }
  }
}

TEST_CASE("selected rows have the answers of the chosen judges") {
  for (std::uint64_t seed = 51; seed <= 55; ++seed) {
    const Drawn drawn(seed);
    const PatternView x = drawn.panel.view();
    Selection chosen{{2, 0, 1, 2}, {0, 3}, 3, {1, 2, 2, 3}, 3, false, 2};
    const auto weight = drawn.panel.weights();
    for (const bool exchangeable : {false, true}) {
      chosen.exchangeable = exchangeable;
      const RatedRows rows = select_rows(x, weight, chosen);
      std::vector<double> of_row(rows.size());
      for (int p = 0; p < x.patterns; ++p) {
        std::vector<std::pair<int, int>> expected;
        std::vector<int> judges, categories_of;
        for (int j = 0; j < raters + systems; ++j) {
          const int judge = j < raters ? chosen.rater[j] : chosen.system[j - raters];
          const int answer = answer_of(x, p, j);
          if (judge == 0 || answer == 0) continue;
          expected.emplace_back(judge - 1, chosen.category[answer - 1] - 1);
          judges.push_back(judge);
          categories_of.push_back(expected.back().second);
        }
        std::sort(expected.begin(), expected.end());
        std::sort(judges.begin(), judges.end());
        const auto different = std::unique(judges.begin(), judges.end()) - judges.begin();
        const int row = rows.row_of_pattern[p];
        CHECK((row >= 0) == (different >= 2));
        if (row < 0) continue;
        of_row[row] += weight[p];
        std::vector<std::pair<int, int>> found;
        for (const int r : rows.positions(row)) {
          found.emplace_back(rows.judge[r], rows.category[r]);
        }
        if (exchangeable && different == static_cast<int>(expected.size())) {
          // Slot numbers instead of judges, in the order of the categories.
          std::sort(categories_of.begin(), categories_of.end());
          for (std::size_t i = 0; i < expected.size(); ++i) {
            expected[i] = {static_cast<int>(i), categories_of[i]};
          }
        }
        CHECK(found == expected);
      }
      CHECK(rows.weight == of_row);
    }
  }
}
