// Slice sampling of one number (Neal, 2003, Ann. Stat. 31, 705-767).
#pragma once

#include "random.hpp"

namespace fallible {

// Draws a number with log density above `level` from the interval, which shrinks towards `now`
// after each number below the level. The last call of `log_density` is at the returned value.
template <class LogDensity>
double shrink_slice(Stream& stream, double now, double level, double low, double high,
                    const LogDensity& log_density) {
  constexpr int most_shrinks = 200;
  for (int i = 0; i < most_shrinks; ++i) {
    const double next = low + stream.uniform() * (high - low);
    if (log_density(next) >= level) return next;
    (next < now ? low : high) = next;
  }
  log_density(now);
  return now;
}

// As above, with an interval of this width, in which `now` has a random place. Steps of the same
// width widen the interval while its ends are above the level.
template <class LogDensity>
double step_out_slice(Stream& stream, double now, double level, double width,
                      const LogDensity& log_density) {
  constexpr int most_steps = 8;
  double low = now - width * stream.uniform();
  double high = low + width;
  const int steps = static_cast<int>(most_steps * stream.uniform());
  for (int i = steps; i > 0 && log_density(low) > level; --i) low -= width;
  for (int i = most_steps - 1 - steps; i > 0 && log_density(high) > level; --i) high += width;
  return shrink_slice(stream, now, level, low, high, log_density);
}

}  // namespace fallible
