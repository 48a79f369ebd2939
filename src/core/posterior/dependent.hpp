// Draws from posteriors of models in which the errors of raters are dependent given the truth. Uses
// slice sampling with the likelihood of whole rows. Dependence does not change the confusion matrix
// of a single rater, so priors of confusion matrices mean the same as in the independent model.
// Models:
//   easy: a case of class k is easy with probability e_k, and then all raters are right (Albert and
//     Dodd, 2004). Therefore e_k is at most the lowest accuracy of a rater in this class.
//   pairs: two raters give answers x and y to a case of class k with probability (1 - u_k) a_x b_y
//     + u_k M_xy. a and b are the rows of their confusion matrices, M the joint distribution with
//     these margins and the highest agreement. For two classes, the covariance is u_k times its
//     upper bound (Dendukuri and Joseph, 2001).
// The prior of u_k is uniform on [0, 1]. The prior density of e_k is 1 from 0 to the lowest
// accuracy. Its integral is the lowest accuracy, so high accuracies are more probable than in the
// priors of the confusion matrices.
#pragma once

#include "gibbs.hpp"

namespace fallible {

// Returns the number of parameters of dependence: one per class in model `easy`, one per pair and
// class in model `pairs`, otherwise none.
int dependence_parameters(const PosteriorRows& rows, const PosteriorPrior& prior);

// Runs one chain and returns its draws. `number`: index of the chain, which selects its random
// stream.
PosteriorChain draw_dependent(const PosteriorRows& rows, const PosteriorPrior& prior,
                              const ChainOptions& options, int number);

}  // namespace fallible
