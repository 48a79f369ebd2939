// Draws of the centre of a panel. Rows of raters' matrices are Dirichlet(nu_k mu_k). The prior is
// mu_k ~ Dirichlet(1, with 3 for the right answer) and log nu_k ~ N(log 4, 1).
#pragma once

#include <vector>

#include "../base/random.hpp"
#include "../base/square.hpp"

namespace fallible {

class CentreDraws {
 public:
  explicit CentreDraws(int categories);

  // Draws nu and mu given the counts of each matrix (truths x answers). Matrices are integrated
  // out. Slice sampling draws one number at a time. `in_order`: the centre must dominate.
  void update(const std::vector<ConstSquare>& counts, bool in_order, Stream& stream);

  double parameter(int k, int l) const { return nu_[k] * mu_[0][k][l]; }
  const std::vector<double>& nu() const { return nu_; }
  const std::vector<double>& mu() const { return mu_.values(); }

 private:
  // Log density of row k with log precision `log_nu` and ratios log(mu_l / mu_last).
  double log_density(int k, double log_nu, const std::vector<double>& ratio,
                     const std::vector<ConstSquare>& counts) const;
  std::vector<double> shares(const std::vector<double>& ratio) const;

  int K_;
  std::vector<double> nu_;
  Squares mu_;  // a stack of one
};

}  // namespace fallible
