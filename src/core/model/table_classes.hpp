// Latent classes whose sources of evidence (raters, scores of systems in bins) each say one of a
// number of codes of their own, by a table of probabilities of codes given the true category.
//
// Rows are cases that are the same. Tables are shrunk to what the source says of all cases
// together, as `mass` cases of each category would; base rates likewise to equal ones.
#pragma once

#include <vector>

#include "../base/rows.hpp"

namespace fallible {

struct TableRows : Ragged {
  std::vector<int> source;  // from 0, of each place of a row
  std::vector<int> code;    // from 0
  std::vector<int> codes;   // how many each source has
  std::vector<int> truth;   // of each row: its category, from 0, or -1
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

// The posterior and log-likelihood of `fit` for other base rates and tables than it was found with.
void expect(const TableRows& rows, const std::vector<double>& weight, TableClasses& fit);

// The EM algorithm, from the posterior `start`, until no probability moves by more than 1e-6.
TableClasses fit_tables(const TableRows& rows, const std::vector<double>& weight,
                        const std::vector<double>& start, double mass, int iterations);

}  // namespace fallible
