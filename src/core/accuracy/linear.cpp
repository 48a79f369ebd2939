#include <algorithm>

#include "../base/optimise.hpp"
#include "../base/special.hpp"
#include "../model/curvature.hpp"
#include "../model/pooled.hpp"
#include "bootstrap.hpp"

namespace fallible {

namespace {

// An eigenvalue of the curvature matrix below this share of the largest eigenvalue counts as zero.
constexpr double least_curvature_share = 1e-8;
// Highest number of influences (patterns x systems) that are in memory at the same time.
constexpr std::size_t max_influences = 1e7;

// Returns curvature^-1 * slope. The result is 0 in directions without curvature, because parameters
// are not identified in these directions.
Eigen::VectorXd solve(const Eigen::MatrixXd& curvature, const Eigen::VectorXd& slope) {
  const auto eigen = eigen_decomposition(curvature);
  Eigen::VectorXd coefficient = eigen.vectors.transpose() * slope;
  for (int i = 0; i < coefficient.size(); ++i) {
    coefficient[i] = eigen.values[i] > least_curvature_share * eigen.values.maxCoeff()
                         ? coefficient[i] / eigen.values[i]
                         : 0;
  }
  return eigen.vectors * coefficient;
}

// Returns the gradient, with respect to the parameters, of the expected number of right answers:
// the sum of the posterior probabilities of the system's answers. `answer`: answer of each row, -1
// if there is no answer.
Eigen::VectorXd right_answers_gradient(const LatentClass& model, const Eigen::VectorXd& x,
                                       const std::vector<int>& answer) {
  const Law law(model.layout, x);
  ExpectedCounts counts(model.layout);
  std::vector<double> change(law.classes);
  model.expect(law, nullptr, [&](int row, const double* p) {
    if (answer[row] < 0) return;
    const auto is_right = [&](int c) { return c % law.categories == answer[row]; };
    double p_right = 0;
    for (int c = 0; c < law.classes; ++c) p_right += is_right(c) ? p[c] : 0;
    // Derivative of `p_right` with respect to the log joint probability of class c and the ratings.
    for (int c = 0; c < law.classes; ++c) change[c] = p[c] * (is_right(c) - p_right);
    model.layout.rows.add_expected(row, change.data(), law.classes, counts.classes.data(),
                                   counts.ratings.data());
  });
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(model.layout.size);
  add_gradient(model.layout, x, law, counts, gradient);
  return gradient;
}

// Returns the estimate of a system by method joint. Writes to `influence`, for each pattern, the
// first-order change of the estimate if this pattern had one more case.
double joint_estimate(const Ratings& ratings, const EstimatorOptions& options, int system,
                      Eigen::VectorXd& influence) {
  const std::vector<bool> is_used = patterns_to_fit(ratings, system);  // empty: all
  LatentRows rows = latent_rows(ratings.patterns, mask_weights(ratings.weight, is_used),
                                gives_one_answer(ratings, system) ? -1 : system, ratings.known);
  if (!options.model.separate_raters && ratings.known.matrix.empty()) {
    rows = merge_raters(rows).rows;
  }
  LatentPrior prior = options.prior;
  if (prior.pooled) {
    const LatentRows raters = latent_rows(ratings.patterns, ratings.weight, -1, ratings.known);
    prior = given_centre(prior, fit_pooled(raters, {}), rows);
  }
  const LatentClass model(rows, options.model, prior);
  const Eigen::VectorXd x = fit_latent(model, {}, options.optimiser, Fitting::likelihood, true).x;
  const auto posterior = model.posterior(x);
  const RightAnswers answers(ratings, ratings.weight, system, rows, posterior);
  influence.setZero(static_cast<Eigen::Index>(rows.row_of_pattern.size()));
  if (answers.cases == 0) return not_a_number;
  // The prior adds this number of right answers and the same number of wrong answers.
  const double prior_answers = prior.none ? 0 : 1;
  const double cases = answers.cases + 2 * prior_answers,
               estimate = (answers.right + prior_answers) / cases;
  std::vector<int> answer_of_row(rows.size(), -1);
  for_each_answer(ratings, system, rows, [&](int p, int row, int answer) {
    answer_of_row[row] = answer;
    influence[p] += (row_of(posterior, row, rows.categories)[answer] - estimate) / cases;
  });
  const Eigen::MatrixXd curvature = -log_posterior_hessian(model, x, Kinks::smoothed);
  const Eigen::VectorXd row_influence =
      model.scores(x) * solve(curvature, right_answers_gradient(model, x, answer_of_row) / cases);
  for (std::size_t p = 0; p < rows.row_of_pattern.size(); ++p) {
    const bool changes_fit = rows.row_of_pattern[p] >= 0 && (is_used.empty() || is_used[p]);
    if (changes_fit) influence[p] += row_influence[rows.row_of_pattern[p]];
  }
  return estimate;
}

}  // namespace

std::vector<double> linear_replicates(const Ratings& ratings, const EstimatorOptions& options,
                                      const BootstrapOptions& draws, const Host& host) {
  const Cells cells = pattern_cells(ratings);
  const Resampler resampler(cells.cases, cells.cell_of_pattern, draws.clusters);
  const std::size_t patterns = ratings.weight.size(), systems = ratings.patterns.systems,
                    replicates = draws.replicates;
  const std::size_t block_size = std::clamp<std::size_t>(max_influences / patterns, 1, systems);
  std::vector<double> replicate_estimates(replicates * systems);
  Eigen::MatrixXd influence(patterns, block_size);
  for (std::size_t first_system = 0; first_system < systems; first_system += block_size) {
    const std::size_t n_block = std::min(block_size, systems - first_system);
    std::vector<double> estimate(n_block);
    const Host fit_host{[&](std::size_t done) { return host.tick(first_system + done); }};
    for_each_item(n_block, draws.threads, fit_host, [&](std::size_t i) {
      Eigen::VectorXd system_influence;
      estimate[i] =
          joint_estimate(ratings, options, static_cast<int>(first_system + i), system_influence);
      influence.col(i) = system_influence;
    });
    const Host replicate_host{[&](std::size_t) { return host.tick(first_system + n_block); }};
    for_each_replicate(
        resampler, draws, replicate_host, [&](std::size_t r, const auto& drawn_cases) {
          Eigen::VectorXd extra_cases(patterns);
          for (std::size_t p = 0; p < patterns; ++p) {
            const int cell = cells.cell_of_pattern[p];
            extra_cases[p] = drawn_cases[cell] - cells.cases[cell];
          }
          const Eigen::VectorXd change = influence.leftCols(n_block).transpose() * extra_cases;
          for (std::size_t i = 0; i < n_block; ++i) {
            replicate_estimates[(first_system + i) * replicates + r] = estimate[i] + change[i];
          }
        });
  }
  return replicate_estimates;
}

}  // namespace fallible
