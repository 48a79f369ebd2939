// Confusion matrices of their own for all judges, as much as the data call for: each row has a
// Dirichlet distribution around what a one-coin model says of the judge. By variational
// approximation (posteriors of truth and of rows are independent), whose bound on the log evidence
// never decreases.
#pragma once

#include <limits>
#include <vector>

#include "latent.hpp"

namespace fallible {

// Hierarchical Dawid-Skene model. Row k of judge j is Dirichlet(c m_jk), where m_jk has the judge's
// accuracy at k and shares the rest equally or, if categories have an order, by exp(-dispersion
// |k - l|). Accuracies follow the counts, shrunk to the raters' mean; dispersion and base rates
// have the priors of LatentPrior.
struct DawidSkene {
  std::vector<double> posterior;  // rows x categories
  std::vector<double> accuracy;   // of the judges' centres
  double dispersion = 0;          // logarithm
  double bound = -std::numeric_limits<double>::infinity();
  std::vector<double> path;  // the bound, step by step
  int iterations = 0;
  bool converged = false;
};

constexpr double no_own_matrices = std::numeric_limits<double>::infinity();

struct VariationalOptions {
  double concentration = 4;  // c; infinite for rows that are the centre
  bool ordered = false;      // do errors depend on distance
  int iterations = 300;
  double tolerance = 1e-7;  // of the relative gain of the bound
};

// From some posterior of truth, rows x categories.
DawidSkene fit_dawid_skene(const LatentRows& rows, const LatentPrior& prior,
                           std::vector<double> posterior, const VariationalOptions& options);

// A one-coin model whose judges have error rows of their own, Dirichlet(c w_k) around the errors w
// by distance, on top of a fit `x` with these errors.
struct OwnErrors {
  Eigen::VectorXd x;              // of the model with the errors held at `log_error`
  std::vector<double> log_error;  // expected logarithms, judges x truths x ratings
  std::vector<double> counts;     // expected ratings that they rest on, judges x ratings x truths
  double bound = 0;               // in the place of the log posterior
  int rounds = 0;
  bool hopeless = false;  // ended early
};

// `counts` may be those of another concentration, or empty. Ends early where the bound will not be
// `useful` (see OptimiserOptions).
OwnErrors fit_own_errors(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
                         double shift, const Eigen::VectorXd& x, double concentration,
                         std::vector<double> counts,
                         double useful = -std::numeric_limits<double>::infinity());

}  // namespace fallible
