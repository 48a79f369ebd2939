#include <doctest/doctest.h>

#include <vector>

#include "core/base/rows.hpp"

using namespace fallible;

TEST_CASE("rows of different lengths are stored one after the other") {
  const Ragged by_length({2, 0, 1});
  Ragged by_ends;
  CHECK(by_ends.rows() == 0);
  by_ends.end_row(2);
  by_ends.end_row(2);
  by_ends.end_row(3);
  CHECK(by_length.start == by_ends.start);
  CHECK(by_ends.rows() == 3);
  CHECK(by_ends.positions(1).size() == 0);
  std::vector<int> seen;
  for (int row = 0; row < by_ends.rows(); ++row) {
    for (const int at : by_ends.positions(row)) seen.push_back(10 * row + at);
  }
  CHECK(seen == std::vector<int>{0, 1, 22});
}
