// Combines the estimate from gold cases with the estimate from ratings only, on a grid. The prior
// is normal around the latter, and has a flat part in case the ratings are wrong.
#pragma once

namespace fallible {

struct BlendPrior {
  double centre, sd;  // centre and standard deviation of the normal part
  double vague;       // weight of the flat part
};

// Posterior mean, standard deviation, ends of the interval, and probability of the flat part.
struct Blend {
  double mean, sd, low, high, flat;
};

// A share with the precision of `size` cases. The flat part is Beta(1/2, 1/2).
Blend blend_share(double share, double size, const BlendPrior& prior, double conf_level);

// A difference within [-end, end]. Its error has Student's t distribution, which is normal if
// `freedom` is infinite.
Blend blend_difference(double value, double error, double freedom, double end,
                       const BlendPrior& prior, double conf_level);

}  // namespace fallible
