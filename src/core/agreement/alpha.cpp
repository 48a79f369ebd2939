// Krippendorff's alpha: 1 - observed / expected disagreement over the coincidences of categories.
//
// A case of m ratings gives each pair of them weight 1 / (m - 1), so that it has m coincidences.
#include <cmath>

#include "kernels.hpp"

namespace fallible {

namespace {

struct AlphaSums {
  const RowCounts* rows;
  bool ordinal;
  std::vector<double> coincidence;  // categories x categories
  std::vector<double> total;        // per category
  double all = 0;

  std::size_t at(int a, int b) const { return static_cast<std::size_t>(a) * rows->categories + b; }

  void add(int i, double w) {
    const double each = w / (rows->ratings[i] - 1);
    for (const int a : rows->places(i)) {
      const int k = rows->category[a];
      for (const int b : rows->places(i)) {
        const double pairs = rows->count[a] * (rows->count[b] - (a == b));
        coincidence[at(k, rows->category[b])] += each * pairs;
      }
      total[k] += w * rows->count[a];
    }
    all += w * rows->ratings[i];
  }

  // Middle of the ranks of each category, from the ratings themselves.
  std::vector<double> midranks() const {
    std::vector<double> out;
    double below = 0;
    for (const double n : total) {
      out.push_back(below + n / 2);
      below += n;
    }
    return out;
  }

  // Squared distance of midranks, or what the scale leaves of full agreement.
  std::vector<double> distances() const {
    std::vector<double> out(coincidence.size());
    const auto middle = midranks();
    for (int a = 0; a < rows->categories; ++a) {
      for (int b = 0; b < rows->categories; ++b) {
        const double apart = middle[a] - middle[b];
        out[at(a, b)] = ordinal ? apart * apart : 1 - rows->scale[at(a, b)];
      }
    }
    return out;
  }

  // Sums of the distances of coincidences, and of those that chance would give, times `all`.
  double observed(const std::vector<double>& distance) const {
    double out = 0;
    for (std::size_t c = 0; c < distance.size(); ++c) out += coincidence[c] * distance[c];
    return out;
  }
  double expected(const std::vector<double>& distance) const {
    double out = 0;
    for (int a = 0; a < rows->categories; ++a) {
      for (int b = 0; b < rows->categories; ++b) out += total[a] * total[b] * distance[at(a, b)];
    }
    return out;
  }

  Estimate value() const {
    if (!(all > 0)) return undefined(Undefined::no_pairs);
    const auto distance = distances();
    const double by_chance = expected(distance);
    if (by_chance <= certain_tolerance * all * all) return undefined(Undefined::certain);
    return {1 - (all - 1) * observed(distance) / by_chance, Undefined::no};
  }
};

class AlphaKernel : public SumKernel<AlphaSums> {
 public:
  AlphaKernel(RowCounts rows, bool ordinal) : rows_(std::move(rows)), ordinal_(ordinal) {}

  // Of 1 - all * observed / expected; that all - 1 stands for all does not matter in the limit, and
  // Gwet leaves it out as well.
  std::vector<double> influence(const std::vector<double>& weight) const override {
    const AlphaSums sums = total(weight);
    const auto distance = sums.distances();
    const double observed = sums.observed(distance), expected = sums.expected(distance);
    const double ratio = sums.all * observed / expected;
    const int k = rows_.categories;
    // Derivatives by the total of each category: of expected, and through midranks of both.
    std::vector<double> slope(k, 0.0), by_middle_observed(k, 0.0), by_middle_expected(k, 0.0);
    const auto middle = sums.midranks();
    for (int a = 0; a < k; ++a) {
      for (int b = 0; b < k; ++b) {
        slope[a] += 2 * sums.total[b] * distance[sums.at(a, b)];
        const double apart = 4 * (middle[a] - middle[b]);
        by_middle_observed[a] += apart * sums.coincidence[sums.at(a, b)];
        by_middle_expected[a] += apart * sums.total[a] * sums.total[b];
      }
    }
    std::vector<double> by_total(k, 0.0);  // of log-free ratio: all * observed / expected
    double above_observed = 0, above_expected = 0;
    for (int a = k - 1; a >= 0; --a) {
      const double d_observed = above_observed + by_middle_observed[a] / 2;
      const double d_expected = above_expected + by_middle_expected[a] / 2;
      by_total[a] = -ratio * slope[a] / expected;
      if (ordinal_) {
        by_total[a] += sums.all * d_observed / expected - ratio * d_expected / expected;
      }
      above_observed += by_middle_observed[a];
      above_expected += by_middle_expected[a];
    }
    std::vector<double> out(rows_.size());
    for (int i = 0; i < rows_.size(); ++i) {
      double own = 0, change = 0;
      for (const int a : rows_.places(i)) {
        for (const int b : rows_.places(i)) {
          own += rows_.count[a] * (rows_.count[b] - (a == b)) *
                 distance[sums.at(rows_.category[a], rows_.category[b])];
        }
        change += rows_.count[a] * by_total[rows_.category[a]];
      }
      own /= rows_.ratings[i] - 1;
      out[i] = -(rows_.ratings[i] * observed / expected + sums.all * own / expected + change);
    }
    return out;
  }

 protected:
  AlphaSums none() const override {
    const auto k = static_cast<std::size_t>(rows_.categories);
    return {&rows_, ordinal_, std::vector<double>(k * k, 0.0), std::vector<double>(k, 0.0)};
  }

 private:
  RowCounts rows_;
  bool ordinal_;
};

}  // namespace

std::unique_ptr<Kernel> make_alpha_kernel(const RatedRows& rows, const KernelOptions& options) {
  const bool ordinal = options.name == "krippendorff_alpha_ordinal";
  if (!ordinal && options.name != "krippendorff_alpha") return nullptr;
  return std::make_unique<AlphaKernel>(count_rows(rows, options.scale), ordinal);
}

}  // namespace fallible
