#include "tallies.hpp"

#include <algorithm>
#include <stdexcept>

#include "rated_rows.hpp"

namespace fallible {

namespace {

int count_pairs(int n) { return n * (n - 1) / 2; }

// Writes the key of pattern p: number of pairs of ratings, number of agreeing pairs, system
// answers, then (category, number of ratings) for each category that occurs. Two ratings of a case
// by the same rater are repetitions. They do not count as a pair.
void write_tally_key(const PatternView& x, int p, std::vector<int>& sorted, std::vector<int>& key) {
  const int begin = x.start[p];
  const int end = x.start[p + 1];
  if (end - begin > max_ratings_per_case) {
    throw std::length_error("a case has more than 46340 ratings; use fewer ratings of this case");
  }
  int pairs = count_pairs(end - begin);
  int agreeing = 0;
  for_each_run(begin, end, x.rater, [&](int i, int j) {  // ratings of a pattern are sorted by rater
    pairs -= count_pairs(j - i);
    for_each_run(i, j, x.category, [&](int a, int b) { agreeing -= count_pairs(b - a); });
  });
  key.assign(2, 0);
  for (int s = 0; s < x.systems; ++s) key.push_back(std::max(x.answer_of(p, s), 0) - 1);
  sorted.assign(x.category + begin, x.category + end);
  std::sort(sorted.begin(), sorted.end());
  for_each_run(0, end - begin, sorted, [&](int i, int j) {
    agreeing += count_pairs(j - i);
    key.insert(key.end(), {sorted[i] - 1, j - i});
  });
  key[0] = pairs;
  key[1] = agreeing;
}

}  // namespace

Tallies make_tallies(const PatternView& patterns, const std::vector<double>& weight) {
  std::vector<int> sorted;
  const RowGroups groups(patterns.patterns, [&](int p, std::vector<int>& key) {
    write_tally_key(patterns, p, sorted, key);
    return true;
  });
  Tallies out;
  out.categories = patterns.categories;
  out.systems = patterns.systems;
  for (int i = 0; i < groups.size(); ++i) {
    const int* row = groups.begin(i);
    const int* counts = row + 2 + patterns.systems;
    out.pairs.push_back(row[0]);
    out.agreeing.push_back(row[1]);
    out.answer.insert(out.answer.end(), row + 2, counts);
    int ratings = 0;
    for (const int* at = counts; at != groups.end(i); at += 2) {
      out.category.push_back(at[0]);
      out.count.push_back(at[1]);
      ratings += at[1];
    }
    out.ratings.push_back(ratings);
    out.end_row(out.category.size());
  }
  out.of_pattern = groups.of_pattern();
  out.weight = row_weights(out.of_pattern, weight, groups.size());
  return out;
}

PairCounts pair_counts(const PatternView& x, const std::vector<double>& weight, const int* judge_of,
                       int judges) {
  PairCounts out;
  out.judges = judges + x.systems;
  const std::size_t n_judges = out.judges;
  out.pairs.assign(n_judges * n_judges, 0.0);
  out.agreeing.assign(n_judges * n_judges, 0.0);
  struct Answer {
    std::size_t judge;
    int category;
  };
  std::vector<Answer> answers;
  for (int p = 0; p < x.patterns; ++p) {
    if (weight[p] == 0) continue;
    answers.clear();
    for (const int r : x.positions(p)) {
      const int judge = judge_of[x.rater[r] - 1];
      if (judge >= 1) answers.push_back({static_cast<std::size_t>(judge) - 1, x.category[r]});
    }
    for (int s = 0; s < x.systems; ++s) {
      const int answer = x.answer_of(p, s);
      if (answer >= 1) answers.push_back({static_cast<std::size_t>(judges) + s, answer});
    }
    for (std::size_t a = 0; a < answers.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (answers[a].judge == answers[b].judge) continue;
        const std::size_t ab = answers[a].judge * n_judges + answers[b].judge;
        const std::size_t ba = answers[b].judge * n_judges + answers[a].judge;
        const double agreeing_weight = answers[a].category == answers[b].category ? weight[p] : 0;
        out.pairs[ab] += weight[p];
        out.pairs[ba] += weight[p];
        out.agreeing[ab] += agreeing_weight;
        out.agreeing[ba] += agreeing_weight;
      }
    }
  }
  return out;
}

RaterCounts rater_counts(const PatternView& x, const std::vector<double>& weight) {
  RaterCounts out;
  out.ratings.assign(x.raters, 0.0);
  out.pairs.assign(x.raters, 0.0);
  out.agreeing.assign(x.raters, 0.0);
  std::vector<int> category_count(x.categories + 1, 0);
  for (int p = 0; p < x.patterns; ++p) {
    const int begin = x.start[p], end = x.start[p + 1];
    for (int r = begin; r < end; ++r) ++category_count[x.category[r]];
    for_each_run(begin, end, x.rater, [&](int i, int j) {
      // Counts only ratings by other raters.
      for (int r = i; r < j; ++r) --category_count[x.category[r]];
      const int rater = x.rater[i] - 1;
      for (int r = i; r < j; ++r) {
        out.ratings[rater] += weight[p];
        out.pairs[rater] += weight[p] * (end - begin - (j - i));
        out.agreeing[rater] += weight[p] * category_count[x.category[r]];
      }
      for (int r = i; r < j; ++r) ++category_count[x.category[r]];
    });
    for (int r = begin; r < end; ++r) --category_count[x.category[r]];
  }
  return out;
}

}  // namespace fallible
