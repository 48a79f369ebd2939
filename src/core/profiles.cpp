#include "profiles.hpp"

#include <algorithm>
#include <stdexcept>

namespace fallible {

namespace {

constexpr int max_ratings_per_case = 46340;  // whose pairs an integer can count

int choose2(int n) { return n * (n - 1) / 2; }

// Key of one pattern: pairs, agreeing pairs, answers, then (category, count) for each category.
// Two ratings of one case by one rater are repeats; they are not a pair of raters.
void profile_key(const PatternView& x, int p, std::vector<int>& sorted, std::vector<int>& key) {
  const int begin = x.start[p];
  const int end = x.start[p + 1];
  if (end - begin > max_ratings_per_case) {
    throw std::length_error("more than 46340 ratings of one case");
  }
  int pairs = choose2(end - begin);
  int agreeing = 0;
  for (int i = begin; i < end;) {  // runs of one rater; entries are sorted by rater
    int j = i;
    while (j < end && x.rater[j] == x.rater[i]) ++j;
    pairs -= choose2(j - i);
    for (int a = i; a < j;) {  // and of one category within the rater
      int b = a;
      while (b < j && x.category[b] == x.category[a]) ++b;
      agreeing -= choose2(b - a);
      a = b;
    }
    i = j;
  }
  key.assign(2, 0);
  for (int s = 0; s < x.systems; ++s) key.push_back(std::max(x.answer_of(p, s), 0) - 1);
  sorted.assign(x.category + begin, x.category + end);
  std::sort(sorted.begin(), sorted.end());
  for (auto i = sorted.begin(); i != sorted.end();) {
    const auto j = std::upper_bound(i, sorted.end(), *i);
    const int count = static_cast<int>(j - i);
    agreeing += choose2(count);
    key.push_back(*i - 1);
    key.push_back(count);
    i = j;
  }
  key[0] = pairs;
  key[1] = agreeing;
}

}  // namespace

Profiles make_profiles(const PatternView& patterns, const std::vector<double>& weight) {
  RowSet keys;
  std::vector<int> found(patterns.patterns);
  std::vector<int> sorted, key;
  for (int p = 0; p < patterns.patterns; ++p) {
    profile_key(patterns, p, sorted, key);
    found[p] = keys.insert(key.data(), key.size());
  }
  const std::vector<int> order = keys.sorted();

  Profiles out;
  out.categories = patterns.categories;
  out.systems = patterns.systems;
  out.weight.assign(keys.size(), 0.0);
  std::vector<int> rank(keys.size());
  for (int i = 0; i < keys.size(); ++i) {
    rank[order[i]] = i;
    const int* row = keys.row(order[i]);
    const int* end = row + keys.length(order[i]);
    out.pairs.push_back(row[0]);
    out.agreeing.push_back(row[1]);
    out.answer.insert(out.answer.end(), row + 2, row + 2 + patterns.systems);
    int ratings = 0;
    for (const int* at = row + 2 + patterns.systems; at != end; at += 2) {
      out.category.push_back(at[0]);
      out.count.push_back(at[1]);
      ratings += at[1];
    }
    out.ratings.push_back(ratings);
    out.start.push_back(static_cast<int>(out.category.size()));
  }
  out.of_pattern.resize(patterns.patterns);
  for (int p = 0; p < patterns.patterns; ++p) {
    out.of_pattern[p] = rank[found[p]];
    out.weight[out.of_pattern[p]] += weight[p];
  }
  return out;
}

}  // namespace fallible
