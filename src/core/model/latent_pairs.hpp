// Fitting latent class models to pairs of ratings: least squares on the relative frequency of each
// pair, as footnote 5 of Lehner (2015) suggests.
#pragma once

#include <vector>

#include "law.hpp"

namespace fallible {

// Ratings of one case by different judges. Judges with the same parameters are one; their pairs
// count half in either order. Pairs of kind i are the cells i N^2 ... (i + 1) N^2 - 1, the rating
// of `first` outside.
struct PairFrequencies {
  int categories = 0;
  std::vector<int> first, second;  // judges, for each kind of pairs
  std::vector<double> share;       // of the kind among all pairs
  std::vector<double> frequency;   // of each cell within its kind

  int kinds() const { return static_cast<int>(share.size()); }
  std::size_t cells() const { return frequency.size(); }
};

PairFrequencies pair_frequencies(const Layout& layout);

// How near the probabilities of pairs of ratings come to their relative frequencies. Refers to
// both.
class Closeness {
 public:
  Closeness(const Layout& layout, const PairFrequencies& pairs) : layout_(layout), pairs_(pairs) {}

  // Minus the sum of squared differences, times a constant, and the log prior; the gradient unless
  // null.
  double evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) const;
  // Cells x parameters: slopes of their probabilities, which go to `expected` unless null.
  Eigen::MatrixXd slopes(const Eigen::VectorXd& x, Eigen::VectorXd* expected = nullptr) const;

 private:
  template <class Visit>
  void for_each_cell(const Law& law, const Visit& visit) const;

  const Layout& layout_;
  const PairFrequencies& pairs_;
};

// Covariance of the natural parameters, over cases; empty where that would take very long.
Eigen::MatrixXd pair_covariance(const Layout& layout, const Eigen::VectorXd& x);

}  // namespace fallible
