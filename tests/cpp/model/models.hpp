// Models that several tests use.
#ifndef FALLIBLE_TESTS_MODELS_HPP
#define FALLIBLE_TESTS_MODELS_HPP

#include <vector>

#include "core/model/layout.hpp"

inline fallible::LatentPrior flat() {
  fallible::LatentPrior out;
  out.none = true;
  return out;
}

inline std::vector<fallible::LatentModel> all_models() {
  using fallible::Errors;
  std::vector<fallible::LatentModel> out;
  for (const bool by_rater : {false, true}) {
    for (const Errors errors : {Errors::uniform, Errors::distance, Errors::free}) {
      for (const bool strata : {false, true}) {
        for (const bool separate_system : {false, true})
          out.push_back({by_rater, errors, strata, separate_system});
      }
    }
  }
  return out;
}

#endif
