// A set of distinct rows of integers: the hash table of patterns and tallies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fallible {

class RowSet {
 public:
  RowSet() : start_{0}, slot_(64, -1) {}

  // Makes space for this number of distinct rows.
  void reserve(std::size_t rows);

  // Returns the number (from 0) of this row. Adds the row if it is new.
  int insert(const int* row, std::size_t length);

  int size() const { return static_cast<int>(start_.size()) - 1; }
  const int* row(int i) const { return value_.data() + start_[i]; }
  std::size_t length(int i) const { return start_[i + 1] - start_[i]; }

  // Numbers of the rows in lexicographic order, which does not depend on the order of insertion.
  std::vector<int> sorted() const;

 private:
  // Rebuilds the table with `slots` slots, a power of two.
  void resize(std::size_t slots);
  // The first values of each row after the common beginning of all rows, packed into a word. Words
  // are ordered like rows.
  std::vector<std::uint64_t> beginnings() const;

  std::vector<std::size_t> start_;
  std::vector<int> value_;
  std::vector<std::uint64_t> hash_;
  std::vector<int> slot_;  // open addressing; -1 for an empty slot; the size is a power of two
};

// Consecutive positions in a vector, for range-based loops.
class Places {
 public:
  struct Iterator {
    int at;

    int operator*() const { return at; }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    bool operator!=(Iterator other) const { return at != other.at; }
  };

  Places(int first, int last) : first_(first), last_(last) {}

  Iterator begin() const { return {first_}; }
  Iterator end() const { return {last_}; }
  int size() const { return last_ - first_; }

 private:
  int first_, last_;
};

// Row i has the positions start[i] ... start[i + 1] - 1 of vectors that are stored elsewhere.
struct Ragged {
  std::vector<int> start{0};

  Ragged() = default;
  explicit Ragged(const std::vector<int>& lengths) {
    for (const int length : lengths) start.push_back(start.back() + length);
  }

  int rows() const { return static_cast<int>(start.size()) - 1; }
  Places places(int row) const { return {start[row], start[row + 1]}; }
  // Ends a row at the current length of these vectors.
  void end_row(std::size_t length) { start.push_back(static_cast<int>(length)); }
};

// Calls visit(from, to) for each run of positions in a row that have the same key.
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
