// Data of a latent class model: distinct rows of (judge, category) with weights. Judges are raters
// and, if one has joined, a system.
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
  // Number of coefficients: the intercept and one per column.
  int coefficients() const { return 1 + static_cast<int>(design.cols()); }
  double value(int population, int coefficient) const {
    return coefficient == 0 ? 1 : design(population, coefficient - 1);
  }
  int of(int pattern) const { return of_pattern.empty() ? 0 : of_pattern[pattern]; }
};

struct LatentRows : RatedRows {
  int raters = 0;          // less than judges if a system has joined
  std::vector<int> known;  // true category of the row's cases, -1 if unknown
  // Known confusion matrix of each judge, row by row. Empty for a judge whose matrix is unknown;
  // the whole vector is empty if no matrix is known.
  std::vector<std::vector<double>> matrix;

  // Counts (truths x ratings) of each judge in a calibration sample, empty as above. They are part
  // of a pooled prior.
  std::vector<std::vector<double>> before;

  Populations populations;
  std::vector<int> population;  // of each row; empty if there is only one

  // Judges who abstained on each row; empty if abstentions are not modelled.
  Ragged abstentions;
  std::vector<int> abstained;

  // Number of ratings at the beginning of each row that are equal in the row before it. Empty until
  // it is computed.
  std::vector<int> shared;
  int longest_shared = 0;

  void add_groups_of(const RowGroups& groups, const std::vector<double>& pattern_weight);
  void find_shared();
  int population_of(int row) const { return population.empty() ? 0 : population[row]; }
  int shared_by(int row) const { return shared.empty() ? 0 : shared[row]; }
  Places abstentions_of(int row) const {
    return abstained.empty() ? Places(0, 0) : abstentions.places(row);
  }

  // Vote share of each category in a row, or 1 for the known category.
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

// Known facts about cases and raters, in addition to the ratings.
struct Known {
  std::vector<int> truth;  // category of each pattern (from 1; below 1 is unknown), or empty
  std::vector<std::vector<double>> matrix = {};  // of each rater, see LatentRows, or empty
  std::vector<std::vector<double>> before = {};  // calibration samples, see LatentRows
  Populations populations = {};
};

// `system` (from 0) joins the raters as the last judge; -1 for none. The order of rows does not
// depend on the order of cases.
LatentRows latent_rows(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const Known& known);

// Rows for models in which raters have equal parameters. Rows with equal ratings are joined, for
// any raters.
struct ExchangeableRows {
  LatentRows rows;          // all raters are one judge, who may have several ratings in a row
  std::vector<int> of_row;  // index of each original row in `rows`

  // Expands a posterior to the original rows: rows x categories.
  std::vector<double> by_row(const std::vector<double>& posterior) const;
  // Sets new weights of the original rows.
  void weigh(const std::vector<double>& weight);
};

ExchangeableRows regardless_of_rater(const LatentRows& rows);

// Expands rows x categories to patterns x categories. Patterns without a row get `otherwise`
// (populations x categories), or the mean over the cases of their population.
std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior,
                               const std::vector<double>& otherwise);
std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior);

}  // namespace fallible
