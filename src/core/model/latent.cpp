#include "latent.hpp"

#include "likelihood.hpp"
#include "prior.hpp"
#include "reading.hpp"
#include "start.hpp"

namespace fallible {

Eigen::VectorXd LatentClass::start() const { return start_from_votes(layout_); }

std::vector<Eigen::VectorXd> LatentClass::starts() const { return all_starts(layout_); }

double LatentClass::evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient,
                             double* log_likelihood) const {
  const double out = Likelihood(layout_).evaluate(x, gradient);
  if (log_likelihood) *log_likelihood = out;
  return out + log_prior(layout_, x, gradient);
}

double LatentClass::evaluate(const Eigen::VectorXd& x, Eigen::VectorXd& gradient,
                             CompleteCurvature& curvature) const {
  const Law law(layout_, x);
  Counts counts(layout_);
  const double out = Likelihood(layout_).expect(law, &counts);
  gradient.setZero(layout_.size);
  add_gradient(layout_, x, law, counts, gradient);
  curvature = CompleteCurvature(layout_, x, law, counts);
  return out + log_prior(layout_, x, &gradient);
}

double LatentClass::log_prior_constant() const { return fallible::log_prior_constant(layout_); }

std::vector<double> LatentClass::posterior(const Eigen::VectorXd& x) const {
  return Likelihood(layout_).posterior(x);
}

std::vector<double> LatentClass::expected_ratings(const Eigen::VectorXd& x) const {
  return Likelihood(layout_).expected_ratings(x);
}

double LatentClass::accuracy(const Eigen::VectorXd& x, int judge) const {
  return Reading(layout_, x).accuracy(judge);
}

}  // namespace fallible
