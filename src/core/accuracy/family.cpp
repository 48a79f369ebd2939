#include <iterator>

#include "member_matrices.hpp"
#include "member_one_coin.hpp"
#include "member_own_errors.hpp"

namespace fallible {

namespace {

constexpr double own_errors[] = {30, 8};  // concentrations
constexpr int crowd = 120;                // raters; more have no error rows, but confusion matrices

// Its place. `base` is the place of the member that it stands on, `start` of the one whose fit it
// starts from (see Relative); -1 for none.
int add(Family& family, std::unique_ptr<Member> member, int base, int start) {
  family.push_back({std::move(member), base, start});
  return static_cast<int>(family.size()) - 1;
}

// All shifts, each from where the one before it ended; the place of the first.
int add_one_coins(Family& family, bool by_rater, bool distance, bool own) {
  const int first = static_cast<int>(family.size());
  const auto variants = static_cast<int>(std::size(own_errors));
  int base = -1;
  for (const double shift : shifts) {
    const OneCoinSettings settings{by_rater, distance, shift};
    base = add(family, std::make_unique<OneCoin>(settings), -1, base);
    int start = -1;
    for (const double concentration : own_errors) {
      if (!own) break;
      start = add(family, std::make_unique<OwnErrorRows>(settings, concentration, variants), base,
                  start);
    }
  }
  return first;
}

}  // namespace

Family make_family(const LatentRows& rows, bool ordered) {
  Family out;
  const bool rows_of_own = rows.categories > 2 && rows.raters <= crowd;  // two have but one error
  const bool by_distance = rows.categories > 2 && ordered;
  add_one_coins(out, false, false, rows_of_own && !by_distance);
  int richest = add_one_coins(out, true, false, rows_of_own && !by_distance);
  if (by_distance) {
    add_one_coins(out, false, true, rows_of_own);
    richest = add_one_coins(out, true, true, rows_of_own);
  }
  add(out, std::make_unique<Matrices>(by_distance), richest, -1);
  return out;
}

}  // namespace fallible
