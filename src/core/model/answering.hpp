// Probabilities that judges answer, which may depend on the truth.
#pragma once

#include <vector>

#include "latent_rows.hpp"

namespace fallible {

// Judge j answers a case of category k with probability a_jk, which is Beta with mean mu_jk and
// size kappa. The logit of mu_jk is b_j + h_k. b_j is higher for judges who answer often, h_k for
// categories that are easy to answer. Judges who always or never answer are not counted.
struct Answering {
  int categories = 0;
  double kappa = 4, omega = 0.3;
  std::vector<int> counted;                  // judges with answers and abstentions
  std::vector<double> b, h;                  // per judge, per truth
  std::vector<double> answers, abstentions;  // expected numbers, judges x truths

  Answering() = default;
  // No judge is counted if abstentions are not modelled.
  explicit Answering(const LatentRows& rows);

  // a_jk; 1 for judges who are not counted.
  double rate(int judge, int truth) const {
    return !counted.empty() && counts_[judge] ? 1 - silent_[place(judge, truth)] : 1;
  }

  void clear();
  // Adds the expected numbers of abstentions of a row, whose truth has this posterior.
  void add_expected(const LatentRows& rows, int row, const double* posterior);
  // One round of Newton steps and fixed points.
  void update();
  // Computes the probabilities a_jk from the centre and the expected numbers.
  void settle();
  double log_density() const;

  // Multiplies probabilities of ratings (judges x ratings x truths) by the probability of an
  // answer.
  void multiply(std::vector<double>& probability) const;
  // Factors of abstentions, judges x truths: probabilities, or 1 for judges who are not counted.
  // Null if no judge is counted.
  const double* abstaining() const { return counted.empty() ? nullptr : silent_.data(); }

  // Appends all parameters, transformed to the real line, for extrapolation.
  void append_to(std::vector<double>& x) const;
  const double* read(const double* x);

 private:
  std::size_t place(int judge, int truth) const {
    return static_cast<std::size_t>(judge) * categories + truth;
  }
  double mean(int judge, int truth) const;

  std::vector<bool> counts_;    // true if a judge is counted
  std::vector<double> silent_;  // judges x truths: 1 - a_jk; 1 for judges who are not counted
};

}  // namespace fallible
