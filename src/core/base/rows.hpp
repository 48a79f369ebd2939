// A set of distinct rows of integers, as a hash table. Patterns of ratings and tallies of ratings
// are stored in such sets, because equal cases need to be processed only once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fallible {

class RowSet {
 public:
  RowSet() : start_{0}, slot_(64, -1) {}

  // Reserves memory for `rows` distinct rows.
  void reserve(std::size_t rows);

  // Returns the index of this row. Indices start at 0 and follow the order of insertion. Adds
  // the row if the set does not contain it.
  int insert(const int* row, std::size_t length);

  int size() const { return static_cast<int>(start_.size()) - 1; }
  const int* row(int i) const { return value_.data() + start_[i]; }
  std::size_t length(int i) const { return start_[i + 1] - start_[i]; }

  // Returns the indices of the rows in lexicographic order. This order does not depend on the order
  // of insertion, so results do not depend on the order of cases.
  std::vector<int> sorted() const;

 private:
  // Rebuilds the hash table with `slots` slots. The number of slots must be a power of two.
  void resize(std::size_t slots);
  // Returns one 64-bit word per row. Values at the beginning that are equal in all rows are
  // skipped, and the word contains the next values. Different words have the same order as their
  // rows, and are faster to compare. Rows with equal words must be compared in full.
  std::vector<std::uint64_t> packed_beginnings() const;

  // Row i has the values value_[start_[i]] ... value_[start_[i + 1] - 1].
  std::vector<std::size_t> start_;
  std::vector<int> value_;
  std::vector<std::uint64_t> hash_;  // hash value of each row
  // Hash table: each slot contains the index of a row, or -1 if it is empty. The size is a power of
  // two.
  std::vector<int> slot_;
};

// The positions first, ..., last - 1 in a vector. Allows `for (int i : positions)`.
class Positions {
 public:
  struct Iterator {
    int position;

    int operator*() const { return position; }
    Iterator& operator++() {
      ++position;
      return *this;
    }
    bool operator!=(Iterator other) const { return position != other.position; }
  };

  Positions(int first, int last) : first_(first), last_(last) {}

  Iterator begin() const { return {first_}; }
  Iterator end() const { return {last_}; }
  int size() const { return last_ - first_; }

 private:
  int first_, last_;
};

// Rows of different lengths that are stored one after the other in a vector. This struct has only
// the boundaries: row i has the positions start[i] ... start[i + 1] - 1 of the vector.
struct Ragged {
  std::vector<int> start{0};

  Ragged() = default;
  explicit Ragged(const std::vector<int>& lengths) {
    for (const int length : lengths) start.push_back(start.back() + length);
  }

  int rows() const { return static_cast<int>(start.size()) - 1; }
  Positions positions(int row) const { return {start[row], start[row + 1]}; }
  // Ends the current row, after its values were appended to the vector. `length`: current length of
  // the vector.
  void end_row(std::size_t length) { start.push_back(static_cast<int>(length)); }
};

// Calls visit(from, to) for each maximal run of equal values in key[begin] ... key[end - 1]. The
// run has the positions from ... to - 1.
template <class Key, class Visit>
void for_each_run(int begin, int end, const Key& key, const Visit& visit) {
  while (begin < end) {
    int to = begin + 1;
    while (to < end && key[to] == key[begin]) ++to;
    visit(begin, to);
    begin = to;
  }
}

}  // namespace fallible
