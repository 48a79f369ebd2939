// The method "average": accuracy averaged over several models (members). Each member relaxes some
// assumptions of the K-model. The weight of a member is its posterior probability.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "member_matrices.hpp"

namespace fallible {

namespace {

constexpr double negligible_weight = 1e-8;  // smaller weights of members become 0
constexpr double evidence_margin = 30;      // margin in log evidence for fits that ended early
// Models with a smaller weight in the average are not refitted to resamples.
constexpr double least_refit_weight = 1e-3;

// Converts log weights of models (log evidence plus log prior) to weights with sum 1. A model with
// log weight NaN is excluded: its weight is 0. Negligible weights become 0, too.
std::vector<double> posterior_weights(const std::vector<double>& log_weights) {
  double highest = -std::numeric_limits<double>::infinity(), total = 0;
  for (const double log_weight : log_weights)
    highest = std::fmax(highest, log_weight);  // fmax() ignores NaN
  std::vector<double> weights;
  for (const double log_weight : log_weights) {
    const double w = std::exp(log_weight - highest);
    total += weights.emplace_back(w > negligible_weight ? w : 0);
  }
  for (double& w : weights) w /= total;
  return weights;
}

// Adds `scale` times the vector `x` to the vector `to`, which may be empty.
void add_scaled(const std::vector<double>& x, double scale, std::vector<double>& to) {
  to.resize(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) to[i] += scale * x[i];
}

// Returns the effect of the prior on the estimate of a system's accuracy: the estimate with the
// prior minus the estimate without it. The prior is Beta(2, 2). It has the same effect as one
// additional right answer and one additional wrong answer. `estimate`: estimate with the prior.
// `cases`: number of answers by the system.
double prior_effect(double estimate, double cases) { return (1 - 2 * estimate) / cases; }

// The average for one system: the models in the average (members), their fits and weights.
class SystemAverage {
 public:
  // `system` is -1 for the raters only.
  SystemAverage(const Ratings& ratings, int system, bool ordered)
      : raters_only_(system < 0), data_(ratings, system) {
    if (has_cases(data_)) family_ = make_family(data_.rows(), ordered);
  }

  void set_rater_posterior(const std::vector<double>& pattern_posterior) {
    data_.set_rater_posterior(pattern_posterior);
  }

  // Returns the models (members) that can be fitted first. A fit of any other member needs one of
  // these fits, directly or through further members. Empty if there are no cases.
  std::vector<const Member*> roots() const {
    std::vector<const Member*> roots;
    for (const auto& member : family_) {
      if (member->root() == member.get()) roots.push_back(member.get());
    }
    return roots;
  }

  // Fits the member `root` and the members that need its fit, in two rounds. The first round fits
  // the members for which is_in_first_round() is true. Fits of the second round may end early, at a
  // limit that is computed from the first round of all roots.
  void fit_tree(const Member* root, bool first_round) {
    const double weight_limit = first_round ? no_weight_limit : log_weight_limit();
    for (const auto& member : family_) {
      const Member* base = member->base();
      const bool can_be_fitted = !base || !base->ruled_out();
      if (member->root() == root && member->is_in_first_round() == first_round && can_be_fitted) {
        member->fit(data_, weight_limit);
      }
    }
  }

  // Computes the weights of the fitted members and returns the quantities of the average. The
  // caller adds quantities that are computed from the raters only. Empty without cases.
  std::optional<AverageParts> average() {
    if (family_.empty()) return {};
    AverageParts parts = average_members(family_, data_, posterior_);
    const double mean = data_.mean_posterior(posterior_);
    double variance = 0;
    for (const auto& member : family_) {
      // A member that extends another one (its base) is not fitted if the base is ruled out.
      if (member->base() && member->base()->ruled_out()) continue;
      const MemberResult& result = parts.members.emplace_back(member->result());
      variance += result.weight * (square(result.std_error) + square(result.estimate - mean));
    }
    const double sampling_variance =
        parts.independent_estimate * (1 - parts.independent_estimate) / (data_.cases() + 3);
    parts.std_error = std::sqrt(std::max(variance, sampling_variance));
    return parts;
  }

