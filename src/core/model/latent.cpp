#include "latent.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "../base/host.hpp"
#include "curvature.hpp"
#include "latent_pairs.hpp"
#include "reading.hpp"

namespace fallible {

double LatentClass::evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient,
                             double* log_likelihood, CompleteCurvature* curvature) const {
  const Law law(layout, x);
  ExpectedCounts counts(layout);
  const double likelihood = expect(law, gradient ? &counts : nullptr);
  if (gradient) {
    gradient->setZero(layout.size);
    add_gradient(layout, x, law, counts, *gradient);
  }
  if (log_likelihood) *log_likelihood = likelihood;
  if (curvature) *curvature = CompleteCurvature(layout, x, law, counts);
  return likelihood + log_prior(layout, x, gradient);
}

double LatentClass::expect(const Law& law, ExpectedCounts* counts) const {
  return expect(law, counts, [](int, const double*) {});
}

std::vector<double> LatentClass::posterior(const Eigen::VectorXd& x) const {
  const std::size_t N = layout.categories;
  std::vector<double> posterior_sum(layout.rows.size() * N, 0.0);
  const auto add = [&](int row, const double* probability) {
    for (std::size_t c = 0; c < N * layout.strata; ++c)
      row_of(posterior_sum, row, N)[c % N] += probability[c];
  };
  expect(Law(layout, x), nullptr, add, true);
  return posterior_sum;
}

Squares LatentClass::expected_ratings(const Eigen::VectorXd& x) const {
  ExpectedCounts counts(layout);
  expect(Law(layout, x), &counts);
  return counts.ratings_by_truth(layout);
}

Eigen::MatrixXd LatentClass::scores(const Eigen::VectorXd& x) const {
  const LatentRows& rows = layout.rows;
  const int N = layout.categories;
  const Law law(layout, x);
  const Score score(layout, x, law);
  Eigen::MatrixXd scores = Eigen::MatrixXd::Zero(rows.size(), layout.size);
  const auto add = [&](int i, const double* posterior) {
    const int population = rows.population_of(i);
    const double* base_rate = row_of(law.rates, population, N);
    for (int c = 0; c < law.classes; ++c) {
      const double p = posterior[c];
      for (int k = 0; k < N - 1; ++k) {
        const double excess = p * ((c % N == k) - base_rate[k]);
        for (int j = 0; j < layout.coefficients(); ++j) {
          scores(i, layout.rate_at(j, k)) += excess * rows.populations.value(population, j);
        }
      }
      for (const int position : rows.positions(i)) {
        score.put_rating(rows.judge[position], rows.category[position], c,
                         [&](int parameter, double slope) { scores(i, parameter) += p * slope; });
      }
    }
  };
  expect(law, nullptr, add, true);
  return scores;
}

double LatentClass::accuracy(const Eigen::VectorXd& x, int judge, Eigen::VectorXd* slope) const {
  const int N = layout.categories;
  const double mean_accuracy = ParameterReader(layout, x).accuracy(judge);
  if (!slope) return mean_accuracy;
  slope->setZero(layout.size);
  const Law law(layout, x);
  const Score score(layout, x, law);
  for (int c = 0; c < law.classes; ++c) {
    const int k = c % N;
    const double p_right = law.base_rates[k] / layout.strata * law.answer_probability(judge, k, c);
    score.put_rating(judge, k, c, [&](int parameter, double derivative) {
      (*slope)[parameter] += p_right * derivative;
    });
  }
  const double* class_accuracy = law.accuracy[judge];
  for (int g = 0; g < layout.populations(); ++g) {
    const double* base_rate = row_of(law.rates, g, N);
    const double mean = std::inner_product(base_rate, base_rate + N, class_accuracy, 0.0);
    for (int k = 0; k < N - 1; ++k) {
      const double change = layout.share[g] * base_rate[k] * (class_accuracy[k] - mean);
      for (int j = 0; j < layout.coefficients(); ++j) {
        (*slope)[layout.rate_at(j, k)] += change * layout.rows.populations.value(g, j);
      }
    }
  }
  return mean_accuracy;
}

OptimiserOptions coarse_options() {
  OptimiserOptions options;
  options.iterations = 300;
  options.gradient_tolerance = 1e-3;
  options.value_tolerance = 1e-9;
  return options;
}

