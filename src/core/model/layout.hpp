// What a latent class model of raters assumes: what is true is the class, and each K-property that
// does not hold is a step along an axis (see the vignette on going beyond the paper). And where its
// parameters for certain data lie in their vector.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "latent_rows.hpp"

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

// Accuracies and base rates are logits, dispersions logarithms; shifts are themselves. The first
// parameters are those of base rates (see rate_at()). Known judges have no parameters.
struct Layout {
  Layout(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
         const Held& held = Held());

  const LatentRows& rows;
  LatentModel model;
  LatentPrior prior;
  Held held;
  int categories, strata;
  int rates;                  // parameters of base rates, coefficients x (categories but the last)
  std::vector<double> share;  // of the cases, in each population
  std::vector<int> group;     // of judges with the same accuracy and errors; -1 is known
  int groups = 0;
  int per_group;  // accuracies: one, or one for each truth; none where errors are ordinal
  int kinds;      // of judges, raters and the system, that have dispersion and shift each
  // Places of the first of each; -1 where there are none.
  int mean_at, accuracies_at, errors_at, ordinal_at, dispersions_at, shifts_at, levels_at;
  int size;

  int classes() const { return strata * categories; }  // category within stratum
  int populations() const { return rows.populations.size(); }
  int coefficients() const { return rows.populations.coefficients(); }
  // A coefficient of the logit of a category against the last one.
  int rate_at(int coefficient, int category) const {
    return coefficient * (categories - 1) + category;
  }
  bool is_known(int judge) const { return group[judge] < 0; }
  bool is_system(int judge) const { return judge >= rows.raters; }

  int accuracy_at(int judge, int truth) const {
    return accuracies_at + group[judge] * per_group + (per_group > 1 ? truth : 0);
  }
  int error_at(int judge, int truth, int rating) const {
    return errors_at + (group[judge] * categories + truth) * categories + rating;
  }
  int ordinal_of(int judge) const { return ordinal_at + group[judge] * categories; }
  int dispersion_at(int judge) const { return of_kind(dispersions_at, judge); }
  int shift_at(int judge) const { return of_kind(shifts_at, judge); }
  // The logit of a joined system's accuracy; -1 where accuracy is not one parameter.
  int system_at() const;

  // c m_jk of the rows of a judge by a pooled prior, see LatentPrior.
  const double* prior_row(int judge, int truth) const {
    return &(*prior.rows)[(static_cast<std::size_t>(judge) * categories + truth) * categories];
  }

  // Free parameters, which is fewer: error rates are normalised.
  int free_parameters() const;
  // Parameters at which this model says what `x` does in a simpler one of the same judges, a step
  // away where a parameter would not leave zero by itself.
  Eigen::VectorXd start_from(const Layout& simpler, const Eigen::VectorXd& x) const;

 private:
  int of_kind(int first, int judge) const {
    return first < 0 ? -1 : first + (is_system(judge) && kinds > 1 ? 1 : 0);
  }
};

// The log density of the prior but for a constant; adds the gradient unless null.
double log_prior(const Layout& layout, const Eigen::VectorXd& x, Eigen::VectorXd* gradient);

// The constant that makes a normalised density.
double log_prior_constant(const Layout& layout);

}  // namespace fallible
