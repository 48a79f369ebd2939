// Fitting latent class models to pairs of ratings: least squares on the relative frequency of each
// pair, as footnote 5 of Lehner (2015) suggests.
#ifndef FALLIBLE_CORE_LATENT_PAIRS_HPP
#define FALLIBLE_CORE_LATENT_PAIRS_HPP

#include <vector>

#include "latent_fit.hpp"

namespace fallible {

// Ratings of one case by different units. Units with the same parameters are one; their pairs count
// half in either order. Pairs of kind i are the cells i N^2 ... (i + 1) N^2 - 1, the rating of
// `first` outside.
struct PairFrequencies {
  int categories = 0;
  std::vector<int> first, second;  // units, for each kind of pairs
  std::vector<double> share;       // of the kind among all pairs
  std::vector<double> frequency;   // of each cell within its kind

  int kinds() const { return static_cast<int>(share.size()); }
  std::size_t cells() const { return frequency.size(); }
};

PairFrequencies pair_frequencies(const LatentRows& rows, const LatentModel& model);

// The best of several starts. What is maximised stands in for the log posterior; priors have no
// part in it.
LatentFit fit_pairs(const LatentClass& model, const PairFrequencies& pairs,
                    const OptimiserOptions& options);

LatentFit fit_pairs(const LatentClass& model, const PairFrequencies& pairs,
                    const Eigen::VectorXd& start, const OptimiserOptions& options);

// Covariance of the natural parameters, over cases; NaN for more than 500 parameters.
Eigen::MatrixXd pair_covariance(const LatentRows& rows, const LatentModel& settings,
                                const LatentClass& model, const PairFrequencies& pairs,
                                const Eigen::VectorXd& x);

}  // namespace fallible

#endif
