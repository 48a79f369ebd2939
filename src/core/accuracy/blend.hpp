// What gold cases say, weighed against what ratings alone say: on a grid, with a prior that is
// normal and has a flat part for the case that ratings are wrong.
#pragma once

namespace fallible {

struct BlendPrior {
  double centre, sd;  // of the normal part
  double vague;       // weight of the flat part
};

// Of the posterior: mean, standard deviation, ends of the interval, probability of the flat part.
struct Blend {
  double mean, sd, low, high, flat;
};

// A share that is known as well as from `size` cases. Flat is Beta(1/2, 1/2).
Blend blend_share(double share, double size, const BlendPrior& prior, double conf_level);

// A difference within [-end, end], whose error is Student's t, or normal where `freedom` is
// infinite.
Blend blend_difference(double value, double error, double freedom, double end,
                       const BlendPrior& prior, double conf_level);

}  // namespace fallible
