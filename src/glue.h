// Conversions between objects of R and of the core that several glue files need.
#pragma once

#include <Rcpp.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/accuracy/bootstrap.hpp"
#include "core/base/host.hpp"
#include "core/ratings/patterns.hpp"
#include "core/simulation/simulate.hpp"

namespace glue {

// Refers to the arrays of patterns in R, which must exist longer than the view.
fallible::PatternView view(const Rcpp::List& patterns);
// Like view(patterns), with the fields of `model` that refer to single ratings. If the model uses
// confidence: `levels`, the number of levels, and `level`, the level of each rating (0 for none).
// If the model uses abstentions: `abstained`, a list of `start` and `rater` as in patterns.
fallible::PatternView view(const Rcpp::List& patterns, const Rcpp::List& model);
std::vector<double> doubles(const Rcpp::NumericVector& x);
// Conversions from and to a vector that contains a matrix row by row.
Rcpp::NumericMatrix by_row(const std::vector<double>& x, int columns);
std::vector<double> row_by_row(const Rcpp::NumericMatrix& x);
// Converts a vector that contains a matrix of n x n column by column.
Rcpp::NumericMatrix square(const std::vector<double>& x, int n);

// Conversions of positions: the core counts from 0, R from 1.
Rcpp::IntegerVector from_one(const std::vector<int>& positions);
std::vector<int> from_zero(SEXP positions);

// Pointer to the integers of an R vector, null if the vector is empty. Throws an error for other
// types, because the integers of a converted copy would be freed at the end of the call.
const int* integers(SEXP x);

// Returns the value that belongs to a name. Throws an error if `choices` does not contain the name.
template <class T>
T choice(const std::string& name, std::initializer_list<std::pair<const char*, T>> choices) {
  for (const auto& choice_pair : choices) {
    if (name == choice_pair.first) return choice_pair.second;
  }
  throw std::invalid_argument("internal error, please report it: unknown option \"" + name + "\"");
}

// Returns one field of all rows as a vector, a column of a table.
template <class Row, class Value>
std::vector<Value> column(const std::vector<Row>& rows, Value Row::*field) {
  std::vector<Value> out;
  for (const Row& row : rows) out.push_back(row.*field);
  return out;
}
// Makes a data frame from a list of columns. DataFrame::create() would call R, which is slower.
Rcpp::List data_frame(Rcpp::List columns);

fallible::LatentModel latent_model(const Rcpp::List& x);
fallible::LatentPrior latent_prior(const Rcpp::List& x);
// `method` is "likelihood" or "pairs".
fallible::Fitting latent_fitting(const std::string& method);
// Converts a list with what is known in addition to ratings. `truth`: known category of each
// pattern, or empty. `raters`: known confusion matrix of each rater, or NULL. `counts`: counts of
// each rater's calibration sample, or NULL. With covariates also `population`, `design` and
// `report`.
fallible::Known known(const Rcpp::List& x);
// Converts the list `setup` that core_estimator() describes.
fallible::EstimatorOptions estimator_options(const Rcpp::List& setup);
// Converts a list of pattern (or another unit of the resampling), weight and cluster, one entry per
// case. NULL: there are no clusters.
fallible::Clusters clusters(SEXP x);
// Converts a list of replicates, threads, seed, clusters and, optionally, first.
fallible::BootstrapOptions bootstrap_options(const Rcpp::List& options);
fallible::Design design(const Rcpp::List& x);
Rcpp::List intervals(const std::vector<fallible::Interval>& x);

// Makes a 64-bit seed from two integers of R.
std::uint64_t seed(const Rcpp::IntegerVector& words);

// Host that checks R for interrupts and reports the number of finished items to the R function
// `tick`.
fallible::Host host(const Rcpp::Function& tick);

// While an object of this class exists, long computations of the core check R for interrupts. They
// also call the R function `tick`, if it is given, to report progress.
class Interruptible : fallible::Watch {
 public:
  Interruptible();
  explicit Interruptible(const Rcpp::Function& tick);
};

// Calls the core. If the core was interrupted, throws the exception that Rcpp converts to an
// interrupt of R.
template <class Call>
auto interruptible(Call call) {
  const Interruptible guard;
  try {
    return call();
  } catch (const fallible::Interrupted&) {
    throw Rcpp::internal::InterruptedException();
  }
}

}  // namespace glue
