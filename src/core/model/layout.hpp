// A latent class model for certain data: where its parameters lie in their vector.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "latent_model.hpp"
#include "latent_rows.hpp"

namespace fallible {

// Accuracies and base rates are logits, dispersions logarithms; shifts are themselves. First the
// base rates but the last, then what follows. Known judges have no parameters.
struct Layout {
  Layout(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
         const Held& held);

  const LatentRows& rows;
  LatentModel model;
  LatentPrior prior;
  Held held;
  int categories, strata;
  std::vector<int> group;  // of judges with accuracy and errors in common; -1 is known
  int groups = 0;
  int per_group;  // accuracies: one, or one for each truth; none where errors are ordinal
  int kinds;      // of judges, raters and the system, that have dispersion and shift each
  // Places of the first of each; -1 where there are none.
  int mean_at, accuracies_at, errors_at, ordinal_at, dispersions_at, shifts_at, levels_at;
  int size;

  int classes() const { return strata * categories; }  // category within stratum
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

}  // namespace fallible
