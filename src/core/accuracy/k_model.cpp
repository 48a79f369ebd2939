#include "k_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../base/special.hpp"

namespace fallible {

namespace {

constexpr double tie_tolerance = 1e-9;      // relative, of the most probable categories
constexpr double information_floor = 1e-6;  // of N Pg - 1

Belief belief_of(const std::vector<double>& probability) {
  Belief out{probability, *std::max_element(probability.begin(), probability.end()), 0, 0};
  for (const double p : probability) {
    out.squares += p * p;
    out.tied += p >= out.highest * (1 - tie_tolerance);
  }
  return out;
}

Cells cells_of(const Tallies& tallies) {
  Cells out{tallies.weight, tallies.of_pattern};
  for (int i = 0; i < tallies.size(); ++i) {
    if (tallies.ratings[i] == 0) out.cases[i] = 0;
  }
  return out;
}

// Raters are exchangeable to it.
class KEstimator : public Estimator {
 public:
  KEstimator(const Ratings& ratings, std::unique_ptr<Rule> rule)
      : KEstimator(ratings, std::move(rule), ratings.k_model ? ratings.k_model : k_model(ratings)) {
  }

  std::vector<double> with_weights(const std::vector<double>& weight) const override {
    std::vector<double> out;
    const KFit fit = fit_algebraic(model_->tallies, weight);
    for (const auto& system : system_accuracy(model_->tallies, weight, fit, *rule_)) {
      out.push_back(system.estimate);
    }
    return out;
  }

  double tolerance() const override { return rounding_tolerance; }

 private:
  using Model = std::shared_ptr<const KModelFit>;

  KEstimator(const Ratings& ratings, std::unique_ptr<Rule> rule, Model model)
      : Estimator(ratings, cells_of(model->tallies)),
        rule_(std::move(rule)),
        model_(std::move(model)) {
    identified_ = model_->fit.identified == Identified::yes;
    const Tallies& tallies = model_->tallies;
    systems_ = system_accuracy(tallies, tallies.weight, model_->fit, *rule_);
  }

  static Model k_model(const Ratings& ratings) {
    return std::make_shared<const KModelFit>(fit_k_model(ratings.patterns, ratings.weight));
  }

  std::unique_ptr<Rule> rule_;
  Model model_;
};

}  // namespace

KModelFit fit_k_model(const PatternView& patterns, const std::vector<double>& weight) {
  KModelFit out{make_tallies(patterns, weight), KFit()};
  out.fit = fit_algebraic(out.tallies, out.tallies.weight);
  return out;
}

bool Belief::is_highest(int answer) const {
  return probability[answer] >= highest * (1 - tie_tolerance);
}

double solve_accuracy(int categories, double probability, double agreement) {
  const double information = categories * probability - 1;
  if (information < information_floor) return not_a_number;
  return ((categories - 1) * agreement - 1 + probability) / information;
}

double clip01(double x) { return std::isnan(x) ? x : std::min(std::max(x, 0.0), 1.0); }

std::vector<SystemEstimate> system_accuracy(const Tallies& tallies,
                                            const std::vector<double>& weight, const KFit& fit,
                                            const Rule& rule) {
  const int systems = tallies.systems;
  const bool identified = fit.identified == Identified::yes;
  std::vector<std::vector<Sums>> sums(systems, std::vector<Sums>(rule.parts()));
  std::vector<double> cases(systems, 0.0), own(systems, 0.0);
  std::vector<double> probability(tallies.categories);
  const Posterior posterior(tallies, fit);
  for (int i = 0; i < tallies.size(); ++i) {
    const double w = weight[i];
    if (w == 0 || tallies.ratings[i] == 0) continue;
    if (identified) posterior(i, probability.data());
    const Belief belief = belief_of(probability);
    const std::size_t part = rule.part_of(belief);
    for (int s = 0; s < systems; ++s) {
      const int answer = tallies.answer_of(i, s);
      if (answer < 0) continue;
      cases[s] += w;
      own[s] += w * probability[answer];
      sums[s][part].cases += w;
      rule.add(belief, answer, w, sums[s][part]);
    }
  }

  std::vector<SystemEstimate> out(systems);
  for (int s = 0; s < systems; ++s) {
    out[s].cases = cases[s];
    out[s].uninformative = 0;
    if (!identified || cases[s] == 0) continue;
    rule.solve(tallies.categories, sums[s], out[s]);
    out[s].mean_posterior = own[s] / cases[s];
  }
  return out;
}

std::unique_ptr<Estimator> make_k_estimator(const Ratings& ratings, std::unique_ptr<Rule> rule) {
  return std::make_unique<KEstimator>(ratings, std::move(rule));
}

}  // namespace fallible
