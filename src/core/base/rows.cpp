#include "rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace fallible {

namespace {

// Multiplies and shifts one word at a time, because rows are short and their values small.
std::uint64_t hash_row(const int* row, std::size_t length) {
  std::uint64_t h = 0x9E3779B97F4A7C15ULL ^ length;
  for (std::size_t i = 0; i < length; ++i) {
    h ^= static_cast<std::uint32_t>(row[i]);
    h *= 0xD6E8FEB86659FD93ULL;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace

int RowSet::insert(const int* row, std::size_t length) {
  const std::uint64_t h = hash_row(row, length);
  std::size_t mask = slot_.size() - 1;
  std::size_t at = h & mask;
  for (; slot_[at] >= 0; at = (at + 1) & mask) {
    const int i = slot_[at];
    if (hash_[i] == h && this->length(i) == length && std::equal(row, row + length, this->row(i))) {
      return i;
    }
  }
  if (size() == std::numeric_limits<int>::max()) {
    throw std::length_error("more distinct rows than an integer can count");
  }
  slot_[at] = size();
  value_.insert(value_.end(), row, row + length);
  start_.push_back(value_.size());
  hash_.push_back(h);
  if (hash_.size() * 2 > slot_.size()) grow();
  return size() - 1;
}

std::vector<int> RowSet::sorted() const {
  std::vector<int> out(size());
  std::iota(out.begin(), out.end(), 0);
  std::sort(out.begin(), out.end(), [this](int a, int b) {
    return std::lexicographical_compare(row(a), row(a) + length(a), row(b), row(b) + length(b));
  });
  return out;
}

void RowSet::grow() {
  slot_.assign(slot_.size() * 2, -1);
  const std::size_t mask = slot_.size() - 1;
  for (int i = 0; i < size(); ++i) {
    std::size_t at = hash_[i] & mask;
    while (slot_[at] >= 0) at = (at + 1) & mask;
    slot_[at] = i;
  }
}

}  // namespace fallible
