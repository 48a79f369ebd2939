// What a posterior is drawn from: distinct rows of (judge, category) with whole weights, and what
// systems that take no part in them say.
#pragma once

#include <vector>

#include "../ratings/patterns.hpp"
#include "../ratings/rated_rows.hpp"

namespace fallible {

struct PosteriorRows : RatedRows {
  int populations = 1;
  int systems = 0;
  std::vector<int> known;       // true category of the row's cases, -1 where unknown
  std::vector<int> population;  // from 0
  std::vector<int> answer;      // rows x systems, row by row; -1 where there is none
};

// truth: category of each pattern (from 1; below 1 is unknown), or empty; population: of each
// pattern, from 0, or empty. With `joined` systems are judges behind the raters; otherwise their
// answers stand beside the rows. Rows have an order of their own, so that nothing depends on the
// order of cases.
PosteriorRows posterior_rows(const PatternView& patterns, const std::vector<double>& weight,
                             const std::vector<int>& truth, const std::vector<int>& population,
                             bool joined);

}  // namespace fallible
