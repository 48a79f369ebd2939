// Patterns of ratings, and counts of ratings and pairs: functions that R calls.
#include "core/ratings/constant.hpp"
#include "core/ratings/tallies.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace glue {

PatternView view(const List& patterns) {
  const SEXP start = patterns["start"], answer = patterns["answer"];
  const bool has_kinds = patterns.containsElementNamed("kind");
  return {static_cast<int>(Rf_xlength(start)) - 1,
          patterns["raters"],
          patterns["categories"],
          Rf_ncols(answer),
          integers(start),
          integers(patterns["rater"]),
          integers(patterns["category"]),
          integers(answer),
          has_kinds ? integers(patterns["kind"]) : nullptr};
}

PatternView view(const List& patterns, const List& model) {
  PatternView core_view = view(patterns);
  if (model.containsElementNamed("abstained")) {
    const List abstained = model["abstained"];
    core_view.abstained_start = integers(abstained["start"]);
    core_view.abstained = integers(abstained["rater"]);
  }
  if (!model.containsElementNamed("levels")) return core_view;
  core_view.level = integers(model["level"]);
  core_view.levels = model["levels"];
  return core_view;
}

std::vector<double> doubles(const NumericVector& x) { return {x.begin(), x.end()}; }

NumericMatrix by_row(const std::vector<double>& x, int columns) {
  return transpose(NumericMatrix(columns, static_cast<int>(x.size()) / columns, x.begin()));
}

std::vector<double> row_by_row(const NumericMatrix& x) { return doubles(transpose(x)); }

NumericMatrix square(const std::vector<double>& x, int n) { return NumericMatrix(n, n, x.begin()); }

IntegerVector from_one(const std::vector<int>& positions) {
  IntegerVector r_positions(positions.begin(), positions.end());
  for (int& position : r_positions) ++position;
  return r_positions;
}

std::vector<int> from_zero(SEXP positions) {
  auto core_positions = as<std::vector<int>>(positions);
  for (int& position : core_positions) --position;
  return core_positions;
}

const int* integers(SEXP x) {
  if (Rf_xlength(x) == 0) return nullptr;
  if (TYPEOF(x) != INTSXP)
    throw std::invalid_argument(
        "internal error, please report it: a vector is not of type integer");
  return INTEGER(x);
}

List data_frame(List columns) {
  const int rows = static_cast<int>(Rf_xlength(columns[0]));
  columns.attr("class") = "data.frame";
  columns.attr("row.names") = IntegerVector::create(NA_INTEGER, -rows);
  return columns;
}

std::uint64_t seed(const IntegerVector& words) {
  return static_cast<std::uint64_t>(words[0]) << 32 | static_cast<std::uint32_t>(words[1]);
}

}  // namespace glue

namespace {

Columns columns(const List& x) {
  Columns pointers;
  for (R_xlen_t i = 0; i < x.size(); ++i) {
    const IntegerVector column = x[i];
    pointers.push_back(column.begin());
  }
  return pointers;
}

List as_list(const Patterns& x, int systems) {
  IntegerMatrix answer(x.rows(), systems);
  std::copy(x.answer.begin(), x.answer.end(), answer.begin());
  return List::create(_["start"] = x.start, _["rater"] = x.rater, _["category"] = x.category,
                      _["answer"] = answer, _["index"] = x.index);
}

}  // namespace

// Largest allowed number of ratings of a case.
// [[Rcpp::export(rng = false)]]
int core_max_ratings() { return max_ratings_per_case; }

// Makes patterns from one vector of category codes per rater and per system. Returns their arrays
// (struct PatternView), and `index`, the pattern of each case.
// [[Rcpp::export(rng = false)]]
List core_patterns_wide(List raters, List systems, double cases) {
  const auto x =
      patterns_from_wide(columns(raters), columns(systems), static_cast<std::size_t>(cases));
  return as_list(x, static_cast<int>(systems.size()));
}

// Makes patterns from vectors with one entry per rating. Returns the same list as
// core_patterns_wide().
// [[Rcpp::export(rng = false)]]
List core_patterns_long(IntegerVector which_case, IntegerVector rater, IntegerVector category,
                        List systems, double cases) {
  const auto x =
      patterns_from_long(which_case.begin(), rater.begin(), category.begin(), category.size(),
                         columns(systems), static_cast<std::size_t>(cases));
  return as_list(x, static_cast<int>(systems.size()));
}

// Makes patterns from one vector per category, which contains the number of ratings of each case
// that chose the category. Returns the same list as core_patterns_wide().
// [[Rcpp::export(rng = false)]]
List core_patterns_counts(List categories, List systems, double cases) {
  const auto x =
      patterns_from_counts(columns(categories), columns(systems), static_cast<std::size_t>(cases));
  return as_list(x, static_cast<int>(systems.size()));
}

// Makes patterns of a subset of cases and raters, see patterns_subset(). Returns the same list as
// core_patterns_wide().
// [[Rcpp::export(rng = false)]]
List core_patterns_subset(List patterns, IntegerVector index, IntegerVector new_rater) {
  const auto view = glue::view(patterns);
  const auto x = patterns_subset(view, index.begin(), index.size(), new_rater.begin());
  return as_list(x, view.systems);
}

// Returns the total weight of the cases of each pattern. `weight`: weight of each case, or NULL.
// [[Rcpp::export(rng = false)]]
NumericVector core_pattern_weights(IntegerVector index, Nullable<NumericVector> weight,
                                   int patterns) {
  NumericVector values;
  if (weight.isNotNull()) values = weight.get();
  return wrap(pattern_weights(index.begin(), weight.isNotNull() ? values.begin() : nullptr,
                              index.size(), patterns));
}

// Numbers the distinct pairs of `index` and `code`, see number_pairs().
// [[Rcpp::export(rng = false)]]
IntegerVector core_number_pairs(IntegerVector index, IntegerVector code, int codes) {
  IntegerVector number(index.size());
  number_pairs(index.begin(), code.begin(), codes, index.size(), number.begin());
  return number;
}

// Returns the matrices `pairs` and `agreeing` (judges x judges), see pair_counts().
// [[Rcpp::export(rng = false)]]
List core_pair_counts(List patterns, NumericVector weight, IntegerVector judge_of, int judges) {
  const auto x = pair_counts(glue::view(patterns), glue::doubles(weight), judge_of.begin(), judges);
  return List::create(_["pairs"] = glue::square(x.pairs, x.judges),
                      _["agreeing"] = glue::square(x.agreeing, x.judges));
}

// Returns the numbers of ratings, pairs and agreeing pairs of each rater, see rater_counts().
// [[Rcpp::export(rng = false)]]
List core_rater_counts(List patterns, NumericVector weight) {
  const auto x = rater_counts(glue::view(patterns), glue::doubles(weight));
  return List::create(_["ratings"] = x.ratings, _["pairs"] = x.pairs, _["agreeing"] = x.agreeing);
}

// Returns the numbers of the constant raters, who always give the same answer, see
// constant_raters(). `cases`: number of cases of each pattern.
// [[Rcpp::export(rng = false)]]
IntegerVector core_constant_raters(List patterns, NumericVector cases) {
  const auto is_constant = constant_raters(glue::view(patterns), glue::doubles(cases));
  IntegerVector constant_numbers;
  for (std::size_t j = 0; j < is_constant.size(); ++j) {
    if (is_constant[j]) constant_numbers.push_back(static_cast<int>(j) + 1);
  }
  return constant_numbers;
}
