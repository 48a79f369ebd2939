#include "shared.hpp"

#include <algorithm>

#include "../base/host.hpp"
#include "../base/matrix.hpp"
#include "../base/rows.hpp"

namespace fallible {

namespace {

// The share of equal answers expected by chance is computed from pairs of wrong answers to
// different cases. True categories with at most this weight of pairs are left out of the
// comparison.
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
    const auto add = [&](int i, int j, int answer) {
      cell.push_back(i);
      judge.push_back(j);
      category.push_back(answer);
      ++count[j];
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

// Two answers to the same cell, by different judges: their positions in the list of all answers.
struct AnswerPair {
  int first, second;
};

// Two answers to the same cell, whose truth is known, by different judges. At least one answer is
// wrong.
struct WrongAnswers {
  int truth, first, second;
  double weight;
  bool both() const { return first != truth && second != truth; }
};

// Computes, for two judges and cases that both answered wrongly, how often their answers are equal.
// Compares this share with the share expected if wrong answers are independent given the truth.
class EqualErrors {
 public:
  explicit EqualErrors(int categories)
      : first_weight_(categories + 1), second_weight_(categories + 1) {}

  void add_to(std::vector<WrongAnswers>& wrong_answers, SharedPair& out) {
    std::stable_sort(
        wrong_answers.begin(), wrong_answers.end(),
        [](const WrongAnswers& a, const WrongAnswers& b) { return a.truth < b.truth; });
    double equal = 0, compared_wrong = 0, compared_equal = 0, by_chance = 0;
    for (auto from = wrong_answers.begin(); from != wrong_answers.end();) {
      const auto to = std::find_if(from, wrong_answers.end(), [&](const WrongAnswers& answers) {
        return answers.truth != from->truth;
      });
      const TruthSums sums = sums_for_truth(from, to);
      out.both_wrong += sums.both_wrong;
      equal += sums.equal;
      if (sums.both_wrong > 0 && sums.pairs > least_pair_weight) {
        compared_wrong += sums.both_wrong;
        compared_equal += sums.equal;
        by_chance += sums.both_wrong * sums.expected;
      }
      from = to;
    }
    if (out.both_wrong > 0) out.coinciding = equal / out.both_wrong;
    if (compared_wrong > 0) {
      out.expected = by_chance / compared_wrong;
      out.surplus = compared_equal / compared_wrong - out.expected;
    }
  }

 private:
  using Place = std::vector<WrongAnswers>::const_iterator;
  // Weights for one true category: cases that both answered wrongly, and cases among them with
  // equal answers. `pairs`: weight of pairs of wrong answers to different cases. `expected`: share
  // of these pairs with equal answers.
  struct TruthSums {
    double both_wrong = 0, equal = 0, pairs = 0, expected = 0;
  };

  TruthSums sums_for_truth(Place from, Place to) {
    TruthSums out;
    double first_wrong = 0, second_wrong = 0, products = 0;
    for (Place answers = from; answers != to; ++answers) {
      if (answers->first != answers->truth) {
        first_weight_[answers->first] += answers->weight;
        first_wrong += answers->weight;
      }
      if (answers->second != answers->truth) {
        second_weight_[answers->second] += answers->weight;
        second_wrong += answers->weight;
      }
      if (answers->both()) {
        out.both_wrong += answers->weight;
        if (answers->first == answers->second) out.equal += answers->weight;
      }
    }
    // Each wrong category of the first judge is counted once, because its weight is then set to 0.
    for (Place answers = from; answers != to; ++answers) {
      products += first_weight_[answers->first] * second_weight_[answers->first];
      first_weight_[answers->first] = 0;
    }
    for (Place answers = from; answers != to; ++answers) second_weight_[answers->second] = 0;
    // Weight of pairs of wrong answers to different cases.
    out.pairs = first_wrong * second_wrong - out.both_wrong;
    out.expected = (products - out.equal) / out.pairs;
    return out;
  }

  // Weight of the wrong answers of both judges by category; all zero between calls.
  std::vector<double> first_weight_, second_weight_;
};

class PairFinder {
 public:
  PairFinder(const PatternView& x, const std::vector<Cell>& cells)
      : cells_(cells), answers_(x, cells), equal_errors_(x.categories) {}

  int judges() const { return answers_.of_judge.rows(); }

  // Appends the comparison of `judge` with each later judge who has common cells.
  void append_pairs(int judge, std::vector<SharedPair>& out) {
    common_answers_.clear();
    for (const int at : answers_.of_judge.positions(judge)) {
      const int a = answers_.answers_by_judge[at];
      const int last = answers_.of_cell.start[answers_.cell[a] + 1];
      for (int b = a + 1; b < last; ++b) common_answers_.push_back({a, b});
      count_steps(1 + (last - a) / 64);
    }
    const auto later_judge = [this](const AnswerPair& at) { return answers_.judge[at.second]; };
    std::stable_sort(
        common_answers_.begin(), common_answers_.end(),
        [&](const AnswerPair& a, const AnswerPair& b) { return later_judge(a) < later_judge(b); });
    for (auto from = common_answers_.cbegin(); from != common_answers_.cend();) {
      const int second_judge = later_judge(*from);
      const auto to = std::find_if(from, common_answers_.cend(), [&](const AnswerPair& at) {
        return later_judge(at) != second_judge;
      });
      out.push_back(compare(judge, second_judge, from, to));
      from = to;
    }
  }

 private:
  using Place = std::vector<AnswerPair>::const_iterator;

  SharedPair compare(int first_judge, int second_judge, Place from, Place to) {
    SharedPair out;
    out.first = first_judge;
    out.second = second_judge;
    wrong_answers_.clear();
    for (; from != to; ++from) {
      const Cell& cell = cells_[answers_.cell[from->first]];
      const int a = answers_.category[from->first], b = answers_.category[from->second];
      out.n += cell.weight;
      if (a == b) out.agreeing += cell.weight;
      if (cell.truth < 1) continue;
      out.known += cell.weight;
      if (a == cell.truth) out.first_right += cell.weight;
      if (b == cell.truth) out.second_right += cell.weight;
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
  std::vector<AnswerPair> common_answers_;
  std::vector<WrongAnswers> wrong_answers_;
};

}  // namespace

std::vector<SharedPair> shared_pairs(const PatternView& patterns, const std::vector<Cell>& cells,
                                     const Host& host) {
  PairFinder finder(patterns, cells);
  std::vector<SharedPair> out;
  for_each_item(finder.judges(), 1, host,
                [&](std::size_t judge) { finder.append_pairs(static_cast<int>(judge), out); });
  return out;
}

constexpr double rounding_error = 1e-9;  // rounding error of sums of products

std::vector<int> nearer_answers(const PatternView& x, int system, const double* closeness) {
  std::vector<int> out(x.start[x.patterns], 0);
  std::vector<int> count(x.categories + 1, 0), sign(x.categories + 1, 0), rated_categories;
  const auto closeness_of = [&](int a, int b) {
    return ConstSquare(closeness, x.categories)[b - 1][a - 1];
  };
  for (int p = 0; p < x.patterns; ++p) {
    const int answer = x.answer_of(p, system);
    if (answer < 1) continue;
    rated_categories.clear();
    for (const int r : x.positions(p)) {
      if (count[x.category[r]]++ == 0) rated_categories.push_back(x.category[r]);
    }
    for (const int category : rated_categories) {
      double closeness_difference = 0;
      for (const int other_category : rated_categories) {
        closeness_difference +=
            (count[other_category] - (other_category == category)) *
            (closeness_of(answer, other_category) - closeness_of(category, other_category));
      }
      sign[category] =
          (closeness_difference > rounding_error) - (closeness_difference < -rounding_error);
    }
    for (const int r : x.positions(p)) out[r] = sign[x.category[r]];
    for (const int category : rated_categories) count[category] = 0;
    count_steps(1 + static_cast<unsigned>(rated_categories.size() * rated_categories.size() / 64));
  }
  return out;
}

}  // namespace fallible
