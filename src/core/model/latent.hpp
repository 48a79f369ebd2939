// A latent class model for certain data, as those see it who fit and use it.
#pragma once

#include <vector>

#include "complete.hpp"

namespace fallible {

class LatentClass {
 public:
  LatentClass(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
              const Held& held = Held())
      : layout_(rows, model, prior, held) {}

  const Layout& layout() const { return layout_; }
  const LatentRows& rows() const { return layout_.rows; }
  // See Layout.
  int size() const { return layout_.size; }
  int system_at() const { return layout_.system_at(); }

  // See start.hpp and Layout.
  Eigen::VectorXd start() const;
  std::vector<Eigen::VectorXd> starts() const;
  Eigen::VectorXd start_from(const LatentClass& simpler, const Eigen::VectorXd& x) const {
    return layout_.start_from(simpler.layout_, x);
  }
  // The log posterior density but for a constant, and its gradient unless null. `log_likelihood`
  // too may be null.
  double evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient,
                  double* log_likelihood = nullptr) const;
  // The same with its gradient, and the curvature if classes were what they are expected to be.
  double evaluate(const Eigen::VectorXd& x, Eigen::VectorXd& gradient,
                  CompleteCurvature& curvature) const;
  // See Likelihood.
  std::vector<double> posterior(const Eigen::VectorXd& x) const;
  std::vector<double> expected_ratings(const Eigen::VectorXd& x) const;
  // See Reading; and its slope, unless null.
  double accuracy(const Eigen::VectorXd& x, int judge, Eigen::VectorXd* slope = nullptr) const;
  // Probabilities of all answers.
  AnswerLaw law(const Eigen::VectorXd& x) const { return Law(layout_, x); }

 private:
  Layout layout_;
};

}  // namespace fallible
