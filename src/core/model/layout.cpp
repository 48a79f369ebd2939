#include "layout.hpp"

#include "ordinal.hpp"

namespace fallible {

namespace {

constexpr double first_shift = 0.1;  // of accuracies with difficulty, which would stay at zero

}  // namespace

Layout::Layout(const LatentRows& of_rows, const LatentModel& of_model, const LatentPrior& of_prior,
               const Held& of_held)
    : rows(of_rows),
      model(of_model),
      prior(of_prior),
      held(of_held),
      categories(of_rows.categories),
      strata(of_model.strata ? 3 : 1) {
  const bool free = model.errors == Errors::free;
  const int system = rows.joined() ? 1 : 0;
  for (int u = 0; u < rows.judges; ++u) {
    const bool shared = !model.by_rater && groups > 0 && !is_system(u);
    group.push_back(rows.is_known(u) ? -1 : shared ? 0 : groups++);
  }
  kinds = groups == 0 ? 0 : system && model.own && groups > 1 ? 2 : 1;
  const bool ordinal = model.errors == Errors::ordinal;
  per_group = free ? categories : ordinal ? 0 : 1;
  size = categories - 1;
  const auto place = [this](int count) {
    const int first = count > 0 ? size : -1;
    size += count;
    return first;
  };
  mean_at =
      place(model.by_rater && per_group > 0 && !prior.none && !prior.pooled && groups > system);
  accuracies_at = place(groups * per_group);
  errors_at = place(free ? groups * categories * categories : 0);
  ordinal_at = place(ordinal ? groups * categories : 0);
  dispersions_at = place(model.errors == Errors::distance && !held.log_error ? kinds : 0);
  shifts_at = place(model.strata && !held.shift ? kinds : 0);
  levels_at = place(LevelLaw::size(rows.levels));
}

int Layout::system_at() const {
  return rows.joined() && per_group == 1 ? accuracy_at(rows.raters, 0) : -1;
}

int Layout::free_parameters() const {
  int out = size - (mean_at >= 0);
  if (errors_at >= 0) out -= groups * categories * 2;  // of each row the diagonal and one
  return out;
}

Eigen::VectorXd Layout::start_from(const Layout& simpler, const Eigen::VectorXd& x) const {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(size);
  out.head(categories - 1) = x.head(categories - 1);
  for (int u = 0; u < rows.judges; ++u) {
    for (int k = 0; k < categories; ++k) {
      out[accuracy_at(u, k)] = x[simpler.accuracy_at(u, k)];
      for (int l = 0; simpler.errors_at >= 0 && l < categories; ++l) {
        out[error_at(u, k, l)] = x[simpler.error_at(u, k, l)];
      }
    }
    if (simpler.dispersions_at >= 0) out[dispersion_at(u)] = x[simpler.dispersion_at(u)];
    if (shifts_at >= 0) {
      out[shift_at(u)] = simpler.shifts_at >= 0 ? x[simpler.shift_at(u)] : first_shift;
    }
  }
  if (mean_at >= 0) {
    out[mean_at] = x[simpler.mean_at >= 0 ? simpler.mean_at : simpler.accuracies_at];
  }
  return out;
}

}  // namespace fallible
