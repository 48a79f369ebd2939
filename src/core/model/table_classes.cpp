#include "table_classes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../base/host.hpp"
#include "../base/matrix.hpp"
#include "../base/special.hpp"

namespace fallible {

namespace {

constexpr double tolerance = 1e-6;
constexpr double least_probability = 1e-300;

// Divides n numbers by their sum. If the sum is zero, all become 1 / n.
void normalise(double* x, std::size_t n) {
  const double total = std::accumulate(x, x + n, 0.0);
  const double equal = 1 / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = total > 0 ? x[i] / total : equal;
}

// Returns, for each source (a rater or a system), the shares of its codes (ratings or binned
// scores) among all cases. The shares are equal for a source without codes.
std::vector<std::vector<double>> overall_distributions(const TableRows& rows,
                                                       const std::vector<double>& weight) {
  std::vector<std::vector<double>> distributions;
  for (const int codes : rows.codes) distributions.emplace_back(codes, 0.0);
  for (int i = 0; i < rows.rows(); ++i) {
    for (const int position : rows.positions(i))
      distributions[rows.source[position]][rows.code[position]] += weight[i];
  }
  for (auto& distribution : distributions) normalise(distribution.data(), distribution.size());
  return distributions;
}

// M step: computes base rates and tables from the posterior of `fit`. Returns the largest change of
// a probability.
double maximise(const TableRows& rows, const std::vector<double>& weight,
                const std::vector<std::vector<double>>& overall, double mass, TableClasses& fit) {
  const int K = rows.categories;
  std::vector<double> rates(K, mass / K);
  std::vector<std::vector<double>> table(overall.size());
  for (std::size_t s = 0; s < overall.size(); ++s) {
    for (int k = 0; k < K; ++k) {
      for (const double x : overall[s]) table[s].push_back(mass * x);
    }
  }
  for (int i = 0; i < rows.rows(); ++i) {
    if (weight[i] == 0) continue;
    const double* p = row_of(fit.posterior, i, K);
    for (int k = 0; k < K; ++k) rates[k] += weight[i] * p[k];
    for (const int position : rows.positions(i)) {
      const int s = rows.source[position];
      double* cell = &table[s][rows.code[position]];
      for (int k = 0; k < K; ++k) cell[k * rows.codes[s]] += weight[i] * p[k];
    }
  }
  normalise(rates.data(), rates.size());
  double change = fit.table.empty() ? 1 : largest_change(fit.base_rates, rates);
  for (std::size_t s = 0; s < overall.size(); ++s) {
    for (int k = 0; k < K; ++k) normalise(&table[s][k * overall[s].size()], overall[s].size());
    if (!fit.table.empty()) change = std::max(change, largest_change(fit.table[s], table[s]));
  }
  fit.base_rates = std::move(rates);
  fit.table = std::move(table);
  return change;
}

}  // namespace

void expect(const TableRows& rows, const std::vector<double>& weight, TableClasses& fit) {
  const int K = rows.categories;
  const auto log_of = [](double x) { return std::log(std::max(x, least_probability)); };
  std::vector<std::vector<double>> logs = fit.table;
  for (auto& table : logs) std::transform(table.begin(), table.end(), table.begin(), log_of);
  std::vector<double> rate(K);
  std::transform(fit.base_rates.begin(), fit.base_rates.end(), rate.begin(), log_of);
  fit.posterior.resize(static_cast<std::size_t>(rows.rows()) * K);
  fit.log_likelihood = 0;
  for (int i = 0; i < rows.rows(); ++i) {
    double* p = row_of(fit.posterior, i, K);
    std::copy(rate.begin(), rate.end(), p);
    count_steps(1);
    for (const int position : rows.positions(i)) {
      const int s = rows.source[position];
      const double* cell = &logs[s][rows.code[position]];
      for (int k = 0; k < K; ++k) p[k] += cell[k * rows.codes[s]];
    }
    const int truth = rows.truth[i];
    if (truth >= 0) {
      if (weight[i] > 0) fit.log_likelihood += weight[i] * p[truth];
      for (int k = 0; k < K; ++k) p[k] = k == truth;
      continue;
    }
    const double log_total = softmax(p, p + K);
    if (weight[i] > 0) fit.log_likelihood += weight[i] * log_total;
  }
}

TableClasses fit_tables(const TableRows& rows, const std::vector<double>& weight,
                        const std::vector<double>& start, double mass, int iterations) {
  const auto overall = overall_distributions(rows, weight);
  TableClasses fit;
  fit.posterior = start;
  while (fit.iterations < iterations && !fit.converged) {
    fit.converged = maximise(rows, weight, overall, mass, fit) < tolerance;
    expect(rows, weight, fit);
    ++fit.iterations;
  }
  return fit;
}

}  // namespace fallible
