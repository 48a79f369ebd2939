#include "alternative.hpp"

#include "../base/host.hpp"

namespace fallible {

namespace {

constexpr double tie = 1e-9;  // sums of what is no whole number

}  // namespace

std::vector<int> nearer_answers(const PatternView& x, int system, const double* closeness) {
  std::vector<int> out(x.start[x.patterns], 0);
  std::vector<int> count(x.categories + 1, 0), sign(x.categories + 1, 0), given;
  const auto close = [&](int a, int b) {
    return closeness[static_cast<std::size_t>(b - 1) * x.categories + a - 1];
  };
  for (int p = 0; p < x.patterns; ++p) {
    const int answer = x.answer_of(p, system);
    if (answer < 1) continue;
    given.clear();
    for (const int r : x.places(p)) {
      if (count[x.category[r]]++ == 0) given.push_back(x.category[r]);
    }
    for (const int own : given) {
      double lead = 0;
      for (const int other : given) {
        lead += (count[other] - (other == own)) * (close(answer, other) - close(own, other));
      }
      sign[own] = (lead > tie) - (lead < -tie);
    }
    for (const int r : x.places(p)) out[r] = sign[x.category[r]];
    for (const int one : given) count[one] = 0;
    steps_done(1 + static_cast<unsigned>(given.size() * given.size() / 64));
  }
  return out;
}

}  // namespace fallible
