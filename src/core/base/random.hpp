// Random numbers, with a separate stream for each seed and item. Streams are equal on all machines.
#pragma once

#include <threefry.h>

#include <cstdint>
#include <vector>

namespace fallible {

class Stream {
 public:
  // Streams of different items or lanes never overlap: item and lane are the high words of the
  // counter.
  Stream(std::uint64_t seed, std::uint64_t item, std::uint64_t lane = 0);

  // Uniform number in [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

  // Number of successes in `trials` trials with this probability.
  std::int64_t binomial(std::int64_t trials, double probability);

  double normal();
  // Logarithm of a gamma variate with scale 1. The variate would underflow for small shapes.
  double log_gamma(double shape);

 private:
  sitmo::threefry_engine<std::uint64_t, 64, 20> engine_;
};

// Draws `size` probabilities from a Dirichlet distribution into `out`, which may be `parameter`.
void dirichlet(Stream& stream, const double* parameter, int size, double* out);

// Counts of `trials` draws from categories with these weights, which need not sum to 1.
void multinomial(Stream& stream, std::int64_t trials, const std::vector<double>& weight,
                 std::vector<double>& count);

}  // namespace fallible
