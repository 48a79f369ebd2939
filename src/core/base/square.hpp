// Square matrices of any number type, stored row by row in one array.
#pragma once

#include <cstddef>
#include <vector>

namespace fallible {

// Refers to a matrix in memory that another object owns. m[k][l] is the element in row k and column
// l.
template <class Number>
class SquareView {
 public:
  SquareView(Number* data, int size) : data_(data), size_(size) {}
  template <class Other>
  SquareView(const SquareView<Other>& other) : data_(other.begin()), size_(other.size()) {}

  int size() const { return size_; }
  Number* operator[](int row) const { return data_ + static_cast<std::ptrdiff_t>(row) * size_; }
  Number* begin() const { return data_; }
  Number* end() const { return (*this)[size_]; }

 private:
  Number* data_;
  int size_;
};

using Square = SquareView<double>;
using ConstSquare = SquareView<const double>;

// `count` matrices of size x size in one block of memory, all zero at first.
class Squares {
 public:
  Squares() = default;
  Squares(std::size_t count, int size)
      : size_(size), values_(count * static_cast<std::size_t>(size) * size) {}

  Square operator[](std::size_t i) { return {values_.data() + i * cells(), size_}; }
  ConstSquare operator[](std::size_t i) const { return {values_.data() + i * cells(), size_}; }
  std::vector<double>& values() { return values_; }
  const std::vector<double>& values() const { return values_; }

 private:
  std::size_t cells() const { return static_cast<std::size_t>(size_) * size_; }

  int size_ = 0;
  std::vector<double> values_;
};

}  // namespace fallible
