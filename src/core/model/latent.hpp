// A latent class model for certain data: its likelihood, what is expected under its parameters, and
// its fits.
#pragma once

#include <vector>

#include "../base/optimise.hpp"
#include "complete.hpp"
#include "passes.hpp"

namespace fallible {

class LatentClass : public Layout {
 public:
  using Layout::Layout;

  // Where to begin to fit it: from the shares of votes that each category of a case has.
  Eigen::VectorXd start() const;
  // That and others: where difficulty matters there can be more than one top.
  std::vector<Eigen::VectorXd> starts() const;
  // With more data of the same kind: from the parameters `x` of the same model when it had the
  // first so many raters; those of the others are the mean. Empty where `x` is not of such a model.
  Eigen::VectorXd warm_start(const Eigen::VectorXd& x, int raters) const;

  // The log posterior density but for a constant; unless null, its gradient (without which there is
  // no curvature), the log likelihood, and the curvature if classes were what they are expected to
  // be.
  double evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient,
                  double* log_likelihood = nullptr, CompleteCurvature* curvature = nullptr) const;
  // The log likelihood in one pass over the data, which adds what is expected to `counts` unless
  // null and calls visit(row, posterior of the classes) for each row with weight, or for all.
  template <class Visit>
  double expect(const Law& law, Counts* counts, const Visit& visit, bool all = false) const {
    const AnswerTables tables{law.classes, law.weight.data(), law.probability.data()};
    if (!counts) return pass_over(rows, tables, nullptr, all, visit);
    const AnswerSums sums{counts->classes.data(), counts->ratings.data()};
    return pass_over(rows, tables, &sums, all, visit);
  }
  double expect(const Law& law, Counts* counts) const;
  // Rows x categories, row by row: probabilities of the categories.
  std::vector<double> posterior(const Eigen::VectorXd& x) const;
  // See Counts::by_truth().
  std::vector<double> expected_ratings(const Eigen::VectorXd& x) const;
  // Rows x parameters: gradients of the log likelihood of a case.
  Eigen::MatrixXd scores(const Eigen::VectorXd& x) const;
  // See Reading; and its slope, unless null.
  double accuracy(const Eigen::VectorXd& x, int judge, Eigen::VectorXd* slope = nullptr) const;
};

// Its value is the log posterior density.
struct LatentFit : Optimum {
  double log_likelihood = 0;
};

// For fits that are compared with each other, not read: they need fewer digits.
OptimiserOptions coarse_options();

// From a given vector of parameters, as a bootstrap does; the best of several starts where it is
// empty. By pairs minus a sum of squares stands in for the log likelihood (see latent_pairs.hpp).
// `polished`: to the last digits (see polish()), as estimates that are read should be.
LatentFit fit_latent(const LatentClass& model, const Eigen::VectorXd& start,
                     const OptimiserOptions& options, Fitting fitting = Fitting::likelihood,
                     bool polished = false);

inline LatentFit fit_latent(const LatentClass& model, const OptimiserOptions& options) {
  return fit_latent(model, Eigen::VectorXd(), options);
}

}  // namespace fallible
