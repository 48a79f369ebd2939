// Assumptions of a latent class model of raters. The true category is the class. Each K-property
// that is relaxed is one setting (see the vignette on going beyond the paper). Also contains the
// places of parameters in their vector.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "latent_rows.hpp"

namespace fallible {

enum class Errors { uniform, distance, free, ordinal };

struct LatentModel {
  bool by_rater = false;  // accuracy by rater, or common
  Errors errors = Errors::uniform;
  bool strata = false;  // difficulty: accuracies differ between strata by a shift
  bool own = false;     // a joined system has a separate dispersion and shift
};

// Weak priors on quantities that users recognise. `none`: maximum likelihood.
struct LatentPrior {
  bool none = false;
  double base_rates = 1;  // Dirichlet
  double correct = 3;     // Beta of the raters' mean accuracy, around which logits vary
  double wrong = 2;
  double spread = 0.6;      // standard deviation of the raters' logits around the mean
  double dispersion = 0.7;  // standard deviation of log dispersion
  double difficulty = 0.2;  // standard deviation of the half-normal shift
  double errors = 0.5;      // standard deviation of free log error rates
  // Pooled: rows of matrices with free errors are Dirichlet around a centre of the panel (see
  // pooled.hpp). `rows`: their parameters given the centre, judges x truths x ratings. Null until
  // there is a centre.
  bool pooled = false;
  std::shared_ptr<const std::vector<double>> rows;
};

// Fixed values that are not parameters.
struct Held {
  std::optional<double> shift = {};  // shift of the model, if it has strata
  // Log probabilities of ratings given that they are wrong, judges x truths x ratings. They replace
  // any model of errors and need not sum to one. Must outlive this object.
  const std::vector<double>* log_error = nullptr;
};

// Objective of a fit.
enum class Fitting { likelihood, pairs };

// Accuracies and base rates are logits, dispersions are logarithms; shifts are not transformed. The
// parameters of base rates come first (see rate_at()). Known judges have no parameters.
struct Layout {
  Layout(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
         const Held& held = Held());

  const LatentRows& rows;
  LatentModel model;
  LatentPrior prior;
  Held held;
  int categories, strata;
  int rates;                  // number of base rate parameters: coefficients x (categories - 1)
  std::vector<double> share;  // share of the cases in each population
  // Group of each judge, -1 if known. Judges of a group have equal accuracy and errors.
  std::vector<int> group;
  int groups = 0;
  int per_group;  // number of accuracies per group: 1, or one per truth; 0 for ordinal errors
  int kinds;      // number of kinds of judges (raters, system) with separate dispersion and shift
  // Position of the first parameter of each type; -1 for none.
  int mean_at, accuracies_at, errors_at, ordinal_at, dispersions_at, shifts_at, levels_at;
  int size;

  int classes() const { return strata * categories; }  // category within stratum
  int populations() const { return rows.populations.size(); }
  int coefficients() const { return rows.populations.coefficients(); }
  // Coefficient of the logit of a category relative to the last category.
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
  // Position of the logit of a joined system's accuracy; -1 if this accuracy is not a single
  // parameter.
  int system_at() const;

  // c m_jk: row of a judge in a pooled prior, see LatentPrior.
  const double* prior_row(int judge, int truth) const {
    return &(*prior.rows)[(static_cast<std::size_t>(judge) * categories + truth) * categories];
  }

  // Number of free parameters. It is lower than `size`, because error rates are normalised.
  int free_parameters() const;
  // Parameters of this model that give the same probabilities as `x` in a simpler model of the same
  // judges. A parameter whose slope at zero is zero is moved away from zero.
  Eigen::VectorXd start_from(const Layout& simpler, const Eigen::VectorXd& x) const;

 private:
  int of_kind(int first, int judge) const {
    return first < 0 ? -1 : first + (is_system(judge) && kinds > 1 ? 1 : 0);
  }
};

// Log density of the prior up to a constant. Adds the gradient unless it is null.
double log_prior(const Layout& layout, const Eigen::VectorXd& x, Eigen::VectorXd* gradient);

// The constant that normalises the density.
double log_prior_constant(const Layout& layout);

}  // namespace fallible
