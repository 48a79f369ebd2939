// Measures with separate category shares of the judges, and alpha, compared with their definitions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "../panel.hpp"
#include "core/agreement/agreement.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

const int N = 3;
const std::vector<double> scale{1, 0.5, 0, 0.5, 1, 0.25, 0, 0.25, 1};
using Weights = std::vector<double>;
using Measure = std::function<double(const Weights&)>;

// Four judges; the last rated no case. No judge rates a case twice.
RatedRows ratings() {
  RatedRows out;
  out.judges = 4;
  out.categories = N;
  const std::vector<std::vector<int>> rows{{0, 0, 1, 0, 2, 1}, {0, 1, 1, 2}, {1, 1, 2, 1},
                                           {0, 2, 1, 2, 2, 2}, {0, 0, 2, 2}, {0, 1, 1, 0, 2, 1}};
  for (const auto& row : rows) out.add_row(row.data(), row.data() + row.size());
  out.weight = {5, 2, 3, 4, 2, 3};
  return out;
}

double percent_agreement(const RatedRows& rows, const Weights& weight) {
  double agreeing = 0, pairs = 0;
  for (int i = 0; i < rows.size(); ++i) {
    for (const int a : rows.positions(i)) {
      for (const int b : rows.positions(i)) {
        if (a == b) continue;
        pairs += weight[i];
        agreeing += weight[i] * scale[rows.category[a] * N + rows.category[b]];
      }
    }
  }
  return agreeing / pairs;
}

double by_chance(const Weights& a, const Weights& b) {
  double out = 0;
  for (int k = 0; k < N; ++k) {
    for (int l = 0; l < N; ++l) out += a[k] * b[l] * scale[k * N + l];
  }
  return out;
}

double conger(const RatedRows& rows, const Weights& weight) {
  std::vector<Weights> share(3, Weights(N, 0.0));
  for (int u = 0; u < 3; ++u) {
    double all = 0;
    for (int i = 0; i < rows.size(); ++i) {
      for (const int a : rows.positions(i)) {
        if (rows.judge[a] != u) continue;
        share[u][rows.category[a]] += weight[i];
        all += weight[i];
      }
    }
    for (double& x : share[u]) x /= all;
  }
  const double expected = (by_chance(share[0], share[1]) + by_chance(share[0], share[2]) +
                           by_chance(share[1], share[2])) /
                          3;
  return (percent_agreement(rows, weight) - expected) / (1 - expected);
}

// Light's kappa: mean of the kappas of all pairs of judges, each from the cases that both rated.
double light(const RatedRows& rows, const Weights& weight) {
  double out = 0;
  for (const std::pair<int, int>& pair : {std::pair<int, int>{0, 1}, {0, 2}, {1, 2}}) {
    Weights first(N, 0.0), second(N, 0.0);
    double cases = 0, agreeing = 0;
    for (int i = 0; i < rows.size(); ++i) {
      int x = -1, y = -1;
      for (const int a : rows.positions(i)) {
        if (rows.judge[a] == pair.first) x = rows.category[a];
        if (rows.judge[a] == pair.second) y = rows.category[a];
      }
      if (x < 0 || y < 0) continue;
      cases += weight[i];
      agreeing += weight[i] * scale[x * N + y];
      first[x] += weight[i];
      second[y] += weight[i];
    }
    const double expected = by_chance(first, second) / (cases * cases);
    out += (agreeing / cases - expected) / (1 - expected) / 3;
  }
  return out;
}

// Krippendorff's alpha. `less`: 1, or 0 for the limit of many ratings.
double alpha(const RatedRows& rows, const Weights& weight, bool ordinal, double less) {
  Weights number(N, 0.0);
  double all = 0;
  for (int i = 0; i < rows.size(); ++i) {
    for (const int a : rows.positions(i)) {
      number[rows.category[a]] += weight[i];
      all += weight[i];
    }
  }
  const auto distance = [&](int k, int l) {
    if (!ordinal) return 1 - scale[k * N + l];
    double apart = -(number[k] + number[l]) / 2;
    for (int m = std::min(k, l); m <= std::max(k, l); ++m) apart += number[m];
    return k == l ? 0.0 : apart * apart;
  };
  double observed = 0, expected = 0;
  for (int i = 0; i < rows.size(); ++i) {
    const double pair_weight = weight[i] / (rows.positions(i).size() - 1);
    for (const int a : rows.positions(i)) {
      for (const int b : rows.positions(i)) {
        if (a != b) observed += pair_weight * distance(rows.category[a], rows.category[b]);
      }
    }
  }
  for (int k = 0; k < N; ++k) {
    for (int l = 0; l < N; ++l) expected += number[k] * number[l] * distance(k, l);
  }
  return 1 - (all - less) * observed / expected;
}