  // Posterior of the truth, averaged over all members: rows x categories. Empty before average() is
  // called.
  const std::vector<double>& posterior() const { return posterior_; }
  const LatentRows& rows() const { return data_.rows(); }

  // Returns the average for other weights of the patterns, without standard error. Members with a
  // small weight are left out, unless other members extend them.
  std::optional<AverageParts> average_with_weights(
      const std::vector<double>& pattern_weight) const {
    const JointData data = data_.reweighted(pattern_weight);
    if (!has_cases(data)) return {};
    std::set<const Member*> to_refit;
    for (const auto& member : family_) {
      if (member->result().weight >= least_refit_weight)
        to_refit.insert({member.get(), member->base()});
    }
    Family refitted;
    // Maps each base (a member that other members extend) to the same member fitted to the new
    // weights.
    std::map<const OneCoin*, const OneCoin*> bases{{nullptr, nullptr}};
    for (const auto& member : family_) {
      if (to_refit.count(member.get()) == 0) continue;
      refitted.push_back(member->refit(data, bases.at(member->base())));
      if (member->as_base()) bases[member->as_base()] = refitted.back()->as_base();
    }
    std::vector<double> posterior;
    return average_members(refitted, data, posterior);
  }

 private:
  // True if there are answers to evaluate. Without a system, always true.
  bool has_cases(const JointData& data) const { return raters_only_ || data.cases() > 0; }

  // Lower limit for the sum of a member's log evidence and log prior. If a member cannot reach it,
  // its weight is negligible, and its fit may end early. Members with is_in_first_round() must be
  // fitted before.
  double log_weight_limit() const {
    double best = no_weight_limit;
    for (const auto& member : family_) {
      if (member->is_in_first_round())
        best = std::fmax(best, member->log_weight());  // fmax() ignores NaN
    }
    return best + std::log(negligible_weight) - evidence_margin;
  }

  // Computes the weights of fitted members, and averages their posteriors into `posterior`.
  static AverageParts average_members(const Family& members, const JointData& data,
                                      std::vector<double>& posterior) {
    std::vector<double> log_weight;
    for (const auto& member : members) log_weight.push_back(member->log_weight());
    const auto weights = posterior_weights(log_weight);
    AverageParts parts;
    parts.independence_weight = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->set_weight(weights[i]);
      if (weights[i] == 0) continue;
      add_scaled(members[i]->posterior(data), weights[i], posterior);
      if (members[i]->has_no_shared_errors()) parts.independence_weight += weights[i];
    }
    // Prior of the system's accuracy: adds one right and one wrong answer.
    const double cases = data.cases();
    parts.independent_estimate = (cases * data.mean_posterior(posterior) + 1) / (cases + 2);
    parts.rater_error = data.rater_error(posterior);
    return parts;
  }

