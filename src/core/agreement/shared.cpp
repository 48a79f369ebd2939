#include "shared.hpp"

#include <algorithm>

#include "../base/host.hpp"
#include "../base/rows.hpp"

namespace fallible {

namespace {

constexpr double half_a_case = 0.5;

// All answers in one list, sorted by cell and within a cell by judge. `of_cell` contains the
// positions of each cell's answers. `of_judge` contains the positions of each judge in `place`.
struct Answers {
  std::vector<int> cell, judge, category;
  Ragged of_cell, of_judge;
  std::vector<int> place;  // positions of the answers in the list, sorted by judge

  Answers(const PatternView& x, const std::vector<Cell>& cells) {
    std::vector<int> count(x.raters + x.systems, 0);
    const auto add = [&](int i, int who, int what) {
      cell.push_back(i);
      judge.push_back(who);
      category.push_back(what);
      ++count[who];
    };
    for (int i = 0; i < static_cast<int>(cells.size()); ++i) {
      if (cells[i].weight > 0) {
        const int p = cells[i].pattern;
        count_steps(1);
        for (const int r : x.positions(p)) add(i, x.rater[r] - 1, x.category[r]);
        for (int s = 0; s < x.systems; ++s) {
          if (x.answer_of(p, s) >= 1) add(i, x.raters + s, x.answer_of(p, s));
        }
      }
      of_cell.end_row(judge.size());
    }
    of_judge = Ragged(count);
    place.resize(judge.size());
    std::vector<int> next(of_judge.start);
    for (int a = 0; a < static_cast<int>(judge.size()); ++a) place[next[judge[a]]++] = a;
  }
};

// Positions of the answers of two judges to the same cell.
struct Meeting {
  int one, two;
};

// Answers of two judges to cases with known truth, at least one of them wrong.
struct Miss {
  int truth, one, two;
  double weight;
  bool both() const { return one != truth && two != truth; }
};

// Computes, for two judges and cases that both answered wrongly, how often their answers are equal.
// Compares this share with the share expected if wrong answers are independent given the truth.
class Coincidence {
 public:
  explicit Coincidence(int categories) : one_(categories + 1), two_(categories + 1) {}

  void judge(std::vector<Miss>& misses, SharedPair& out) {
    std::stable_sort(misses.begin(), misses.end(),
                     [](const Miss& a, const Miss& b) { return a.truth < b.truth; });
    double equal = 0, met = 0, equal_of_used = 0, by_chance = 0;
    for (auto from = misses.begin(); from != misses.end();) {
      const auto to = std::find_if(from, misses.end(),
                                   [&](const Miss& miss) { return miss.truth != from->truth; });
      const Truth here = of_truth(from, to);
      out.both_wrong += here.met;
      equal += here.equal;
      if (here.met > 0 && here.pairs > half_a_case) {
        met += here.met;
        equal_of_used += here.equal;
        by_chance += here.met * here.expected;
      }
      from = to;
    }
    if (out.both_wrong > 0) out.coinciding = equal / out.both_wrong;
    if (met > 0) {
      out.expected = by_chance / met;
      out.surplus = equal_of_used / met - out.expected;
    }
  }

 private:
  using Place = std::vector<Miss>::const_iterator;
  struct Truth {
    double met = 0, equal = 0, pairs = 0, expected = 0;
  };

  Truth of_truth(Place from, Place to) {
    Truth out;
    double one = 0, two = 0, same = 0;
    for (Place miss = from; miss != to; ++miss) {
      if (miss->one != miss->truth) {
        one_[miss->one] += miss->weight;
        one += miss->weight;
      }
      if (miss->two != miss->truth) {
        two_[miss->two] += miss->weight;
        two += miss->weight;
      }
      if (miss->both()) {
        out.met += miss->weight;
        if (miss->one == miss->two) out.equal += miss->weight;
      }
    }
    // Counts each wrong answer of the first judge once, then clears it.
    for (Place miss = from; miss != to; ++miss) {
      same += one_[miss->one] * two_[miss->one];
      one_[miss->one] = 0;
    }
    for (Place miss = from; miss != to; ++miss) two_[miss->two] = 0;
    // Weight of pairs of wrong answers to different cases.
    out.pairs = one * two - out.met;
    out.expected = (same - out.equal) / out.pairs;
    return out;
  }

