// Estimates that rest on the posterior probabilities of the K-model: Lehner (2015), equation 7.
#pragma once

#include <memory>
#include <vector>

#include "estimator.hpp"

namespace fallible {

// Cases in bins of this width by their highest probability, an estimate for each bin (table 4); or,
// where it is 0, all cases at once, each category with its probability.
struct Rule {
  Clip clip = Clip::bin;
  double width = 0;
};

// Equation 7, for a mean probability and a mean agreement of whatever kind; NaN without
// information.
double solve_accuracy(int categories, double probability, double agreement);

// One result per system. `weight` has one entry per tally.
std::vector<SystemEstimate> system_accuracy(const Tallies& tallies,
                                            const std::vector<double>& weight, const KFit& fit,
                                            const Rule& rule);

std::unique_ptr<Estimator> make_k_estimator(const Ratings& ratings, const Rule& rule);

}  // namespace fallible
