#include "tallies.hpp"

#include <algorithm>
#include <stdexcept>

#include "rated_rows.hpp"

namespace fallible {

namespace {

int count_pairs(int n) { return n * (n - 1) / 2; }

// Writes the key of pattern p. A key contains the number of pairs of ratings, the number of
// agreeing pairs, the system answers, and then (category, number of ratings) for each category that
// a rater chose. Two ratings of a case by the same rater are repetitions, which do not count as a
// pair.
void write_tally_key(const PatternView& x, int p, std::vector<int>& sorted_categories,
                     std::vector<int>& key) {
  const int begin = x.start[p];
  const int end = x.start[p + 1];
  if (end - begin > max_ratings_per_case) {
    throw std::length_error("a case has more than 46340 ratings; use fewer ratings of this case");
  }
  int pairs = count_pairs(end - begin);
  int agreeing = 0;
  for_each_run(
      begin, end, x.rater, [&](int from, int to) {  // ratings of a pattern are sorted by rater
        pairs -= count_pairs(to - from);
        for_each_run(from, to, x.category, [&](int a, int b) { agreeing -= count_pairs(b - a); });
      });
  key.assign(2, 0);
  for (int s = 0; s < x.systems; ++s) key.push_back(std::max(x.answer_of(p, s), 0) - 1);
  sorted_categories.assign(x.category + begin, x.category + end);
  std::sort(sorted_categories.begin(), sorted_categories.end());
  for_each_run(0, end - begin, sorted_categories, [&](int from, int to) {
    agreeing += count_pairs(to - from);
    key.insert(key.end(), {sorted_categories[from] - 1, to - from});
  });
  key[0] = pairs;
  key[1] = agreeing;
}

}  // namespace

Tallies make_tallies(const PatternView& patterns, const std::vector<double>& weight) {
  std::vector<int> sorted_categories;
  const RowGroups groups(patterns.patterns, [&](int p, std::vector<int>& key) {
    write_tally_key(patterns, p, sorted_categories, key);
    return true;
  });
  Tallies tallies;
  tallies.categories = patterns.categories;
  tallies.systems = patterns.systems;
  for (int i = 0; i < groups.size(); ++i) {
    const int* row = groups.begin(i);
    const int* first_count = row + 2 + patterns.systems;
    tallies.pairs.push_back(row[0]);
    tallies.agreeing.push_back(row[1]);
    tallies.answer.insert(tallies.answer.end(), row + 2, first_count);
    int ratings = 0;
    for (const int* entry = first_count; entry != groups.end(i); entry += 2) {
      tallies.category.push_back(entry[0]);
      tallies.count.push_back(entry[1]);
      ratings += entry[1];
    }
    tallies.ratings.push_back(ratings);
    tallies.end_row(tallies.category.size());
  }
  tallies.tally_of_pattern = groups.group_of_pattern();
  tallies.weight = row_weights(tallies.tally_of_pattern, weight, groups.size());
  return tallies;
}

PairCounts pair_counts(const PatternView& x, const std::vector<double>& weight, const int* judge_of,
                       int judges) {
  PairCounts counts;
  counts.judges = judges + x.systems;
  const std::size_t n_judges = counts.judges;
  counts.pairs.assign(n_judges * n_judges, 0.0);
  counts.agreeing.assign(n_judges * n_judges, 0.0);
  struct Answer {
    std::size_t judge;
    int category;
  };
  std::vector<Answer> answers;
  for (int p = 0; p < x.patterns; ++p) {
    if (weight[p] == 0) continue;
    answers.clear();
    for (const int position : x.positions(p)) {
      const int judge = judge_of[x.rater[position] - 1];
      if (judge >= 1)
        answers.push_back({static_cast<std::size_t>(judge) - 1, x.category[position]});
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
        counts.pairs[ab] += weight[p];
        counts.pairs[ba] += weight[p];
        counts.agreeing[ab] += agreeing_weight;
        counts.agreeing[ba] += agreeing_weight;
      }
    }
  }
  return counts;
}

RaterCounts rater_counts(const PatternView& x, const std::vector<double>& weight) {
  RaterCounts counts;
  counts.ratings.assign(x.raters, 0.0);
  counts.pairs.assign(x.raters, 0.0);
  counts.agreeing.assign(x.raters, 0.0);
  std::vector<int> category_count(x.categories + 1, 0);
  for (int p = 0; p < x.patterns; ++p) {
    const int begin = x.start[p], end = x.start[p + 1];
    for (int position = begin; position < end; ++position) ++category_count[x.category[position]];
    for_each_run(begin, end, x.rater, [&](int from, int to) {
      // Subtracts the ratings by this rater, so that `category_count` contains only ratings by
      // others.
      for (int position = from; position < to; ++position) --category_count[x.category[position]];
      const int rater = x.rater[from] - 1;
      for (int position = from; position < to; ++position) {
        counts.ratings[rater] += weight[p];
        counts.pairs[rater] += weight[p] * (end - begin - (to - from));
        counts.agreeing[rater] += weight[p] * category_count[x.category[position]];
      }
      for (int position = from; position < to; ++position) ++category_count[x.category[position]];
    });
    for (int position = begin; position < end; ++position) --category_count[x.category[position]];
  }
  return counts;
}

}  // namespace fallible
