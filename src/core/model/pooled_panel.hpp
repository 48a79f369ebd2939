// Fixed point iteration of a centre, and of confusion matrices and base rates around it.
#pragma once

#include <vector>

#include "centre.hpp"
#include "latent_rows.hpp"

namespace fallible {

// Refers to the rows.
class PooledPanel {
 public:
  static constexpr double least_probability = 1e-300;

  PooledPanel(const LatentRows& rows, bool one_coin);

  // From a posterior of truth, rows x categories.
  void start(std::vector<double> from);
  // Until what is left of the way is below the tolerance.
  void climb(double tolerance, int most);

  double log_density() const;
  double theta(int judge, int truth, int rating) const;
  double rate(int k) const { return (classes_[k] + 1) / (cases_ + K_); }
  const CentreCounts& counts() const { return counts_; }
  const std::vector<double>& posterior() const { return posterior_; }
  const Centre& centre() const { return centre_; }
  int rounds() const { return rounds_; }
  bool converged() const { return converged_; }

 private:
  std::size_t place(int judge, int rating, int truth) const {
    return (static_cast<std::size_t>(judge) * K_ + rating) * K_ + truth;
  }

  // To what is known of raters from elsewhere, which tells nothing of base rates.
  void clear();
  // Rows and base rates, given the centre and the counts.
  void settle();
  // One round; returns the largest change of a probability.
  double round();
  std::vector<double> state() const;
  void read(const std::vector<double>& x);

  const LatentRows& rows_;
  int K_;
  double cases_ = 0;
  CentreCounts counts_;
  Centre centre_;
  std::vector<double> posterior_, classes_, log_theta_, log_rates_, probability_, weight_;
  int rounds_ = 0;
  bool converged_ = false;
};

}  // namespace fallible
