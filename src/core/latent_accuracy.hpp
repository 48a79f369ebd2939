// Accuracy of systems under latent class models: at the two ends of what system and raters may have
// in common.
#ifndef FALLIBLE_CORE_LATENT_ACCURACY_HPP
#define FALLIBLE_CORE_LATENT_ACCURACY_HPP

#include <vector>

#include "bootstrap.hpp"
#include "latent_fit.hpp"

namespace fallible {

// shared: the system knows nothing that the raters do not; its accuracy is the mean posterior
// probability of its answers under the raters alone. joint: its errors are its own; it is one more
// rater.
enum class Dependence { shared, joint };

struct LatentAccuracyOptions {
  LatentModel model;
  LatentPrior prior;
  Dependence dependence = Dependence::joint;
  Fitting fitting = Fitting::likelihood;
  OptimiserOptions optimiser;
};

// Fits the model anew for each set of weights, from where the fit to the data ended.
class LatentAccuracy {
 public:
  LatentAccuracy(const PatternView& patterns, const std::vector<double>& weight,
                 const Known& known, const LatentAccuracyOptions& options);

  // One estimate per system; NaN without a rated case.
  const std::vector<double>& estimate() const { return estimate_; }
  // Patterns x categories, as they judge this system.
  std::vector<double> posterior(int system) const;
  bool converged() const { return converged_; }
  bool identified() const { return identified_; }
  const std::vector<int>& known_truth() const { return known_truth_; }

  // With other weights of the patterns; NaN where a system has no case left.
  std::vector<double> with_weights(const std::vector<double>& weight) const;
  // The same for its confusion matrix: systems x truths x answers, expected numbers of cases.
  std::vector<double> counts_with_weights(const std::vector<double>& weight) const;

 private:
  struct Refit {
    std::vector<LatentRows> rows;
    std::vector<Eigen::VectorXd> fitted;
  };
  Refit refit(const std::vector<double>& weight) const;
  int fit_of(int system) const { return rows_.size() > 1 ? system : 0; }
  double mean_posterior(const LatentRows& rows, const LatentClass& model, const Eigen::VectorXd& x,
                        const std::vector<double>& weight, int system) const;
  LatentFit fit(const LatentRows& rows, const LatentClass& model,
                const Eigen::VectorXd* start) const;

  PatternView patterns_;
  LatentAccuracyOptions options_;
  std::vector<int> known_truth_;       // see Known
  std::vector<LatentRows> rows_;       // of the raters alone, or joined by each system
  std::vector<Eigen::VectorXd> fitted_;
  std::vector<double> estimate_;
  bool converged_ = true, identified_ = true;
};

// Replicates x systems, column by column, of a bootstrap. Weights must be whole numbers.
std::vector<double> bootstrap_latent_accuracy(const LatentAccuracy& accuracy,
                                              const PatternView& patterns,
                                              const std::vector<double>& weight,
                                              const BootstrapOptions& options, const Host& host);

// Replicates x (systems x truths x answers) of expected numbers of cases.
std::vector<double> bootstrap_latent_counts(const LatentAccuracy& accuracy,
                                            const PatternView& patterns,
                                            const std::vector<double>& weight,
                                            const BootstrapOptions& options, const Host& host);

}  // namespace fallible

#endif
