// Conversions between R and the core that several glue files need.
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

fallible::PatternView view(const Rcpp::List& patterns);
// With the confidence of a model's ratings, if it has any: `levels`, how many there are, and
// `level`, that of each rating (0 is none), or empty if there is none at all; and with abstentions,
// if the model has them: `abstained`, a list of `start` and `rater` like those of patterns.
fallible::PatternView view(const Rcpp::List& patterns, const Rcpp::List& model);
std::vector<double> doubles(const Rcpp::NumericVector& x);
// From a vector that is laid out row by row, and to one.
Rcpp::NumericMatrix by_row(const std::vector<double>& x, int columns);
std::vector<double> row_by_row(const Rcpp::NumericMatrix& x);
Rcpp::NumericMatrix square(const std::vector<double>& x, int n);

// The core counts from 0, R from 1.
Rcpp::IntegerVector from_one(const std::vector<int>& places);
std::vector<int> from_zero(SEXP places);

// Where the numbers of an integer vector are, null where it has none; any other kind is an
// error, since a copy in integers would be gone with the call.
const int* integers(SEXP x);

// What a name stands for; any other name is an error.
template <class T>
T choice(const std::string& name, std::initializer_list<std::pair<const char*, T>> all) {
  for (const auto& one : all) {
    if (name == one.first) return one.second;
  }
  throw std::invalid_argument("the core does not know \"" + name + "\"");
}

// One field of every row.
template <class Row, class Value>
std::vector<Value> column(const std::vector<Row>& rows, Value Row::*field) {
  std::vector<Value> out;
  for (const Row& row : rows) out.push_back(row.*field);
  return out;
}
// As it is in R, but DataFrame::create() would call R to make it.
Rcpp::List data_frame(Rcpp::List columns);

fallible::LatentModel latent_model(const Rcpp::List& x);
fallible::LatentPrior latent_prior(const Rcpp::List& x);
// `method` is "likelihood" or "pairs".
fallible::Fitting latent_fitting(const std::string& method);
// truth: category of each pattern, or empty; raters: a matrix each, NULL where unknown, or empty.
fallible::Known known(const Rcpp::List& x);
// From a `setup`, see core_estimator().
fallible::EstimatorOptions estimator_options(const Rcpp::List& setup);
// From a list of pattern (or another place of cases), weight and cluster by case; NULL: none.
fallible::Clusters clusters(SEXP x);
// From replicates, threads, seed and clusters.
fallible::BootstrapOptions bootstrap_options(const Rcpp::List& options);
fallible::Design design(const Rcpp::List& x);
Rcpp::List intervals(const std::vector<fallible::Interval>& x);

// A seed comes in two words.
std::uint64_t seed(const Rcpp::IntegerVector& words);

// Polls R for interrupts and lets `tick` know how many items are done.
fallible::Host host(const Rcpp::Function& tick);

// While an object of this class exists, long computations of the core check R for interrupts and
// call `tick`, if it is given, to report progress.
class Interruptible : fallible::Watch {
 public:
  Interruptible();
  explicit Interruptible(const Rcpp::Function& tick);
};

// Calls the core and turns its interrupt into R's.
template <class Call>
auto interruptible(Call call) {
  const Interruptible here;
  try {
    return call();
  } catch (const fallible::Interrupted&) {
    throw Rcpp::internal::InterruptedException();
  }
}

}  // namespace glue
