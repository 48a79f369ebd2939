// Draws from posteriors in which raters share errors given the truth. Uses slice sampling with the
// likelihood of whole rows. Dependence does not change the confusion matrix of a single rater, so
// priors keep their meaning. Models:
//   easy   with probability e_k all raters are right on a case of class k (Albert and Dodd, 2004);
//          therefore e_k is at most the lowest accuracy of a rater in this class.
//   pairs  two raters give answers x and y to a case of class k with probability
//          (1 - u_k) a_x b_y + u_k M_xy. M is the coupling of the rows a and b with the highest
//          agreement. For two classes the covariance is u_k times its upper bound (Dendukuri and
//          Joseph, 2001)
// The priors of e_k and u_k are uniform; the prior of e_k ends at the bound from the matrices.
#pragma once

#include "gibbs.hpp"

namespace fallible {

// Number of additional parameters: e of each class, or u of each pair and class.
int dependence_parameters(const PosteriorRows& rows, const PosteriorPrior& prior);

PosteriorChain draw_dependent(const PosteriorRows& rows, const PosteriorPrior& prior,
                              const ChainOptions& options, int number);

}  // namespace fallible
