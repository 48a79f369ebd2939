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
constexpr int max_steps = 60;

// A path along the profile likelihood of the system's accuracy. A position on the path is the logit
// of an accuracy.
struct Path {
  // Maximises the log posterior with the accuracy fixed at `position`, or close to it.
  std::function<Optimum(double position, const Eigen::VectorXd& start)> fit_at_position;
  double best_position;  // position of the maximum of the log posterior
};

// Path for models in which the system's accuracy is one parameter: this parameter is fixed, and all
// others are optimised.
Path along_logit(const LatentClass& model, const Eigen::VectorXd& best,
                 const OptimiserOptions& options) {
  const int fixed = model.layout.system_at();
  const auto fit_at_position = [&model, &options, fixed](double position, Eigen::VectorXd start) {
    start[fixed] = position;
    const auto objective = [&model, fixed](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
      const double value = model.evaluate(x, gradient);
      if (gradient) (*gradient)[fixed] = 0;
      return value;
    };
    return maximise(objective, start, options);
  };
  return {fit_at_position, best[fixed]};
}

// Path for models in which the system's accuracy is a function of several parameters. A steep
// penalty keeps the accuracy near `position`. The result may have a slightly different accuracy,
// but it maximises the log posterior at that accuracy.
Path along_accuracy(const LatentClass& model, const Eigen::VectorXd& best,
                    const OptimiserOptions& options) {
  const int system = model.layout.rows.raters;
  const double best_accuracy = clip_probability(model.accuracy(best, system));
  // Weight of the penalty: 10 times the information on the accuracy if the truth of all cases were
  // known.
  double penalty = 0;
  for (const double w : model.layout.rows.weight)
    penalty += 10 * w / (best_accuracy * (1 - best_accuracy));
  const auto fit_at_position = [&model, &options, system, penalty](double position,
                                                                   const Eigen::VectorXd& start) {
    CompleteCurvature curvature;
    const auto objective = [&](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
      Eigen::VectorXd slope;
      const double value = model.evaluate(x, gradient, nullptr, &curvature),
                   deviation = model.accuracy(x, system, &slope) - logistic(position);
      *gradient -= penalty * deviation * slope;
      return value - 0.5 * penalty * deviation * deviation;
    };
    const Metric metric = [&curvature](const Eigen::VectorXd& gradient) {
      return curvature.solve(gradient);
    };
    Optimum constrained = maximise(objective, start, options, metric);
    constrained.value = model.evaluate(constrained.x, nullptr);
    return constrained;
  };
  return {fit_at_position, std::log(best_accuracy / (1 - best_accuracy))};
}

// A limit of the interval. `converged`: false if the search or its last fit has not converged.
struct Limit {
  double accuracy;
  bool converged = true;
};

// Follows the profile from the maximum to one side. Finds the accuracy where the square root of the
// deviance is `target_root`. This square root is nearly linear along the profile, so a few secant
// steps are sufficient. If a higher maximum is found, writes it to `best`, sets `found_higher`, and
// ends the search.
Limit find_limit(const LatentClass& model, const Path& path, Optimum& best, int side,
                 double target_root, bool& found_higher) {
  const auto accuracy = [&model](const Optimum& optimum) {
    return model.accuracy(optimum.x, model.layout.rows.raters);
  };
  Optimum current = best;
  // Position inside the interval, and root of the deviance there.
  double inner_position = path.best_position, inner_root = 0;
  double outer_position = side * largest_logit,
         outer_root = std::numeric_limits<double>::infinity();
  double step = 0.5;
  for (int i = 0; i < max_steps; ++i) {
    double position = inner_position + side * step;
    if (std::isfinite(outer_root)) {
      // Every fourth step bisects, in case secant steps approach from one side only.
      const bool bisects = i % 4 == 3;
      position = inner_position +
                 (outer_position - inner_position) *
                     (bisects ? 0.5 : (target_root - inner_root) / (outer_root - inner_root));
    } else if (side * position >= largest_logit) {
      if (side * inner_position >= largest_logit) return {side > 0 ? 1.0 : 0.0};
      position = side * largest_logit;
    }
    current = path.fit_at_position(position, current.x);
    if (current.value > best.value + 1e-6) {
      best = current;
      found_higher = true;
      return {accuracy(current)};
    }
    const double current_root = std::sqrt(2 * std::max(best.value - current.value, 0.0));
    if (std::fabs(current_root - target_root) < tolerance ||
        std::fabs(outer_position - inner_position) < 1e-7) {
      return {accuracy(current), current.converged};
    }
    if (current_root < target_root) {
      // Predicts the distance to the limit from the slope so far. The factor 1.1 makes it likely
      // that the next position is outside the interval, so that the limit is bracketed.
      const double slope = (current_root - inner_root) / std::fabs(position - inner_position);
      step = slope > 0 ? std::min(1.1 * (target_root - current_root) / slope, 3.0) : 2 * step;
      inner_position = position;
      inner_root = current_root;
    } else {
      outer_position = position;
      outer_root = current_root;
    }
  }
  return {accuracy(current), false};
}

}  // namespace

ProfileInterval profile_interval(const LatentClass& model, const OptimiserOptions& options,
                                 double deviance) {
  ProfileInterval interval;
  interval.best_fit = fit_latent(model, options);
  Optimum best = interval.best_fit;
  for (int attempt = 0; attempt < 5; ++attempt) {
    bool found_higher = false;
    const Path path = model.layout.system_at() < 0 ? along_accuracy(model, best.x, options)
                                                   : along_logit(model, best.x, options);
    const Limit low = find_limit(model, path, best, -1, std::sqrt(deviance), found_higher);
    const Limit high =
        found_higher ? low : find_limit(model, path, best, 1, std::sqrt(deviance), found_higher);
    if (found_higher) {  // the search found a higher maximum: start again from there
      interval.moved = true;
      interval.best_fit = fit_latent(model, best.x, options);
      best = interval.best_fit;
      continue;
    }
    interval.low = low.accuracy;
    interval.high = high.accuracy;
    interval.converged = best.converged && low.converged && high.converged;
    return interval;
  }
  interval.converged = false;
  return interval;
}

}  // namespace fallible
