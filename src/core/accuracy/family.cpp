#include <iterator>

#include "member_matrices.hpp"
#include "member_one_coin.hpp"
#include "member_own_errors.hpp"

namespace fallible {

namespace {

constexpr double own_errors[] = {30, 8};  // concentrations
constexpr int crowd = 120;                // raters; more have no error rows, but confusion matrices

template <class One, class... Arguments>
const One* add(Family& family, const Arguments&... arguments) {
  auto member = std::make_unique<One>(arguments...);
  const One* out = member.get();
  family.push_back(std::move(member));
  return out;
}

// All shifts, each from where the one before it ended; the first.
const OneCoin* add_one_coins(Family& family, bool by_rater, bool distance, bool own) {
  const auto variants = static_cast<int>(std::size(own_errors));
  const OneCoin *first = nullptr, *last = nullptr;
  for (const double shift : shifts) {
    last = add<OneCoin>(family, OneCoinSettings{by_rater, distance, shift}, last);
    if (!first) first = last;
    const OwnErrorRows* start = nullptr;
    for (const double concentration : own_errors) {
      if (own) start = add<OwnErrorRows>(family, last, concentration, variants, start);
    }
  }
  return first;
}

}  // namespace

const Member* Member::root() const {
  const Member* before = base() ? base() : start();
  return before ? before->root() : this;
}

Family make_family(const LatentRows& rows, bool ordered) {
  Family out;
  const bool rows_of_own = rows.categories > 2 && rows.raters <= crowd;  // two have but one error
  const bool by_distance = rows.categories > 2 && ordered;
  add_one_coins(out, false, false, rows_of_own && !by_distance);
  const OneCoin* richest = add_one_coins(out, true, false, rows_of_own && !by_distance);
  if (by_distance) {
    add_one_coins(out, false, true, rows_of_own);
    richest = add_one_coins(out, true, true, rows_of_own);
  }
  add<Matrices>(out, richest, by_distance);
  return out;
}

}  // namespace fallible
