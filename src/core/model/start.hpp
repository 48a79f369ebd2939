// Where to begin to fit a latent class model.
#pragma once

#include <vector>

#include "layout.hpp"

namespace fallible {

// From the shares of votes that each category of a case has.
Eigen::VectorXd start_from_votes(const Layout& layout);

// That and others: where difficulty matters there can be more than one top.
std::vector<Eigen::VectorXd> all_starts(const Layout& layout);

// With more data of the same kind: from the parameters `x` of the same model when it had the first
// so many raters; those of the others are the mean. Empty where `x` is not of such a model.
Eigen::VectorXd warm_start(const Layout& layout, const Eigen::VectorXd& x, int raters);

}  // namespace fallible
