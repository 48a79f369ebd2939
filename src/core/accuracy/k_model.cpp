// Methods binned and unbinned: accuracy of systems from the posterior probabilities of the K-model,
// by equation 7 of Lehner (2015).
#include <algorithm>
#include <cmath>
#include <utility>

#include "estimator.hpp"

namespace fallible {

namespace {

// Two probabilities are treated as equal if their relative difference is less than this.
constexpr double tie_tolerance = 1e-9;
// Distance from the edge of a bin that counts as rounding error.
constexpr double bin_edge_tolerance = 1e-9;
// The information in a set of cases is the number of categories times the mean probability of the
// best category, minus 1. It is 0 if all categories are equally probable. If it is below this
// value, the accuracy of the system cannot be estimated from the cases.
constexpr double information_floor = 1e-6;

// Solves equation 7 for a set of cases. Returns the accuracy of a system, from the mean probability
// Pg of the best category (`probability`), and from the share of the system's answers that are the
// best category (`agreement`). NaN if the information in the cases is below `information_floor`.
double solve_accuracy(int categories, double probability, double agreement) {
  const double information = categories * probability - 1;
  if (information < information_floor) return not_a_number;
  return ((categories - 1) * agreement - 1 + probability) / information;
}

// Weighted sums over the cases of one bin, or over all cases if there are no bins.
struct Sums {
  double cases = 0, probability = 0, agreement = 0;
};

double clip01(double x) { return std::clamp(x, 0.0, 1.0); }

std::size_t count_bins(const BinningRule& rule) {
  return rule.width == 0 ? 1
                         : static_cast<std::size_t>(std::ceil(1 / rule.width - bin_edge_tolerance));
}

// Index of the bin, from 0 for the highest probabilities. A probability on the edge of two bins
// belongs to the bin of lower probabilities, which has the higher index.
std::size_t bin_index(const BinningRule& rule, double highest_probability) {
  if (rule.width == 0) return 0;
  const double steps =
      std::floor((1 - highest_probability) / rule.width + bin_edge_tolerance / rule.width);
  return std::min(static_cast<std::size_t>(std::max(steps, 0.0)), count_bins(rule) - 1);
}

Bin make_bin(const BinningRule& rule, int categories, std::size_t index, const Sums& sum) {
  Bin bin;
  const double higher_bins = static_cast<double>(index);
  bin.upper = 1 - higher_bins * rule.width;
  bin.lower = std::max(1 - (higher_bins + 1) * rule.width, 0.0);
  bin.cases = sum.cases;
  bin.probability = sum.probability / sum.cases;
  bin.agreement = sum.agreement / sum.cases;
  bin.estimate_raw = solve_accuracy(categories, bin.probability, bin.agreement);
  bin.estimate = rule.clip == Clip::bin ? clip01(bin.estimate_raw) : bin.estimate_raw;
  return bin;
}

// Computes the estimate of a system from the sums of all bins: the mean over bins with information.
// Writes the estimate and the bins to `result`. Needs at least one case.
void estimate_from_bins(const BinningRule& rule, int categories, const std::vector<Sums>& sums,
                        SystemEstimate& result) {
  double informative_cases = 0, estimate_sum = 0;
  for (std::size_t b = 0; b < sums.size(); ++b) {
    if (sums[b].cases == 0) continue;
    const Bin bin = make_bin(rule, categories, b, sums[b]);
    if (rule.width > 0) result.algebra->bins.push_back(bin);
    if (std::isnan(bin.estimate)) {
      if (rule.width > 0) result.algebra->uninformative += bin.cases;
    } else {
      informative_cases += bin.cases;
      estimate_sum += bin.cases * bin.estimate;
    }
  }
  if (informative_cases > 0) result.estimate = estimate_sum / informative_cases;
  if (rule.clip == Clip::overall) result.estimate = clip01(result.estimate);
}

// One cell per tally. Tallies without ratings are never drawn.
Cells tally_cells(const Tallies& tallies) {
  Cells cells{tallies.weight, tallies.tally_of_pattern};
  for (int i = 0; i < tallies.size(); ++i) {
    if (tallies.ratings[i] == 0) cells.cases[i] = 0;
  }
  return cells;
}

// Estimator of the K-model, in which all raters are exchangeable.
class KEstimator : public Estimator {
 public:
  using Model = std::shared_ptr<const KModelFit>;

