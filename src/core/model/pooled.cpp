#include "pooled.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "../base/special.hpp"
#include "naming.hpp"
#include "passes.hpp"

namespace fallible {

namespace {

// Starting posterior probability of the category that one rater chose, in a fit that starts from
// the ratings of this rater. The other categories share the rest equally. Cases without a rating by
// this rater start from vote shares, and cases with known truth from their truth.
constexpr double chosen_category_probability = 0.8;
// Tolerance of fits from different starts, which are compared with each other. The iteration of the
// best fit then continues to PooledOptions::tolerance.
constexpr double coarse_tolerance = 1e-3;
// A start is better only if its log density is higher by at least this.
constexpr double least_start_gain = 1e-2;

// Rows in which only the categories in use exist. `category[k]`: original category of category k. A
// category is in use if it has ratings, known cases or counts in a calibration sample. If fewer
// than two categories are in use, all are kept.
struct RowsInUse {
  LatentRows rows;
  std::vector<int> category;
};

RowsInUse rows_in_use(const LatentRows& x) {
  std::vector<int> is_in_use(x.categories, 0);
  for (int i = 0; i < x.size(); ++i) {
    if (x.known_truth[i] >= 0) is_in_use[x.known_truth[i]] = 1;
    for (const int position : x.positions(i)) is_in_use[x.category[position]] = 1;
  }
  for (const auto& sample : x.calibration) {
    for (std::size_t i = 0; i < sample.size(); ++i) {
      if (sample[i] > 0) is_in_use[i / x.categories] = is_in_use[i % x.categories] = 1;
    }
  }
  RowsInUse in_use;
  for (int k = 0; k < x.categories; ++k) {
    if (is_in_use[k]) in_use.category.push_back(k);
  }
  if (in_use.category.size() < 2) {
    in_use.category.resize(x.categories);
    std::iota(in_use.category.begin(), in_use.category.end(), 0);
  }
  in_use.rows = x;
  const int K = static_cast<int>(in_use.category.size());
  if (K == x.categories) return in_use;
  std::vector<int> new_category(x.categories, -1);
  for (int k = 0; k < K; ++k) new_category[in_use.category[k]] = k;
  in_use.rows.categories = K;
  for (int& category : in_use.rows.category) category = new_category[category];
  for (int& known : in_use.rows.known_truth) known = known < 0 ? -1 : new_category[known];
  for (auto* matrices : {&in_use.rows.matrix, &in_use.rows.calibration}) {
    for (auto& matrix : *matrices) {
      std::vector<double> submatrix;
      for (std::size_t k = 0; k < in_use.category.size() && !matrix.empty(); ++k) {
        for (const int l : in_use.category) {
          submatrix.push_back(row_of(matrix, in_use.category[k], x.categories)[l]);
        }
      }
      matrix = std::move(submatrix);
    }
  }
  return in_use;
}

std::vector<double> posterior_from_votes(const LatentRows& rows) {
  std::vector<double> posterior;
  for (int i = 0; i < rows.size(); ++i) {
    const std::vector<double> votes = rows.votes(i);
    posterior.insert(posterior.end(), votes.begin(), votes.end());
  }
  return posterior;
}

std::vector<double> posterior_from_judge(const LatentRows& rows, int judge) {
  const int K = rows.categories;
  std::vector<double> posterior = posterior_from_votes(rows);
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.known_truth[i] >= 0) continue;
    double* p = row_of(posterior, i, K);
    for (const int position : rows.positions(i)) {
      if (rows.judge[position] != judge) continue;
      std::fill(p, p + K, (1 - chosen_category_probability) / (K - 1));
      p[rows.category[position]] = chosen_category_probability;
    }
  }
  return posterior;
}

bool any_matrix(const std::vector<std::vector<double>>& x) {
  return std::any_of(x.begin(), x.end(), [](const std::vector<double>& m) { return !m.empty(); });
}

