// Random numbers. Each pair of a seed and an item (for example a replicate) has a separate stream,
// so results do not depend on threads. The streams are the same on all machines.
#pragma once

#include <threefry.h>

#include <cstdint>
#include <vector>

namespace fallible {

// Generator of random numbers for one item.
class Stream {
 public:
  // `lane` is the number of the stream, if one item needs several streams. The counter of the
  // generator has four words, and `item` and `lane` are the two high words. Therefore streams with
  // different pairs of `item` and `lane` never overlap.
  Stream(std::uint64_t seed, std::uint64_t item, std::uint64_t lane = 0);

  // Returns a uniform number in [0, 1) with 53 random bits, the precision of a double.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

  // Returns the number of successes in `trials` independent trials with success probability
  // `probability`.
  std::int64_t binomial(std::int64_t trials, double probability);

  // Returns a standard normal number.
  double normal();
  // Returns the logarithm of a gamma variate with scale 1. The variate itself would underflow to 0
  // for small shapes.
  double log_gamma(double shape);

 private:
  sitmo::threefry_engine<std::uint64_t, 64, 20> engine_;
};

// Draws a vector of `size` probabilities from the Dirichlet distribution with parameters
// `parameter`, and writes it to `probability`. Both pointers may refer to the same array.
void dirichlet(Stream& stream, const double* parameter, int size, double* probability);

// Distributes `trials` draws over categories with probabilities proportional to `weight`. Writes
// the number of draws of each category to `count`.
void multinomial(Stream& stream, std::int64_t trials, const std::vector<double>& weight,
                 std::vector<double>& count);

}  // namespace fallible
