// Can the parameters of a latent class model be told apart?
#pragma once

#include <vector>

#include "layout.hpp"

namespace fallible {

// By these raters, by the rank of a matrix of scores, or of slopes of the probabilities of pairs.
// Judges with parameters of their own who always say the same tell nothing. Where each judge has
// free errors of its own some may have too few ratings in common with others to be known, while
// these, and how frequent categories are, still are.
struct IdentifiedJudges {
  bool all = false;    // parameters of the model, whoever they belong to
  bool model = false;  // those that matter, of judges who can be known
  std::vector<bool> judge;
};

IdentifiedJudges identified_judges(const LatentRows& rows, const LatentModel& model,
                                   const LatentPrior& prior, Fitting fitting = Fitting::likelihood);

// Can so many classes be told apart by replies, of which abstaining is one, if each judge has free
// probabilities of the replies that it uses?
bool identified_by_replies(const LatentRows& rows, int classes);

}  // namespace fallible
