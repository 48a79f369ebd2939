// Draws the centre of a panel, around which the confusion matrices of raters vary. Row k of each
// rater's confusion matrix is drawn from Dirichlet(nu_k * mu_k), where mu_k is the mean row of all
// raters and nu_k the precision. The prior of mu_k is a Dirichlet distribution with parameter 3 for
// the right answer and 1 for wrong answers; log nu_k ~ N(log 4, 1).
#pragma once

#include <vector>

#include "../base/matrix.hpp"
#include "../base/random.hpp"

namespace fallible {

// Current values of the mean rows mu and precisions nu in a Markov chain.
class CentreDraws {
 public:
  explicit CentreDraws(int categories);

  // Draws nu and mu given the classes of all cases, by slice sampling of one number at a time.
  // `counts`: numbers of ratings, one matrix (truths x answers) for each confusion matrix.
  // Confusion matrices are integrated out. `in_order`: true to draw only centres in which each
  // answer is most probable when it is right, so that classes keep their names.
  void update(const std::vector<ConstSquare>& counts, bool in_order, Stream& stream);

  // Dirichlet parameter nu_k * mu_kl of answer l in row k.
  double parameter(int k, int l) const { return nu_[k] * mu_[0][k][l]; }
  const std::vector<double>& nu() const { return nu_; }
  const std::vector<double>& mu() const { return mu_.values(); }

 private:
  // Log density of row k, up to a constant. `log_nu`: logarithm of nu_k. `log_ratio`: log(mu_kl /
  // mu_kK) for l < K, where K is the last category.
  double log_density(int k, double log_nu, const std::vector<double>& log_ratio,
                     const std::vector<ConstSquare>& counts) const;
  // Converts the log ratios `log_ratio` to the mean row mu_k.
  std::vector<double> mean_row(const std::vector<double>& log_ratio) const;

  int K_;  // number of categories
  std::vector<double> nu_;
  Squares mu_;  // mean rows mu: a stack of one matrix
};

}  // namespace fallible
