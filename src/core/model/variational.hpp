// Models in which each judge has a separate confusion matrix, or separate error rates. Each row of
// a matrix has a Dirichlet distribution around the row of a one-coin model, so matrices differ only
// as far as the data require. The models are fitted by a variational approximation, in which the
// posteriors of the truth and of all rows are independent. The approximation gives a lower bound on
// the log evidence, which never decreases during a fit.
#pragma once

#include <limits>
#include <vector>

#include "latent.hpp"

namespace fallible {

// Fit of the hierarchical Dawid-Skene model. Row k of the confusion matrix of judge j is
// Dirichlet(c * m_jk), with concentration c and mean m_jk. In the mean, the probability of the
// right answer is the judge's accuracy. Wrong answers l are equally probable or, if categories are
// ordered, have probabilities proportional to exp(-dispersion |k - l|). The accuracies of raters
// are shrunk to their mean. Dispersion and base rates have the priors of LatentPrior.
struct DawidSkene {
  std::vector<double> posterior;  // probabilities of the true categories: rows x categories
  std::vector<double> accuracy;   // accuracy of each judge in the mean m_jk
  // Decrease of log error shares per category of distance; 0 if errors are equally probable.
  double dispersion = 0;
  double bound = -std::numeric_limits<double>::infinity();  // lower bound on the log evidence.
  std::vector<double> bound_path;                           // bound after each iteration
  int iterations = 0;
  bool converged = false;
};

// Concentration with which all matrices are equal to their means.
constexpr double equal_matrices = std::numeric_limits<double>::infinity();

// Settings of fit_dawid_skene().
struct VariationalOptions {
  double concentration = 4;  // c; if infinite, all rows are equal to their mean
  bool ordered = false;  // true if error probabilities depend on the distance between categories
  int iterations = 300;
  double tolerance = 1e-7;  // converged if the relative gain of the bound is below it
};

// Fits the model from posterior probabilities of the true categories: rows x categories.
DawidSkene fit_dawid_skene(const LatentRows& rows, const LatentPrior& prior,
                           std::vector<double> posterior, const VariationalOptions& options);

// Fit of a one-coin model in which each judge has separate shares of wrong answers. The shares in
// row k are Dirichlet(c * w_k), with concentration c. The vector w_k contains the error shares of a
// one-coin model that was fitted before: equal shares, or shares that depend on the distance from
// the truth.
struct SeparateErrors {
  Eigen::VectorXd x;  // parameters of the one-coin model, while errors are fixed at `log_error`
  Squares log_error;  // expected logarithms of error shares: judges x truths x ratings
  // Expected numbers from which `log_error` is computed: judges x ratings x truths.
  Squares counts;
  double bound = 0;  // lower bound on the log posterior density
  int rounds = 0;
  bool hopeless = false;  // true if the fit ended early because it would not reach `useful_value`
};

// Fits the model of SeparateErrors, starting from the parameters `x` of the one-coin model.
// `shift`: fixed shift between strata. `counts`: expected numbers of an earlier fit, for example
// with another concentration, or empty. `useful_value`: lowest bound with which the caller uses the
// result. The fit ends early if its bound is not expected to reach this value.
SeparateErrors fit_separate_errors(const LatentRows& rows, const LatentModel& model,
                                   const LatentPrior& prior, double shift, const Eigen::VectorXd& x,
                                   double concentration, Squares counts,
                                   double useful_value = -std::numeric_limits<double>::infinity());

}  // namespace fallible
