// Bounds of accuracy against plain loops over groups, and base rates against their definitions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "../panel.hpp"
#include "core/accuracy/base_rates.hpp"
#include "core/accuracy/bounds.hpp"
#include "core/base/random.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

struct Data {
  std::vector<std::string> raters, systems;
  std::vector<double> probability;  // patterns x categories, column by column
  std::vector<int> truth;
};

// Random ratings and answers, some of them missing. Probabilities depend on the ratings and have
// ties.
Panel random_panel(std::uint64_t seed, int categories, int cases, Data& data) {
  Stream stream(seed, 1);
  const auto letter = [&](double missing) {
    if (stream.uniform() < missing) return '.';
    return static_cast<char>('A' + static_cast<int>(stream.uniform() * categories));
  };
  for (int j = 0; j < 2; ++j) {
    std::string text;
    for (int i = 0; i < cases; ++i) text += letter(0.25);
    data.raters.push_back(text);
  }
  for (int s = 0; s < 2; ++s) {
    std::string text;
    for (int i = 0; i < cases; ++i) text += letter(0.2);
    data.systems.push_back(text);
  }
  Panel out(data.raters, data.systems, categories);
  const PatternView view = out.view();
  data.probability.assign(static_cast<std::size_t>(view.patterns) * categories, 0.0);
  data.truth.assign(view.patterns, 0);
  for (int p = 0; p < view.patterns; ++p) {
    std::vector<double> votes(categories, 0.25);
    for (const int r : view.positions(p)) votes[view.category[r] - 1] += 1 + view.rater[r];
    if (stream.uniform() < 0.2) {
      data.truth[p] = 1 + static_cast<int>(stream.uniform() * categories);
      std::fill(votes.begin(), votes.end(), 0.0);
      votes[data.truth[p] - 1] = 1;
    }
    double all = 0;
    for (const double x : votes) all += x;
    for (int k = 0; k < categories; ++k) {
      data.probability[static_cast<std::size_t>(k) * view.patterns + p] = votes[k] / all;
    }
  }
  return out;
}

// Groups of patterns by their definition. A group has the same ratings and known truth. Patterns
// with a certain truth are one group. Groups that are too small are joined in the order of their
// highest probability.
struct Groups {
  std::vector<std::vector<int>> patterns;
  std::vector<bool> ranked;

  Groups(const PatternView& view, const Data& data, const std::vector<double>& weight,
         double size) {
    std::map<std::vector<int>, std::vector<int>> cells;
    for (int p = 0; p < view.patterns; ++p) {
      std::vector<int> key{data.truth[p]};
      for (const int r : view.positions(p)) {
        key.push_back(view.rater[r]);
        key.push_back(view.category[r]);
      }
      if (key.size() > 1 || data.truth[p] > 0) cells[key].push_back(p);
    }
    const auto highest = [&](int p) {
      double out = 0;
      for (int k = 0; k < view.categories; ++k) {
        out = std::max(out, data.probability[static_cast<std::size_t>(k) * view.patterns + p]);
      }
      return out;
    };
    std::vector<int> certain;
    std::map<long, std::vector<int>> small;  // by highest probability
    for (const auto& cell : cells) {
      double all = 0;
      for (const int p : cell.second) all += weight[p];
      const double best = highest(cell.second[0]);
      if (best > 1 - 1e-9) {
        certain.insert(certain.end(), cell.second.begin(), cell.second.end());
      } else if (all >= size) {
        patterns.push_back(cell.second);
        ranked.push_back(false);
      } else {
        auto& to = small[std::lround(best * 1e7)];
        to.insert(to.end(), cell.second.begin(), cell.second.end());
      }
    }
    const auto add = [&](const std::vector<int>& group) {
      patterns.push_back(group);
      ranked.push_back(true);
    };
    if (!certain.empty()) add(certain);
    std::vector<std::vector<int>> joined;
    double last = size;
    for (const auto& level : small) {
      if (last >= size) {
        joined.emplace_back();
        last = 0;
      }
      for (const int p : level.second) {
        joined.back().push_back(p);
        last += weight[p];
      }
    }
    if (last < size && joined.size() > 1) {
      const auto rest = joined.back();
      joined.pop_back();
      joined.back().insert(joined.back().end(), rest.begin(), rest.end());
    }
    for (const auto& group : joined) add(group);
  }
};

