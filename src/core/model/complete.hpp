// Curvature of the log posterior density if classes were observed. It is easy to invert and serves
// as the metric of optimisers. They need few steps if little information is missing.
#pragma once

#include <Eigen/Cholesky>
#include <vector>

#include "score.hpp"

namespace fallible {

// Expected information on the parameters of base rates if classes were observed, including the
// prior.
Eigen::MatrixXd information_of_rates(const Layout& layout, const Law& law, const Counts& counts);

// Base rates, the accuracies of each judge around their mean, and each row of errors are blocks: a
// diagonal matrix plus a matrix of rank one. Slope and thresholds form dense blocks, and so do
// confidence parameters. Other parameters are independent. Refers to the layout.
class CompleteCurvature {
 public:
  CompleteCurvature() = default;
  CompleteCurvature(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                    const Counts& counts);

  // The inverse curvature times `gradient`.
  Eigen::VectorXd solve(const Eigen::VectorXd& gradient) const;
  // Variance of a parameter other than base rates and errors, if all others were known.
  double variance(int parameter) const { return 1 / diagonal_[parameter]; }

 private:
  // Least curvature, so that steps are finite.
  static constexpr double least = 0.05;

  void add_judge(const Score& score, int judge, const Law& law, const Counts& counts);
  void add_block(int first, const Eigen::MatrixXd& information);
  void add_ordinal(const Score& score, const Law& law, const Counts& counts);
  void add_levels(const Score& score, const Law& law, const Counts& counts);
  void add_errors(const Law& law);
  void add_priors(const Eigen::VectorXd& x);

  const Layout* layout_ = nullptr;
  Eigen::VectorXd diagonal_;
  double last_rate_ = least;           // curvature along the last base rate
  int around_mean_ = 0;                // number of accuracies around the mean
  double pull_ = 0;                    // precision of each accuracy around the mean
  std::vector<double> error_, wrong_;  // rows of shares of errors; weight of each row
  struct Block {
    int first;
    Eigen::LLT<Eigen::MatrixXd> root;
  };
  std::vector<Block> blocks_;
};

}  // namespace fallible