  KEstimator(const Ratings& ratings, const BinningRule& rule, Model model)
      : Estimator(ratings, tally_cells(model->tallies)),
        binning_rule_(rule),
        model_(std::move(model)) {
    identified_ = model_->fit.identified == Identified::yes;
    systems_ = system_accuracy(model_->tallies, model_->tallies.weight, model_->fit, binning_rule_);
  }

  std::vector<double> estimate_with_weights(const std::vector<double>& weight) const override {
    std::vector<double> estimates;
    const KFit fit = fit_algebraic(model_->tallies, weight);
    for (const auto& system : system_accuracy(model_->tallies, weight, fit, binning_rule_)) {
      estimates.push_back(system.estimate);
    }
    return estimates;
  }

  double tolerance() const override { return rounding_tolerance; }

 private:
  BinningRule binning_rule_;
  Model model_;
};

}  // namespace

KModelFit fit_k_model(const PatternView& patterns, const std::vector<double>& weight) {
  KModelFit fitted{make_tallies(patterns, weight), KFit()};
  fitted.fit = fit_algebraic(fitted.tallies, fitted.tallies.weight);
  return fitted;
}

std::vector<SystemEstimate> system_accuracy(const Tallies& tallies,
                                            const std::vector<double>& weight, const KFit& fit,
                                            const BinningRule& rule) {
  const int systems = tallies.systems;
  const bool is_identified = fit.identified == Identified::yes, is_binned = rule.width > 0;
  std::vector<std::vector<Sums>> sums(systems, std::vector<Sums>(count_bins(rule)));
  std::vector<double> cases(systems, 0.0), posterior_sum(systems, 0.0);
  std::vector<double> probability(tallies.categories);
  const Posterior posterior(tallies, fit);
  for (int i = 0; i < tallies.size(); ++i) {
    const double w = weight[i];
    if (w == 0 || tallies.ratings[i] == 0) continue;
    if (is_identified) posterior(i, probability.data());
    const double highest_probability = *std::max_element(probability.begin(), probability.end());
    const double tie_limit = highest_probability * (1 - tie_tolerance);
    double squares = 0;
    // Number of categories with the highest probability.
    int n_tied = 0;
    for (const double p : probability) {
      squares += p * p;
      n_tied += p >= tie_limit;
    }
    const std::size_t bin = bin_index(rule, highest_probability);
    for (int s = 0; s < systems; ++s) {
      const int answer = tallies.answer_of(i, s);
      if (answer < 0) continue;
      cases[s] += w;
      posterior_sum[s] += w * probability[answer];
      Sums& sum = sums[s][bin];
      sum.cases += w;
      sum.probability += w * (is_binned ? highest_probability : squares);
      // If several categories are most probable, an answer in one of them counts 1 / `n_tied`.
      // Otherwise the result would depend on the order of the categories.
      const double credit = probability[answer] >= tie_limit ? w / n_tied : 0;
      sum.agreement += is_binned ? credit : w * probability[answer];
    }
  }

  std::vector<SystemEstimate> estimates(systems);
  for (int s = 0; s < systems; ++s) {
    estimates[s].algebra.emplace().cases = cases[s];
    if (!is_identified || cases[s] == 0) continue;
    estimate_from_bins(rule, tallies.categories, sums[s], estimates[s]);
    estimates[s].algebra->mean_posterior = posterior_sum[s] / cases[s];
  }
  return estimates;
}

std::unique_ptr<Estimator> make_k_estimator(const Ratings& ratings, const BinningRule& rule) {
  auto model = ratings.k_model;
  if (!model) {
    model = std::make_shared<const KModelFit>(fit_k_model(ratings.patterns, ratings.weight));
  }
  return std::make_unique<KEstimator>(ratings, rule, std::move(model));
}

}  // namespace fallible
