#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/random.hpp"
#include "core/model/table_classes.hpp"

using fallible::Stream;
using fallible::TableClasses;
using fallible::TableRows;

namespace {

// Two sources always give the same code, 1 or 2. A third source has only one code.
TableRows agreeing() {
  TableRows rows;
  rows.categories = 2;
  rows.codes = {2, 2, 1};
  for (const int code : {0, 1}) {
    for (const int source : {0, 1, 2}) {
      rows.source.push_back(source);
      rows.code.push_back(source == 2 ? 0 : code);
    }
    rows.end_row(rows.code.size());
  }
  rows.truth = {-1, -1};
  return rows;
}

}  // namespace

TEST_CASE("sources that agree identify the truth, and keep the names of the start") {
  const auto fit = fallible::fit_tables(agreeing(), {30, 10}, {.6, .4, .4, .6}, 0.1, 500);
  CHECK(fit.converged);
  CHECK(fit.posterior[0] > 0.99);
  CHECK(fit.posterior[3] > 0.99);
  CHECK(fit.base_rates[0] == doctest::Approx(30.05 / 40.1).epsilon(1e-3));
  CHECK(fit.table[2][0] == 1);
}

TEST_CASE("known truths stay fixed, and rows with weight zero are ignored") {
  TableRows rows = agreeing();
  rows.truth = {1, -1};
  const auto fit = fallible::fit_tables(rows, {30, 0}, {0, 1, .5, .5}, 0, 500);
  CHECK(fit.posterior[1] == 1);
  CHECK(fit.base_rates[1] == 1);
  CHECK(fit.table[0][2] == 1);
}

TEST_CASE("an EM fit of tables takes each step of its definition") {
  TableRows of;
  of.categories = 3;
  of.codes = {3, 4, 2};
  of.truth = {-1, 2, -1, -1, 0, -1, -1, -1};
  Stream stream(3, 1);
  std::vector<double> weight, posterior;
  for (int i = 0; i < 8; ++i) {
    for (int s = 0; s < 3; ++s) {
      if (stream.uniform() < 0.2) continue;
      of.source.push_back(s);
      of.code.push_back(static_cast<int>(stream.uniform() * of.codes[s]));
    }
    of.end_row(of.code.size());
    weight.push_back(i == 5 ? 0 : 1 + i % 3);
    double total = 0;
    for (int k = 0; k < 3; ++k) {
      posterior.push_back(of.truth[i] >= 0 ? of.truth[i] == k : 0.2 + stream.uniform());
      total += posterior.back();
    }
    for (int k = 0; k < 3; ++k) posterior[3 * i + k] /= total;
  }
  const double mass = 0.7;
  std::vector<double> rate(3), old_rate;
  std::vector<std::vector<double>> table(3), old_table;
  int converged_after = 0;
  const std::vector<double> start = posterior;
  for (int step = 1; step <= 500 && converged_after == 0; ++step) {
    double change = 0;
    std::vector<double> n(3, mass / 3);
    for (int i = 0; i < 8; ++i) {
      for (int k = 0; k < 3; ++k) n[k] += weight[i] * posterior[3 * i + k];
    }
    for (int k = 0; k < 3; ++k) rate[k] = n[k] / (n[0] + n[1] + n[2]);
    for (int s = 0; s < 3; ++s) {
      const int codes = of.codes[s];
      std::vector<double> share(codes), count(3 * codes);
      double all_codes = 0;
      for (int i = 0; i < 8; ++i) {
        for (const int at : of.positions(i)) {
          if (of.source[at] != s) continue;
          share[of.code[at]] += weight[i];
          all_codes += weight[i];
          for (int k = 0; k < 3; ++k) {
            count[k * codes + of.code[at]] += weight[i] * posterior[3 * i + k];
          }
        }
      }
      table[s].assign(3 * codes, 0.0);
      for (int k = 0; k < 3; ++k) {
        double total = 0;
        for (int c = 0; c < codes; ++c) {
          table[s][k * codes + c] = count[k * codes + c] + mass * share[c] / all_codes;
          total += table[s][k * codes + c];
        }
        for (int c = 0; c < codes; ++c) table[s][k * codes + c] /= total;
      }
      if (step > 1) {
        for (std::size_t i = 0; i < table[s].size(); ++i) {
          change = std::max(change, std::fabs(table[s][i] - old_table[s][i]));
        }
      }
    }
    if (step > 1) {
      for (int k = 0; k < 3; ++k) change = std::max(change, std::fabs(rate[k] - old_rate[k]));
    }
    old_rate = rate;
    old_table = table;
    double log_likelihood = 0;
    for (int i = 0; i < 8; ++i) {
      double total = 0;
      std::vector<double> p(rate);
      for (int k = 0; k < 3; ++k) {
        for (const int at : of.positions(i)) {
          p[k] *= table[of.source[at]][k * of.codes[of.source[at]] + of.code[at]];
        }
        if (of.truth[i] >= 0 && k != of.truth[i]) p[k] = 0;
        total += p[k];
      }
      log_likelihood += weight[i] * std::log(total);
      for (int k = 0; k < 3; ++k) posterior[3 * i + k] = p[k] / total;
    }
    if (step > 1 && change < 1e-6) converged_after = step;
    const bool last = converged_after > 0;
    if (step > 4 && !last) continue;
    const TableClasses fit = fit_tables(of, weight, start, mass, last ? 500 : step);
    CHECK(fit.iterations == step);
    CHECK(fit.converged == last);
    CHECK(fit.log_likelihood == doctest::Approx(log_likelihood).epsilon(1e-9));
    for (int k = 0; k < 3; ++k) CHECK(fit.base_rates[k] == doctest::Approx(rate[k]).epsilon(1e-9));
    for (int s = 0; s < 3; ++s) {
      for (std::size_t i = 0; i < table[s].size(); ++i) {
        CHECK(fit.table[s][i] == doctest::Approx(table[s][i]).epsilon(1e-9));
      }
    }
    for (int i = 0; i < 24; ++i) CHECK(std::fabs(fit.posterior[i] - posterior[i]) < 1e-9);
  }
  CHECK(converged_after > 5);
}
