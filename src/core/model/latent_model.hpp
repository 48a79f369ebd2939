// What a latent class model of raters assumes: what is true is the class, and each K-property that
// does not hold is a step along an axis (see the vignette on going beyond the paper).
#pragma once

#include <memory>
#include <optional>
#include <vector>

namespace fallible {

enum class Errors { uniform, distance, free, ordinal };

struct LatentModel {
  bool by_rater = false;  // accuracy: of each rater, or common
  Errors errors = Errors::uniform;
  bool strata = false;  // difficulty: accuracies fall and rise by a shift, or are fixed
  bool own = false;     // does a joined system have dispersion and shift of its own
};

// All weak, and all on what a user would recognise; `none` is plain maximum likelihood.
struct LatentPrior {
  bool none = false;
  double base_rates = 1;  // Dirichlet
  double correct = 3;     // Beta of the raters' mean accuracy, the centre of their logits
  double wrong = 2;
  double spread = 0.6;      // standard deviation of the raters' logits around it
  double dispersion = 0.7;  // standard deviation of log dispersion
  double difficulty = 0.2;  // standard deviation of the half-normal shift
  double errors = 0.5;      // standard deviation of free log error rates
  // Rows of the matrices of free errors are Dirichlet around a centre of the panel (see
  // pooled.hpp), given which these are their parameters: judges x truths x ratings. Null before
  // there is one.
  bool pooled = false;
  std::shared_ptr<const std::vector<double>> rows;
};

// What has a value from outside and is no parameter.
struct Held {
  std::optional<double> shift = {};  // the model's shift, if it has strata
  // Log probabilities of the ratings given that they are wrong, judges x truths x ratings, in the
  // place of any model of errors; they need not sum to one. Somebody else's memory.
  const std::vector<double>* log_error = nullptr;
};

// What a model is fitted to.
enum class Fitting { likelihood, pairs };

}  // namespace fallible
