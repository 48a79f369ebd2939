// Rows of different lengths, one after the other in the same vectors.
#pragma once

#include <cstddef>
#include <vector>

namespace fallible {

// Consecutive places in a vector, for loops.
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

// Row i has the places start[i] ... start[i + 1] - 1 of vectors that others keep.
struct Ragged {
  std::vector<int> start{0};

  Ragged() = default;
  explicit Ragged(const std::vector<int>& lengths) {
    for (const int length : lengths) start.push_back(start.back() + length);
  }

  int rows() const { return static_cast<int>(start.size()) - 1; }
  Places places(int row) const { return {start[row], start[row + 1]}; }
  // The row ends where those vectors, which are so long now, do.
  void end_row(std::size_t length) { start.push_back(static_cast<int>(length)); }
};

}  // namespace fallible
