// Matrices of any number type, stored row by row in one array.
#pragma once

#include <cstddef>
#include <vector>

namespace fallible {

// Returns a pointer to the first element of a row of a matrix that is stored row by row. `columns`:
// length of each row.
template <class Values>
auto* row_of(Values& values, std::size_t row, std::size_t columns) {
  return values.data() + row * columns;
}

// Matrix with any number of rows and columns. table[i][j] is the element in row i and column j.
template <class Number>
class Table {
 public:
  Table() = default;
  Table(std::size_t rows, std::size_t columns, Number value = Number())
      : columns_(columns), values_(rows * columns, value) {}

  Number* operator[](std::size_t row) { return row_of(values_, row, columns_); }
  const Number* operator[](std::size_t row) const { return row_of(values_, row, columns_); }
  std::vector<Number>& values() { return values_; }
  const std::vector<Number>& values() const { return values_; }

 private:
  std::size_t columns_ = 0;
  std::vector<Number> values_;
};

// Refers to a square matrix in memory that another object owns. If m is a view, m[k][l] is the
// element in row k and column l.
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

// Several square matrices of the same size in one block of memory. The constructor makes `count`
// matrices of size x size, in which all elements are `value`.
class Squares : Table<double> {
 public:
  Squares() = default;
  Squares(std::size_t count, int size, double value = 0)
      : Table(count, size * size, value), size_(size) {}

  Square operator[](std::size_t i) { return {Table::operator[](i), size_}; }
  ConstSquare operator[](std::size_t i) const { return {Table::operator[](i), size_}; }
  using Table::values;

 private:
  int size_ = 0;
};

}  // namespace fallible
