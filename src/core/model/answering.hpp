// Probabilities that judges answer at all, which may depend on the truth.
#pragma once

#include <vector>

#include "latent_rows.hpp"

namespace fallible {

// Judge j answers a case of category k with probability a_jk, which is Beta around mu_jk with size
// kappa. The logit of mu_jk is b_j + h_k: b_j is how often the judge answers, h_k how easy the
// panel finds it to answer category k. Judges who always answer, or never, take no part.
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
  // Probabilities given the centre and the numbers.
  void settle();
  double log_density() const;

  // Multiplies probabilities of ratings (judges x ratings x truths) by those of an answer.
  void multiply(std::vector<double>& probability) const;
  // Factors of abstentions, judges x truths: probabilities, or 1 for judges who are not counted.
  // Null if none is modelled.
  const double* abstaining() const { return counted.empty() ? nullptr : silent_.data(); }

  // All of it on the whole real line, for extrapolation.
  void append_to(std::vector<double>& x) const;
  const double* read(const double* x);

 private:
  std::size_t place(int judge, int truth) const {
    return static_cast<std::size_t>(judge) * categories + truth;
  }
  double mean(int judge, int truth) const;

  std::vector<bool> counts_;    // is a judge counted?
  std::vector<double> silent_;  // judges x truths: 1 - a_jk; 1 for judges who are not counted
};

}  // namespace fallible