namespace {

constexpr double boundary_logit = 13.8;  // logit of a probability that is 1e-6 away from 0 or 1
constexpr int max_em_steps = 1000;
// EM ends if a step increases the log posterior density by less than this.
constexpr double em_gain = 1e-6;
// Number of pseudo-ratings that the first EM step adds to each count, to leave the boundary.
constexpr double boundary_pseudo_ratings = 0.01;

// True if the optimiser may have stopped at an accuracy of 0 or 1 that is not a maximum, because
// the derivative with respect to the logit is zero there. This is possible only without a prior.
// Always false for models in which the EM steps of leave_boundary() are not exact.
bool is_at_boundary(const LatentClass& model, const Eigen::VectorXd& x) {
  const Layout& layout = model.layout;
  const Eigen::Index size = static_cast<Eigen::Index>(layout.groups) * layout.accuracies_per_group;
  const Errors errors = layout.model.errors;
  return layout.prior.none && (errors == Errors::uniform || errors == Errors::free) &&
         layout.strata == 1 && layout.levels_at < 0 && layout.coefficients() == 1 && size > 0 &&
         x.segment(layout.accuracies_at, size).cwiseAbs().maxCoeff() > boundary_logit;
}

// Returns the parameters after EM steps that start at the boundary point `x`. Their likelihood is
// not always higher than the likelihood of `x`, so callers must compare the two.
Eigen::VectorXd leave_boundary(const LatentClass& model, Eigen::VectorXd x) {
  double previous_value = -std::numeric_limits<double>::infinity();
  for (int step = 0; step < max_em_steps; ++step) {
    ExpectedCounts counts(model.layout);
    model.expect(Law(model.layout, x), &counts);
    const Eigen::VectorXd candidate =
        estimate_from_counts(model.layout, counts, step == 0 ? boundary_pseudo_ratings : 0);
    const double value = model.evaluate(candidate, nullptr);
    if (value < previous_value + em_gain) break;
    x = candidate;
    previous_value = value;
  }
  return x;
}

// Fits with more parameters are not polished, because it would take longer than the fit.
constexpr int max_polished_size = 150;

}  // namespace

LatentFit fit_latent(const LatentClass& model, const Eigen::VectorXd& start,
                     const OptimiserOptions& options, Fitting fitting, bool polished) {
  const Layout& layout = model.layout;
  const bool by_pairs = fitting == Fitting::pairs;
  const PairFrequencies pairs = by_pairs ? pair_frequencies(layout) : PairFrequencies();
  // Approximate curvature at the last evaluation of the objective. The optimiser uses it to turn a
  // gradient into a step.
  CompleteCurvature last_curvature;
  const Metric metric = [&last_curvature](const Eigen::VectorXd& gradient) {
    return last_curvature.solve(gradient);
  };
  const auto objective = [&](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
    return by_pairs ? PairObjective(layout, pairs).evaluate(x, gradient)
                    : model.evaluate(x, gradient, nullptr, &last_curvature);
  };
  const auto hessian = [&](const Eigen::VectorXd& x) -> Eigen::MatrixXd {
    if (!by_pairs) return log_posterior_hessian(model, x);
    const auto slope = [&](const Eigen::VectorXd& point) {
      Eigen::VectorXd gradient;
      objective(point, &gradient);
      return gradient;
    };
    const Eigen::MatrixXd second_derivatives = jacobian(slope, x);
    return 0.5 * (second_derivatives + second_derivatives.transpose());
  };
  const auto maximise_from = [&](const Eigen::VectorXd& from) {
    LatentFit fit{maximise(objective, from, options, by_pairs ? nullptr : metric)};
    if (!by_pairs && is_at_boundary(model, fit.x)) {
      LatentFit restarted{maximise(objective, leave_boundary(model, fit.x), options, metric)};
      if (restarted.value > fit.value) fit = restarted;
    }
    if (polished && fit.converged && layout.size <= max_polished_size)
      polish(objective, hessian, fit);
    if (by_pairs) {
      model.evaluate(fit.x, nullptr, &fit.log_likelihood);
    } else {
      fit.log_likelihood = fit.value - log_prior(layout, fit.x, nullptr);
    }
    return fit;
  };
  if (start.size() > 0) return maximise_from(start);
  std::vector<LatentFit> fits;
  for (const Eigen::VectorXd& from : model.starts()) fits.push_back(maximise_from(from));
  return *std::max_element(fits.begin(), fits.end(), [](const LatentFit& a, const LatentFit& b) {
    return a.value < b.value;
  });
}

