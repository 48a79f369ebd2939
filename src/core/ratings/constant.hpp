// Raters who always give the same answer.
#pragma once

#include <vector>

#include "patterns.hpp"

namespace fallible {

// Which raters (from 0) give only one category, although as many ratings drawn at random from those
// of the panel would all be equal with a probability of at most .01. The ratings of such a rater
// are equally probable whatever the truth, so they carry no information about it. `cases` is the
// number of cases of each pattern.
std::vector<bool> constant_raters(const PatternView& patterns, const std::vector<double>& cases);

}  // namespace fallible
