// Separate confusion matrices for all judges, shrunk as far as the data require: each row has a
// Dirichlet distribution around the row of a one-coin model. Variational approximation with
// independent posteriors of truth and rows. The bound on the log evidence never decreases.
#pragma once

#include <limits>
#include <vector>

#include "latent.hpp"

namespace fallible {

// Hierarchical Dawid-Skene model. Row k of judge j is Dirichlet(c m_jk). The diagonal entry of m_jk
// is the judge's accuracy. The other entries are equal or, if categories are ordered, proportional
// to exp(-dispersion |k - l|). Accuracies are computed from the counts and shrunk to the raters'
// mean. Dispersion and base rates have the priors of LatentPrior.
struct DawidSkene {
  std::vector<double> posterior;  // rows x categories
  std::vector<double> accuracy;   // of the centres of judges
  double dispersion = 0;          // logarithm
  double bound = -std::numeric_limits<double>::infinity();
  std::vector<double> path;  // bound at each step
  int iterations = 0;
  bool converged = false;
};

constexpr double no_own_matrices = std::numeric_limits<double>::infinity();

struct VariationalOptions {
  double concentration = 4;  // c; if infinite, rows are equal to the centre
  bool ordered = false;      // true if errors depend on distance
  int iterations = 300;
  double tolerance = 1e-7;  // for the relative gain of the bound
};

// Starts from a posterior of truth, rows x categories.
DawidSkene fit_dawid_skene(const LatentRows& rows, const LatentPrior& prior,
                           std::vector<double> posterior, const VariationalOptions& options);

// A one-coin model whose judges have separate error rows, Dirichlet(c w_k) around the errors w by
// distance. It extends a fit `x` with the errors w.
struct OwnErrors {
  Eigen::VectorXd x;              // parameters of the model with errors fixed at `log_error`
  std::vector<double> log_error;  // expected logarithms, judges x truths x ratings
  std::vector<double> counts;     // expected numbers behind `log_error`, judges x ratings x truths
  double bound = 0;               // replaces the log posterior
  int rounds = 0;
  bool hopeless = false;  // true if the fit ended early
};

// `counts` may come from a fit with another concentration, or be empty. Ends early if the bound is
// not expected to reach `useful` (see OptimiserOptions).
OwnErrors fit_own_errors(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
                         double shift, const Eigen::VectorXd& x, double concentration,
                         std::vector<double> counts,
                         double useful = -std::numeric_limits<double>::infinity());

}  // namespace fallible
