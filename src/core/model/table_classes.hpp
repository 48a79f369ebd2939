// Latent class model with several sources of evidence per case: raters, or systems with binned
// scores. The evidence from a source is a code, for example a category or a bin. Each source has a
// table with the probability of each code given the true category.
//
// Equal cases form one row. Tables are shrunk towards the distribution of the source's codes over
// all cases, as if there were `mass` further cases of each category. Base rates are shrunk towards
// equal rates, as if there were `mass` further cases in all.
#pragma once

#include <vector>

#include "../base/rows.hpp"

namespace fallible {

// Data of the model. A row is a group of equal cases. Row i contains the codes of such a case, with
// the source (rater or system) of each code.
struct TableRows : Ragged {
  std::vector<int> source;  // source of each entry of a row, from 0
  std::vector<int> code;    // code of each entry, from 0
  std::vector<int> codes;   // number of possible codes of each source
  std::vector<int> truth;   // known true category of each row, from 0; -1 if unknown
  int categories = 0;
};

// Fit of the model.
struct TableClasses {
  std::vector<double> base_rates;
  std::vector<std::vector<double>> table;  // one table per source: categories x codes, row by row
  std::vector<double> posterior;           // rows x categories, row by row
  double log_likelihood = 0;
  int iterations = 0;
  bool converged = false;
};

// E step: computes the posterior and the log likelihood of `fit` from its base rates and tables.
void expect(const TableRows& rows, const std::vector<double>& weight, TableClasses& fit);

// Fits the model by the EM algorithm, which starts from the posterior probabilities `start` (rows x
// categories). `weight`: weight of each row. Ends when all probabilities in the tables and base
// rates change by less than 1e-6, or after `iterations` rounds.
TableClasses fit_tables(const TableRows& rows, const std::vector<double>& weight,
                        const std::vector<double>& start, double mass, int iterations);

}  // namespace fallible