  // Weight of the wrong answers of both judges by category; all zero between calls.
  std::vector<double> one_, two_;
};

class PairFinder {
 public:
  PairFinder(const PatternView& x, const std::vector<Cell>& cells)
      : cells_(cells), answers_(x, cells), coincidence_(x.categories) {}

  int judges() const { return answers_.of_judge.rows(); }

  // Appends the comparison of judge `one` with each later judge who has common cells.
  void pairs_of(int one, std::vector<SharedPair>& out) {
    meetings_.clear();
    for (const int at : answers_.of_judge.positions(one)) {
      const int a = answers_.place[at];
      const int last = answers_.of_cell.start[answers_.cell[a] + 1];
      for (int b = a + 1; b < last; ++b) meetings_.push_back({a, b});
      count_steps(1 + (last - a) / 64);
    }
    const auto other = [this](const Meeting& at) { return answers_.judge[at.two]; };
    std::stable_sort(meetings_.begin(), meetings_.end(),
                     [&](const Meeting& a, const Meeting& b) { return other(a) < other(b); });
    for (auto from = meetings_.cbegin(); from != meetings_.cend();) {
      const int two = other(*from);
      const auto to =
          std::find_if(from, meetings_.cend(), [&](const Meeting& at) { return other(at) != two; });
      out.push_back(compare(one, two, from, to));
      from = to;
    }
  }

 private:
  using Place = std::vector<Meeting>::const_iterator;

  SharedPair compare(int one, int two, Place from, Place to) {
    SharedPair out;
    out.one = one;
    out.two = two;
    misses_.clear();
    for (; from != to; ++from) {
      const Cell& cell = cells_[answers_.cell[from->one]];
      const int a = answers_.category[from->one], b = answers_.category[from->two];
      out.n += cell.weight;
      if (a == b) out.agreeing += cell.weight;
      if (cell.truth < 1) continue;
      out.known += cell.weight;
      if (a == cell.truth) out.one_right += cell.weight;
      if (b == cell.truth) out.two_right += cell.weight;
      if (a == cell.truth && b == cell.truth) {
        out.both_right += cell.weight;
      } else {
        misses_.push_back({cell.truth, a, b, cell.weight});
      }
    }
    coincidence_.judge(misses_, out);
    return out;
  }

  const std::vector<Cell>& cells_;
  const Answers answers_;
  Coincidence coincidence_;
  std::vector<Meeting> meetings_;
  std::vector<Miss> misses_;
};

}  // namespace

std::vector<SharedPair> shared_pairs(const PatternView& patterns, const std::vector<Cell>& cells,
                                     const Host& host) {
  PairFinder finder(patterns, cells);
  std::vector<SharedPair> out;
  for_each_item(finder.judges(), 1, host,
                [&](std::size_t one) { finder.pairs_of(static_cast<int>(one), out); });
  return out;
}

constexpr double tie = 1e-9;  // rounding error of sums of products

std::vector<int> nearer_answers(const PatternView& x, int system, const double* closeness) {
  std::vector<int> out(x.start[x.patterns], 0);
  std::vector<int> count(x.categories + 1, 0), sign(x.categories + 1, 0), given;
  const auto close = [&](int a, int b) {
    return closeness[static_cast<std::size_t>(b - 1) * x.categories + a - 1];
  };
  for (int p = 0; p < x.patterns; ++p) {
    const int answer = x.answer_of(p, system);
    if (answer < 1) continue;
    given.clear();
    for (const int r : x.positions(p)) {
      if (count[x.category[r]]++ == 0) given.push_back(x.category[r]);
    }
    for (const int own : given) {
      double lead = 0;
      for (const int other : given) {
        lead += (count[other] - (other == own)) * (close(answer, other) - close(own, other));
      }
      sign[own] = (lead > tie) - (lead < -tie);
    }
    for (const int r : x.positions(p)) out[r] = sign[x.category[r]];
    for (const int one : given) count[one] = 0;
    count_steps(1 + static_cast<unsigned>(given.size() * given.size() / 64));
  }
  return out;
}

}  // namespace fallible
