// A latent class model for given data: likelihood, expected numbers, and fits.
#pragma once

#include <vector>

#include "../base/optimise.hpp"
#include "complete.hpp"
#include "passes.hpp"

namespace fallible {

struct LatentClass {
  LatentClass(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
              const Held& held = Held())
      : layout(rows, model, prior, held) {}

  // Starting values from vote shares.
  Eigen::VectorXd start() const;
  // Several starting values, including start(). With difficulty there can be more than one maximum.
  std::vector<Eigen::VectorXd> starts() const;
  // Starting values from the parameters `x` of the same model for the first `raters` raters. The
  // other raters start at the mean. Empty if `x` does not belong to this model.
  Eigen::VectorXd warm_start(const Eigen::VectorXd& x, int raters) const;

  // Log posterior density up to a constant. Unless null, also computes the gradient, the log
  // likelihood, and the curvature with known classes. The curvature requires a gradient.
  double evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient,
                  double* log_likelihood = nullptr, CompleteCurvature* curvature = nullptr) const;
  // Computes the log likelihood in one pass over the data. Adds expected numbers to `counts` unless
  // it is null. Calls visit(row, posterior of the classes) for each row with weight, or for all
  // rows.
  template <class Visit>
  double expect(const Law& law, Counts* counts, const Visit& visit, bool all = false) const {
    const AnswerTables tables{law.classes, law.weight.data(), law.probability.data()};
    if (!counts) return pass_over(layout.rows, tables, nullptr, all, visit);
    const AnswerSums sums{counts->classes.data(), counts->ratings.data()};
    return pass_over(layout.rows, tables, &sums, all, visit);
  }
  double expect(const Law& law, Counts* counts) const;
  // Posterior probabilities of the categories: rows x categories, row by row.
  std::vector<double> posterior(const Eigen::VectorXd& x) const;
  // See Counts::by_truth().
  std::vector<double> expected_ratings(const Eigen::VectorXd& x) const;
  // Gradients of the log likelihood of a case: rows x parameters.
  Eigen::MatrixXd scores(const Eigen::VectorXd& x) const;
  // See Reading. Also computes the slope unless it is null.
  double accuracy(const Eigen::VectorXd& x, int judge, Eigen::VectorXd* slope = nullptr) const;

  Layout layout;
};

// `value` is the log posterior density.
struct LatentFit : Optimum {
  double log_likelihood = 0;
};

// Low precision, for fits that are only compared with each other.
OptimiserOptions coarse_options();

// Fits from a given vector of parameters, for example in a bootstrap. If `start` is empty, returns
// the best fit from several starts. By pairs, the negative sum of squares replaces the log
// likelihood (see latent_pairs.hpp). `polished`: refines estimates to the last digits (see
// polish()) before users read them.
LatentFit fit_latent(const LatentClass& model, const Eigen::VectorXd& start,
                     const OptimiserOptions& options, Fitting fitting = Fitting::likelihood,
                     bool polished = false);

inline LatentFit fit_latent(const LatentClass& model, const OptimiserOptions& options) {
  return fit_latent(model, Eigen::VectorXd(), options);
}

}  // namespace fallible