  bool raters_only_;
  JointData data_;
  Family family_;
  std::vector<double> posterior_;
};

// Fit of the raters without systems, from which the estimate with shared errors is computed.
// Averages two Dawid-Skene models. In `separate_fit`, a Dirichlet prior shrinks the matrix of each
// rater towards the matrix of a one-coin model. In `one_coin_fit`, the two matrices are equal. The
// weights of the models are computed from variational bounds on the log evidence.
struct SharedFit {
  LatentRows rows;
  bool ordered = false;
  DawidSkene one_coin_fit, separate_fit;
  std::vector<double> posterior;  // averaged over both models: rows x categories
};

// Fits both models. Starts from the given posteriors of the truth (rows x categories), or else from
// the posterior of a simple one-coin model.
SharedFit fit_shared(LatentRows rows, bool ordered, std::vector<double> one_coin_start = {},
                     std::vector<double> separate_start = {}) {
  SharedFit fit;
  if (separate_start.empty()) separate_start = one_coin_start = one_coin_posterior(rows, false);
  VariationalOptions options;
  options.ordered = fit.ordered = ordered;
  options.concentration = equal_matrices;
  fit.one_coin_fit = fit_dawid_skene(rows, LatentPrior(), std::move(one_coin_start), options);
  options.concentration = matrix_concentration;
  fit.separate_fit = fit_dawid_skene(rows, LatentPrior(), std::move(separate_start), options);
  const auto weights = posterior_weights({fit.one_coin_fit.bound, fit.separate_fit.bound});
  add_scaled(fit.one_coin_fit.posterior, weights[0], fit.posterior);
  add_scaled(fit.separate_fit.posterior, weights[1], fit.posterior);
  fit.rows = std::move(rows);
  return fit;
}

// Refits both models to other weights of the same rows. Starts where the first fit ended.
// `pattern_weight`: weight of each pattern.
SharedFit refit(const SharedFit& fit, const std::vector<double>& pattern_weight) {
  LatentRows rows = fit.rows;
  rows.weight = row_weights(rows.row_of_pattern, pattern_weight, rows.size());
  return fit_shared(std::move(rows), fit.ordered, fit.one_coin_fit.posterior,
                    fit.separate_fit.posterior);
}

// Number of categories that raters use in cases with positive weight.
int count_used_categories(const PatternView& patterns, const std::vector<double>& weight) {
  std::vector<bool> is_used(patterns.categories + 1);
  for (int p = 0; p < patterns.patterns; ++p) {
    for (int i = patterns.start[p]; weight[p] > 0 && i < patterns.start[p + 1]; ++i) {
      is_used[patterns.category[i]] = true;
    }
  }
  return static_cast<int>(std::count(is_used.begin(), is_used.end(), true));
}

class AverageEstimator : public Estimator {
 public:
  AverageEstimator(const Ratings& ratings, const EstimatorOptions& options)
      : Estimator(ratings, pattern_cells(ratings)),
        user_correction_(options.correction),
        used_categories_(options.used_categories > 0
                             ? options.used_categories
                             : count_used_categories(ratings.patterns, ratings.weight)),
        rater_average_(ratings, -1, options.ordered) {
    for (int s = 0; s < ratings.patterns.systems; ++s) {
      averages_.emplace_back(ratings, s, options.ordered);
    }
  }

  void fit(const EstimatorOptions& options, const Host& host) {
    const LatentRows raters =
        latent_rows(ratings_.patterns, ratings_.weight, -1, {ratings_.known.truth, {}});
    shared_ = fit_shared(raters, options.ordered);
    const std::vector<double> rater_posterior = copy_to_patterns(shared_.rows, shared_.posterior);
    for (SystemAverage& system : averages_) system.set_rater_posterior(rater_posterior);
    // All trees of members. Each entry contains the average to which the tree belongs, and the root
    // of the tree.
    std::vector<std::pair<SystemAverage*, const Member*>> trees;
    for (const Member* root : rater_average_.roots()) trees.emplace_back(&rater_average_, root);
    for (SystemAverage& system : averages_) {
      for (const Member* root : system.roots()) trees.emplace_back(&system, root);
    }
    for (const bool first_round : {true, false}) {
      const Host progress{[&](std::size_t done) {
        return host.tick(fit_steps * (done + (first_round ? 0 : trees.size())) /
                         (2 * trees.size()));
      }};
      for_each_item(trees.size(), options.threads, progress,
                    [&](std::size_t i) { trees[i].first->fit_tree(trees[i].second, first_round); });
    }
    const std::optional<AverageParts> panel = rater_average_.average();
    for (std::size_t s = 0; s < systems_.size(); ++s) {
      std::optional<AverageParts>& parts = systems_[s].average = averages_[s].average();
      if (!parts) continue;
      const int system = static_cast<int>(s);
      systems_[s].estimate = correct_estimate(*parts, ratings_.weight, system, shared_, panel);
      const auto counts = [&](const LatentRows& rows, const std::vector<double>& posterior) {
        return answer_counts(ratings_, ratings_.weight, system, rows, posterior);
      };
      parts->independent_counts = counts(averages_[s].rows(), averages_[s].posterior());
      parts->shared_counts = counts(shared_.rows, shared_.posterior);
    }
  }

