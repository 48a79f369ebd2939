// A latent class model for given data: its likelihood, posterior probabilities, expected numbers of
// ratings, and fits. Classes are the true categories, within strata of difficulty if there are any.
#pragma once

#include <vector>

#include "../base/optimise.hpp"
#include "complete.hpp"
#include "passes.hpp"

namespace fallible {

// A latent class model and its data.
struct LatentClass {
  LatentClass(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
              const FixedValues& fixed_values = FixedValues())
      : layout(rows, model, prior, fixed_values) {}

  // Starting values, computed from the vote shares of each row.
  Eigen::VectorXd start() const;
  // Returns one or more vectors of starting values; the first is start(). The likelihood of models
  // with strata of difficulty may have more than one maximum. For these models, the vectors differ
  // in the shift between strata.
  std::vector<Eigen::VectorXd> starts() const;
  // Computes starting values from the parameters `x` of an older fit, in which only the first
  // `raters` raters took part. New raters start at the mean of the old raters. Returns an empty
  // vector if `x` cannot be used, for example because its length does not fit the model.
  Eigen::VectorXd warm_start(const Eigen::VectorXd& x, int raters) const;

  // Returns the log posterior density, up to a constant. Also computes the gradient, the log
  // likelihood, and the curvature as if the classes were observed, unless their pointers are null.
  // The curvature is correct only if the gradient is computed, too.
  double evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient,
                  double* log_likelihood = nullptr, CompleteCurvature* curvature = nullptr) const;
  // Returns the log likelihood, in one pass over the data. Adds expected numbers of ratings to
  // `counts` unless it is null. Calls visit(row, posterior probabilities of the classes) for each
  // row with positive weight, or for all rows if `all_rows` is true.
  template <class Visit>
  double expect(const Law& law, ExpectedCounts* counts, const Visit& visit,
                bool all_rows = false) const {
    const AnswerTables tables{law.classes, law.class_probability.data(), law.probability.data()};
    if (!counts) return pass_over(layout.rows, tables, nullptr, all_rows, visit);
    const AnswerSums sums{counts->classes.data(), counts->ratings.data()};
    return pass_over(layout.rows, tables, &sums, all_rows, visit);
  }
  double expect(const Law& law, ExpectedCounts* counts) const;
  // Posterior probabilities of the categories, summed over strata: rows x categories, row by row.
  std::vector<double> posterior(const Eigen::VectorXd& x) const;
  // Expected numbers of ratings: judges x ratings x truths.
  Squares expected_ratings(const Eigen::VectorXd& x) const;
  // Gradient of the log likelihood of one case of each row: rows x parameters.
  Eigen::MatrixXd scores(const Eigen::VectorXd& x) const;
  // Accuracy of a judge, averaged over true categories and strata. Also computes its gradient
  // unless `slope` is null.
  double accuracy(const Eigen::VectorXd& x, int judge, Eigen::VectorXd* slope = nullptr) const;

  Layout layout;
};

// Result of a fit. The inherited member `value` is the log posterior density at the maximum `x`.
struct LatentFit : Optimum {
  double log_likelihood = 0;
};

// Options of fits with low precision. This precision is sufficient for bootstrap tests.
OptimiserOptions coarse_options();

// Maximises the log posterior density from the parameters `start`. If `start` is empty, returns the
// best fit from several starts. With `Fitting::pairs`, the least squares objective of
// latent_pairs.hpp is maximised instead. If `polished` is true, adds Newton steps, so that the last
// digits of the estimates do not depend on the start.
LatentFit fit_latent(const LatentClass& model, const Eigen::VectorXd& start,
                     const OptimiserOptions& options, Fitting fitting = Fitting::likelihood,
                     bool polished = false);

inline LatentFit fit_latent(const LatentClass& model, const OptimiserOptions& options) {
  return fit_latent(model, Eigen::VectorXd(), options);
}

}  // namespace fallible
