// Cases in bins by their highest probability, an estimate for each bin: Lehner (2015), table 4.
#include <algorithm>
#include <cmath>

#include "k_model.hpp"

namespace fallible {

namespace {

class Binned : public Rule {
 public:
  Binned(Clip clip, double width) : clip_(clip), width_(width) {}

  std::size_t parts() const override {
    return static_cast<std::size_t>(std::ceil(1 / width_ - edge_tolerance));
  }

  // Bins count from the top; an edge belongs to the bin below it.
  std::size_t part_of(const Belief& belief) const override {
    const double steps = std::floor((1 - belief.highest) / width_ + edge_tolerance / width_);
    return std::min(static_cast<std::size_t>(std::max(steps, 0.0)), parts() - 1);
  }

  // Tied categories share the credit: the order of the categories must not matter.
  void add(const Belief& belief, int answer, double weight, Sums& sum) const override {
    sum.probability += weight * belief.highest;
    sum.agreement += belief.is_highest(answer) ? weight / belief.tied : 0;
  }

  void solve(int categories, const std::vector<Sums>& parts, SystemEstimate& out) const override {
    double informative = 0, total = 0;
    for (std::size_t b = 0; b < parts.size(); ++b) {
      if (parts[b].cases == 0) continue;
      const Bin bin = bin_of(categories, b, parts[b]);
      out.bins.push_back(bin);
      if (std::isnan(bin.estimate)) {
        out.uninformative += bin.cases;
      } else {
        informative += bin.cases;
        total += bin.cases * bin.estimate;
      }
    }
    if (informative > 0) out.estimate = total / informative;
    if (clip_ == Clip::overall) out.estimate = clip01(out.estimate);
  }

 private:
  Bin bin_of(int categories, std::size_t b, const Sums& sum) const {
    Bin out;
    out.upper = 1 - b * width_;
    out.lower = std::max(1 - (b + 1) * width_, 0.0);
    out.cases = sum.cases;
    out.probability = sum.probability / sum.cases;
    out.agreement = sum.agreement / sum.cases;
    out.estimate_raw = solve_accuracy(categories, out.probability, out.agreement);
    out.estimate = clip_ == Clip::bin ? clip01(out.estimate_raw) : out.estimate_raw;
    return out;
  }

  Clip clip_;
  double width_;
};

}  // namespace

std::unique_ptr<Rule> binned_rule(Clip clip, double bin_width) {
  return std::make_unique<Binned>(clip, bin_width);
}

}  // namespace fallible
