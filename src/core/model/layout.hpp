// Assumptions and priors of a latent class model of raters, and the positions of its parameters in
// one vector. A class is a true category or, in models with strata of difficulty, a true category
// within a stratum.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "../base/matrix.hpp"
#include "latent_rows.hpp"

namespace fallible {

// Model of the probabilities of wrong categories, given that an answer is wrong.
//   uniform: equal for all wrong categories.
//   distance: decreasing with the distance from the truth.
//   free: a parameter for each truth and rating.
//   ordinal: wrong and right answers follow a cumulative probit model (ordinal.hpp).
enum class Errors { uniform, distance, free, ordinal };

// Assumptions of a latent class model. The defaults are the assumptions of the K-model (Lehner,
// 2015), which are called K-properties.
struct LatentModel {
  bool separate_raters = false;  // true: one accuracy per rater; false: one accuracy for all
  Errors errors = Errors::uniform;
  bool strata = false;  // true: accuracies differ between easy and difficult cases (three strata)
  // True: the system has a separate dispersion (effect of the distance from the truth on errors)
  // and a separate shift (difference in accuracy between neighbouring strata).
  bool separate_system = false;
};

// Weak priors of quantities that users can interpret. If `none` is true, there are no priors, and
// the fit is by maximum likelihood.
struct LatentPrior {
  bool none = false;
  double base_rates = 1;  // parameter of the symmetric Dirichlet distribution of base rates
  // `correct` and `wrong`: parameters of the Beta distribution of the raters' mean accuracy.
  double correct = 3;
  double wrong = 2;
  double spread = 0.6;      // standard deviation of logits of accuracies around their mean
  double dispersion = 0.7;  // standard deviation of the logarithm of the dispersion
  double difficulty = 0.2;  // standard deviation of the half-normal distribution of the shift.
  double errors = 0.5;      // standard deviation of free error rates (logarithms)
  // True for a hierarchical prior: the rows of confusion matrices have a Dirichlet distribution
  // around a centre, which is estimated from all raters (pooled.hpp).
  bool pooled = false;
  // Dirichlet parameters of the confusion matrices under a pooled prior: judges x truths x ratings.
  // Null before they are estimated.
  std::shared_ptr<const std::vector<double>> rows;
};

// Values that are fixed during a fit, instead of being parameters.
struct FixedValues {
  std::optional<double> shift = {};  // shift between strata of difficulty, if the model has strata
  // Log probability of each wrong rating, given that the rating is wrong: judges x truths x
  // ratings. If not null, these values replace the model's error probabilities. The probabilities
  // need not sum to 1. The array is not copied, so it must exist longer than this object.
  const Squares* log_error = nullptr;
};

// Objective of a fit: the likelihood, or least squares on pairs of ratings.
enum class Fitting { likelihood, pairs };

// Positions of the parameters in the vector that is optimised. Base rates and accuracies are
// transformed to logits, dispersions and error rates to logarithms. Shifts are not transformed. The
// parameters of ordinal errors and of confidence levels are described in ordinal.hpp. Base rates
// are the first parameters. Judges with a known confusion matrix have no parameters.
struct Layout {
  Layout(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
         const FixedValues& fixed_values = FixedValues());

  const LatentRows& rows;
  LatentModel model;
  LatentPrior prior;
  FixedValues fixed_values;
  int categories, strata;     // `strata` is 1 without strata of difficulty
  int n_rate_parameters;      // number of base rate parameters: coefficients x (categories - 1)
  std::vector<double> share;  // share of each population among the cases
  // Group of each judge, from 0; -1 for a judge with a known matrix. All judges of a group have the
  // same parameters.
  std::vector<int> group;
  int groups = 0;  // number of groups
  // Number of accuracy parameters of each group of judges: the number of categories if errors are
  // free, 0 if errors are ordinal, otherwise 1.
  int accuracies_per_group;
  // Number of dispersions, and also of shifts: 1, or 2 if the system has separate values.
  int judge_types;
  // Position of the first parameter of each type, or -1 if the model has no such parameter.
  int mean_at, accuracies_at, errors_at, ordinal_at, dispersions_at, shifts_at, levels_at;
  int size;  // number of parameters

  // Number of classes: one per category and stratum.
  int classes() const { return strata * categories; }
  int populations() const { return rows.populations.size(); }
  int coefficients() const { return rows.populations.coefficients(); }
  // Position of a coefficient of the base rates. The logit of a category (relative to the last
  // category) is the sum of the category's coefficients, each multiplied by 1 (intercept) or by a
  // scaled covariate.
  int rate_at(int coefficient, int category) const {
    return coefficient * (categories - 1) + category;
  }
  bool has_known_matrix(int judge) const { return group[judge] < 0; }
  bool is_system(int judge) const { return judge >= rows.raters; }

  int accuracy_at(int judge, int truth) const {
    return accuracies_at + group[judge] * accuracies_per_group +
           (accuracies_per_group > 1 ? truth : 0);
  }
  int error_at(int judge, int truth, int rating) const {
    return errors_at + (group[judge] * categories + truth) * categories + rating;
  }
  int first_ordinal_at(int judge) const { return ordinal_at + group[judge] * categories; }
  int dispersion_at(int judge) const { return position_by_judge_type(dispersions_at, judge); }
  int shift_at(int judge) const { return position_by_judge_type(shifts_at, judge); }
  // Position of the logit of the system's accuracy. -1 if the model contains no system, or if the
  // accuracy is not a single parameter.
  int system_at() const;

  // Dirichlet parameters of a row of a judge's confusion matrix under a pooled prior: `categories`
  // numbers.
  const double* prior_row(int judge, int truth) const {
    return row_of(*prior.rows, judge * categories + truth, categories);
  }

  // Number of free parameters. It may be lower than `size`, because normalised error rates have
  // redundant parameters, and because the raters' mean accuracy has no effect on the likelihood.
  int free_parameters() const;
  // Computes starting values from the parameters `x` of a simpler model with the same judges. Both
  // models then have the same probabilities, except that new shifts start above zero, because the
  // likelihood is flat at a shift of zero.
  Eigen::VectorXd start_from(const Layout& simpler, const Eigen::VectorXd& x) const;

 private:
  int position_by_judge_type(int first, int judge) const {
    return first < 0 ? -1 : first + (is_system(judge) && judge_types > 1 ? 1 : 0);
  }
};

// Returns the log prior density at `x`, up to a constant. Adds its gradient to `gradient`, unless
// the pointer is null.
double log_prior(const Layout& layout, const Eigen::VectorXd& x, Eigen::VectorXd* gradient);

// Logarithm of the constant that makes the prior a normalised density. It is needed for the
// evidence.
double log_prior_constant(const Layout& layout);

}  // namespace fallible
