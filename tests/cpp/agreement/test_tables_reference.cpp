// Influences of measures of two raters, against finite differences, for tables with empty cells.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/agreement/agreement.hpp"

using namespace fallible;

namespace {

// One row per cell that is not zero: category of the first rater, then of the second.
RatedRows table(const std::vector<double>& cell, int categories) {
  RatedRows out;
  out.judges = 2;
  out.categories = categories;
  for (int a = 0; a < categories; ++a) {
    for (int b = 0; b < categories; ++b) {
      if (cell[a * categories + b] == 0) continue;
      const int row[4] = {0, a, 1, b};
      out.add_row(row, row + 4);
      out.weight.push_back(cell[a * categories + b]);
    }
  }
  return out;
}

void check_influence(const std::string& name, const std::vector<double>& cell, int categories,
                     bool has_derivative) {
  CAPTURE(name);
  CAPTURE(cell);
  const RatedRows rows = table(cell, categories);
  const std::vector<double> unused(categories * categories, 0.0);
  const auto kernel = make_kernel(rows, {name, unused, Pooling::pairs});
  const auto influence = kernel->influence(rows.weight);
  REQUIRE(influence.empty() == !has_derivative);
  for (std::size_t i = 0; i < influence.size(); ++i) {
    std::vector<double> up = rows.weight, down = up;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    const double slope = (kernel->estimate(up).value - kernel->estimate(down).value) / 2e-5;
    CHECK(std::fabs(influence[i] - slope) < 1e-7);
  }
}

}  // namespace

TEST_CASE("influences of measures of a table are derivatives, if these exist") {
  const std::vector<double> full{5, 1, 2, 1, 4, 1, 3, 2, 6};
  const std::vector<double> two_columns{5, 1, 0, 1, 4, 0, 3, 2, 0};
  const std::vector<double> two_rows{5, 1, 2, 0, 0, 0, 3, 2, 6};
  const std::vector<double> two_of_each{5, 0, 2, 0, 0, 0, 1, 0, 4};
  const std::vector<double> one_column{5, 0, 0, 1, 0, 0, 3, 0, 0};
  const std::vector<double> one_row{5, 2, 1, 0, 0, 0, 0, 0, 0};
  const std::vector<double> diagonal{5, 0, 0, 0, 4, 0, 0, 0, 3};
  const std::vector<double> equal_entropy{2, 1, 0, 3, 4, 1, 1, 0, 2};
  for (const std::string name : {"information_agreement", "information_agreement_plain"}) {
    for (const auto& cell : {full, two_columns, two_rows, two_of_each}) {
      check_influence(name, cell, 3, true);
    }
    check_influence(name, one_column, 3, false);
    check_influence(name, one_row, 3, false);
    check_influence(name, {3, 1, 1, 4}, 2, false);  // both entropies are equal
  }
  for (const auto& cell :
       {full, two_columns, two_rows, two_of_each, one_column, one_row, diagonal, equal_entropy}) {
    check_influence("bangdiwala_b", cell, 3, true);
  }
  check_influence("bangdiwala_b", {0, 3, 0, 0}, 2, false);  // no common category
  check_influence("yule_y", {3, 1, 2, 4}, 2, true);
  check_influence("yule_y", {3, 0, 2, 4}, 2, false);
}

TEST_CASE("influences are zero if both raters always agree") {
  const std::vector<double> diagonal{5, 0, 0, 0, 4, 0, 0, 0, 3};
  const RatedRows rows = table(diagonal, 3);
  const std::vector<double> unused(9, 0.0);
  const auto kernel = make_kernel(rows, {"information_agreement", unused, Pooling::pairs});
  CHECK(kernel->estimate(rows.weight).value == doctest::Approx(1));
  const auto influence = kernel->influence(rows.weight);
  REQUIRE(influence.size() == 3);
  for (const double x : influence) CHECK(std::fabs(x) < 1e-12);
}
