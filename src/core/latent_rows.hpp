// What a latent class model is fitted to: distinct rows of (unit, category) with weights. Units are
// raters and, if it joins them, one system.
#ifndef FALLIBLE_CORE_LATENT_ROWS_HPP
#define FALLIBLE_CORE_LATENT_ROWS_HPP

#include <vector>

#include "patterns.hpp"

namespace fallible {

struct LatentRows {
  int categories = 0;
  int raters = 0;
  int units = 0;  // raters, and one more if a system has joined
  // Ratings of row i: start[i] ... start[i + 1] - 1; all numbered from 0.
  std::vector<int> start{0};
  std::vector<int> unit;
  std::vector<int> category;
  std::vector<int> known;      // true category of the row's cases, -1 where unknown
  std::vector<double> weight;  // total weight of the cases
  // Confusion matrix of each unit, row by row, where it is known; empty where it is not, or if none
  // is.
  std::vector<std::vector<double>> matrix;
  std::vector<int> of_pattern; // row of each pattern; -1 for those that nothing is known of

  int size() const { return static_cast<int>(weight.size()); }
  bool joined() const { return units > raters; }
  bool is_known(int unit) const {
    return unit < static_cast<int>(matrix.size()) && !matrix[unit].empty();
  }
};

// What users know beforehand.
struct Known {
  std::vector<int> truth;  // category of each pattern (from 1; below 1 is unknown), or empty
  std::vector<std::vector<double>> matrix;  // of each rater, see LatentRows, or empty
};

// `system` from 0 joins the raters as their last unit; -1 is none. Rows have an order of their own,
// so that nothing depends on the order of cases.
LatentRows latent_rows(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const Known& known);

// Patterns x categories, from rows x categories; patterns without a row have `otherwise`, or the
// mean over cases.
std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior,
                               const std::vector<double>& otherwise);
std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior);

}  // namespace fallible

#endif
