// Curvature of the log posterior density if the true classes were observed ("complete data"). This
// curvature is easy to invert. Optimisers use it as an approximation of the Hessian, and need few
// iterations if the ratings determine the classes well.
#pragma once

#include <Eigen/Cholesky>
#include <vector>

#include "score.hpp"

namespace fallible {

// Expected information matrix of the base rate parameters if the true classes were observed,
// including the prior's pseudo-cases.
Eigen::MatrixXd information_of_rates(const Layout& layout, const Law& law,
                                     const ExpectedCounts& counts);

// Approximate negative Hessian of the log posterior density, as if the true classes were observed.
// The matrix consists of small blocks, so it is inverted quickly. Keeps a pointer to `layout`.
class CompleteCurvature {
 public:
  CompleteCurvature() = default;
  CompleteCurvature(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                    const ExpectedCounts& counts);

  // Returns curvature^-1 * gradient, a Newton step.
  Eigen::VectorXd solve(const Eigen::VectorXd& gradient) const;
  // Variance of a parameter if all other parameters are known. Only for accuracies, dispersions and
  // shifts.
  double variance(int parameter) const { return 1 / diagonal_[parameter]; }

 private:
  // Lower limit of the curvature of each parameter, so that steps are finite.
  static constexpr double least_curvature = 0.05;

  void add_judge(const Score& score, int judge, const Law& law, const ExpectedCounts& counts);
  void add_block(int first, const Eigen::MatrixXd& information);
  void add_ordinal(const Score& score, const Law& law, const ExpectedCounts& counts);
  void add_levels(const Score& score, const Law& law, const ExpectedCounts& counts);
  void add_errors(const Law& law);
  void add_priors(const Eigen::VectorXd& x);

  const Layout* layout_ = nullptr;
  // Diagonal of the matrix. In some blocks, the matrix is this diagonal plus a matrix of rank one,
  // see solve(): base rates, accuracies with a normal prior, and each row of error rates.
  Eigen::VectorXd diagonal_;
  // Expected number of cases in the last category, including pseudo-cases. solve() needs it to
  // invert the block of base rates, although the logit of this category is not a parameter.
  double last_rate_curvature_ = least_curvature;
  int accuracies_around_mean_ = 0;  // number of accuracies with a normal prior around their mean
  double mean_precision_ = 0;       // precision (1 / variance) of this normal prior
  // `error_share_`: share of each wrong answer among all wrong answers, groups x truths x ratings.
  // `expected_errors_`: expected number of wrong answers, groups x truths. Judges of a group have
  // equal parameters.
  std::vector<double> error_share_, expected_errors_;
  // Dense block, for base rates with covariates, ordinal errors or confidence levels: position of
  // its first parameter, and Cholesky factor of its curvature.
  struct Block {
    int first;
    Eigen::LLT<Eigen::MatrixXd> root;
  };
  std::vector<Block> blocks_;
};

}  // namespace fallible
