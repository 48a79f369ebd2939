#include "latent_fit.hpp"

#include "prior.hpp"

namespace fallible {

LatentFit fit_latent(const LatentClass& model, const Eigen::VectorXd& start,
                     const OptimiserOptions& options) {
  CompleteCurvature seen;  // where the objective was evaluated last
  const auto objective = [&](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
    return model.evaluate(x, *gradient, seen);
  };
  const Metric metric = [&seen](const Eigen::VectorXd& gradient) { return seen.solve(gradient); };
  const Optimum top = maximise(objective, start, options, metric);
  return {top, top.value - log_prior(model.layout(), top.x, nullptr)};
}

OptimiserOptions coarse_options() {
  OptimiserOptions out;
  out.iterations = 300;
  out.gradient_tolerance = 1e-3;
  out.value_tolerance = 1e-9;
  return out;
}

LatentFit fit_latent(const LatentClass& model, const OptimiserOptions& options) {
  return best_start(
      model, [&](const Eigen::VectorXd& start) { return fit_latent(model, start, options); });
}

}  // namespace fallible
