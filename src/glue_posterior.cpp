// Draws from posteriors of latent class models.
#include "core/posterior/gibbs.hpp"
#include "glue.h"

namespace {

std::vector<double> by_truth(const Rcpp::NumericMatrix& x) {
  std::vector<double> out;
  for (int k = 0; k < x.nrow(); ++k) {
    for (int l = 0; l < x.ncol(); ++l) out.push_back(x(k, l));
  }
  return out;
}

// Dirichlet parameters, a matrix with truths in rows, or those of right and wrong; `fixed`: the
// matrix itself, or NULL.
std::vector<fallible::MatrixPrior> matrix_priors(const Rcpp::List& rows, const Rcpp::List& fixed) {
  std::vector<fallible::MatrixPrior> out;
  for (R_xlen_t m = 0; m < rows.size(); ++m) {
    const SEXP one = rows[m];
    fallible::MatrixPrior prior;
    prior.equal_errors = !Rf_isMatrix(one);
    prior.rows = prior.equal_errors ? Rcpp::as<std::vector<double>>(one)
                                    : by_truth(Rcpp::as<Rcpp::NumericMatrix>(one));
    const SEXP known = m < fixed.size() ? SEXP(fixed[m]) : R_NilValue;
    if (!Rf_isNull(known)) prior.fixed = by_truth(Rcpp::as<Rcpp::NumericMatrix>(known));
    out.push_back(prior);
  }
  return out;
}

fallible::PosteriorPrior posterior_prior(const Rcpp::List& x) {
  fallible::PosteriorPrior out;
  out.matrix_of = glue::from_zero(x["matrix_of"]);
  out.matrix = matrix_priors(x["rows"], x["fixed"]);
  out.system = matrix_priors(x["system"], Rcpp::List());
  const Rcpp::NumericMatrix rates = x["base_rates"];
  for (int p = 0; p < rates.nrow(); ++p) {
    out.base_rates.emplace_back();
    for (int k = 0; k < rates.ncol(); ++k) out.base_rates.back().push_back(rates(p, k));
  }
  out.pooled = Rcpp::as<bool>(x["pooled"]);
  out.raters = Rcpp::as<int>(x["raters"]);
  using fallible::ClassOrder;
  using fallible::Dependence;
  out.dependence = glue::choice<Dependence>(x["dependence"], {{"none", Dependence::none},
                                                              {"easy", Dependence::easy},
                                                              {"pairs", Dependence::pairs}});
  if (out.dependence != Dependence::none) {
    const Rcpp::IntegerMatrix pairs = x["pairs"];
    for (int i = 0; i < pairs.ncol(); ++i) out.pairs.emplace_back(pairs(0, i) - 1, pairs(1, i) - 1);
  }
  out.order = glue::choice<ClassOrder>(
      x["order"],
      {{"none", ClassOrder::none}, {"mean", ClassOrder::mean}, {"each", ClassOrder::each}});
  return out;
}

fallible::ChainOptions chain_options(const Rcpp::List& x) {
  fallible::ChainOptions out;
  out.chains = x["chains"];
  out.kept = x["kept"];
  out.warmup = x["warmup"];
  out.thin = x["thin"];
  out.threads = x["threads"];
  out.seed = glue::seed(x["seed"]);
  out.log_likelihood = Rcpp::as<bool>(x["log_likelihood"]);
  return out;
}

// Chain after chain, draw after draw.
Rcpp::NumericMatrix stacked(const std::vector<fallible::PosteriorChain>& chains,
                            std::vector<double> fallible::PosteriorChain::*field, int columns,
                            int kept) {
  const int draws = static_cast<int>(chains.size()) * kept;
  Rcpp::NumericMatrix out(draws, columns);
  int row = 0;
  for (const fallible::PosteriorChain& chain : chains) {
    const std::vector<double>& of = chain.*field;
    for (int d = 0; d < kept; ++d, ++row) {
      for (int c = 0; c < columns; ++c) out(row, c) = of[static_cast<std::size_t>(d) * columns + c];
    }
  }
  return out;
}

// Patterns x classes, the mean over draws; NA for patterns without a row.
Rcpp::NumericMatrix mean_probability(const std::vector<fallible::PosteriorChain>& chains,
                                     const fallible::PosteriorRows& rows, int kept) {
  const int patterns = static_cast<int>(rows.of_pattern.size());
  Rcpp::NumericMatrix out(patterns, rows.categories);
  for (int p = 0; p < patterns; ++p) {
    const int row = rows.of_pattern[p];
    for (int k = 0; k < rows.categories; ++k) {
      double sum = row < 0 ? NA_REAL : 0;
      for (const fallible::PosteriorChain& chain : chains) {
        if (row >= 0) sum += chain.probability[static_cast<std::size_t>(row) * rows.categories + k];
      }
      out(p, k) = sum / (static_cast<double>(chains.size()) * kept);
    }
  }
  return out;
}

// From 1; NA of patterns without a row.
Rcpp::IntegerVector row_of_pattern(const fallible::PosteriorRows& rows) {
  Rcpp::IntegerVector out(rows.of_pattern.begin(), rows.of_pattern.end());
  for (int& row : out) row = row < 0 ? NA_INTEGER : row + 1;
  return out;
}

}  // namespace

// `truth`: category of each pattern, 0 where unknown, or empty; `population`: of each pattern, from
// 1, or empty; `prior`: matrix_of (of each judge), rows, fixed, system, base_rates, pooled, raters,
// order, dependence and its pairs (of judges, a column each); `options`: chains, kept, warmup,
// thin, threads, seed and log_likelihood. With `joined` systems are judges behind the raters.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_draw_posterior(Rcpp::List patterns, Rcpp::NumericVector weight,
                               Rcpp::IntegerVector truth, Rcpp::IntegerVector population,
                               bool joined, Rcpp::List prior, Rcpp::List options,
                               Rcpp::Function tick) {
  const auto rows = fallible::posterior_rows(
      glue::view(patterns), glue::doubles(weight), Rcpp::as<std::vector<int>>(truth),
      glue::from_zero(population), joined);
  const auto settled = posterior_prior(prior);
  const auto run = chain_options(options);
  const auto chains = glue::interruptible(
      [&] { return fallible::draw_posterior(rows, settled, run, glue::host(tick)); });
  int switched = 0;
  double stuck = 0;
  for (const auto& chain : chains) {
    switched += chain.switched;
    stuck += chain.stuck / chains.size();
  }
  using Chain = fallible::PosteriorChain;
  const int systems = static_cast<int>(settled.system.size());
  return Rcpp::List::create(
      Rcpp::Named("draws") =
          stacked(chains, &Chain::draws, fallible::posterior_parameters(rows, settled), run.kept),
      Rcpp::Named("right") = stacked(chains, &Chain::right, systems, run.kept),
      Rcpp::Named("log_likelihood") =
          stacked(chains, &Chain::log_likelihood, run.log_likelihood ? rows.size() : 0, run.kept),
      Rcpp::Named("weight") = rows.weight, Rcpp::Named("row") = row_of_pattern(rows),
      Rcpp::Named("posterior") = mean_probability(chains, rows, run.kept),
      Rcpp::Named("switched") = switched / (static_cast<double>(run.chains) * run.kept),
      Rcpp::Named("stuck") = stuck);
}
