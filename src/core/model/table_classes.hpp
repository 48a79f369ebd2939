// Latent classes with several sources of evidence: raters, or binned scores of systems. Each source
// has a set of codes, and a table of probabilities of codes given the true category.
//
// Equal cases form one row. Tables are shrunk towards the distribution of the source's codes over
// all cases, with the weight of `mass` cases per category. Base rates are shrunk towards equal
// rates in the same way.
#pragma once

#include <vector>

#include "../base/rows.hpp"

namespace fallible {

struct TableRows : Ragged {
  std::vector<int> source;  // from 0, of each entry of a row
  std::vector<int> code;    // from 0
  std::vector<int> codes;   // number of codes of each source
  std::vector<int> truth;   // known category of each row, from 0; -1 for unknown
  int categories = 0;
};

struct TableClasses {
  std::vector<double> base_rates;
  std::vector<std::vector<double>> table;  // of each source, categories x codes row by row
  std::vector<double> posterior;           // rows x categories row by row
  double log_likelihood = 0;
  int iterations = 0;
  bool converged = false;
};

// Recomputes the posterior and log likelihood of `fit` after its base rates and tables have
// changed.
void expect(const TableRows& rows, const std::vector<double>& weight, TableClasses& fit);

// EM algorithm from the posterior `start`, until no probability changes by more than 1e-6.
TableClasses fit_tables(const TableRows& rows, const std::vector<double>& weight,
                        const std::vector<double>& start, double mass, int iterations);

}  // namespace fallible
