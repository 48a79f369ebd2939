// Hierarchical Dawid-Skene: confusion matrices of raters around a centre that is estimated too.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "centre.hpp"
#include "layout.hpp"

namespace fallible {

struct PooledOptions {
  bool one_coin = false;    // see Centre
  double tolerance = 1e-8;  // of probabilities of categories, as far as they still are from the end
  int rounds = 20000;
  int few_judges = 10;  // so many are tried as starts, each by itself
};

// The mode of the logits of all rows given the centre, which is at its own mode.
struct PooledFit {
  Centre centre;                  // of the categories in use
  std::vector<int> category;      // which these are
  std::vector<double> posterior;  // rows x categories
  std::vector<double> rates;
  std::vector<double> matrix;  // judges x truths x ratings
  std::vector<double> prior;   // the same: c m_jkl
  double log_density = 0;      // see Centre; and of the cases, with their truths integrated out
  int rounds = 0;
  bool converged = false;
  bool renamed = false;  // did classes change names on the way
};

// Categories that nobody chose and nobody knows to be true have probability 0; the centre knows
// those in use alone.
PooledFit fit_pooled(const LatentRows& rows, const PooledOptions& options);

// Parameters of a model of free errors by rater that say the same.
Eigen::VectorXd parameters_of(const PooledFit& fit, const Layout& layout);

// The prior given the centre of a fit to raters alone; `joined` are these, or these and a system,
// which has a skill of its own and adds nothing to the centre.
LatentPrior given_centre(const LatentPrior& prior, const PooledFit& fit, const LatentRows& joined);

}  // namespace fallible
