// Raters joined by one system: the members of the average, their fits and weights.
#ifndef FALLIBLE_CORE_AVERAGE_JOINT_HPP
#define FALLIBLE_CORE_AVERAGE_JOINT_HPP

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "average.hpp"

namespace fallible {

constexpr double own_matrices = 4;  // concentration of the Dawid-Skene member

// Weights of models from their log evidence and prior; what is NaN or negligible has none.
std::vector<double> weigh(const std::vector<double>& log_evidence);

void add_scaled(const std::vector<double>& x, double scale, std::vector<double>& to);

// Rows x categories.
std::vector<double> one_coin_posterior(const LatentRows& rows, bool by_rater);

// Members are fitted in chains that differ in difficulty alone.
class JointAverage {
 public:
  JointAverage(const PatternView& patterns, const std::vector<double>& weight,
               const std::vector<int>& known, int system);

  // The same raters and system, and their fits, in other cases.
  JointAverage with_weights(const std::vector<double>& weight) const;

  bool empty() const { return cases_ == 0; }

  // The first fit is from the votes, then each from where the one before it ended.
  void fit_chain(int chain);
  void fit_matrices();
  // Anew, those that matter; the evidence of the rest is that of other cases and rules them out.
  void refit();

  // Weighs the members.
  AverageAccuracy average(double shared);

 private:
  struct Fitted {
    AverageMember member;
    Eigen::VectorXd x;
    std::vector<double> log_error;  // of own error rows,
    std::vector<double> counts;     // and what they rest on
    std::vector<double> posterior;  // of own matrices

    void rule_out() { member.log_evidence = std::numeric_limits<double>::quiet_NaN(); }
    bool ruled_out() const { return std::isnan(member.log_evidence); }
    bool matters() const { return member.weight >= 1e-3; }
  };

  // A one-coin member, and those on top of it.
  struct Base {
    Fitted fit;
    double log_posterior = 0;
    std::vector<Fitted> own;

    bool matters() const {
      return fit.matters() ||
             std::any_of(own.begin(), own.end(), [](const Fitted& x) { return x.matters(); });
    }
  };

  const Base& base_of_matrices() const { return chain_[N_ > 2 ? 3 : 1].front(); }
  void count_cases();
  void fit_base(Base& base) const;
  void fit_own(const Base& base, Fitted& own) const;
  void fit_matrices(const std::vector<std::vector<double>>& starts,
                    const std::vector<std::vector<double>>& one_coin_starts);
  DawidSkene best_dawid_skene(const std::vector<std::vector<double>>& starts,
                              const VariationalOptions& options) const;
  std::vector<double> posterior_of(const Fitted& one) const;
  double mean_posterior(const std::vector<double>& posterior) const;
  // Standard error of the share of right answers if all else were known: the information of as many
  // judged answers, less what is missing since they are judged by probabilities.
  double conditional_error(const std::vector<double>& posterior) const;
  double rater_error(const std::vector<double>& posterior) const;

  LatentPrior prior_;
  LatentRows rows_;
  std::size_t N_;
  std::vector<int> answer_;  // of the system in each row, -1 for none that can be judged
  double cases_ = 0;         // with such an answer
  std::vector<Base> chain_[4];
  Fitted matrices_;
  std::vector<double> one_coin_;  // posterior of the limit of own matrices
};

}  // namespace fallible

#endif
