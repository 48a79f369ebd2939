// A set of distinct rows of integers: the hash table behind patterns and tallies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fallible {

class RowSet {
 public:
  RowSet() : start_{0}, slot_(64, -1) {}

  // The number (from 0) of this row, which is added if it is new.
  int insert(const int* row, std::size_t length);

  int size() const { return static_cast<int>(start_.size()) - 1; }
  const int* row(int i) const { return value_.data() + start_[i]; }
  std::size_t length(int i) const { return start_[i + 1] - start_[i]; }

  // The numbers of the rows in lexicographic order: an order that is not that of insertion.
  std::vector<int> sorted() const;

 private:
  void grow();

  std::vector<std::size_t> start_;
  std::vector<int> value_;
  std::vector<std::uint64_t> hash_;
  std::vector<int> slot_;  // open addressing; -1 is free; the size is a power of two
};

}  // namespace fallible
