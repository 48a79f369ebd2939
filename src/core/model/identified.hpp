// Identification of the parameters of a latent class model.
#pragma once

#include <vector>

#include "layout.hpp"

namespace fallible {

// Identification from these raters, by the rank of a matrix of scores or of slopes of pair
// probabilities. Judges with separate parameters who always give the same answer are left out. With
// free errors of each judge, some judges may have too few common ratings with others. The other
// judges and the base rates may still be identified.
struct IdentifiedJudges {
  bool all = false;    // all parameters of the model
  bool model = false;  // base rates, more than two judges, and the system
  std::vector<bool> judge;
};

IdentifiedJudges identified_judges(const LatentRows& rows, const LatentModel& model,
                                   const LatentPrior& prior, Fitting fitting = Fitting::likelihood);

// True if `classes` classes are identified from replies (answers and abstentions), if each judge
// has free probabilities for the replies that occur.
bool identified_by_replies(const LatentRows& rows, int classes);

}  // namespace fallible
