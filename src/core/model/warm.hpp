// Where to begin with more data of the same kind.
#ifndef FALLIBLE_CORE_MODEL_WARM_HPP
#define FALLIBLE_CORE_MODEL_WARM_HPP

#include "latent_fit.hpp"

namespace fallible {

// The parameters `x` of the same model when it had the first so many raters; those of the others
// are the mean. Empty where `x` is not of such a model.
Eigen::VectorXd warm_start(const Layout& layout, const Eigen::VectorXd& x, int raters);

}  // namespace fallible

#endif