  // Posterior of the truth for a system: patterns x categories. Mixes the posteriors with
  // independent and with shared errors in the same proportion as the estimates.
  std::vector<double> posterior(int system) const override {
    const SystemAverage& average = averages_[system];
    if (average.posterior().empty()) return {};
    const double share = correction(*systems_[system].average);
    std::vector<double> mixture;
    add_scaled(copy_to_patterns(average.rows(), average.posterior()), 1 - share, mixture);
    if (share != 0) add_scaled(copy_to_patterns(shared_.rows, shared_.posterior), share, mixture);
    return mixture;
  }

  std::vector<double> estimate_with_weights(const std::vector<double>& weight) const override {
    const std::vector<double> pattern_weight = expand_weights(weight);
    std::vector<std::optional<AverageParts>> systems;
    for (const SystemAverage& system : averages_)
      systems.push_back(system.average_with_weights(pattern_weight));
    const SharedFit shared = user_correction_ == 0.0 ? shared_ : refit(shared_, pattern_weight);
    const auto panel =
        user_correction_ ? std::nullopt : rater_average_.average_with_weights(pattern_weight);
    std::vector<double> estimates;
    for (std::optional<AverageParts>& parts : systems) {
      const int system = static_cast<int>(estimates.size());
      estimates.push_back(parts ? correct_estimate(*parts, pattern_weight, system, shared, panel)
                                : not_a_number);
    }
    return estimates;
  }

 private:
  double correction(const AverageParts& parts) const {
    return user_correction_.value_or(parts.typical_correction);
  }

  // Returns the estimate for independent errors, moved towards the estimate for shared errors (see
  // common.hpp). Writes the estimate for shared errors and the typical size of the move to `parts`.
  // `panel`: average for the raters only, from which the typical size is computed, so that it does
  // not depend on the systems. If the user gives the size, `panel` may be empty.
  double correct_estimate(AverageParts& parts, const std::vector<double>& weight, int system,
                          const SharedFit& shared, const std::optional<AverageParts>& panel) const {
    const LatentRows& rows = shared.rows;
    const RightAnswers answers(ratings_, weight, system, rows, shared.posterior);
    double known_share = 0;
    for_each_answer(ratings_, system, rows, [&](int p, int row, int) {
      if (rows.known_truth[row] >= 0) known_share += weight[p] / answers.cases;
    });
    parts.shared_estimate = answers.right / answers.cases;
    if (panel) {
      parts.independence_weight = panel->independence_weight;
      parts.dependence =
          dependence_weight(panel->independence_weight, panel->rater_error, used_categories_);
      parts.typical_correction = typical_correction(parts.dependence, used_categories_);
    }
    // Only the estimate for independent errors contains the effect of the system's prior. Known
    // truths need no correction for shared errors. Therefore the effect in cases with known truth
    // is also added to the estimate for shared errors.
    const double kept_prior_effect =
        user_correction_ ? 0
                         : known_share * prior_effect(parts.independent_estimate, answers.cases);
    return corrected_estimate(parts.independent_estimate, parts.shared_estimate + kept_prior_effect,
                              correction(parts));
  }

  // Correction given by the user, from 0 (the estimate for independent errors) to 1 (the estimate
  // for shared errors). Empty for the typical correction.
  std::optional<double> user_correction_;
  int used_categories_;  // number of categories that raters use
  SharedFit shared_;
  SystemAverage rater_average_;  // average for the raters only
  std::vector<SystemAverage> averages_;
};

}  // namespace

std::unique_ptr<Estimator> make_average(const Ratings& ratings, const EstimatorOptions& options,
                                        const Host& host) {
  auto estimator = std::make_unique<AverageEstimator>(ratings, options);
  estimator->fit(options, host);
  return estimator;
}

}  // namespace fallible
