// Data of a latent class model. A row is a distinct combination of answers, which are pairs of a
// judge and a category. The weight of a row is the total weight of the cases with this combination.
// Judges are the raters. If a system is evaluated in the same model, the system joins the raters as
// the last judge.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "../ratings/patterns.hpp"
#include "../ratings/rated_rows.hpp"

namespace fallible {

// Covariates of base rates. Cases with equal values of the covariates form a population. If there
// are no covariates, all cases are one population.
struct Populations {
  std::vector<int>
      population_of_pattern;  // population of each pattern, from 0; empty if there is only one
  Eigen::MatrixXd design;     // scaled covariates: populations x covariates, without an intercept
  // Matrix that transforms coefficients for the scaled covariates to coefficients for the unscaled
  // covariates: coefficients x coefficients, intercept first. Covariates are scaled for numerical
  // reasons.
  Eigen::MatrixXd report;

  // Number of populations.
  int size() const { return std::max(1, static_cast<int>(design.rows())); }
  // Number of coefficients for each category: an intercept and one per covariate.
  int coefficients() const { return 1 + static_cast<int>(design.cols()); }
  // Factor of a coefficient in a population: 1 for the intercept, otherwise the scaled covariate.
  double value(int population, int coefficient) const {
    return coefficient == 0 ? 1 : design(population, coefficient - 1);
  }
  // Population of a pattern, from 0.
  int index(int pattern) const {
    return population_of_pattern.empty() ? 0 : population_of_pattern[pattern];
  }
};

// Rows to which a latent class model is fitted.
struct LatentRows : RatedRows {
  int raters = 0;                // number of raters; judges - 1 if a system has joined
  std::vector<int> known_truth;  // known true category of each row, from 0; -1 if unknown
  // Known confusion matrix of each judge: truths x ratings, row by row. The entry of a judge
  // without a known matrix is empty. The vector is empty if no matrix is known.
  std::vector<std::vector<double>> matrix;

  // Numbers of ratings by each judge in a calibration sample with known truth: truths x ratings,
  // row by row. The entry of a judge without a calibration sample is empty.
  std::vector<std::vector<double>> calibration;

  Populations populations;
  std::vector<int> population;  // population of each row, from 0; empty if there is only one

  // Judges who abstained on row i: abstained[a] for a in abstentions.positions(i). Empty if
  // abstentions are not modelled.
  Ragged abstentions;
  std::vector<int> abstained;

  // For each row, the number of ratings at its beginning that are equal to the ratings at the
  // beginning of the row before; 0 if the rows belong to different populations. Class Pass computes
  // the products of these ratings only once. Empty until find_prefixes() is called.
  std::vector<int> prefix;
  int longest_prefix = 0;

  void add_groups_of(const RowGroups& groups, const std::vector<double>& pattern_weight);
  void find_prefixes();
  int population_of(int row) const { return population.empty() ? 0 : population[row]; }
  int prefix_length(int row) const { return prefix.empty() ? 0 : prefix[row]; }
  Positions abstentions_of(int row) const {
    return abstained.empty() ? Positions(0, 0) : abstentions.positions(row);
  }

  // Shares of the categories among the raters' ratings of a row: `categories` numbers with sum 1.
  // If the truth is known, its share is 1. If there are no ratings, all shares are equal.
  std::vector<double> votes(int row) const;
  // Distributes the weight of a row over the classes in proportion to `posterior`, which gives an
  // expected number of cases per class. Adds these numbers to `expected_classes` (populations x
  // classes) and, for each rating in the row, to `expected_ratings` (judges x answer codes x
  // classes).
  void add_expected(int row, const double* posterior, int classes, double* expected_classes,
                    double* expected_ratings) const;

  // True if a system is the last judge.
  bool joined() const { return judges > raters; }
  bool has_known_matrix(int u) const {
    return u < static_cast<int>(matrix.size()) && !matrix[u].empty();
  }
  bool has_calibration_sample(int u) const {
    return u < static_cast<int>(calibration.size()) && !calibration[u].empty();
  }
};

// What is known about cases and raters in addition to the ratings.
struct Known {
  std::vector<int> truth;  // true category of each pattern, from 1; below 1 if unknown; or empty
  // Known confusion matrices of the raters: truths x ratings, row by row. The entry of a rater
  // without a known matrix is empty. The vector is empty if no matrix is known.
  std::vector<std::vector<double>> matrix = {};
  // Numbers of ratings by each rater in a calibration sample: truths x ratings. The entry of a
  // rater without a calibration sample is empty.
  std::vector<std::vector<double>> calibration = {};
  Populations populations = {};
};

// Converts patterns to rows. `system`: index (from 0) of the system that is added to the raters as
// the last judge; -1 if there are only raters. A pattern gets no row if it has no rating, no
// abstention, no answer of this system and no known truth. The order of the rows does not depend on
// the order of cases.
LatentRows latent_rows(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const Known& known);

// Merged rows for models in which all raters have the same parameters. Only the number of ratings
// of each category matters, so rows that differ only in the raters are merged. Then there is less
// to compute.
struct ExchangeableRows {
  // All raters are judge 0, who may have several ratings in a row. A system is judge 1.
  LatentRows rows;
  std::vector<int> merged_row;  // merged row of each original row, from 0

  // Copies a posterior of the merged rows to the original rows. Returns rows x categories, row by
  // row.
  std::vector<double> copy_to_rows(const std::vector<double>& posterior) const;
  // Computes a posterior of the merged rows from a posterior of the original rows: the mean over
  // the original rows of each merged row.
  std::vector<double> merge(const std::vector<double>& posterior) const;
  // Sets the weights of the merged rows from new weights of the original rows, for example in a
  // bootstrap.
  void reweight(const std::vector<double>& weight);
};

// Merges the rows that differ only in the raters.
ExchangeableRows merge_raters(const LatentRows& rows);

// Copies a posterior of rows (rows x categories) to their patterns (patterns x categories). A
// pattern without a row gets the probabilities of its population in `default_posterior`
// (populations x categories). If `default_posterior` is not given, the pattern gets the mean
// posterior of the cases in its population.
std::vector<double> copy_to_patterns(const LatentRows& rows, const std::vector<double>& posterior,
                                     const std::vector<double>& default_posterior);
std::vector<double> copy_to_patterns(const LatentRows& rows, const std::vector<double>& posterior);

}  // namespace fallible