// Renames the classes if the diagonals of the confusion matrices then increase. In this case,
// restarts the panel with the renamed posterior and returns true. Returns false if the names stay
// the same.
bool rename_classes(const LatentRows& rows, PooledPanel& panel) {
  const bool has_names = std::any_of(rows.known_truth.begin(), rows.known_truth.end(),
                                     [](int known) { return known >= 0; }) ||
                         any_matrix(rows.matrix) || any_matrix(rows.calibration);
  const int K = rows.categories;
  if (has_names || (panel.centre().one_coin && K > 2)) return false;
  std::vector<double> matrices;
  for (int j = 0; j < rows.judges; ++j) {
    for (int k = 0; k < K; ++k) {
      const double answer_rate = panel.answering().answer_probability(j, k);
      for (int l = 0; l < K; ++l) matrices.push_back(answer_rate * panel.theta(j, k, l));
    }
  }
  std::vector<double> replies = ratings_by_judge(rows);
  for (const int j : panel.answering().used_judges) {
    for (int k = 0; k < K; ++k) replies[j] += panel.answering().abstentions[j][k];
  }
  const std::vector<int> name = names_by_majority(matrices, replies, K);
  bool is_unchanged = true;
  for (int k = 0; k < K; ++k) is_unchanged = is_unchanged && name[k] == k;
  if (is_unchanged) return false;
  std::vector<double> renamed(panel.posterior().size());
  for (std::size_t i = 0; i < renamed.size(); ++i) {
    renamed[i - i % K + name[i % K]] = panel.posterior()[i];
  }
  panel.start(std::move(renamed));
  return true;
}

PooledFit make_result(const PooledPanel& panel, const RowsInUse& used, const LatentRows& rows) {
  const int N = rows.categories, K = used.rows.categories;
  PooledFit result;
  result.category = used.category;
  result.centre = panel.centre();
  result.answering = panel.answering();
  result.log_density = panel.log_density();
  result.log_likelihood = panel.log_likelihood();
  result.rounds = panel.rounds();
  result.converged = panel.converged();
  Table<double> posterior(rows.size(), N);
  for (std::size_t i = 0; i < panel.posterior().size(); ++i) {
    posterior[i / K][used.category[i % K]] = panel.posterior()[i];
  }
  result.posterior = std::move(posterior.values());
  result.rates.assign(N, 0.0);
  result.matrix = result.prior = Squares(rows.judges, N);
  result.answer_probability = Table<double>(rows.judges, N, not_a_number);
  for (int k = 0; k < K; ++k) {
    const int truth = used.category[k];
    result.rates[truth] = panel.base_rate(k);
    for (int j = 0; j < rows.judges; ++j) {
      result.answer_probability[j][truth] = panel.answering().answer_probability(j, k);
      for (int l = 0; l < K; ++l) {
        const int rating = used.category[l];
        result.matrix[j][truth][rating] = panel.theta(j, k, l);
        result.prior[j][truth][rating] =
            panel.centre().c * panel.centre().mean(panel.centre().s[j], k, l);
      }
    }
  }
  return result;
}

// Replaces zeros in the Dirichlet parameters before users see them. `N`: number of categories,
// which is the length of a row. `c`: concentration of the centre. A row of zeros belongs to a
// category that is not in use: all its entries become c / N. Other zeros become 1e-9 * c.
void replace_zeros(std::vector<double>& prior, int N, double c) {
  for (auto row = prior.begin(); row != prior.end(); row += N) {
    const double total = std::accumulate(row, row + N, 0.0);
    for (int l = 0; l < N; ++l) row[l] = total > 0 ? std::max(row[l], 1e-9 * c) : c / N;
  }
}

// Dirichlet parameters of the system's confusion matrix: truths x ratings. They depend on the
// system's skill, which is estimated from its answers and from the raters' posterior probabilities
// of the truth.
Table<double> prior_rows_of_system(const PooledFit& fit, const LatentRows& joined) {
  const int N = joined.categories, system = joined.raters;
  Squares probability(joined.judges, N, 1), sums(joined.judges, N);
  for (int j = 0; j < system; ++j) {
    for (int k = 0; k < N; ++k) {
      for (int l = 0; l < N; ++l) {
        probability[j][l][k] = std::max(fit.matrix[j][k][l], PooledPanel::least_probability);
      }
    }
  }
  std::vector<double> classes(N, 0.0);
  const AnswerTables tables{N, fit.rates.data(), probability.values().data()};
  const AnswerSums answer_sums{classes.data(), sums.values().data()};
  pass_over(joined, tables, &answer_sums, false, [](int, const double*) {});
  const std::vector<int>& used = fit.category;
  const int K = static_cast<int>(used.size());
  Table<double> ratings(K, K), prior_rows(N, N);
  for (int l = 0; l < K; ++l) {
    for (int k = 0; k < K; ++k) ratings[l][k] = sums[system][used[l]][used[k]];
  }
  const double skill = fit.centre.skill_of({ratings[0], K});
  for (int k = 0; k < K; ++k) {
    for (int l = 0; l < K; ++l) {
      prior_rows[used[k]][used[l]] = fit.centre.c * fit.centre.mean(skill, k, l);
    }
  }
  return prior_rows;
}

}  // namespace

