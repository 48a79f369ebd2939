// Combines the estimate from gold cases (cases with known truth) with the estimate from ratings
// only. The posterior is computed on a grid. The likelihood is computed from the gold cases. The
// prior is a mixture of two distributions. One is normal around the estimate from ratings. The
// other is flat, because the ratings may be misleading.
#pragma once

namespace fallible {

// Prior of the share or difference that is estimated, computed from ratings only.
struct BlendPrior {
  double centre, sd;   // mean and standard deviation of the normal part
  double flat_weight;  // probability of the flat part, before the gold cases
};

// Combination of both estimates: mean and standard deviation of the posterior, limits of the
// interval, and posterior probability of the flat part of the prior.
struct Blend {
  double mean, sd, low, high, flat_probability;
};

// Returns the posterior of a share. `share`: estimate from gold cases. `cases`: number of cases in
// a simple random sample with the same precision. The flat part of the prior is not uniform
// here, but the Jeffreys prior of a share, Beta(1/2, 1/2).
Blend blend_share(double share, double cases, const BlendPrior& prior, double conf_level);

// Returns the posterior of a difference in [-limit, limit]. `value`: estimate from gold cases. Its
// error has Student's t distribution with `df` degrees of freedom, or a normal distribution if `df`
// is infinite. The flat part of the prior is uniform on [-limit, limit].
Blend blend_difference(double value, double std_error, double df, double limit,
                       const BlendPrior& prior, double conf_level);

}  // namespace fallible
