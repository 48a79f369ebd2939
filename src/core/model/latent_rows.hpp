// What a latent class model is fitted to: distinct rows of (judge, category) with weights. Judges
// are raters and, if it joins them, one system.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "../ratings/patterns.hpp"
#include "../ratings/rated_rows.hpp"

namespace fallible {

// Base rates may depend on covariates. Cases with the same covariates are a population.
struct Populations {
  std::vector<int> of_pattern;  // population of each pattern, from 0; empty if there is only one
  Eigen::MatrixXd design;       // populations x columns, without an intercept
  // Coefficients of the unscaled covariates are `report` times those of `design`, intercept first.
  Eigen::MatrixXd report;

  int size() const { return std::max(1, static_cast<int>(design.rows())); }
  // Of the intercept and of the columns.
  int coefficients() const { return 1 + static_cast<int>(design.cols()); }
  double value(int population, int coefficient) const {
    return coefficient == 0 ? 1 : design(population, coefficient - 1);
  }
  int of(int pattern) const { return of_pattern.empty() ? 0 : of_pattern[pattern]; }
};

struct LatentRows : RatedRows {
  int raters = 0;          // fewer than judges if a system has joined
  std::vector<int> known;  // true category of the row's cases, -1 where unknown
  // Confusion matrix of each judge, row by row, where it is known; empty where it is not, or if
  // none is.
  std::vector<std::vector<double>> matrix;

  // Truths x ratings of each judge in a calibration sample elsewhere, likewise; a part of what a
  // pooled prior knows of rows of matrices.
  std::vector<std::vector<double>> before;

  Populations populations;
  std::vector<int> population;  // of each row; empty if there is only one

  // Judges who abstained on each row; empty if abstentions are not modelled.
  Ragged abstentions;
  std::vector<int> abstained;

  // How many ratings each row has in common with the beginning of the row before it; or empty, if
  // nobody has looked.
  std::vector<int> shared;
  int longest_shared = 0;

  void add_groups_of(const RowGroups& groups, const std::vector<double>& pattern_weight);
  void find_shared();
  int population_of(int row) const { return population.empty() ? 0 : population[row]; }
  int shared_by(int row) const { return shared.empty() ? 0 : shared[row]; }
  Places abstentions_of(int row) const {
    return abstained.empty() ? Places(0, 0) : abstentions.places(row);
  }

  // Shares of the raters' votes that each category of a row has, or what is known.
  std::vector<double> votes(int row) const;
  // Adds the expected numbers of a row's cases in each class (populations x classes), and of its
  // ratings in each class.
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

// What is known of cases and raters besides the ratings.
struct Known {
  std::vector<int> truth;  // category of each pattern (from 1; below 1 is unknown), or empty
  std::vector<std::vector<double>> matrix = {};  // of each rater, see LatentRows, or empty
  std::vector<std::vector<double>> before = {};  // likewise
  Populations populations = {};
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

// Patterns x categories, from rows x categories. Patterns without a row get `otherwise`
// (populations x categories), or the mean over the cases of their population.
std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior,
                               const std::vector<double>& otherwise);
std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior);

}  // namespace fallible
