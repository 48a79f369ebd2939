#include "shared.hpp"

#include <algorithm>

#include "../base/host.hpp"
#include "../base/matrix.hpp"
#include "../base/rows.hpp"

namespace fallible {

namespace {

// The share of equal answers that is expected by chance is computed from pairs of wrong answers to
// different cases with the same true category. A true category is left out if the total weight of
// these pairs is at most this limit.
constexpr double least_pair_weight = 0.5;

// All answers, sorted by cell and within a cell by judge. A cell is a group of cases with the same
// pattern and the same truth (shared.hpp).
struct Answers {
  // Cell, judge and category of each answer.
  std::vector<int> cell, judge, category;
  // `cell_positions`: for each cell, where its answers are in the vectors above.
  // `judge_positions`: for each judge, where the judge's answers are in `answers_by_judge`.
  Ragged cell_positions, judge_positions;
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
      cell_positions.end_row(judge.size());
    }
    judge_positions = Ragged(count);
    answers_by_judge.resize(judge.size());
    std::vector<int> next(judge_positions.start);
    for (int a = 0; a < static_cast<int>(judge.size()); ++a) answers_by_judge[next[judge[a]]++] = a;
  }
};

// Two answers to the same cell, by different judges: their positions in the list of all answers.
struct AnswerPair {
  int first, second;
};

// Answers of two judges to the same cell, which has a known truth. At least one of the two answers
// is wrong.
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

  void add_to(std::vector<WrongAnswers>& wrong_answers, SharedPair& pair) {
    std::stable_sort(
        wrong_answers.begin(), wrong_answers.end(),
        [](const WrongAnswers& a, const WrongAnswers& b) { return a.truth < b.truth; });
    double equal_wrong = 0, compared_wrong = 0, compared_equal = 0, equal_by_chance = 0;
    for (auto truth_begin = wrong_answers.begin(); truth_begin != wrong_answers.end();) {
      const auto truth_end = std::find_if(
          truth_begin, wrong_answers.end(),
          [&](const WrongAnswers& answers) { return answers.truth != truth_begin->truth; });
      const TruthSums sums = sums_for_truth(truth_begin, truth_end);
      pair.both_wrong += sums.both_wrong;
      equal_wrong += sums.equal;
      if (sums.both_wrong > 0 && sums.pairs > least_pair_weight) {
        compared_wrong += sums.both_wrong;
        compared_equal += sums.equal;
        equal_by_chance += sums.both_wrong * sums.expected;
      }
      truth_begin = truth_end;
    }
    if (pair.both_wrong > 0) pair.coinciding = equal_wrong / pair.both_wrong;
    if (compared_wrong > 0) {
      pair.expected = equal_by_chance / compared_wrong;
      pair.surplus = compared_equal / compared_wrong - pair.expected;
    }
  }

 private:
  using Place = std::vector<WrongAnswers>::const_iterator;
  // Sums for one true category.
  //   both_wrong: weight of the cases that both judges answered wrongly.
  //   equal: weight of the cases in which both gave the same wrong answer.
  //   pairs: weight of all pairs of wrong answers by the two judges to different cases.
  //   expected: share of these pairs with equal answers.
  struct TruthSums {
    double both_wrong = 0, equal = 0, pairs = 0, expected = 0;
  };

  TruthSums sums_for_truth(Place from, Place to) {
    TruthSums sums;
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
        sums.both_wrong += answers->weight;
        if (answers->first == answers->second) sums.equal += answers->weight;
      }
    }
    // Adds the product of the two weights of each category. The first weight is then set to 0,
    // because the loop may reach the category again.
    for (Place answers = from; answers != to; ++answers) {
      products += first_weight_[answers->first] * second_weight_[answers->first];
      first_weight_[answers->first] = 0;
    }
    for (Place answers = from; answers != to; ++answers) second_weight_[answers->second] = 0;
    // Weight of pairs of wrong answers to different cases.
    sums.pairs = first_wrong * second_wrong - sums.both_wrong;
    sums.expected = (products - sums.equal) / sums.pairs;
    return sums;
  }

  // Weight of the wrong answers of both judges by category; all zero between calls.
  std::vector<double> first_weight_, second_weight_;
};

