#include "latent_fit.hpp"

namespace fallible {

LatentFit fit_latent(const LatentClass& model, const Eigen::VectorXd& start,
                     const OptimiserOptions& options) {
  const auto objective = [&model](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
    return model.evaluate(x, gradient);
  };
  const Optimum top = maximise(objective, start, options);
  LatentFit out{top.x, 0, top.value, top.iterations, top.converged};
  model.evaluate(out.x, nullptr, &out.log_likelihood);
  return out;
}

OptimiserOptions coarse_options() {
  OptimiserOptions out;
  out.iterations = 300;
  out.gradient_tolerance = 1e-3;
  out.value_tolerance = 1e-9;
  return out;
}

LatentFit fit_latent(const LatentClass& model, const OptimiserOptions& options) {
  return best_start(model, [&](const Eigen::VectorXd& start) {
    return fit_latent(model, start, options);
  });
}

}  // namespace fallible
