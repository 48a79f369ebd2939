// Patterns and counts of pairs.
#include "core/ratings/pairs.hpp"
#include "core/ratings/tallies.hpp"
#include "glue.h"

namespace glue {

fallible::PatternView view(const Rcpp::List& patterns) {
  const SEXP start = patterns["start"], answer = patterns["answer"];
  fallible::PatternView out;
  out.patterns = static_cast<int>(Rf_xlength(start)) - 1;
  out.raters = patterns["raters"];
  out.categories = patterns["categories"];
  out.systems = Rf_ncols(answer);
  out.start = integers(start);
  out.rater = integers(patterns["rater"]);
  out.category = integers(patterns["category"]);
  out.answer = integers(answer);
  return out;
}

fallible::PatternView view(const Rcpp::List& patterns, const Rcpp::List& model) {
  fallible::PatternView out = view(patterns);
  if (!model.containsElementNamed("levels")) return out;
  out.level = integers(model["level"]);
  out.levels = model["levels"];
  return out;
}

std::vector<double> doubles(const Rcpp::NumericVector& x) { return {x.begin(), x.end()}; }

Rcpp::NumericMatrix by_row(const std::vector<double>& x, int columns) {
  Rcpp::NumericMatrix out(static_cast<int>(x.size()) / columns, columns);
  for (std::size_t i = 0; i < x.size(); ++i) {
    out(static_cast<int>(i) / columns, static_cast<int>(i) % columns) = x[i];
  }
  return out;
}

Rcpp::NumericMatrix square(const std::vector<double>& x, int n) {
  return Rcpp::NumericMatrix(n, n, x.begin());
}

Rcpp::IntegerVector from_one(const std::vector<int>& places) {
  Rcpp::IntegerVector out(places.begin(), places.end());
  for (int& place : out) ++place;
  return out;
}

std::vector<int> from_zero(SEXP places) {
  auto out = Rcpp::as<std::vector<int>>(places);
  for (int& place : out) --place;
  return out;
}

const int* integers(SEXP x) {
  if (Rf_xlength(x) == 0) return nullptr;
  if (TYPEOF(x) != INTSXP) throw std::invalid_argument("the core needs a vector of integers");
  return INTEGER(x);
}

std::uint64_t seed(const Rcpp::IntegerVector& words) {
  return static_cast<std::uint64_t>(words[0]) << 32 | static_cast<std::uint32_t>(words[1]);
}

}  // namespace glue

namespace {

fallible::Columns columns(const Rcpp::List& x) {
  fallible::Columns out;
  for (R_xlen_t i = 0; i < x.size(); ++i) {
    const Rcpp::IntegerVector column = x[i];
    out.push_back(column.begin());
  }
  return out;
}

Rcpp::List as_list(const fallible::Patterns& x, int systems) {
  Rcpp::IntegerMatrix answer(x.rows(), systems);
  std::copy(x.answer.begin(), x.answer.end(), answer.begin());
  return Rcpp::List::create(
      Rcpp::Named("start") = x.start, Rcpp::Named("rater") = x.rater,
      Rcpp::Named("category") = x.category, Rcpp::Named("answer") = answer,
      Rcpp::Named("index") = x.index);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
int core_max_ratings() { return fallible::max_ratings_per_case; }

// [[Rcpp::export(rng = false)]]
Rcpp::List core_patterns_wide(Rcpp::List raters, Rcpp::List systems, double cases) {
  const auto x = fallible::patterns_from_wide(columns(raters), columns(systems),
                                              static_cast<std::size_t>(cases));
  return as_list(x, static_cast<int>(systems.size()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_patterns_long(Rcpp::IntegerVector which_case, Rcpp::IntegerVector rater,
                              Rcpp::IntegerVector category, Rcpp::List systems, double cases) {
  const auto x = fallible::patterns_from_long(which_case.begin(), rater.begin(),
                                              category.begin(), category.size(),
                                              columns(systems), static_cast<std::size_t>(cases));
  return as_list(x, static_cast<int>(systems.size()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_patterns_counts(Rcpp::List categories, Rcpp::List systems, double cases) {
  const auto x = fallible::patterns_from_counts(columns(categories), columns(systems),
                                                static_cast<std::size_t>(cases));
  return as_list(x, static_cast<int>(systems.size()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_patterns_subset(Rcpp::List patterns, Rcpp::IntegerVector index,
                                Rcpp::IntegerVector new_rater) {
  const auto before = glue::view(patterns);
  const auto x =
      fallible::patterns_subset(before, index.begin(), index.size(), new_rater.begin());
  return as_list(x, before.systems);
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_pattern_weights(Rcpp::IntegerVector index,
                                         Rcpp::Nullable<Rcpp::NumericVector> weight,
                                         int patterns) {
  Rcpp::NumericVector values;
  if (weight.isNotNull()) values = weight.get();
  return Rcpp::wrap(fallible::pattern_weights(
      index.begin(), weight.isNotNull() ? values.begin() : nullptr, index.size(), patterns));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_pair_counts(Rcpp::List patterns, Rcpp::NumericVector weight,
                            Rcpp::IntegerVector judge_of, int judges) {
  const auto x = fallible::pair_counts(glue::view(patterns), glue::doubles(weight),
                                       judge_of.begin(), judges);
  return Rcpp::List::create(Rcpp::Named("pairs") = glue::square(x.pairs, x.judges),
                            Rcpp::Named("agreeing") = glue::square(x.agreeing, x.judges));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_rater_counts(Rcpp::List patterns, Rcpp::NumericVector weight) {
  const auto x = fallible::rater_counts(glue::view(patterns), glue::doubles(weight));
  return Rcpp::List::create(Rcpp::Named("ratings") = x.ratings, Rcpp::Named("pairs") = x.pairs,
                            Rcpp::Named("agreeing") = x.agreeing);
}
