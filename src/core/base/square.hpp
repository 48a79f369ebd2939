// Square matrices, stored row by row.
#pragma once

#include <cstddef>
#include <vector>

namespace fallible {

// View of a matrix; m[k][l] is an element.
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

// Stack of matrices of equal size.
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
