#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/rows.hpp"

using namespace fallible;

TEST_CASE("rows are numbered by first appearance, and found again after growth") {
  RowSet rows;
  bool in_order = true;
  for (int i = 0; i < 1000; ++i) {
    const int row[] = {i, -i};
    in_order = in_order && rows.insert(row, 2) == i;
  }
  for (int i = 0; i < 1000; ++i) {
    const int row[] = {i, -i};
    in_order = in_order && rows.insert(row, 2) == i;
  }
  CHECK(in_order);
  const int seen[] = {7, -7}, shorter[] = {7};
  CHECK(rows.insert(seen, 2) == 7);
  CHECK(rows.insert(shorter, 1) == 1000);
  CHECK(rows.insert(nullptr, 0) == 1001);
  CHECK(rows.insert(nullptr, 0) == 1001);
  CHECK(rows.size() == 1002);
  CHECK(rows.length(1001) == 0);
  CHECK(rows.row(7)[1] == -7);
}

TEST_CASE("rows of any length and content are sorted lexicographically") {
  const int least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  std::vector<std::vector<int>> words{{},           {0},     {0, least}, {0, most},
                                      {0, most, 1}, {least}, {most}};
  for (int i = 0; i < 200; ++i) {
    words.push_back({0, i % 7});
    // Rows differ only at the end, or in length.
    words.back().insert(words.back().end(), i % 40, i % 3 - 1);
    words.back().push_back(i);
  }
  RowSet rows;
  for (const auto& word : words) rows.insert(word.data(), word.size());
  std::sort(words.begin(), words.end());
  std::vector<std::vector<int>> found;
  for (const int i : rows.sorted()) found.emplace_back(rows.row(i), rows.row(i) + rows.length(i));
  CHECK(found == words);
}

TEST_CASE("rows with shared prefixes, long tails and many bits are sorted") {
  // All rows begin with the same values. They differ after more values than 64 bits hold, or only
  // in length.
  for (const int wide : {1, 3, 1000, 70000, 2000000000}) {
    std::vector<std::vector<int>> words;
    for (int i = 0; i < 60; ++i) {
      std::vector<int> word{5, -1, 5};
      for (int j = 0; j < i % 23; ++j) word.push_back((i * 7 + j * j) % 3 - 1);
      word.push_back(i % 2 == 0 ? wide : -wide);
      word.push_back(i);
      words.push_back(word);
      word.push_back(0);
      words.push_back(word);
    }
    RowSet rows, reserved;
    reserved.reserve(words.size());
    for (const auto& word : words) {
      CHECK(rows.insert(word.data(), word.size()) == reserved.insert(word.data(), word.size()));
    }
    std::vector<std::vector<int>> found;
    for (const int i : rows.sorted()) found.emplace_back(rows.row(i), rows.row(i) + rows.length(i));
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    CHECK(found == words);
    CHECK(rows.sorted() == reserved.sorted());
  }
  CHECK(RowSet().sorted().empty());
}