struct Margins {
  double all = 0;
  std::vector<double> truth, first, second;
};

Margins margins(const PatternView& view, const Data& data, const std::vector<double>& weight,
                const std::vector<int>& group, bool ranked, int a, int b) {
  const int N = view.categories;
  Margins out;
  out.truth.assign(N, 0.0);
  out.first = out.second = out.truth;
  for (const int p : group) {
    std::vector<double> share;
    for (int k = 0; k < N; ++k) {
      share.push_back(data.probability[static_cast<std::size_t>(k) * view.patterns + p]);
    }
    const int x = view.answer_of(p, a), y = b < 0 ? 0 : view.answer_of(p, b);
    if (x < 1 || (b >= 0 && y < 1)) continue;
    out.all += weight[p];
    const auto add = [&](int answer, std::vector<double>& to) {
      if (!ranked) {
        to[answer - 1] += weight[p];
        return;
      }
      int above = 0, tied = 0;
      for (const double q : share) {
        above += q > share[answer - 1] + 1e-9;
        tied += std::fabs(q - share[answer - 1]) <= 1e-9;
      }
      for (int i = above; i < above + tied; ++i) to[i] += weight[p] / tied;
    };
    if (b < 0 || x != y) {
      add(x, out.first);
      if (b >= 0) add(y, out.second);
    }
    std::vector<double> sorted = share;
    if (ranked) std::sort(sorted.rbegin(), sorted.rend());
    for (int k = 0; k < N; ++k) out.truth[k] += weight[p] * sorted[k];
  }
  return out;
}

Range right(const Margins& m, const std::vector<double>& given) {
  Range out{0, 0};
  for (std::size_t k = 0; k < given.size(); ++k) {
    out.lowest = std::max(out.lowest, m.truth[k] + given[k] - m.all);
    out.highest += std::min(m.truth[k], given[k]);
  }
  return out;
}

}  // namespace

TEST_CASE("bounds equal plain loops over groups of ratings") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Data data;
    const int categories = 2 + static_cast<int>(seed % 3);
    const Panel panel = random_panel(seed, categories, 25, data);
    const PatternView view = panel.view();
    const auto weight = panel.weights();
    for (const double size : {1.0, 2.0, 3.0, 5.0, 100.0}) {
      const AccuracyBounds bounds(view, data.truth, weight, data.probability.data(), size);
      const Groups groups(view, data, weight, size);
      CHECK(bounds.groups() == static_cast<int>(groups.patterns.size()));
      double all = 0, low = 0, high = 0, both = 0, below = 0, above = 0;
      for (std::size_t g = 0; g < groups.patterns.size(); ++g) {
        const Margins of = margins(view, data, weight, groups.patterns[g], groups.ranked[g], 1, -1);
        all += of.all;
        low += right(of, of.first).lowest;
        high += right(of, of.first).highest;
        const Margins two = margins(view, data, weight, groups.patterns[g], groups.ranked[g], 0, 1);
        both += two.all;
        below += right(two, two.first).lowest - right(two, two.second).highest;
        above += right(two, two.first).highest - right(two, two.second).lowest;
      }
      CHECK(bounds.system(1).lowest == Approx(low / all).epsilon(1e-12));
      CHECK(bounds.system(1).highest == Approx(high / all).epsilon(1e-12));
      CHECK(bounds.difference(0, 1).lowest == Approx(below / both).epsilon(1e-12));
      CHECK(bounds.difference(0, 1).highest == Approx(above / both).epsilon(1e-12));
    }
  }
}