void compare(const std::string& name, const RatedRows& rows, const Measure& slow,
             const Measure& limit) {
  CAPTURE(name);
  const auto kernel = make_kernel(rows, {name, scale, Pooling::pairs});
  CHECK(kernel->estimate(rows.weight).value == Approx(slow(rows.weight)).epsilon(1e-12));
  const auto influence = kernel->influence(rows.weight);
  const auto without = kernel->estimates_without_case(rows.weight, Host());
  for (int i = 0; i < rows.size(); ++i) {
    Weights up = rows.weight, down = up, less = up;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    less[i] -= 1;
    CHECK(std::fabs(influence[i] - (limit(up) - limit(down)) / 2e-5) < 1e-8);
    CHECK(without[i] == Approx(slow(less)).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("kappas of raters and alphas equal their definitions") {
  RatedRows rows = ratings();
  const auto with_rows = [&](auto measure, auto... more) {
    return
        [&rows, measure, more...](const Weights& weight) { return measure(rows, weight, more...); };
  };
  compare("conger_kappa", rows, with_rows(conger), with_rows(conger));
  compare("krippendorff_alpha", rows, with_rows(alpha, false, 1.0), with_rows(alpha, false, 0.0));
  compare("krippendorff_alpha_ordinal", rows, with_rows(alpha, true, 1.0),
          with_rows(alpha, true, 0.0));
  CHECK(make_kernel(rows, {"light_kappa", scale, Pooling::pairs})->estimate(rows.weight).reason ==
        Undefined::unshared);
  rows.judges = 3;
  compare("light_kappa", rows, with_rows(light), with_rows(light));
}

TEST_CASE("the error of two raters without agreement beyond chance is that of random ratings") {
  // Both judges rated three cases, two of them with the same category. Each rated one further case.
  RatedRows rows;
  rows.judges = 2;
  rows.categories = N;
  const std::vector<std::vector<int>> given{{0, 0, 1, 2}, {0, 1, 1, 1}, {0, 2}, {1, 0}};
  for (const auto& row : given) rows.add_row(row.data(), row.data() + row.size());
  rows.weight = {2, 1, 1, 1};
  const Weights first{2 / 4.0, 1 / 4.0, 1 / 4.0}, second{1 / 4.0, 1 / 4.0, 2 / 4.0};
  double mean = 0, square = 0;
  for (int way = 0; way < 6561; ++way) {
    std::vector<int> answer;  // answers of the first judge to four cases, then of the second
    double probability = 1, left = 0;
    for (int rest = way; answer.size() < 8; rest /= N) {
      probability *= (answer.size() < 4 ? first : second)[rest % N];
      answer.push_back(rest % N);
    }
    for (int i = 0; i < 3; ++i) left += scale[answer[i] * N + answer[4 + i]] / 3;
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < N; ++k) {
        left -= scale[answer[i] * N + k] * second[k] / 4;
        left -= scale[answer[4 + i] * N + k] * first[k] / 4;
      }
    }
    mean += probability * left;
    square += probability * left * left;
  }
  const auto kernel = make_kernel(rows, {"conger_kappa", scale, Pooling::pairs});
  CHECK(kernel->null_error(rows.weight) ==
        Approx(std::sqrt(square - mean * mean) / (1 - by_chance(first, second))).epsilon(1e-10));
  CHECK(std::isnan(make_kernel(ratings(), {"conger_kappa", scale, Pooling::pairs})
                       ->null_error(ratings().weight)));
}

TEST_CASE("measures of a table of two raters equal their definitions") {
  // Table of the two raters: the first row is 4 2, the second 1 3.
  RatedRows rows;
  rows.judges = rows.categories = 2;
  for (const int a : {0, 1}) {
    for (const int b : {0, 1}) {
      const int row[4] = {0, a, 1, b};
      rows.add_row(row, row + 4);
    }
  }
  rows.weight = {4, 2, 1, 3};
  const auto value = [&](const char* name) {
    return make_kernel(rows, {name, {1, 0, 0, 1}, Pooling::pairs})->estimate(rows.weight).value;
  };
  CHECK(value("bangdiwala_b") == Approx((16 + 9) / (6 * 5 + 4 * 5.0)));
  CHECK(value("yule_y") ==
        Approx((std::sqrt(12.0) - std::sqrt(2.0)) / (std::sqrt(12.0) + std::sqrt(2.0))));
  const double mutual = 0.4 * std::log(0.4 / (0.6 * 0.5)) + 0.2 * std::log(0.2 / (0.6 * 0.5)) +
                        0.1 * std::log(0.1 / (0.4 * 0.5)) + 0.3 * std::log(0.3 / (0.4 * 0.5));
  const double least = -0.6 * std::log(0.6) - 0.4 * std::log(0.4);
  CHECK(value("information_agreement") == Approx(mutual / least));
  CHECK(value("information_agreement_plain") == Approx(mutual / least));
  // Weights may be probabilities.
  for (double& w : rows.weight) w /= 20;
  CHECK(value("bangdiwala_b") == Approx(0.5));
  CHECK(value("information_agreement_plain") == Approx(mutual / least));
  // One rater uses one of three categories, the other rater two.
  for (const std::vector<std::string>& raters :
       {std::vector<std::string>{"AAAA", "AABB"}, {"CABC", "BBBB"}}) {
    const Panel panel(raters, {}, 3);
    Selection both{{1, 2}, {}, 2, {1, 2, 3}, 3, false, 2};
    const RatedRows some = select_rows(panel.view(), panel.weights(), both);
    const double used = raters[0] == "AAAA" ? 2 : 3;
    CHECK(make_kernel(some, {"information_agreement", scale, Pooling::pairs})
              ->estimate(some.weight)
              .value == Approx(1 - used / 3));
  }
}
