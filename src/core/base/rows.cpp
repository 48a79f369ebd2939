#include "rows.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace fallible {

namespace {

// Multiply and xor-shift, one word at a time: rows are short and their values small.
std::uint64_t hash_row(const int* row, std::size_t length) {
  std::uint64_t h = 0x9E3779B97F4A7C15ULL ^ length;
  for (std::size_t i = 0; i < length; ++i) {
    h ^= static_cast<std::uint32_t>(row[i]);
    h *= 0xD6E8FEB86659FD93ULL;
    h ^= h >> 32;
  }
  return h;
}

// The beginnings of rows in one word each, which are in the order of rows as far as they go. Where
// they differ, as most do, nobody has to look for the rows themselves in memory.
class Beginnings {
 public:
  explicit Beginnings(const RowSet& rows) : rows_(rows) {
    std::vector<int> least, most;
    for (int i = 0; i < rows.size(); ++i) {
      const int* row = rows.row(i);
      const std::size_t length = std::min<std::size_t>(rows.length(i), word);
      for (std::size_t j = 0; j < length; ++j) {
        if (j == least.size()) {
          least.push_back(row[j]);
          most.push_back(row[j]);
        }
        least[j] = std::min(least[j], row[j]);
        most[j] = std::max(most[j], row[j]);
      }
    }
    int left = word;
    for (std::size_t j = 0; j < least.size(); ++j) {
      const int bits = bits_of(std::int64_t{most[j]} - least[j] + 1);
      left -= bits;
      if (left < 0) break;
      places_.push_back({least[j], bits});
    }
  }

  std::uint64_t of(int i) const {
    std::uint64_t out = 0;
    const int* row = rows_.row(i);
    for (std::size_t j = 0; j < places_.size(); ++j) {
      out <<= places_[j].bits;
      if (j < rows_.length(i)) {  // nothing comes before anything
        out |= static_cast<std::uint64_t>(std::int64_t{row[j]} - places_[j].least + 1);
      }
    }
    return out;
  }

 private:
  static constexpr int word = 64;
  struct Place {
    int least, bits;
  };

  static int bits_of(std::int64_t x) {
    int out = 0;
    for (; x > 0; x >>= 1) ++out;
    return out;
  }

  const RowSet& rows_;
  std::vector<Place> places_;
};

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
  const Beginnings beginnings(*this);
  std::vector<std::pair<std::uint64_t, int>> order;
  order.reserve(size());
  for (int i = 0; i < size(); ++i) order.emplace_back(beginnings.of(i), i);
  std::sort(order.begin(), order.end(), [this](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    const int *of_a = row(a.second), *of_b = row(b.second);
    return std::lexicographical_compare(of_a, of_a + length(a.second), of_b,
                                        of_b + length(b.second));
  });
  std::vector<int> out;
  out.reserve(size());
  for (const auto& one : order) out.push_back(one.second);
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
