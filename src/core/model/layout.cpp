#include "layout.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../base/special.hpp"
#include "ordinal.hpp"
#include "reading.hpp"

namespace fallible {

// Starting value of the shift between strata of difficulty. It is not zero, because the density is
// flat at a shift of zero, and the optimiser would not move from there.
constexpr double start_shift = 0.1;

Layout::Layout(const LatentRows& fitted_rows, const LatentModel& model_settings,
               const LatentPrior& parameter_prior, const FixedValues& values)
    : rows(fitted_rows),
      model(model_settings),
      prior(parameter_prior),
      fixed_values(values),
      categories(fitted_rows.categories),
      strata(model_settings.strata ? 3 : 1) {
  const bool has_free_errors = model.errors == Errors::free;
  const int n_systems = rows.joined() ? 1 : 0;
  for (int u = 0; u < rows.judges; ++u) {
    const bool shares_group = !model.separate_raters && groups > 0 && !is_system(u);
    group.push_back(rows.has_known_matrix(u) ? -1 : shares_group ? 0 : groups++);
  }
  judge_types = groups == 0 ? 0 : n_systems && model.separate_system && groups > 1 ? 2 : 1;
  const bool has_ordinal_errors = model.errors == Errors::ordinal;
  accuracies_per_group = has_free_errors ? categories : has_ordinal_errors ? 0 : 1;
  n_rate_parameters = size = coefficients() * (categories - 1);
  share.assign(populations(), 0.0);
  double cases = 0;
  for (int i = 0; i < rows.size(); ++i) {
    share[rows.population_of(i)] += rows.weight[i];
    cases += rows.weight[i];
  }
  for (double& population_share : share)
    population_share =
        cases > 0 && populations() > 1 ? population_share / cases : 1.0 / populations();
  const auto reserve_positions = [this](int count) {
    const int first = count > 0 ? size : -1;
    size += count;
    return first;
  };
  mean_at = reserve_positions(model.separate_raters && accuracies_per_group > 0 && !prior.none &&
                              !prior.pooled && groups > n_systems);
  accuracies_at = reserve_positions(groups * accuracies_per_group);
  errors_at = reserve_positions(has_free_errors ? groups * categories * categories : 0);
  ordinal_at = reserve_positions(has_ordinal_errors ? groups * categories : 0);
  dispersions_at = reserve_positions(
      model.errors == Errors::distance && !fixed_values.log_error ? judge_types : 0);
  shifts_at = reserve_positions(model.strata && !fixed_values.shift ? judge_types : 0);
  levels_at = reserve_positions(LevelLaw::size(rows.levels));
}

int Layout::system_at() const {
  return rows.joined() && accuracies_per_group == 1 ? accuracy_at(rows.raters, 0) : -1;
}

int Layout::free_parameters() const {
  int n_free = size - (mean_at >= 0);
  // Two error parameters of each row are not free: the parameter on the diagonal is not used, and
  // one other parameter is redundant because error rates are normalised.
  if (errors_at >= 0) n_free -= groups * categories * 2;
  return n_free;
}

Eigen::VectorXd Layout::start_from(const Layout& simpler, const Eigen::VectorXd& x) const {
  Eigen::VectorXd start = Eigen::VectorXd::Zero(size);
  start.head(n_rate_parameters) = x.head(n_rate_parameters);
  for (int u = 0; u < rows.judges; ++u) {
    for (int k = 0; k < categories; ++k) {
      start[accuracy_at(u, k)] = x[simpler.accuracy_at(u, k)];
      for (int l = 0; simpler.errors_at >= 0 && l < categories; ++l) {
        start[error_at(u, k, l)] = x[simpler.error_at(u, k, l)];
      }
    }
    if (simpler.dispersions_at >= 0) start[dispersion_at(u)] = x[simpler.dispersion_at(u)];
    if (shifts_at >= 0) {
      start[shift_at(u)] = simpler.shifts_at >= 0 ? x[simpler.shift_at(u)] : start_shift;
    }
  }
  if (mean_at >= 0) {
    start[mean_at] = x[simpler.mean_at >= 0 ? simpler.mean_at : simpler.accuracies_at];
  }
  return start;
}

namespace {

// Standard deviation of a prior that has practically no influence on identified parameters, but
// keeps parameters that are not identified near 0.
constexpr double vague_sd = 1e6;

// Adds up the log densities of parameters at the point `x`. Also adds the derivatives of each log
// density to `gradient`, unless it is null.
struct LogDensity {
  const Eigen::VectorXd& x;
  Eigen::VectorXd* gradient;
  double value = 0;

