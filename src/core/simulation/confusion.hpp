// Confusion matrices from four parameters, as the simulations of Lehner (2015) make them.
#pragma once

#include <vector>

#include "../base/random.hpp"

namespace fallible {

// What step 5 holds fixed: the accuracy over base rates, or the accuracy of each category.
enum class Normalise { expected, row };

struct ConfusionOptions {
  double dispersion = 1;   // AD: an error is so many times likelier than one a step further
  double error_range = 0;  // PER: each error probability is multiplied by Uniform(1 -+ PER)
  Normalise normalise = Normalise::expected;
};

// Row by row, true category first. `factor` has one multiplier per entry (step 4; those of the
// diagonal are not used); `accuracy` is clamped to [0, 1].
std::vector<double> confusion_matrix(double accuracy, const std::vector<double>& base_rates,
                                     const ConfusionOptions& options,
                                     const std::vector<double>& factor);

// Multipliers of step 4 for so many categories; all one where there is no error range.
std::vector<double> error_factors(int categories, double error_range, Stream& stream);

// Share of correct answers where categories have these base rates.
double expected_accuracy(const std::vector<double>& confusion,
                         const std::vector<double>& base_rates);

}  // namespace fallible
