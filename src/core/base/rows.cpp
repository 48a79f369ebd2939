#include "rows.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace fallible {

namespace {

// Hash value of a row. Mixes one integer at a time by multiplication and shift. This is fast and
// sufficient because rows are short and their values small.
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
  const std::uint64_t hash = hash_row(row, length);
  std::size_t mask = slot_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slot_[slot] >= 0; slot = (slot + 1) & mask) {
    const int i = slot_[slot];
    if (hash_[i] == hash && this->length(i) == length &&
        std::equal(row, row + length, this->row(i))) {
      return i;
    }
  }
  if (size() == std::numeric_limits<int>::max()) {
    throw std::length_error(
        "the cases have more than 2147483647 distinct combinations of ratings; use fewer cases");
  }
  slot_[slot] = size();
  value_.insert(value_.end(), row, row + length);
  start_.push_back(value_.size());
  hash_.push_back(hash);
  if (hash_.size() * 2 > slot_.size()) resize(slot_.size() * 2);
  return size() - 1;
}

std::vector<std::uint64_t> RowSet::packed_beginnings() const {
  std::vector<std::uint64_t> word(size(), 0);
  if (value_.empty()) return word;
  std::size_t common_length = length(0);  // number of first values that are equal in all rows
  for (int i = 1; i < size() && common_length > 0; ++i) {
    const std::size_t compared_length = std::min(common_length, length(i));
    common_length = std::mismatch(row(0), row(0) + compared_length, row(i)).first - row(0);
  }
  const auto [smallest, largest] = std::minmax_element(value_.begin(), value_.end());
  // Values are packed as positive codes: the differences from `value_before_smallest`. The code 0
  // is left for positions after the end of a row.
  const std::int64_t value_before_smallest = static_cast<std::int64_t>(*smallest) - 1;
  int bits = 1;
  while ((*largest - value_before_smallest) >> bits > 0) ++bits;
  for (int i = 0; i < size(); ++i) {
    std::size_t position = common_length;
    for (int bits_used = bits; bits_used <= 64; bits_used += bits, ++position) {
      word[i] =
          word[i] << bits | (position < length(i) ? row(i)[position] - value_before_smallest : 0);
    }
  }
  return word;
}

std::vector<int> RowSet::sorted() const {
  const std::vector<std::uint64_t> packed_beginning = packed_beginnings();
  std::vector<std::pair<std::uint64_t, int>> order(size());
  for (int i = 0; i < size(); ++i) order[i] = {packed_beginning[i], i};
  std::sort(order.begin(), order.end(), [this](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    const int i = a.second, j = b.second;
    return std::lexicographical_compare(row(i), row(i) + length(i), row(j), row(j) + length(j));
  });
  std::vector<int> sorted_index;
  sorted_index.reserve(size());
  for (const auto& entry : order) sorted_index.push_back(entry.second);
  return sorted_index;
}

void RowSet::reserve(std::size_t rows) {
  std::size_t slots = slot_.size();
  while (slots < 2 * rows) slots *= 2;
  if (slots == slot_.size()) return;
  start_.reserve(rows + 1);
  hash_.reserve(rows);
  resize(slots);
}

void RowSet::resize(std::size_t slots) {
  slot_.assign(slots, -1);
  const std::size_t mask = slot_.size() - 1;
  for (int i = 0; i < size(); ++i) {
    std::size_t slot = hash_[i] & mask;
    while (slot_[slot] >= 0) slot = (slot + 1) & mask;
    slot_[slot] = i;
  }
}

}  // namespace fallible
