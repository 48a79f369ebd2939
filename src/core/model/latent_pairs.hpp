// Fits latent class models to pairs of ratings, by least squares on the relative frequency of each
// pair. Footnote 5 of Lehner (2015) suggests this method.
#pragma once

#include <vector>

#include "law.hpp"

namespace fallible {

// Frequencies of pairs of ratings of one case by different judges. Judges with equal parameters are
// treated as one judge; their pairs count half in each order. Pairs of kind i are the cells i N^2
// ... (i + 1) N^2 - 1; the rating of `second` changes fastest.
struct PairFrequencies {
  int categories = 0;
  std::vector<int> first, second;  // judges of each kind of pair
  std::vector<double> share;       // share of the kind among all pairs
  std::vector<double> frequency;   // relative frequency of each cell within its kind

  int kinds() const { return static_cast<int>(share.size()); }
  std::size_t cells() const { return frequency.size(); }
};

PairFrequencies pair_frequencies(const Layout& layout);

// Distance between the probabilities of pairs of ratings and their relative frequencies. Refers to
// both arguments.
class Closeness {
 public:
  Closeness(const Layout& layout, const PairFrequencies& pairs) : layout_(layout), pairs_(pairs) {}

  // The negative sum of squared differences, times a constant, plus the log prior. Computes the
  // gradient unless it is null.
  double evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) const;
  // Slopes of the probabilities of cells: cells x parameters. Writes the probabilities to
  // `expected` unless it is null.
  Eigen::MatrixXd slopes(const Eigen::VectorXd& x, Eigen::VectorXd* expected = nullptr) const;

 private:
  template <class Visit>
  void for_each_cell(const Law& law, const Visit& visit) const;

  const Layout& layout_;
  const PairFrequencies& pairs_;
};

// Covariance of the natural parameters, from variation between cases. Empty if it would take too
// long.
Eigen::MatrixXd pair_covariance(const Layout& layout, const Eigen::VectorXd& x);

}  // namespace fallible