PooledFit fit_pooled(const LatentRows& rows, const PooledOptions& options) {
  const RowsInUse used = rows_in_use(rows);
  const LatentRows& used_rows = used.rows;
  const auto start_panel = [&](std::vector<double> posterior) {
    auto panel = std::make_unique<PooledPanel>(used_rows, options.one_coin);
    panel->start(std::move(posterior));
    return panel;
  };
  auto best = start_panel(posterior_from_votes(used_rows));
  const std::vector<int> used_judges = best->counts().used_judges;
  const auto n_judges = static_cast<int>(used_judges.size());
  const bool has_several_starts = n_judges > 1 && n_judges <= options.few_judges;
  const double start_tolerance =
      has_several_starts ? std::max(coarse_tolerance, options.tolerance) : options.tolerance;
  // Iterates until convergence. If rename_classes() then renames the classes, iterates again.
  // Returns true if classes were renamed.
  const auto iterate = [&](PooledPanel& panel, double tolerance) {
    panel.iterate(tolerance, options.rounds);
    const bool renamed = rename_classes(used_rows, panel);
    if (renamed) panel.iterate(tolerance, options.rounds);
    return renamed;
  };
  bool renamed = iterate(*best, start_tolerance);
  for (const int j : has_several_starts ? used_judges : std::vector<int>()) {
    auto candidate = start_panel(posterior_from_judge(used_rows, j));
    const bool candidate_renamed = iterate(*candidate, start_tolerance);
    if (candidate->log_density() <= best->log_density() + least_start_gain) continue;
    best = std::move(candidate);
    renamed = candidate_renamed;
  }
  if (has_several_starts) renamed = iterate(*best, options.tolerance) || renamed;
  PooledFit result = make_result(*best, used, rows);
  result.renamed = renamed;
  if (!options.constant.empty()) result.log_answers = best->log_answers(options.constant);
  return result;
}

Eigen::VectorXd parameters_of(const PooledFit& fit, const Layout& layout) {
  const int N = layout.categories;
  const auto log_of = [](double p) { return std::log(std::max(p, 1e-15)); };
  Eigen::VectorXd parameters = Eigen::VectorXd::Zero(layout.size);
  for (int k = 0; k < N - 1; ++k) parameters[k] = log_of(fit.rates[k]) - log_of(fit.rates[N - 1]);
  for (int u = 0; u < layout.rows.judges; ++u) {
    if (layout.has_known_matrix(u)) continue;
    for (int k = 0; k < N; ++k) {
      const double* row = fit.matrix[u][k];
      double wrong = 0, mean = 0;
      for (int l = 0; l < N; ++l) {
        if (l == k) continue;
        wrong += row[l];
        mean += log_of(row[l]) / (N - 1);
      }
      parameters[layout.accuracy_at(u, k)] = log_of(row[k]) - log_of(wrong);
      for (int l = 0; l < N; ++l) {
        if (l != k) parameters[layout.error_at(u, k, l)] = log_of(row[l]) - mean;
      }
    }
  }
  return parameters;
}

LatentPrior given_centre(const LatentPrior& prior, const PooledFit& fit, const LatentRows& joined) {
  std::vector<double> alpha = fit.prior.values();
  if (joined.joined()) {
    const Table<double> system_rows = prior_rows_of_system(fit, joined);
    alpha.insert(alpha.end(), system_rows.values().begin(), system_rows.values().end());
  }
  replace_zeros(alpha, joined.categories, fit.centre.c);
  const int cells = joined.categories * joined.categories;
  for (int j = 0; j < joined.raters; ++j) {
    for (int i = 0; joined.has_calibration_sample(j) && i < cells; ++i) {
      row_of(alpha, j, cells)[i] += joined.calibration[j][i];
    }
  }
  LatentPrior prior_with_rows = prior;
  prior_with_rows.rows = std::make_shared<const std::vector<double>>(std::move(alpha));
  return prior_with_rows;
}

}  // namespace fallible
