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
    throw std::length_error("there are more than 2147483647 distinct combinations of ratings");
  }
  slot_[at] = size();
  value_.insert(value_.end(), row, row + length);
  start_.push_back(value_.size());
  hash_.push_back(h);
  if (hash_.size() * 2 > slot_.size()) resize(slot_.size() * 2);
  return size() - 1;
}

std::vector<std::uint64_t> RowSet::beginnings() const {
  std::vector<std::uint64_t> out(size(), 0);
  if (value_.empty()) return out;
  std::size_t common = length(0);  // length of the prefix that all rows have in common
  for (int i = 1; i < size() && common > 0; ++i) {
    const std::size_t shorter = std::min(common, length(i));
    common = std::mismatch(row(0), row(0) + shorter, row(i)).first - row(0);
  }
  const auto [least, most] = std::minmax_element(value_.begin(), value_.end());
  // Value that is packed as 0, the code for "after the end of the row".
  const std::int64_t zero = static_cast<std::int64_t>(*least) - 1;
  int bits = 1;
  while ((*most - zero) >> bits > 0) ++bits;
  for (int i = 0; i < size(); ++i) {
    std::size_t at = common;
    for (int bits_used = bits; bits_used <= 64; bits_used += bits, ++at) {
      out[i] = out[i] << bits | (at < length(i) ? row(i)[at] - zero : 0);
    }
  }
  return out;
}

std::vector<int> RowSet::sorted() const {
  const std::vector<std::uint64_t> beginning = beginnings();
  std::vector<std::pair<std::uint64_t, int>> order(size());
  for (int i = 0; i < size(); ++i) order[i] = {beginning[i], i};
  std::sort(order.begin(), order.end(), [this](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    const int i = a.second, j = b.second;
    return std::lexicographical_compare(row(i), row(i) + length(i), row(j), row(j) + length(j));
  });
  std::vector<int> out;
  out.reserve(size());
  for (const auto& entry : order) out.push_back(entry.second);
  return out;
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
    std::size_t at = hash_[i] & mask;
    while (slot_[at] >= 0) at = (at + 1) & mask;
    slot_[at] = i;
  }
}

}  // namespace fallible