constexpr int em_steps = 30;  // EM steps that compute starting values

Eigen::VectorXd LatentClass::start() const {
  const LatentRows& rows = layout.rows;
  const int classes = layout.classes();
  std::vector<double> posterior(classes);
  ExpectedCounts counts(layout);
  // Computes expected numbers of ratings, with the vote shares of each row as posterior
  // probabilities. Not needed with a pooled prior, because its Dirichlet parameters determine the
  // confusion matrices.
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.weight[i] == 0 || layout.prior.rows) continue;
    count_steps(static_cast<unsigned>(classes));
    const auto votes = rows.votes(i);
    for (int c = 0; c < classes; ++c) posterior[c] = votes[c % layout.categories] / layout.strata;
    rows.add_expected(i, posterior.data(), classes, counts.classes.data(), counts.ratings.data());
  }
  Eigen::VectorXd x = estimate_from_counts(layout, counts);
  // Models with free error rates and without strata start from thirty EM steps: the algorithm of
  // Dawid and Skene (1979), which is EM from the votes. estimate_from_counts() is the M-step.
  const bool uses_em = layout.errors_at >= 0 && layout.strata == 1;
  for (int step = 0; uses_em && step < em_steps; ++step) {
    counts = ExpectedCounts(layout);
    expect(Law(layout, x), &counts);
    x = estimate_from_counts(layout, counts);
  }
  return x;
}

std::vector<Eigen::VectorXd> LatentClass::starts() const {
  std::vector<Eigen::VectorXd> starts{start()};
  if (layout.shifts_at < 0) return starts;
  const double shift[2] = {0.02, 0.3};
  for (const int i : {0, 1}) {
    Eigen::VectorXd x = starts.front();
    x[layout.shifts_at] = shift[i];
    if (layout.judge_types > 1) x[layout.shifts_at + 1] = shift[1 - i];
    starts.push_back(std::move(x));
  }
  return starts;
}

Eigen::VectorXd LatentClass::warm_start(const Eigen::VectorXd& x, int raters) const {
  const LatentRows& rows = layout.rows;
  LatentRows old_rows;
  old_rows.raters = old_rows.judges = raters;
  old_rows.categories = layout.categories;
  old_rows.levels = rows.levels;
  old_rows.matrix = rows.matrix;
  old_rows.populations = rows.populations;
  if (old_rows.matrix.size() > static_cast<std::size_t>(raters)) old_rows.matrix.resize(raters);
  const Layout old_layout(old_rows, layout.model, layout.prior, layout.fixed_values);
  if (x.size() != old_layout.size || old_layout.groups == 0 || rows.joined()) return {};
  Eigen::VectorXd start = Eigen::VectorXd::Zero(layout.size);
  start.head(layout.n_rate_parameters) = x.head(layout.n_rate_parameters);
  if (layout.mean_at >= 0) start[layout.mean_at] = x[old_layout.mean_at];
  // Copies parameters of the raters of the old fit, who come first in the old and in the new
  // parameters. New raters get the mean of the old raters.
  const auto copy = [&](int from, int to, int n_per_group) {
    if (to < 0) return;
    const auto old_parameters =
        Eigen::MatrixXd::Map(x.data() + from, n_per_group, old_layout.groups);
    auto new_parameters = Eigen::MatrixXd::Map(start.data() + to, n_per_group, layout.groups);
    new_parameters.colwise() = Eigen::VectorXd(old_parameters.rowwise().sum() / old_layout.groups);
    new_parameters.leftCols(old_layout.groups) = old_parameters;
  };
  copy(old_layout.accuracies_at, layout.accuracies_at, layout.accuracies_per_group);
  copy(old_layout.errors_at, layout.errors_at, layout.categories * layout.categories);
  copy(old_layout.ordinal_at, layout.ordinal_at, layout.categories);
  if (layout.levels_at >= 0)
    start.tail(layout.size - layout.levels_at) = x.tail(layout.size - layout.levels_at);
  if (layout.dispersions_at >= 0) start[layout.dispersions_at] = x[old_layout.dispersions_at];
  if (layout.shifts_at >= 0) start[layout.shifts_at] = x[old_layout.shifts_at];
  return start;
}

}  // namespace fallible
