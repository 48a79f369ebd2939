#include "profile_interval.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "../base/special.hpp"

namespace fallible {

namespace {

// The search ends if the square root of the deviance is this close to its target.
constexpr double tolerance = 1e-4;
// Largest logit of the search; beyond it, accuracies are 0 or 1.
constexpr double largest_logit = 20;
constexpr int most_steps = 60;

// A way to move along the profile likelihood of the accuracy. The position is the logit of the
// accuracy.
struct Path {
  // Maximises the log posterior with the accuracy fixed at the position `at`, or close to it.
  std::function<Optimum(double at, const Eigen::VectorXd& start)> fit_at;
  double top_position;  // position of the maximum of the log posterior
};

// Path for models in which the system's accuracy is one parameter: this parameter is fixed, and all
// others are optimised.
Path along_logit(const LatentClass& model, const Eigen::VectorXd& top,
                 const OptimiserOptions& options) {
  const int fixed = model.layout.system_at();
  const auto fit_at = [&model, &options, fixed](double at, Eigen::VectorXd start) {
    start[fixed] = at;
    const auto objective = [&model, fixed](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
      const double value = model.evaluate(x, gradient);
      if (gradient) (*gradient)[fixed] = 0;
      return value;
    };
    return maximise(objective, start, options);
  };
  return {fit_at, top[fixed]};
}

// Path for models in which the system's accuracy is a function of several parameters. A steep
// penalty keeps the accuracy near `at`. The result may have a slightly different accuracy, but it
// maximises the log posterior at that accuracy.
Path along_accuracy(const LatentClass& model, const Eigen::VectorXd& top,
                    const OptimiserOptions& options) {
  const int system = model.layout.rows.raters;
  const double p_top = clip_probability(model.accuracy(top, system));
  // Weight of the penalty: 10 times the information on the accuracy if the truth of all cases were
  // known.
  double penalty = 0;
  for (const double w : model.layout.rows.weight) penalty += 10 * w / (p_top * (1 - p_top));
  const auto fit_at = [&model, &options, system, penalty](double at, const Eigen::VectorXd& start) {
    CompleteCurvature curvature;
    const auto objective = [&](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
      Eigen::VectorXd slope;
      const double value = model.evaluate(x, gradient, nullptr, &curvature),
                   deviation = model.accuracy(x, system, &slope) - logistic(at);
      *gradient -= penalty * deviation * slope;
      return value - 0.5 * penalty * deviation * deviation;
    };
    const Metric metric = [&curvature](const Eigen::VectorXd& gradient) {
      return curvature.solve(gradient);
    };
    Optimum out = maximise(objective, start, options, metric);
    out.value = model.evaluate(out.x, nullptr);
    return out;
  };
  return {fit_at, std::log(p_top / (1 - p_top))};
}

// A limit of the interval. `converged`: false if the search or its last fit has not converged.
struct Limit {
  double accuracy;
  bool converged = true;
};

// Follows the profile from the maximum to one side. Finds the accuracy where the square root of the
// deviance is `target_root`. This square root is nearly linear along the profile, so a few secant
// steps are sufficient. If a higher maximum is found, writes it to `top`, sets `found_higher`, and
// ends the search.
Limit find_limit(const LatentClass& model, const Path& path, Optimum& top, int side,
                 double target_root, bool& found_higher) {
  const auto accuracy = [&model](const Optimum& at) {
    return model.accuracy(at.x, model.layout.rows.raters);
  };
  Optimum current = top;
  // Position inside the interval, and root of the deviance there.
  double below = path.top_position, below_root = 0;
  double above = side * largest_logit, above_root = std::numeric_limits<double>::infinity();
  double step = 0.5;
  for (int i = 0; i < most_steps; ++i) {
    double at = below + side * step;
    if (std::isfinite(above_root)) {
      // Every fourth step bisects, in case secant steps approach from one side only.
      const bool bisects = i % 4 == 3;
      at = below + (above - below) *
                       (bisects ? 0.5 : (target_root - below_root) / (above_root - below_root));
    } else if (side * at >= largest_logit) {
      if (side * below >= largest_logit) return {side > 0 ? 1.0 : 0.0};
      at = side * largest_logit;
    }
    current = path.fit_at(at, current.x);
    if (current.value > top.value + 1e-6) {
      top = current;
      found_higher = true;
      return {accuracy(current)};
    }
    const double current_root = std::sqrt(2 * std::max(top.value - current.value, 0.0));
    if (std::fabs(current_root - target_root) < tolerance || std::fabs(above - below) < 1e-7) {
      return {accuracy(current), current.converged};
    }
    if (current_root < target_root) {
      // Predicts the distance to the end of the interval from the slope so far. The factor 1.1
      // makes it likely that the next position is outside the interval. The end is then bracketed.
      const double slope = (current_root - below_root) / std::fabs(at - below);
      step = slope > 0 ? std::min(1.1 * (target_root - current_root) / slope, 3.0) : 2 * step;
      below = at;
      below_root = current_root;
    } else {
      above = at;
      above_root = current_root;
    }
  }
  return {accuracy(current), false};
}

}  // namespace

ProfileInterval profile_interval(const LatentClass& model, const OptimiserOptions& options,
                                 double deviance) {
  ProfileInterval out;
  out.top = fit_latent(model, options);
  Optimum top = out.top;
  for (int attempt = 0; attempt < 5; ++attempt) {
    bool found_higher = false;
    const Path path = model.layout.system_at() < 0 ? along_accuracy(model, top.x, options)
                                                   : along_logit(model, top.x, options);
    const Limit low = find_limit(model, path, top, -1, std::sqrt(deviance), found_higher);
    const Limit high =
        found_higher ? low : find_limit(model, path, top, 1, std::sqrt(deviance), found_higher);
    if (found_higher) {  // the search found a higher maximum: start again from there
      out.moved = true;
      out.top = fit_latent(model, top.x, options);
      top = out.top;
      continue;
    }
    out.low = low.accuracy;
    out.high = high.accuracy;
    out.converged = top.converged && low.converged && high.converged;
    return out;
  }
  out.converged = false;
  return out;
}

}  // namespace fallible
