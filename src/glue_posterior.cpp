// Draws from posteriors of latent class models: functions that R calls.
#include "core/posterior/gibbs.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace {

// Converts priors of confusion matrices. Each element of `rows` contains Dirichlet parameters: a
// matrix with truths in rows, or two numbers for right and wrong answers. Each element of `fixed`
// is a known matrix, or NULL.
std::vector<MatrixPrior> matrix_priors(const List& rows, const List& fixed) {
  std::vector<MatrixPrior> priors;
  for (R_xlen_t m = 0; m < rows.size(); ++m) {
    const SEXP parameters = rows[m];
    MatrixPrior prior;
    prior.equal_errors = !Rf_isMatrix(parameters);
    prior.rows =
        prior.equal_errors ? as<std::vector<double>>(parameters) : glue::row_by_row(parameters);
    const SEXP known = m < fixed.size() ? SEXP(fixed[m]) : R_NilValue;
    if (!Rf_isNull(known)) prior.fixed = glue::row_by_row(known);
    priors.push_back(prior);
  }
  return priors;
}

PosteriorPrior posterior_prior(const List& x) {
  PosteriorPrior core_prior;
  core_prior.matrix_of = glue::from_zero(x["matrix_of"]);
  core_prior.matrix_priors = matrix_priors(x["rows"], x["fixed"]);
  core_prior.system_priors = matrix_priors(x["system"], List());
  const NumericMatrix rates = x["base_rates"];
  for (int p = 0; p < rates.nrow(); ++p) {
    const NumericVector row = rates.row(p);
    core_prior.base_rates.push_back(glue::doubles(row));
  }
  core_prior.pooled = as<bool>(x["pooled"]);
  core_prior.raters = as<int>(x["raters"]);
  core_prior.dependence = glue::choice<Dependence>(
      x["dependence"],
      {{"none", Dependence::none}, {"easy", Dependence::easy}, {"pairs", Dependence::pairs}});
  if (core_prior.dependence != Dependence::none) {
    const IntegerMatrix pairs = x["pairs"];
    for (int i = 0; i < pairs.ncol(); ++i)
      core_prior.pairs.emplace_back(pairs(0, i) - 1, pairs(1, i) - 1);
  }
  core_prior.order = glue::choice<ClassOrder>(
      x["order"],
      {{"none", ClassOrder::none}, {"mean", ClassOrder::mean}, {"each", ClassOrder::each}});
  return core_prior;
}

ChainOptions chain_options(const List& x) {
  ChainOptions options;
  options.chains = x["chains"];
  options.kept = x["kept"];
  options.warmup = x["warmup"];
  options.thin = x["thin"];
  options.threads = x["threads"];
  options.seed = glue::seed(x["seed"]);
  options.log_likelihood = as<bool>(x["log_likelihood"]);
  return options;
}

// Makes a matrix from one field of all chains. Each row contains the `columns` numbers of one kept
// draw. The draws of the first chain are the first rows.
NumericMatrix stacked(const std::vector<PosteriorChain>& chains,
                      std::vector<double> PosteriorChain::*field, int columns, int kept) {
  const int draws = static_cast<int>(chains.size()) * kept;
  NumericMatrix stack(draws, columns);
  int row = 0;
  for (const PosteriorChain& chain : chains) {
    const std::vector<double>& values = chain.*field;
    for (int d = 0; d < kept; ++d, ++row) {
      for (int c = 0; c < columns; ++c)
        stack(row, c) = values[static_cast<std::size_t>(d) * columns + c];
    }
  }
  return stack;
}

// Posterior probabilities of the classes, averaged over all draws of all chains: patterns x
// classes. NA for patterns without a row.
NumericMatrix mean_probability(const std::vector<PosteriorChain>& chains, const PosteriorRows& rows,
                               int kept) {
  const int patterns = static_cast<int>(rows.row_of_pattern.size());
  NumericMatrix mean(patterns, rows.categories);
  for (int p = 0; p < patterns; ++p) {
    const int row = rows.row_of_pattern[p];
    for (int k = 0; k < rows.categories; ++k) {
      double sum = row < 0 ? NA_REAL : 0;
      for (const PosteriorChain& chain : chains) {
        if (row >= 0) sum += chain.probability[static_cast<std::size_t>(row) * rows.categories + k];
      }
      mean(p, k) = sum / (static_cast<double>(chains.size()) * kept);
    }
  }
  return mean;
}

// Row of each pattern, from 1. NA for patterns without a row.
IntegerVector row_of_pattern(const PosteriorRows& rows) {
  IntegerVector r_rows(rows.row_of_pattern.begin(), rows.row_of_pattern.end());
  for (int& row : r_rows) row = row < 0 ? NA_INTEGER : row + 1;
  return r_rows;
}

}  // namespace

// Draws from the posterior by Markov chains.
// `truth`: known category of each pattern (0 if unknown), or empty.
// `population`: population of each pattern, from 1, or empty.
// `joined`: true to treat systems like raters. They are then numbered after the raters.
// `prior`: matrix_of (matrix of each judge, from 1); rows and fixed (priors of the matrices);
//   system (priors of the systems, unless `joined`); base_rates; pooled; raters (their number);
//   order; dependence; pairs (of judges, one column per pair).
// `options`: chains, kept, warmup, thin, threads, seed and log_likelihood.
// Returns `draws`, `right` (the field `accuracy`) and `log_likelihood` (fields of PosteriorChain,
// one row per kept draw of all chains), `weight` of each row, `row` of each pattern, `posterior`
// (patterns x classes), and `switched` and `stuck`, both as a share.
// [[Rcpp::export(rng = false)]]
List core_draw_posterior(List patterns, NumericVector weight, IntegerVector truth,
                         IntegerVector population, bool joined, List prior, List options,
                         Function tick) {
  const auto rows =
      posterior_rows(glue::view(patterns), glue::doubles(weight), as<std::vector<int>>(truth),
                     glue::from_zero(population), joined);
  const auto core_prior = posterior_prior(prior);
  const auto settings = chain_options(options);
  const auto chains = glue::interruptible(
      [&] { return draw_posterior(rows, core_prior, settings, glue::host(tick)); });
  int n_switched = 0;
  double stuck_share = 0;
  for (const auto& chain : chains) {
    n_switched += chain.n_switched;
    stuck_share += chain.stuck_share / chains.size();
  }
  using Chain = PosteriorChain;
  const int systems = static_cast<int>(core_prior.system_priors.size());
  return List::create(
      _["draws"] =
          stacked(chains, &Chain::draws, posterior_parameters(rows, core_prior), settings.kept),
      _["right"] = stacked(chains, &Chain::accuracy, systems, settings.kept),
      _["log_likelihood"] = stacked(chains, &Chain::log_likelihood,
                                    settings.log_likelihood ? rows.size() : 0, settings.kept),
      _["weight"] = rows.weight, _["row"] = row_of_pattern(rows),
      _["posterior"] = mean_probability(chains, rows, settings.kept),
      _["switched"] = n_switched / (static_cast<double>(settings.chains) * settings.kept),
      _["stuck"] = stuck_share);
}
