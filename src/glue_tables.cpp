// Latent class model with one probability table per source of evidence.
#include <Rcpp.h>

#include "core/model/table_classes.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

// `rows`: start (from 0), source and code (from 1), number of codes of each source, truth (a
// category per row, 0 for unknown), categories. `start`: rows x categories. Tables are categories x
// codes.
// [[Rcpp::export(rng = false)]]
List core_fit_tables(List rows, NumericVector weight, NumericMatrix start, double mass,
                     int iterations) {
  const glue::Interruptible here;
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
