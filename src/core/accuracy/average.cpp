// Accuracy averaged over models that let go of the K-properties, each weighed by how probable it
// makes the data.
#include <algorithm>
#include <cmath>
#include <utility>

#include "member_matrices.hpp"
#include "system_average.hpp"

namespace fallible {

namespace {

// The raters alone under the hierarchical Dawid-Skene model, averaged with its one-coin limit by
// their bounds.
class SharedFit {
 public:
  SharedFit(const LatentRows& rows, bool ordered)
      : SharedFit(rows, ordered, one_coin_posterior(rows, false)) {}

  // Of the same raters in other cases, from where this fit ended.
  SharedFit with_weights(const std::vector<double>& of_patterns) const {
    LatentRows rows = rows_;
    rows.weight = row_weights(rows.of_pattern, of_patterns, rows.size());
    return SharedFit(rows, ordered_, one_coin_.posterior, own_.posterior);
  }

  const LatentRows& rows() const { return rows_; }
  // Rows x categories.
  const std::vector<double>& posterior() const { return posterior_; }

 private:
  SharedFit(const LatentRows& rows, bool ordered, const std::vector<double>& start)
      : SharedFit(rows, ordered, start, start) {}
  SharedFit(const LatentRows& rows, bool ordered, const std::vector<double>& one_coin_start,
            const std::vector<double>& own_start)
      : rows_(rows), ordered_(ordered) {
    VariationalOptions options;
    options.ordered = ordered;
    options.concentration = no_own_matrices;
    one_coin_ = fit_dawid_skene(rows_, LatentPrior(), one_coin_start, options);
    options.concentration = own_matrices;
    own_ = fit_dawid_skene(rows_, LatentPrior(), own_start, options);
    const auto weights = weigh({one_coin_.bound, own_.bound});
    add_scaled(one_coin_.posterior, weights[0], posterior_);
    add_scaled(own_.posterior, weights[1], posterior_);
  }

  LatentRows rows_;
  bool ordered_;
  DawidSkene one_coin_, own_;
  std::vector<double> posterior_;
};

// What raters alone say of a system: the mean posterior probability of its answers, in how many
// cases, and the share of these whose truth is known.
struct SharedEnd {
  double accuracy = 0, cases = 0, known = 0;
};

SharedEnd shared_end(const Ratings& ratings, const std::vector<double>& weight, int system,
                     const SharedFit& shared) {
  const LatentRows& rows = shared.rows();
  SharedEnd out;
  for (int p = 0; p < ratings.patterns.patterns; ++p) {
    const int answer = ratings.patterns.answer_of(p, system), row = rows.of_pattern[p];
    if (answer < 1 || row < 0) continue;
    out.cases += weight[p];
    if (rows.known[row] >= 0) out.known += weight[p];
    out.accuracy +=
        weight[p] *
        shared.posterior()[static_cast<std::size_t>(row) * rows.categories + answer - 1];
  }
  out.accuracy /= out.cases;
  out.known /= out.cases;
  return out;
}

// Expected numbers of cases, answers within truths; `posterior` is by row.
std::vector<double> counts_of(const Ratings& ratings, int system, const LatentRows& rows,
                              const std::vector<double>& posterior) {
  const int n = rows.categories;
  std::vector<double> out(static_cast<std::size_t>(n) * n, 0.0);
  for (int p = 0; p < ratings.patterns.patterns; ++p) {
    const int answer = ratings.patterns.answer_of(p, system), row = rows.of_pattern[p];
    if (answer < 1 || row < 0) continue;
    for (int k = 0; k < n; ++k) {
      out[static_cast<std::size_t>(k) * n + answer - 1] +=
          ratings.weight[p] * posterior[static_cast<std::size_t>(row) * n + k];
    }
  }
  return out;
}

int categories_used(const PatternView& patterns, const std::vector<double>& weight) {
  std::vector<bool> used(patterns.categories + 1);
  for (int p = 0; p < patterns.patterns; ++p) {
    for (int i = patterns.start[p]; weight[p] > 0 && i < patterns.start[p + 1]; ++i) {
      used[patterns.category[i]] = true;
    }
  }
  return static_cast<int>(std::count(used.begin(), used.end(), true));
}

class AverageEstimator : public Estimator {
 public:
  AverageEstimator(const Ratings& ratings, const EstimatorOptions& options, const Host& host)
      : Estimator(ratings, pattern_cells(ratings)),
        common_(options.common),
        used_(options.used > 0 ? options.used : categories_used(ratings.patterns, ratings.weight)),
        shared_(latent_rows(ratings.patterns, ratings.weight, -1, {ratings.known.truth, {}}),
                options.ordered),
        panel_(ratings, -1, options.ordered) {
    for (int s = 0; s < ratings.patterns.systems; ++s) {
      averages_.emplace_back(ratings, s, options.ordered);
    }
    std::vector<std::pair<SystemAverage*, int>> trees;  // with their roots
    for (const int root : panel_.roots()) trees.emplace_back(&panel_, root);
    for (SystemAverage& system : averages_) {
      for (const int root : system.roots()) trees.emplace_back(&system, root);
    }
    for (const bool leaders : {true, false}) {
      Host of_steps;
      of_steps.tick = [&](std::size_t done) {
        return host.tick(fit_steps * (done + (leaders ? 0 : trees.size())) / (2 * trees.size()));
      };
      for_each_item(trees.size(), options.threads, of_steps,
                    [&](std::size_t i) { trees[i].first->fit_tree(trees[i].second, leaders); });
    }
    const SystemEstimate panel = panel_.average();
    for (int s = 0; s < ratings.patterns.systems; ++s) {
      systems_[s] = averages_[s].average();
      if (systems_[s].members.empty()) continue;
      settle(systems_[s], ratings.weight, s, shared_, panel);
      const SystemAverage& of = averages_[s];
      systems_[s].independent_counts = counts_of(ratings, s, of.rows(), of.posterior());
      systems_[s].shared_counts = counts_of(ratings, s, shared_.rows(), shared_.posterior());
    }
  }

