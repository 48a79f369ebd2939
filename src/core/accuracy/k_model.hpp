// Estimators that rest on the posterior probabilities of the K-model: Lehner (2015), equation 7.
#pragma once

#include <memory>
#include <vector>

#include "estimator.hpp"

namespace fallible {

// What is known of the truth of a case.
struct Belief {
  const std::vector<double>& probability;  // of the categories
  double highest;
  int tied;        // so many categories have that
  double squares;  // sum over categories

  bool is_highest(int answer) const;
};

// Sums over the cases of one part.
struct Sums {
  double cases = 0;
  double probability = 0;
  double agreement = 0;
};

// How an estimator sorts cases into parts, what it sums, and what it makes of the sums.
class Rule {
 public:
  virtual ~Rule() = default;
  virtual std::size_t parts() const = 0;
  virtual std::size_t part_of(const Belief& belief) const = 0;
  virtual void add(const Belief& belief, int answer, double weight, Sums& sum) const = 0;
  // The estimate, and what else it found. There is at least one case.
  virtual void solve(int categories, const std::vector<Sums>& parts, SystemEstimate& out) const = 0;
};

std::unique_ptr<Rule> binned_rule(Clip clip, double bin_width);
std::unique_ptr<Rule> unbinned_rule(Clip clip);

constexpr double edge_tolerance = 1e-9;  // of a probability on the edge of a bin

// Equation 7, for a mean probability and a mean agreement of whatever kind; NaN without
// information.
double solve_accuracy(int categories, double probability, double agreement);
double clip01(double x);

// One result per system. `weight` has one entry per tally.
std::vector<SystemEstimate> system_accuracy(const Tallies& tallies,
                                            const std::vector<double>& weight, const KFit& fit,
                                            const Rule& rule);

std::unique_ptr<Estimator> make_k_estimator(const Ratings& ratings, std::unique_ptr<Rule> rule);

}  // namespace fallible
