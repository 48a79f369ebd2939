// What a latent class model is fitted to: distinct rows of (judge, category) with weights. Judges
// are raters and, if it joins them, one system.
#pragma once

#include <vector>

#include "../ratings/patterns.hpp"
#include "../ratings/rated_rows.hpp"

namespace fallible {

struct LatentRows : RatedRows {
  int raters = 0;          // fewer than judges if a system has joined
  std::vector<int> known;  // true category of the row's cases, -1 where unknown
  // Confusion matrix of each judge, row by row, where it is known; empty where it is not, or if
  // none is.
  std::vector<std::vector<double>> matrix;

  // Truths x ratings of each judge in a calibration sample elsewhere, likewise; a part of what a
  // pooled prior knows of rows of matrices.
  std::vector<std::vector<double>> before;

  // How many ratings each row has in common with the beginning of the row before it; or empty, if
  // nobody has looked.
  std::vector<int> shared;
  int longest_shared = 0;

  void find_shared();
  int shared_by(int row) const { return shared.empty() ? 0 : shared[row]; }

  // Shares of the raters' votes that each category of a row has, or what is known.
  std::vector<double> votes(int row) const;
  // Adds what a posterior of truth says of a row's cases to numbers of cases in each class, and of
  // each rating in each class.
  void add_expected(int row, const double* posterior, int classes, double* of_classes,
                    double* of_ratings) const;

  bool joined() const { return judges > raters; }
  bool is_known(int one) const {
    return one < static_cast<int>(matrix.size()) && !matrix[one].empty();
  }
  bool has_before(int one) const {
    return one < static_cast<int>(before.size()) && !before[one].empty();
  }
};

// What users know beforehand.
struct Known {
  std::vector<int> truth;  // category of each pattern (from 1; below 1 is unknown), or empty
  std::vector<std::vector<double>> matrix = {};  // of each rater, see LatentRows, or empty
  std::vector<std::vector<double>> before = {};  // likewise
};

// `system` from 0 joins the raters as their last judge; -1 is none. Rows have an order of their
// own, so that nothing depends on the order of cases.
LatentRows latent_rows(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const Known& known);

// To a model in which raters have the same parameters, rows are the same that have the same
// ratings, whoever gave them.
struct ExchangeableRows {
  LatentRows rows;          // with all raters as one, whose ratings may be several in a row
  std::vector<int> of_row;  // place of each row among them

  // Rows x categories, of the rows as they were.
  std::vector<double> by_row(const std::vector<double>& posterior) const;
  // Other weights of the rows as they were.
  void weigh(const std::vector<double>& weight);
};

ExchangeableRows regardless_of_rater(const LatentRows& rows);

// Patterns x categories, from rows x categories; patterns without a row have `otherwise`, or the
// mean over cases.
std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior,
                               const std::vector<double>& otherwise);
std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior);

}  // namespace fallible
