#include <doctest/doctest.h>

#include "core/model/table_classes.hpp"

using fallible::TableRows;

namespace {

// Two sources always give the same of two codes. A third gives one code only.
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

TEST_CASE("sources that agree tell the truth, and keep the names that the start gives") {
  const auto fit = fallible::fit_tables(agreeing(), {30, 10}, {.6, .4, .4, .6}, 0.1, 500);
  CHECK(fit.converged);
  CHECK(fit.posterior[0] > 0.99);
  CHECK(fit.posterior[3] > 0.99);
  CHECK(fit.base_rates[0] == doctest::Approx(30.05 / 40.1).epsilon(1e-3));
  CHECK(fit.table[2][0] == 1);
}

TEST_CASE("known truths stay, and rows without weight do not count") {
  TableRows rows = agreeing();
  rows.truth = {1, -1};
  const auto fit = fallible::fit_tables(rows, {30, 0}, {0, 1, .5, .5}, 0, 500);
  CHECK(fit.posterior[1] == 1);
  CHECK(fit.base_rates[1] == 1);
  CHECK(fit.table[0][2] == 1);
}
