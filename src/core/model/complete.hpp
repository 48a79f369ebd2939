// The curvature that the log posterior density would have if classes were seen, which is easy to
// invert: the metric in which optimisers climb, since what it leaves is how much is not seen.
#pragma once

#include <Eigen/Cholesky>
#include <vector>

#include "score.hpp"

namespace fallible {

// The expected information on the parameters of base rates if classes were seen, with the cases of
// the prior.
Eigen::MatrixXd information_of_rates(const Layout& layout, const Law& law, const Counts& counts);

// Base rates, each judge's accuracies around their mean, and each row of errors are blocks of a
// diagonal and a matrix of rank one; slope and thresholds, and the law of confidence, are blocks;
// what else there is stands by itself. Refers to the layout.
class CompleteCurvature {
 public:
  CompleteCurvature() = default;
  CompleteCurvature(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                    const Counts& counts);

  // Where a step along `gradient` leads.
  Eigen::VectorXd solve(const Eigen::VectorXd& gradient) const;
  // Of a parameter that is neither base rate nor error, if all others were known.
  double variance(int parameter) const { return 1 / diagonal_[parameter]; }

 private:
  // Of what neither data nor priors bend: steps must end somewhere.
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
  int around_mean_ = 0;                // the first so many accuracies
  double pull_ = 0;                    // of each to the mean
  std::vector<double> error_, wrong_;  // rows of shares of errors, and the weight of each row
  struct Block {
    int first;
    Eigen::LLT<Eigen::MatrixXd> root;
  };
  std::vector<Block> blocks_;
};

}  // namespace fallible
