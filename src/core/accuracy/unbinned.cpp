// All cases at once, each category with its probability.
#include "k_model.hpp"

namespace fallible {

namespace {

class Unbinned : public Rule {
 public:
  explicit Unbinned(Clip clip) : clip_(clip) {}

  std::size_t parts() const override { return 1; }
  std::size_t part_of(const Belief&) const override { return 0; }

  void add(const Belief& belief, int answer, double weight, Sums& sum) const override {
    sum.probability += weight * belief.squares;
    sum.agreement += weight * belief.probability[answer];
  }

  void solve(int categories, const std::vector<Sums>& parts, SystemEstimate& out) const override {
    const Sums& all = parts[0];
    out.estimate =
        solve_accuracy(categories, all.probability / all.cases, all.agreement / all.cases);
    if (clip_ != Clip::none) out.estimate = clip01(out.estimate);
  }

 private:
  Clip clip_;
};

}  // namespace

std::unique_ptr<Rule> unbinned_rule(Clip clip) { return std::make_unique<Unbinned>(clip); }

}  // namespace fallible
