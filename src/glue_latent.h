// Models of raters, from R.
#ifndef FALLIBLE_GLUE_LATENT_H
#define FALLIBLE_GLUE_LATENT_H

#include <RcppEigen.h>

#include "core/latent.hpp"

namespace glue {

fallible::LatentModel latent_model(const Rcpp::List& x);
fallible::LatentPrior latent_prior(const Rcpp::List& x);

}  // namespace glue

#endif
