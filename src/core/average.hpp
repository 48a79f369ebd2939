// Accuracy of a system as one more rater, averaged over models that let go of the K-properties,
// each weighed by how probable it makes the data.
#ifndef FALLIBLE_CORE_AVERAGE_HPP
#define FALLIBLE_CORE_AVERAGE_HPP

#include <vector>

#include "bootstrap.hpp"
#include "variational.hpp"

namespace fallible {

class JointAverage;  // the raters joined by one system, see average_joint.hpp

// A model of raters and system together, and what it says.
struct AverageMember {
  bool by_rater = false;
  bool distance = false;
  double shift = 0;           // of accuracy between strata of difficulty, 0 for none
  double concentration = 0;   // of own error rows (of own matrices) around the profile, 0 for none
  bool own_matrices = false;  // Dawid-Skene
  double log_prior = 0;
  double log_evidence = 0;    // NaN if the model is ruled out
  double weight = 0;
  double estimate = 0;        // mean posterior probability of the system's answers
  double std_error = 0;
  double rater_accuracy = 0;  // mean over raters
};

// What the average says of one system; NaN where it has no rated case.
struct AverageAccuracy {
  double estimate = std::numeric_limits<double>::quiet_NaN();
  double shared = estimate;     // under the raters alone
  double std_error = estimate;  // of sampling: within and between members
  double rater_error = estimate;  // share of ratings that are wrong
  double simple_weight = 0;     // of members with equal difficulty and no rows of their own
  std::vector<AverageMember> members;
  std::vector<double> posterior;  // patterns x categories
};

// `known` has the true category of each pattern (from 1), or is empty.
class Average {
 public:
  Average(const PatternView& patterns, const std::vector<double>& weight,
          const std::vector<int>& known, int threads, const Host& host);
  Average(const Average&) = delete;
  Average& operator=(const Average&) = delete;
  ~Average();

  // One per system.
  const std::vector<AverageAccuracy>& systems() const { return result_; }
  // The estimates with other weights of the patterns: members that weigh at least 0.001 are fitted
  // from where they were, and weighed anew.
  std::vector<double> with_weights(const std::vector<double>& weight) const;
  const std::vector<int>& known_truth() const { return known_; }

 private:
  PatternView patterns_;
  std::vector<int> known_;
  std::vector<JointAverage> joint_;
  std::vector<AverageAccuracy> result_;
};

// As bootstrap_latent_accuracy().
std::vector<double> bootstrap_average(const Average& average, const PatternView& patterns,
                                      const std::vector<double>& weight,
                                      const BootstrapOptions& options, const Host& host);

// Rows x categories under the hierarchical Dawid-Skene model fitted to raters alone, averaged with
// its one-coin limit by their bounds.
std::vector<double> shared_posterior(const LatentRows& raters);

}  // namespace fallible

#endif
