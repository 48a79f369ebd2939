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

using namespace Rcpp;
using namespace fallible;

namespace glue {

PatternView view(const List& patterns);
// With the confidence of a model's ratings, if it has any: `levels`, how many there are, and
// `level`, that of each rating (0 is none), or empty if there is none at all; and with abstentions,
// if the model has them: `abstained`, a list of `start` and `rater` like those of patterns.
PatternView view(const List& patterns, const List& model);
std::vector<double> doubles(const NumericVector& x);
// From a vector that is laid out row by row, and to one.
NumericMatrix by_row(const std::vector<double>& x, int columns);
std::vector<double> row_by_row(const NumericMatrix& x);
NumericMatrix square(const std::vector<double>& x, int n);

// The core counts from 0, R from 1.
IntegerVector from_one(const std::vector<int>& places);
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
List data_frame(List columns);

LatentModel latent_model(const List& x);
LatentPrior latent_prior(const List& x);
// `method` is "likelihood" or "pairs".
Fitting latent_fitting(const std::string& method);
// truth: category of each pattern, or empty; raters: a matrix each, NULL where unknown, or empty.
Known known(const List& x);
// From a `setup`, see core_estimator().
EstimatorOptions estimator_options(const List& setup);
// From a list of pattern (or another place of cases), weight and cluster by case; NULL: none.
Clusters clusters(SEXP x);
// From replicates, threads, seed and clusters.
BootstrapOptions bootstrap_options(const List& options);
Design design(const List& x);
List intervals(const std::vector<Interval>& x);

// A seed comes in two words.
std::uint64_t seed(const IntegerVector& words);

// Polls R for interrupts and lets `tick` know how many items are done.
Host host(const Function& tick);

// While an object of this class exists, long computations of the core check R for interrupts and
// call `tick`, if it is given, to report progress.
class Interruptible : Watch {
 public:
  Interruptible();
  explicit Interruptible(const Function& tick);
};

// Calls the core and turns its interrupt into R's.
template <class Call>
auto interruptible(Call call) {
  const Interruptible here;
  try {
    return call();
  } catch (const Interrupted&) {
    throw Rcpp::internal::InterruptedException();
  }
}

}  // namespace glue