  void add_slope(int parameter, double change) {
    if (gradient) (*gradient)[parameter] += change;
  }
  // Adds a normal density with standard deviation `sd`. The mean is 0, or the parameter at position
  // `centre` if this is not negative.
  void add_normal(int parameter, double sd, int centre = -1) {
    const double deviation = x[parameter] - (centre < 0 ? 0 : x[centre]);
    value -= 0.5 * deviation * deviation / (sd * sd);
    add_slope(parameter, -deviation / (sd * sd));
    if (centre >= 0) add_slope(centre, deviation / (sd * sd));
  }
  void add_beta(int parameter, double a, double b) {
    const double p = clip_probability(logistic(x[parameter]));
    value += a * std::log(p) + b * std::log1p(-p);
    add_slope(parameter, a - (a + b) * p);
  }
};

// Adds the Dirichlet log densities of the rows of all confusion matrices. They are densities of the
// logits of the probabilities, so the exponents are the Dirichlet parameters, not the parameters
// minus 1.
void add_row_densities(const Layout& layout, LogDensity& density) {
  const int N = layout.categories;
  std::vector<double> error(N);
  for (int u = 0; u < layout.rows.judges; ++u) {
    for (int k = 0; k < N && !layout.has_known_matrix(u); ++k) {
      const double* alpha = layout.prior_row(u, k);
      const int first = layout.error_at(u, k, 0);
      double wrong = 0, total = 0, highest_logit = -1e300;
      for (int l = 0; l < N; ++l) {
        if (l != k) highest_logit = std::max(highest_logit, density.x[first + l]);
      }
      for (int l = 0; l < N; ++l) {
        density.add_normal(first + l, vague_sd);
        if (l == k) continue;
        wrong += alpha[l];
        total += error[l] = std::exp(density.x[first + l] - highest_logit);
      }
      density.add_beta(layout.accuracy_at(u, k), alpha[k], wrong);
      for (int l = 0; l < N; ++l) {
        if (l == k) continue;
        density.value += alpha[l] * (density.x[first + l] - highest_logit - std::log(total));
        density.add_slope(first + l, alpha[l] - wrong * error[l] / total);
      }
    }
  }
}

}  // namespace

// The prior is a density of the transformed parameters (logits and logarithms). Its mode is
// therefore not on the boundary of the parameter space.
double log_prior(const Layout& layout, const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
  const LatentPrior& prior = layout.prior;
  const int N = layout.categories;
  LogDensity density{x, gradient};
  // Without a prior, and before the centre of a pooled prior is estimated, all parameters get a
  // very wide normal density. It keeps parameters that are not identified near zero.
  if (prior.none || (prior.pooled && !prior.rows)) {
    for (int i = 0; i < layout.size; ++i) density.add_normal(i, vague_sd);
    return density.value;
  }
  // The prior on base rates is like `prior.base_rates` further cases of each category. They are
  // distributed over populations by the populations' shares of the cases.
  const auto rates = ParameterReader(layout, x).population_rates();
  for (int g = 0; g < layout.populations(); ++g) {
    const double prior_cases = prior.base_rates * layout.share[g];
    for (int k = 0; k < N; ++k) {
      const double rate = row_of(rates, g, N)[k];
      density.value += prior_cases * std::log(std::max(rate, 1e-300));
      for (int j = 0; k < N - 1 && j < layout.coefficients(); ++j) {
        density.add_slope(layout.rate_at(j, k),
                          prior_cases * (1 - N * rate) * layout.rows.populations.value(g, j));
      }
    }
  }
  if (prior.pooled) {
    LogDensity row_density{x, gradient};
    add_row_densities(layout, row_density);
    return density.value + row_density.value;
  }
  if (layout.mean_at >= 0) density.add_beta(layout.mean_at, prior.correct, prior.wrong);
  for (int i = 0; i < layout.groups * layout.accuracies_per_group; ++i) {
    const int parameter = layout.accuracies_at + i;
    if (layout.rows.joined() && i / layout.accuracies_per_group == layout.groups - 1) {
      density.add_beta(parameter, 1, 1);
    } else if (layout.mean_at >= 0) {
      density.add_normal(parameter, prior.spread, layout.mean_at);
    } else {
      density.add_beta(parameter, prior.correct, prior.wrong);
    }
  }
  for (int i = 0; layout.errors_at >= 0 && i < layout.groups * N * N; ++i) {
    density.add_normal(layout.errors_at + i, prior.errors);
  }
  for (int i = 0; i < layout.judge_types; ++i) {
    if (layout.dispersions_at >= 0) density.add_normal(layout.dispersions_at + i, prior.dispersion);
    if (layout.shifts_at >= 0) density.add_normal(layout.shifts_at + i, prior.difficulty);
  }
  return density.value;
}

double log_prior_constant(const Layout& layout) {
  const LatentPrior& prior = layout.prior;
  const int N = layout.categories;
  const auto log_beta = [](double a, double b) {
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  };
  const auto normals = [](int count, double sd) { return -count * (log_root_2_pi + std::log(sd)); };
  if (prior.none || prior.pooled) return 0;
  const int raters = layout.groups - (layout.rows.joined() ? 1 : 0);
  double constant = log_gamma(N * prior.base_rates) - N * log_gamma(prior.base_rates) -
                    (layout.mean_at >= 0 ? 1 : layout.accuracies_per_group) *
                        log_beta(prior.correct, prior.wrong);
  if (layout.mean_at >= 0) constant += normals(raters * layout.accuracies_per_group, prior.spread);
  if (layout.errors_at >= 0) constant += normals(layout.groups * N * N, prior.errors);
  if (layout.dispersions_at >= 0) constant += normals(layout.judge_types, prior.dispersion);
  if (layout.shifts_at >= 0) {
    constant += normals(layout.judge_types, prior.difficulty) + layout.judge_types * std::log(2.0);
  }
  return constant;
}

}  // namespace fallible
