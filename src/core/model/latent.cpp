#include "latent.hpp"

#include "likelihood.hpp"
#include "prior.hpp"
#include "reading.hpp"
#include "score.hpp"
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

std::vector<double> LatentClass::posterior(const Eigen::VectorXd& x) const {
  return Likelihood(layout_).posterior(x);
}

std::vector<double> LatentClass::expected_ratings(const Eigen::VectorXd& x) const {
  return Likelihood(layout_).expected_ratings(x);
}

double LatentClass::accuracy(const Eigen::VectorXd& x, int judge, Eigen::VectorXd* slope) const {
  const double out = Reading(layout_, x).accuracy(judge);
  if (!slope) return out;
  slope->setZero(size());
  const Law law(layout_, x);
  const Score score(layout_, x, law);
  const int N = layout_.categories;
  for (int c = 0; c < law.classes; ++c) {
    const int k = c % N;
    const double right = law.weight[c] * law.of(judge, k, c);
    score.rating(judge, k, c, [&](int at, double of) { (*slope)[at] += right * of; });
    if (k < N - 1) (*slope)[k] += law.weight[c] * (law.accuracy[judge * N + k] - out);
  }
  return out;
}

}  // namespace fallible
