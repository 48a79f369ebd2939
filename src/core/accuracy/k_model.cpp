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
constexpr double edge_tolerance = 1e-9;
// Information in a set of cases: the number of categories times the mean probability of the best
// category, minus 1. Below this value, the cases contain no information on the system.
constexpr double information_floor = 1e-6;

// Equation 7 for a set of cases: accuracy of a system from the mean probability Pg of the best
// category and the agreement of the system with it. NaN if the cases contain no information.
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
  return rule.width == 0 ? 1 : static_cast<std::size_t>(std::ceil(1 / rule.width - edge_tolerance));
}

// Index of the bin, from 0 for the highest probabilities. A probability on the edge of two bins
// belongs to the lower one.
std::size_t bin_of(const BinningRule& rule, double highest) {
  if (rule.width == 0) return 0;
  const double steps = std::floor((1 - highest) / rule.width + edge_tolerance / rule.width);
  return std::min(static_cast<std::size_t>(std::max(steps, 0.0)), count_bins(rule) - 1);
}

Bin make_bin(const BinningRule& rule, int categories, std::size_t b, const Sums& sum) {
  Bin out;
  const double above = static_cast<double>(b);
  out.upper = 1 - above * rule.width;
  out.lower = std::max(1 - (above + 1) * rule.width, 0.0);
  out.cases = sum.cases;
  out.probability = sum.probability / sum.cases;
  out.agreement = sum.agreement / sum.cases;
  out.estimate_raw = solve_accuracy(categories, out.probability, out.agreement);
  out.estimate = rule.clip == Clip::bin ? clip01(out.estimate_raw) : out.estimate_raw;
  return out;
}

// Estimate from the sums of all bins, averaged over bins with information. Also adds the bins to
// `out`. Needs at least one case.
void estimate_from_bins(const BinningRule& rule, int categories, const std::vector<Sums>& sums,
                        SystemEstimate& out) {
  double informative_cases = 0, total = 0;
  for (std::size_t b = 0; b < sums.size(); ++b) {
    if (sums[b].cases == 0) continue;
    const Bin bin = make_bin(rule, categories, b, sums[b]);
    if (rule.width > 0) out.algebra->bins.push_back(bin);
    if (std::isnan(bin.estimate)) {
      if (rule.width > 0) out.algebra->uninformative += bin.cases;
    } else {
      informative_cases += bin.cases;
      total += bin.cases * bin.estimate;
    }
  }
  if (informative_cases > 0) out.estimate = total / informative_cases;
  if (rule.clip == Clip::overall) out.estimate = clip01(out.estimate);
}

// One cell per tally. Tallies without ratings are never drawn.
Cells cells_of(const Tallies& tallies) {
  Cells out{tallies.weight, tallies.of_pattern};
  for (int i = 0; i < tallies.size(); ++i) {
    if (tallies.ratings[i] == 0) out.cases[i] = 0;
  }
  return out;
}

// Estimator of the K-model, in which all raters are exchangeable.
class KEstimator : public Estimator {
 public:
  using Model = std::shared_ptr<const KModelFit>;

  KEstimator(const Ratings& ratings, const BinningRule& rule, Model model)
      : Estimator(ratings, cells_of(model->tallies)),
        binning_rule_(rule),
        model_(std::move(model)) {
    identified_ = model_->fit.identified == Identified::yes;
    systems_ = system_accuracy(model_->tallies, model_->tallies.weight, model_->fit, binning_rule_);
  }

  std::vector<double> with_weights(const std::vector<double>& weight) const override {
    std::vector<double> out;
    const KFit fit = fit_algebraic(model_->tallies, weight);
    for (const auto& system : system_accuracy(model_->tallies, weight, fit, binning_rule_)) {
      out.push_back(system.estimate);
    }
    return out;
  }

  double tolerance() const override { return rounding_tolerance; }

 private:
  BinningRule binning_rule_;
  Model model_;
};

}  // namespace

KModelFit fit_k_model(const PatternView& patterns, const std::vector<double>& weight) {
  KModelFit out{make_tallies(patterns, weight), KFit()};
  out.fit = fit_algebraic(out.tallies, out.tallies.weight);
  return out;
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
    const double highest = *std::max_element(probability.begin(), probability.end());
    const double tie_limit = highest * (1 - tie_tolerance);
    double squares = 0;
    // Number of categories with the highest probability.
    int n_tied = 0;
    for (const double p : probability) {
      squares += p * p;
      n_tied += p >= tie_limit;
    }
    const std::size_t bin = bin_of(rule, highest);
    for (int s = 0; s < systems; ++s) {
      const int answer = tallies.answer_of(i, s);
      if (answer < 0) continue;
      cases[s] += w;
      posterior_sum[s] += w * probability[answer];
      Sums& sum = sums[s][bin];
      sum.cases += w;
      sum.probability += w * (is_binned ? highest : squares);
      // If several categories are most probable, an answer in one of them counts 1 / `n_tied`.
      // Otherwise the result would depend on the order of the categories.
      const double credit = probability[answer] >= tie_limit ? w / n_tied : 0;
      sum.agreement += is_binned ? credit : w * probability[answer];
    }
  }

  std::vector<SystemEstimate> out(systems);
  for (int s = 0; s < systems; ++s) {
    out[s].algebra.emplace().cases = cases[s];
    if (!is_identified || cases[s] == 0) continue;
    estimate_from_bins(rule, tallies.categories, sums[s], out[s]);
    out[s].algebra->mean_posterior = posterior_sum[s] / cases[s];
  }
  return out;
}

std::unique_ptr<Estimator> make_k_estimator(const Ratings& ratings, const BinningRule& rule) {
  auto model = ratings.k_model;
  if (!model) {
    model = std::make_shared<const KModelFit>(fit_k_model(ratings.patterns, ratings.weight));
  }
  return std::make_unique<KEstimator>(ratings, rule, std::move(model));
}

}  // namespace fallible
