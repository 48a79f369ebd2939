// The prior of a latent class model.
#pragma once

#include "layout.hpp"

namespace fallible {

// Its log density but for a constant; adds the gradient unless null.
double log_prior(const Layout& layout, const Eigen::VectorXd& x, Eigen::VectorXd* gradient);

// The constant that makes a normalised density.
double log_prior_constant(const Layout& layout);

}  // namespace fallible