  // Mixed as the estimate is.
  std::vector<double> posterior(int system) const override {
    const SystemAverage& of = averages_[system];
    if (of.posterior().empty()) return {};
    const double back = taken_back(systems_[system]);
    std::vector<double> out;
    add_scaled(by_pattern(of.rows(), of.posterior()), 1 - back, out);
    if (back != 0) add_scaled(by_pattern(shared_.rows(), shared_.posterior()), back, out);
    return out;
  }

  std::vector<double> with_weights(const std::vector<double>& weight) const override {
    const std::vector<double> now = of_patterns(weight);
    std::vector<SystemEstimate> systems;
    for (const SystemAverage& system : averages_) systems.push_back(system.with_weights(now));
    const bool needed = common_.typical || common_.share != 0;
    const SharedFit shared = needed ? shared_.with_weights(now) : shared_;
    const SystemEstimate panel = common_.typical ? panel_.with_weights(now) : SystemEstimate();
    std::vector<double> out;
    for (std::size_t s = 0; s < systems.size(); ++s) {
      if (!std::isnan(systems[s].independent)) {
        settle(systems[s], now, static_cast<int>(s), shared, panel);
      }
      out.push_back(systems[s].estimate);
    }
    return out;
  }

 private:
  double taken_back(const SystemEstimate& system) const {
    return common_.typical ? system.typical : common_.share;
  }

  // Takes back what is assumed to be in common, as much of it as raters alone call for: what is
  // said of a panel does not depend on who else is judged by it. Nobody shares anything where truth
  // is known: there the ends differ by what the prior of the system does, which is not taken back.
  void settle(SystemEstimate& system, const std::vector<double>& weight, int s,
              const SharedFit& shared, const SystemEstimate& panel) const {
    const SharedEnd end = shared_end(ratings_, weight, s, shared);
    system.shared = end.accuracy;
    system.independence_weight = panel.independence_weight;
    system.suspicion = suspicion(panel.independence_weight, panel.rater_error, used_);
    system.typical = typical_share(system.suspicion, used_);
    const double kept = common_.typical ? end.known * prior_pull(system.independent, end.cases) : 0;
    system.estimate = between_ends(system.independent, end.accuracy + kept, taken_back(system));
  }

  Common common_;
  int used_;
  SharedFit shared_;
  SystemAverage panel_;  // raters alone
  std::vector<SystemAverage> averages_;
};

}  // namespace

std::unique_ptr<Estimator> make_average(const Ratings& ratings, const EstimatorOptions& options,
                                        const Host& host) {
  return std::make_unique<AverageEstimator>(ratings, options, host);
}

}  // namespace fallible