class PairFinder {
 public:
  PairFinder(const PatternView& x, const std::vector<Cell>& cells)
      : cells_(cells), answers_(x, cells), equal_errors_(x.categories) {}

  int judges() const { return answers_.judge_positions.rows(); }

  // Appends the comparison of `judge` with each later judge who has common cells.
  void append_pairs(int judge, std::vector<SharedPair>& pairs) {
    common_answers_.clear();
    for (const int position : answers_.judge_positions.positions(judge)) {
      const int a = answers_.answers_by_judge[position];
      const int last = answers_.cell_positions.start[answers_.cell[a] + 1];
      for (int b = a + 1; b < last; ++b) common_answers_.push_back({a, b});
      count_steps(1 + (last - a) / 64);
    }
    const auto later_judge = [this](const AnswerPair& answers) {
      return answers_.judge[answers.second];
    };
    std::stable_sort(
        common_answers_.begin(), common_answers_.end(),
        [&](const AnswerPair& a, const AnswerPair& b) { return later_judge(a) < later_judge(b); });
    for (auto from = common_answers_.cbegin(); from != common_answers_.cend();) {
      const int second_judge = later_judge(*from);
      const auto to = std::find_if(from, common_answers_.cend(), [&](const AnswerPair& answers) {
        return later_judge(answers) != second_judge;
      });
      pairs.push_back(compare(judge, second_judge, from, to));
      from = to;
    }
  }

 private:
  using Place = std::vector<AnswerPair>::const_iterator;

  SharedPair compare(int first_judge, int second_judge, Place from, Place to) {
    SharedPair pair;
    pair.first = first_judge;
    pair.second = second_judge;
    wrong_answers_.clear();
    for (; from != to; ++from) {
      const Cell& cell = cells_[answers_.cell[from->first]];
      const int first_answer = answers_.category[from->first],
                second_answer = answers_.category[from->second];
      pair.n += cell.weight;
      if (first_answer == second_answer) pair.agreeing += cell.weight;
      if (cell.truth < 1) continue;
      pair.known += cell.weight;
      if (first_answer == cell.truth) pair.first_right += cell.weight;
      if (second_answer == cell.truth) pair.second_right += cell.weight;
      if (first_answer == cell.truth && second_answer == cell.truth) {
        pair.both_right += cell.weight;
      } else {
        wrong_answers_.push_back({cell.truth, first_answer, second_answer, cell.weight});
      }
    }
    equal_errors_.add_to(wrong_answers_, pair);
    return pair;
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
  std::vector<SharedPair> pairs;
  for_each_item(finder.judges(), 1, host,
                [&](std::size_t judge) { finder.append_pairs(static_cast<int>(judge), pairs); });
  return pairs;
}

constexpr double rounding_error = 1e-9;  // rounding error of sums of products

std::vector<int> nearer_answers(const PatternView& x, int system, const double* closeness) {
  std::vector<int> comparison(x.start[x.patterns], 0);
  std::vector<int> n_ratings(x.categories + 1, 0), sign(x.categories + 1, 0), rated_categories;
  const auto closeness_of = [&](int a, int b) {
    return ConstSquare(closeness, x.categories)[b - 1][a - 1];
  };
  for (int p = 0; p < x.patterns; ++p) {
    const int answer = x.answer_of(p, system);
    if (answer < 1) continue;
    rated_categories.clear();
    for (const int position : x.positions(p)) {
      if (n_ratings[x.category[position]]++ == 0) rated_categories.push_back(x.category[position]);
    }
    for (const int category : rated_categories) {
      double closeness_difference = 0;
      for (const int other_category : rated_categories) {
        closeness_difference +=
            (n_ratings[other_category] - (other_category == category)) *
            (closeness_of(answer, other_category) - closeness_of(category, other_category));
      }
      sign[category] =
          (closeness_difference > rounding_error) - (closeness_difference < -rounding_error);
    }
    for (const int position : x.positions(p)) comparison[position] = sign[x.category[position]];
    for (const int category : rated_categories) n_ratings[category] = 0;
    count_steps(1 + static_cast<unsigned>(rated_categories.size() * rated_categories.size() / 64));
  }
  return comparison;
}

}  // namespace fallible