TEST_CASE("leading categories have the kappa of their pairs of ratings") {
  for (std::uint64_t seed = 31; seed <= 36; ++seed) {
    Data data;
    const Panel panel = random_panel(seed, 3, 19, data);
    const PatternView view = panel.view();
    const auto weight = panel.weights();
    std::vector<double> given(4, 0.0);
    double all = 0;
    for (int p = 0; p < view.patterns; ++p) {
      for (const int r : view.positions(p)) {
        given[view.category[r]] += weight[p];
        all += weight[p];
      }
    }
    const double most = *std::max_element(given.begin(), given.end());
    const auto leading = leading_categories(view, weight);
    std::size_t at = 0;
    for (int k = 1; k <= 3; ++k) {
      if (given[k] < most) continue;
      REQUIRE(at < leading.size());
      const double share = given[k] / all;
      double pairs = 0, equal = 0;
      for (int p = 0; p < view.patterns; ++p) {
        for (const int r : view.positions(p)) {
          for (const int q : view.positions(p)) {
            if (q == r) continue;
            pairs += weight[p];
            equal += weight[p] * ((view.category[r] == k) == (view.category[q] == k));
          }
        }
      }
      const double chance = share * share + (1 - share) * (1 - share);
      CHECK(leading[at].category == k);
      CHECK(leading[at].share == Approx(share).epsilon(1e-12));
      CHECK(leading[at].kappa ==
            Approx(std::clamp((equal / pairs - chance) / (1 - chance), 0.0, 1.0)).epsilon(1e-12));
      // Arguments of the range of the system: share of its answers, and their covariance with the
      // share of the ratings.
      double cases = 0, answers = 0, raters = 0, both = 0;
      for (int p = 0; p < view.patterns; ++p) {
        const double m = view.positions(p).size();
        if (view.answer_of(p, 1) < 1 || m == 0) continue;
        double of_raters = 0;
        for (const int r : view.positions(p)) of_raters += (view.category[r] == k) / m;
        const bool answer = view.answer_of(p, 1) == k;
        cases += weight[p];
        answers += weight[p] * answer;
        raters += weight[p] * of_raters;
        both += weight[p] * answer * of_raters;
      }
      const double covariance = both / cases - answers / cases * raters / cases;
      CHECK(base_rate_range(view, weight, 1, {leading[at]}) ==
            Approx(base_rate_range(share, leading[at].kappa, answers / cases, covariance)));
      ++at;
    }
    CHECK(at == leading.size());
    // If there are several leading categories, the result is the widest range.
    std::vector<LeadingCategory> several;
    double widest = 0;
    for (int k = 1; k <= 3; ++k) {
      several.push_back({k, given[k] / all, 0.2 + 0.2 * k});
      widest = std::max(widest, base_rate_range(view, weight, 0, {several.back()}));
    }
    CHECK(base_rate_range(view, weight, 0, several) == widest);
  }
}

TEST_CASE("the range over base rates equals the range of possible accuracies") {
  for (const double share : {0.3, 0.55, 0.8}) {
    for (const double kappa : {0.05, 0.4, 1.0}) {
      for (const double answers : {0.2, 0.7, 1.0}) {
        for (const double covariance : {-0.03, 0.0, 0.12}) {
          // All base rates t at which sensitivity and specificity of a rater are at most one.
          const double low = kappa * share / (1 - share + kappa * share);
          const double high = share / (share + kappa * (1 - share));
          CHECK(possible_base_rates(share, kappa).first == Approx(low));
          CHECK(possible_base_rates(share, kappa).second == Approx(high));
          double least = 2, most = -1;
          for (int i = 0; i <= 200; ++i) {
            const double t = low + (high - low) * i / 200;
            const double informed = std::sqrt(kappa * share * (1 - share) / (t * (1 - t)));
            double joint = answers * t + covariance / informed;
            joint = std::max(joint, std::max(0.0, answers + t - 1));
            joint = std::min(joint, std::min(answers, t));
            least = std::min(least, joint + (1 - answers - t + joint));
            most = std::max(most, joint + (1 - answers - t + joint));
          }
          CHECK(base_rate_range(share, kappa, answers, covariance) ==
                Approx(most - least).epsilon(1e-10));
        }
      }
    }
  }
  CHECK(base_rate_range(0.5, 0, 0.5, 0.1) == 1);
  CHECK(std::isnan(base_rate_range(0.5, std::nan(""), 0.5, 0.1)));
  CHECK(std::isnan(base_rate_range(0.5, 0.5, std::nan(""), 0.1)));
}
