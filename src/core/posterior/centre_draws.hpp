// Draws the centre of a panel: row k of each rater's confusion matrix is Dirichlet(nu_k * mu_k),
// with a common mean row mu_k and precision nu_k. Priors: mu_k ~ Dirichlet with parameters 1, and 3
// for the right answer; log nu_k ~ N(log 4, 1).
#pragma once

#include <vector>

#include "../base/matrix.hpp"
#include "../base/random.hpp"

namespace fallible {

class CentreDraws {
 public:
  explicit CentreDraws(int categories);

  // Draws nu and mu given the classes. `counts`: numbers of ratings for each confusion matrix,
  // truths x answers. The matrices are integrated out. Slice sampling draws one number at a time.
  // `in_order`: true to draw only centres in which each answer is most probable under its truth
  // (dominates()), so that classes keep their names.
  void update(const std::vector<ConstSquare>& counts, bool in_order, Stream& stream);

  // Dirichlet parameter nu_k * mu_kl of answer l in row k.
  double parameter(int k, int l) const { return nu_[k] * mu_[0][k][l]; }
  const std::vector<double>& nu() const { return nu_; }
  const std::vector<double>& mu() const { return mu_.values(); }

 private:
  // Log density of row k, up to a constant. `log_nu`: logarithm of nu_k. `ratio`: log(mu_kl /
  // mu_kK) for l < K, where K is the last category.
  double log_density(int k, double log_nu, const std::vector<double>& ratio,
                     const std::vector<ConstSquare>& counts) const;
  // The mean row mu_k with these `ratio`.
  std::vector<double> shares(const std::vector<double>& ratio) const;

  int K_;  // number of categories
  std::vector<double> nu_;
  Squares mu_;  // mean rows mu: a stack of one matrix
};

}  // namespace fallible
