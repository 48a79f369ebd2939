#include "profile_interval.hpp"

#include <cmath>
#include <limits>

#include "../base/special.hpp"

namespace fallible {

namespace {

constexpr double farthest = 20;     // logit, beyond which an accuracy is 0 or 1
constexpr double tolerance = 1e-4;  // of the root of the deviance
constexpr int most_steps = 60;

// With one coordinate held where the start has it.
Optimum maximise_rest(const LatentClass& model, const Eigen::VectorXd& start, int fixed,
                      const OptimiserOptions& options) {
  const auto objective = [&model, fixed](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
    const double value = model.evaluate(x, gradient);
    if (gradient) (*gradient)[fixed] = 0;
    return value;
  };
  return maximise(objective, start, options);
}

Optimum optimum_of(const LatentFit& fit) {
  return {fit.x, fit.log_posterior, fit.iterations, fit.converged};
}

struct End {
  double at;  // logit, infinite on a boundary
  bool converged = true;
};

// Follows the profile from the top to one side. The root of the deviance is nearly linear in the
// logit, so that a few secants find where it has its value. Where the path leads higher than the
// top, `top` moves there and the search ends.
End find_end(const LatentClass& model, Optimum& top, int fixed, int side, double root,
             const OptimiserOptions& options, bool& higher) {
  Optimum here = top;
  double below = top.x[fixed], below_root = 0;  // a place inside, and its root of the deviance
  double above = side * farthest, above_root = std::numeric_limits<double>::infinity();
  double step = 0.5;
  for (int i = 0; i < most_steps; ++i) {
    double at = below + side * step;
    if (std::isfinite(above_root)) {
      const bool halve = i % 4 == 3;  // where the secant creeps up from one side
      at =
          below + (above - below) * (halve ? 0.5 : (root - below_root) / (above_root - below_root));
    } else if (side * at >= farthest) {
      if (side * below >= farthest) return {side * std::numeric_limits<double>::infinity()};
      at = side * farthest;
    }
    Eigen::VectorXd start = here.x;
    start[fixed] = at;
    here = maximise_rest(model, start, fixed, options);
    if (here.value > top.value + 1e-6) {
      top = here;
      higher = true;
      return {at};
    }
    const double now = std::sqrt(2 * std::max(top.value - here.value, 0.0));
    if (std::fabs(now - root) < tolerance || std::fabs(above - below) < 1e-7) {
      return {at, here.converged};
    }
    if (now < root) {
      // The slope so far says how far there is to go; a little more brackets the end.
      const double slope = (now - below_root) / std::fabs(at - below);
      step = slope > 0 ? std::min(1.1 * (root - now) / slope, 3.0) : 2 * step;
      below = at;
      below_root = now;
    } else {
      above = at;
      above_root = now;
    }
  }
  return {below, false};
}

}  // namespace

ProfileInterval profile_interval(const LatentClass& model, const OptimiserOptions& options,
                                 double deviance) {
  ProfileInterval out;
  const int fixed = model.system_at();
  if (fixed < 0) return out;
  out.top = fit_latent(model, options);
  Optimum top = optimum_of(out.top);
  for (int attempt = 0; attempt < 5; ++attempt) {
    bool higher = false;
    const End low = find_end(model, top, fixed, -1, std::sqrt(deviance), options, higher);
    const End high =
        higher ? low : find_end(model, top, fixed, 1, std::sqrt(deviance), options, higher);
    if (higher) {  // there was a better top: begin anew from it
      out.moved = true;
      out.top = fit_latent(model, top.x, options);
      top = optimum_of(out.top);
      continue;
    }
    out.low = logistic(low.at);
    out.high = logistic(high.at);
    out.converged = top.converged && low.converged && high.converged;
    return out;
  }
  out.converged = false;
  return out;
}

}  // namespace fallible
