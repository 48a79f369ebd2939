// Latent classes with a table per source of evidence.
#include <Rcpp.h>

#include "core/model/table_classes.hpp"
#include "glue.h"

// `rows`: start (from 0), source and code (from 1), codes of each source, truth (a category per
// row, 0 is unknown), categories. `start`: rows x categories. Tables are categories x codes.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_fit_tables(Rcpp::List rows, Rcpp::NumericVector weight, Rcpp::NumericMatrix start,
                           double mass, int iterations) {
  const glue::Interruptible here;
  fallible::TableRows evidence;
  evidence.start = Rcpp::as<std::vector<int>>(rows["start"]);
  evidence.source = glue::from_zero(rows["source"]);
  evidence.code = glue::from_zero(rows["code"]);
  evidence.codes = Rcpp::as<std::vector<int>>(rows["codes"]);
  evidence.truth = glue::from_zero(rows["truth"]);
  evidence.categories = rows["categories"];
  const int K = evidence.categories;
  std::vector<double> posterior(start.size());
  for (int i = 0; i < start.nrow(); ++i) {
    for (int k = 0; k < K; ++k) posterior[static_cast<std::size_t>(i) * K + k] = start(i, k);
  }
  const auto fit =
      fallible::fit_tables(evidence, glue::doubles(weight), posterior, mass, iterations);
  Rcpp::List tables(fit.table.size());
  for (std::size_t s = 0; s < fit.table.size(); ++s) {
    tables[s] = glue::by_row(fit.table[s], evidence.codes[s]);
  }
  return Rcpp::List::create(
      Rcpp::Named("base_rates") = fit.base_rates, Rcpp::Named("tables") = tables,
      Rcpp::Named("posterior") = glue::by_row(fit.posterior, K),
      Rcpp::Named("log_likelihood") = fit.log_likelihood,
      Rcpp::Named("iterations") = fit.iterations, Rcpp::Named("converged") = fit.converged);
}
