// Posterior probabilities of a case under the K-model, fitted by algebra, for tests.
#ifndef FALLIBLE_TESTS_POSTERIOR_HPP
#define FALLIBLE_TESTS_POSTERIOR_HPP

#include <vector>

#include "core/model/algebraic.hpp"

inline std::vector<double> posterior_of(const fallible::Tallies& tallies, const fallible::KFit& fit,
                                        int tally) {
  std::vector<double> out(tallies.categories);
  fallible::Posterior(tallies, fit)(tally, out.data());
  return out;
}

#endif
