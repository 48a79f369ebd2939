// Checks whether the parameters of a latent class model are identified from the data.
#pragma once

#include <vector>

#include "layout.hpp"

namespace fallible {

// Result of identified_judges(). It is computed from the rank of a matrix of scores, or of
// derivatives of pair probabilities. Judges with separate parameters whose answers do not vary are
// ignored. If each judge has free error rates, judges with too few common cases may not be
// identified, while other judges and the base rates are.
struct IdentifiedJudges {
  bool all = false;  // true if all parameters are identified
  // True if the data identify the base rates, at least three judges, and the system that is fitted
  // like a rater (if any).
  bool model = false;
  // False for judges whose parameters are not identified although the base rates are. Only free
  // error rates are checked by judge; otherwise, and for judges that were not checked, it is true.
  std::vector<bool> judge;
};

IdentifiedJudges identified_judges(const LatentRows& rows, const LatentModel& model,
                                   const LatentPrior& prior, Fitting fitting = Fitting::likelihood);

// True if a model with `classes` classes is identified from replies, which are answers and
// abstentions. Each judge has free probabilities of all replies that occur in the data.
bool identified_by_replies(const LatentRows& rows, int classes);

}  // namespace fallible
