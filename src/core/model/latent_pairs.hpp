// Fits latent class models to pairs of ratings: minimises the squared difference between the
// relative frequency of each pair and its probability. Suggested in footnote 5 of Lehner (2015).
#pragma once

#include <vector>

#include "law.hpp"

namespace fallible {

// Relative frequencies of pairs of ratings of the same case by different judges. All pairs by the
// same two judges form a kind of pairs; judges with the same parameters count as the same judge.
// Each kind has a table with one cell for each pair of categories. With N categories, kind i has
// the cells i N^2 ... (i + 1) N^2 - 1; the rating of judge `second` changes fastest.
struct PairFrequencies {
  int categories = 0;
  std::vector<int> first, second;  // first and second judge of each kind, from 0
  std::vector<double> share;       // share of each kind among all pairs of ratings
  std::vector<double> frequency;   // relative frequency of each cell within its kind, sum 1

  int kinds() const { return static_cast<int>(share.size()); }
  std::size_t cells() const { return frequency.size(); }
};

// Counts pairs of ratings in the rows of `layout`.
PairFrequencies pair_frequencies(const Layout& layout);

// The least squares objective: compares probabilities of pairs of ratings with their relative
// frequencies. Keeps references to both arguments of the constructor.
class PairObjective {
 public:
  PairObjective(const Layout& layout, const PairFrequencies& pairs)
      : layout_(layout), pairs_(pairs) {}

  // Returns the objective, which is maximised: log prior minus a multiple of the sum of squared
  // differences. Also computes the gradient unless it is null.
  double evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) const;
  // Jacobian of the pair probabilities: cells x parameters. Also writes the probabilities of the
  // cells to `expected`, unless the pointer is null.
  Eigen::MatrixXd probability_jacobian(const Eigen::VectorXd& x,
                                       Eigen::VectorXd* expected = nullptr) const;

 private:
  template <class Visit>
  void for_each_cell(const Law& law, const Visit& visit) const;

  const Layout& layout_;
  const PairFrequencies& pairs_;
};

// Covariance matrix of the natural parameters of a fit by pairs, from the variation between cases.
// Empty if the matrix of derivatives would be too large.
Eigen::MatrixXd pair_covariance(const Layout& layout, const Eigen::VectorXd& x);

}  // namespace fallible
