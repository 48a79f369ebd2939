// Checks whether the parameters of a latent class model are identified from the data.
#pragma once

#include <vector>

#include "layout.hpp"

namespace fallible {

// Result of identified_judges(). Judges who have separate parameters but always give the same
// answer are not checked.
struct IdentifiedJudges {
  // True if all parameters of the checked judges and the base rates are identified.
  bool all = false;
  // True if the model counts as identified. If each judge has separate free error rates, it is
  // sufficient that the base rates, three judges and the system (if it is a judge) are identified.
  // Other judges may then have too few common cases. In other models, the same as `all`.
  bool model = false;
  // One value per judge: are the parameters of the judge identified? Checked only if each judge has
  // separate free error rates, and the base rates are identified. True for judges that were not
  // checked.
  std::vector<bool> judge;
};

// Checks identification from the rank of a matrix: scores of random data in which the same judges
// rate the same cases, or derivatives of pair probabilities if `fitting` is `Fitting::pairs`.
IdentifiedJudges identified_judges(const LatentRows& rows, const LatentModel& model,
                                   const LatentPrior& prior, Fitting fitting = Fitting::likelihood);

// True if a model with `classes` classes is identified from replies, which are answers and
// abstentions. In this model, each judge has free probabilities of the replies that this judge gave
// in the data.
bool identified_by_replies(const LatentRows& rows, int classes);

}  // namespace fallible
