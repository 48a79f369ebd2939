// Conversions between objects of R and objects of the core that several glue files use.
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
// Like view(patterns), but also refers to the fields of `model` that belong to single ratings. If
// the model uses confidence, these fields are `levels`, the number of levels, and `level`, the
// level of each rating (0 for a rating without a level). If the model uses abstentions, the field
// is `abstained`, a list of `start` and `rater` as in patterns.
fallible::PatternView view(const Rcpp::List& patterns, const Rcpp::List& model);
// Copies a numeric vector of R.
std::vector<double> doubles(const Rcpp::NumericVector& x);
// by_row() converts a vector that contains a matrix row by row to a matrix of R; row_by_row() does
// the reverse.
Rcpp::NumericMatrix by_row(const std::vector<double>& x, int columns);
std::vector<double> row_by_row(const Rcpp::NumericMatrix& x);
// Converts a vector that contains a matrix of n x n column by column.
Rcpp::NumericMatrix square(const std::vector<double>& x, int n);

// Conversions of positions to R (from_one()), where they start at 1, and to the core (from_zero()),
// where they start at 0.
Rcpp::IntegerVector from_one(const std::vector<int>& positions);
std::vector<int> from_zero(SEXP positions);

// Returns a pointer to the integers of an R vector, or null if the vector is empty. Throws an error
// if the vector has another type, because the integers of a converted copy would be freed at the
// end of the call.
const int* integers(SEXP x);

// Returns the value that belongs to a name in `choices`, a list of names and values. Throws an
// error if the list does not contain the name.
template <class T>
T choice(const std::string& name, std::initializer_list<std::pair<const char*, T>> choices) {
  for (const auto& choice_pair : choices) {
    if (name == choice_pair.first) return choice_pair.second;
  }
  throw std::invalid_argument("internal error, please report it: unknown option \"" + name + "\"");
}

// Returns the values of one field of all rows, as a vector.
template <class Row, class Value>
std::vector<Value> column(const std::vector<Row>& rows, Value Row::*field) {
  std::vector<Value> values;
  for (const Row& row : rows) values.push_back(row.*field);
  return values;
}
// Makes a data frame from a list of columns. DataFrame::create() would call R, which is slower.
Rcpp::List data_frame(Rcpp::List columns);

// Converts the list of a model, and the list of its prior, that R passes to the core.
fallible::LatentModel latent_model(const Rcpp::List& x);
fallible::LatentPrior latent_prior(const Rcpp::List& x);
// Converts the name of a fitting method: "likelihood" or "pairs".
fallible::Fitting latent_fitting(const std::string& method);
// Converts a list of known quantities. `truth`: known true category of each pattern, or empty.
// `raters`: known confusion matrix of each rater, or NULL. `counts`: numbers of ratings in each
// rater's calibration sample, or NULL. If there are covariates, the list also contains `population`
// (of each pattern, from 1), and `design` and `report` (see Populations).
fallible::Known known(const Rcpp::List& x);
// Converts the list `setup` that core_estimator() describes.
fallible::EstimatorOptions estimator_options(const Rcpp::List& setup);
// Converts a list with the fields pattern (or another unit of the resampling), weight and cluster,
// which have one entry per case. NULL means that there are no clusters.
fallible::Clusters clusters(SEXP x);
// Converts a list with the fields replicates, threads, seed, clusters and, optionally, first.
fallible::BootstrapOptions bootstrap_options(const Rcpp::List& options);
// Converts a design of simulated panels.
fallible::Design design(const Rcpp::List& x);
// Converts intervals to a list of columns, see glue_estimator.cpp.
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
