// Latent class model with one probability table per source of evidence: functions that R calls.
#include <Rcpp.h>

#include "core/model/table_classes.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

// Fits the model by EM. Fields of `rows`: start (position of the first entry of each row, from 0);
// source and code of each entry (from 1); codes (number of codes of each source); truth (known
// category of each row, 0 if unknown); categories. The argument `start` contains the initial
// posterior probabilities, rows x categories. `mass`: number of prior cases per category. The
// resulting tables are categories x codes.
// [[Rcpp::export(rng = false)]]
List core_fit_tables(List rows, NumericVector weight, NumericMatrix start, double mass,
                     int iterations) {
  const glue::Interruptible guard;
  TableRows evidence;
  evidence.start = as<std::vector<int>>(rows["start"]);
  evidence.source = glue::from_zero(rows["source"]);
  evidence.code = glue::from_zero(rows["code"]);
  evidence.codes = as<std::vector<int>>(rows["codes"]);
  evidence.truth = glue::from_zero(rows["truth"]);
  evidence.categories = rows["categories"];
  const int K = evidence.categories;
  const auto fit =
      fit_tables(evidence, glue::doubles(weight), glue::row_by_row(start), mass, iterations);
  List tables(fit.table.size());
  for (std::size_t s = 0; s < fit.table.size(); ++s) {
    tables[s] = glue::by_row(fit.table[s], evidence.codes[s]);
  }
  return List::create(_["base_rates"] = fit.base_rates, _["tables"] = tables,
                      _["posterior"] = glue::by_row(fit.posterior, K),
                      _["log_likelihood"] = fit.log_likelihood, _["iterations"] = fit.iterations,
                      _["converged"] = fit.converged);
}
