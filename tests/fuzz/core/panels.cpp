// What libFuzzer asks of the core: bytes are a panel, which is read in two layouts, measured and
// estimated. Sanitizers look for wrong memory, the traps for wrong numbers. See tools/fuzz.sh.
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/accuracy/estimator.hpp"
#include "core/agreement/agreement.hpp"
#include "core/ratings/patterns.hpp"

using namespace fallible;

namespace {

void must(bool condition) {
  if (!condition) __builtin_trap();
}

// Bytes from the front; zeros when they have run out.
class Bytes {
 public:
  Bytes(const std::uint8_t* at, std::size_t size) : at_(at), end_(at + size) {}
  bool empty() const { return at_ == end_; }
  int below(int n) { return empty() ? 0 : *at_++ % n; }

 private:
  const std::uint8_t *at_, *end_;
};

struct LongTable {
  std::vector<std::vector<int>> columns;

  Columns view() const {
    Columns out;
    for (const auto& column : columns) out.push_back(column.data());
    return out;
  }
};

Patterns from_long(const LongTable& raters, const Columns& systems, std::size_t cases) {
  std::vector<int> which_case, rater, category;
  for (std::size_t j = raters.columns.size(); j-- > 0;) {
    for (std::size_t i = 0; i < cases; ++i) {
      if (raters.columns[j][i] < 1) continue;
      which_case.push_back(static_cast<int>(i) + 1);
      rater.push_back(static_cast<int>(j) + 1);
      category.push_back(raters.columns[j][i]);
    }
  }
  return patterns_from_long(which_case.data(), rater.data(), category.data(), rater.size(), systems,
                            cases);
}

void estimate(const PatternView& view, const std::vector<double>& weight, Bytes& bytes) {
  EstimatorOptions options;
  options.method = static_cast<Method>(bytes.below(5));
  options.clip = static_cast<Clip>(bytes.below(3));
  options.optimiser.iterations = 20;
  const auto estimator = make_estimator({view, weight, {}, nullptr}, options, Host());
  for (const auto& system : estimator->systems()) {
    const bool free = options.clip == Clip::none && options.method != Method::average;
    must(std::isnan(system.estimate) || free ||
         (system.estimate >= -1e-9 && system.estimate <= 1 + 1e-9));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const int raters = 2 + bytes.below(4), systems = bytes.below(3), categories = 2 + bytes.below(4);
  LongTable ratings{std::vector<std::vector<int>>(raters)};
  LongTable answers{std::vector<std::vector<int>>(systems)};
  std::size_t cases = 0;
  for (; cases < 1 || (!bytes.empty() && cases < 60); ++cases) {
    for (auto& column : ratings.columns) column.push_back(bytes.below(categories + 1));
    for (auto& column : answers.columns) column.push_back(bytes.below(categories + 1));
  }
  const Patterns wide = patterns_from_wide(ratings.view(), answers.view(), cases);
  const Patterns other = from_long(ratings, answers.view(), cases);
  must(wide.index == other.index && wide.category == other.category && wide.rater == other.rater);
  const PatternView view = wide.view(raters, categories, systems);
  const std::vector<double> weight =
      pattern_weights(wide.index.data(), nullptr, cases, view.patterns);
  double total = 0;
  for (const double w : weight) total += w;
  must(total == static_cast<double>(cases));
  Bytes choices(data, size);
  estimate(view, weight, choices);
  return 0;
}
