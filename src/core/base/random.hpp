// Random numbers: one stream per (seed, item), the same on every machine.
#pragma once

#include <threefry.h>

#include <cstdint>
#include <vector>

namespace fallible {

class Stream {
 public:
  // Streams of different items or lanes never overlap: these are the high words of the counter.
  Stream(std::uint64_t seed, std::uint64_t item, std::uint64_t lane = 0);

  // In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

  // Number of successes in so many trials, each with this probability.
  std::int64_t binomial(std::int64_t trials, double probability);

  double normal();
  // The logarithm of a gamma variate of scale 1, since small shapes give numbers that underflow.
  double log_gamma(double shape);

 private:
  sitmo::threefry_engine<std::uint64_t, 64, 20> engine_;
};

// Probabilities of a Dirichlet distribution with `size` parameters, into `out`, which may be the
// same place.
void dirichlet(Stream& stream, const double* parameter, int size, double* out);

// Counts of `trials` draws from categories with these weights (not necessarily normalised).
void multinomial(Stream& stream, std::int64_t trials, const std::vector<double>& weight,
                 std::vector<double>& count);

}  // namespace fallible
