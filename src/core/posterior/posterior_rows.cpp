#include "posterior_rows.hpp"

#include <algorithm>

namespace fallible {

PosteriorRows posterior_rows(const PatternView& x, const std::vector<double>& weight,
                             const std::vector<int>& truth, const std::vector<int>& population,
                             bool joined) {
  PosteriorRows out;
  out.categories = x.categories;
  out.systems = joined ? 0 : x.systems;
  out.judges = x.raters + (joined ? x.systems : 0);
  const int skip = 2 + out.systems;
  // Truth, population, answers; then judge and category of each rating.
  const RowGroups groups(x.patterns, [&](int p, std::vector<int>& key) {
    if (weight[p] <= 0) return false;
    key.push_back(truth.empty() ? -1 : std::max(truth[p], 0) - 1);
    key.push_back(population.empty() ? 0 : population[p]);
    for (int s = 0; s < out.systems; ++s) key.push_back(std::max(x.answer_of(p, s), 0) - 1);
    for (const int i : x.places(p)) {
      key.push_back(x.rater[i] - 1);
      key.push_back(x.category[i] - 1);
    }
    for (int s = 0; joined && s < x.systems; ++s) {
      if (x.answer_of(p, s) < 1) continue;
      key.push_back(x.raters + s);
      key.push_back(x.answer_of(p, s) - 1);
    }
    return static_cast<int>(key.size()) > skip || key[0] >= 0;
  });
  for (int i = 0; i < groups.size(); ++i) {
    const int* of = groups.begin(i);
    out.known.push_back(of[0]);
    out.population.push_back(of[1]);
    out.populations = std::max(out.populations, of[1] + 1);
    out.answer.insert(out.answer.end(), of + 2, of + skip);
  }
  out.add_groups(groups, skip, weight);
  return out;
}

}  // namespace fallible
