// Slice sampling: draws one number from a density that is known up to a constant (Neal, 2003, Ann.
// Stat. 31, 705-767).
#pragma once

#include "random.hpp"

namespace fallible {

// Draws a number with a log density of at least `level` from the interval [low, high] around
// `current`, the current value of the chain. A candidate with a lower log density becomes a new end
// of the interval. The last call of `log_density` is always with the returned value, so
// `log_density` may store its argument.
template <class LogDensity>
double shrink_slice(Stream& stream, double current, double level, double low, double high,
                    const LogDensity& log_density) {
  constexpr int max_shrinks = 200;
  for (int i = 0; i < max_shrinks; ++i) {
    const double candidate = low + stream.uniform() * (high - low);
    if (log_density(candidate) >= level) return candidate;
    (candidate < current ? low : high) = candidate;
  }
  log_density(current);
  return current;
}

// Like shrink_slice(), but chooses the interval. It starts with length `width` at a random position
// around `current`. Each end is then moved outwards by `width` until the log density there is at
// most `level`.
template <class LogDensity>
double step_out_slice(Stream& stream, double current, double level, double width,
                      const LogDensity& log_density) {
  constexpr int max_steps = 8;
  double low = current - width * stream.uniform();
  double high = low + width;
  // Both ends together may move seven times; the share of the lower end is random.
  const int steps_down = static_cast<int>(max_steps * stream.uniform());
  for (int i = steps_down; i > 0 && log_density(low) > level; --i) low -= width;
  for (int i = max_steps - 1 - steps_down; i > 0 && log_density(high) > level; --i) high += width;
  return shrink_slice(stream, current, level, low, high, log_density);
}

}  // namespace fallible
