#include "shared.hpp"

#include <algorithm>

#include "../base/host.hpp"
#include "../base/rows.hpp"

namespace fallible {

namespace {

constexpr double least_pair_weight = 0.5;

// All answers in one list, sorted by cell and within a cell by judge. `of_cell` contains the
// positions of each cell's answers. `of_judge` contains the positions of each judge in
// `answers_by_judge`.
struct Answers {
  std::vector<int> cell, judge, category;
  Ragged of_cell, of_judge;
  std::vector<int> answers_by_judge;  // positions of the answers in the list, sorted by judge

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
    answers_by_judge.resize(judge.size());
    std::vector<int> next(of_judge.start);
    for (int a = 0; a < static_cast<int>(judge.size()); ++a) answers_by_judge[next[judge[a]]++] = a;
  }
};

// Positions, in the list of all answers, of the answers of two judges to the same cases.
struct CommonAnswers {
  int one, two;
};

// Answers of two judges to cases with known truth, at least one of them wrong.
struct WrongAnswers {
  int truth, one, two;
  double weight;
  bool both() const { return one != truth && two != truth; }
};

// Computes, for two judges and cases that both answered wrongly, how often their answers are equal.
// Compares this share with the share expected if wrong answers are independent given the truth.
class EqualErrors {
 public:
  explicit EqualErrors(int categories) : one_(categories + 1), two_(categories + 1) {}

  void add_to(std::vector<WrongAnswers>& wrong_answers, SharedPair& out) {
    std::stable_sort(
        wrong_answers.begin(), wrong_answers.end(),
        [](const WrongAnswers& a, const WrongAnswers& b) { return a.truth < b.truth; });
    double equal = 0, both_wrong = 0, equal_used = 0, by_chance = 0;
    for (auto from = wrong_answers.begin(); from != wrong_answers.end();) {
      const auto to = std::find_if(from, wrong_answers.end(), [&](const WrongAnswers& answers) {
        return answers.truth != from->truth;
      });
      const Truth here = of_truth(from, to);
      out.both_wrong += here.both_wrong;
      equal += here.equal;
      if (here.both_wrong > 0 && here.pairs > least_pair_weight) {
        both_wrong += here.both_wrong;
        equal_used += here.equal;
        by_chance += here.both_wrong * here.expected;
      }
      from = to;
    }
    if (out.both_wrong > 0) out.coinciding = equal / out.both_wrong;
    if (both_wrong > 0) {
      out.expected = by_chance / both_wrong;
      out.surplus = equal_used / both_wrong - out.expected;
    }
  }

 private:
  using Place = std::vector<WrongAnswers>::const_iterator;
  struct Truth {
    double both_wrong = 0, equal = 0, pairs = 0, expected = 0;
  };

  Truth of_truth(Place from, Place to) {
    Truth out;
    double one = 0, two = 0, same = 0;
    for (Place answers = from; answers != to; ++answers) {
      if (answers->one != answers->truth) {
        one_[answers->one] += answers->weight;
        one += answers->weight;
      }
      if (answers->two != answers->truth) {
        two_[answers->two] += answers->weight;
        two += answers->weight;
      }
      if (answers->both()) {
        out.both_wrong += answers->weight;
        if (answers->one == answers->two) out.equal += answers->weight;
      }
    }
    // Counts each wrong answer of the first judge once, then clears it.
    for (Place answers = from; answers != to; ++answers) {
      same += one_[answers->one] * two_[answers->one];
      one_[answers->one] = 0;
    }
    for (Place answers = from; answers != to; ++answers) two_[answers->two] = 0;
    // Weight of pairs of wrong answers to different cases.
    out.pairs = one * two - out.both_wrong;
    out.expected = (same - out.equal) / out.pairs;
    return out;
  }

  // Weight of the wrong answers of both judges by category; all zero between calls.
  std::vector<double> one_, two_;
};

class PairFinder {
 public:
  PairFinder(const PatternView& x, const std::vector<Cell>& cells)
      : cells_(cells), answers_(x, cells), equal_errors_(x.categories) {}

  int judges() const { return answers_.of_judge.rows(); }

  // Appends the comparison of judge `one` with each later judge who has common cells.
  void pairs_of(int one, std::vector<SharedPair>& out) {
    common_answers_.clear();
    for (const int at : answers_.of_judge.positions(one)) {
      const int a = answers_.answers_by_judge[at];
      const int last = answers_.of_cell.start[answers_.cell[a] + 1];
      for (int b = a + 1; b < last; ++b) common_answers_.push_back({a, b});
      count_steps(1 + (last - a) / 64);
    }
    const auto other = [this](const CommonAnswers& at) { return answers_.judge[at.two]; };
    std::stable_sort(
        common_answers_.begin(), common_answers_.end(),
        [&](const CommonAnswers& a, const CommonAnswers& b) { return other(a) < other(b); });
    for (auto from = common_answers_.cbegin(); from != common_answers_.cend();) {
      const int two = other(*from);
      const auto to = std::find_if(from, common_answers_.cend(),
                                   [&](const CommonAnswers& at) { return other(at) != two; });
      out.push_back(compare(one, two, from, to));
      from = to;
    }
  }

 private:
  using Place = std::vector<CommonAnswers>::const_iterator;

  SharedPair compare(int one, int two, Place from, Place to) {
    SharedPair out;
    out.one = one;
    out.two = two;
    wrong_answers_.clear();
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
        wrong_answers_.push_back({cell.truth, a, b, cell.weight});
      }
    }
    equal_errors_.add_to(wrong_answers_, out);
    return out;
  }

  const std::vector<Cell>& cells_;
  const Answers answers_;
  EqualErrors equal_errors_;
  std::vector<CommonAnswers> common_answers_;
  std::vector<WrongAnswers> wrong_answers_;
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
      double closeness_difference = 0;
      for (const int other : given) {
        closeness_difference +=
            (count[other] - (other == own)) * (close(answer, other) - close(own, other));
      }
      sign[own] = (closeness_difference > tie) - (closeness_difference < -tie);
    }
    for (const int r : x.positions(p)) out[r] = sign[x.category[r]];
    for (const int one : given) count[one] = 0;
    count_steps(1 + static_cast<unsigned>(given.size() * given.size() / 64));
  }
  return out;
}

}  // namespace fallible
