// Draws where raters err together given the truth, by slices on the likelihood of whole rows. The
// laws leave the matrices what they are for each rater alone, so that priors keep their meaning:
//   easy   with probability e_k a case of class k is rated right by all (Albert and Dodd, 2004), so
//          that nobody is right less often
//   pairs  two raters give answers x and y to a case of class k with probability
//          (1 - u_k) a_x b_y + u_k M_xy, where M is the coupling of the rows a and b that agrees
//          most often; for two classes that is a covariance of u_k times its bound (Dendukuri and
//          Joseph, 2001)
// e_k and u_k are uniform before the ratings are seen, e_k as far as the matrices leave room.
#pragma once

#include "gibbs.hpp"

namespace fallible {

// Numbers behind those of independence: e of each class, or u of each pair and class.
int dependence_parameters(const PosteriorRows& rows, const PosteriorPrior& prior);

PosteriorChain draw_dependent(const PosteriorRows& rows, const PosteriorPrior& prior,
                              const ChainOptions& options, int number);

}  // namespace fallible
