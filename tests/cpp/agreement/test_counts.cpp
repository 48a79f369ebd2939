// Measures that count ratings per category, against sums over all pairs of ratings.
#include <doctest/doctest.h>

#include <cmath>

#include "core/agreement/agreement.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

const int N = 3;
const std::vector<double> scale{1, 0.5, 0, 0.5, 1, 0.25, 0, 0.25, 1};

// Rows of four judges. In a row, a judge may have two ratings or none. Two rows have no ratings
// that can be compared.
RatedRows ratings() {
  RatedRows out;
  out.judges = 4;
  out.categories = N;
  const std::vector<std::vector<int>> rows{{0, 0, 1, 0, 2, 1, 3, 0},
                                           {0, 1, 0, 2, 1, 2},
                                           {1, 1, 2, 1, 2, 1, 3, 0},
                                           {2, 2, 3, 2},
                                           {0, 0, 1, 1, 2, 2},
                                           {3, 1},
                                           {1, 2, 1, 2}};
  for (const auto& row : rows) out.add_row(row.data(), row.data() + row.size());
  out.weight = {5, 2, 3, 4, 2, 1, 2};
  return out;
}

// Sums over ordered pairs of ratings by different judges. Each pair has the weight 1, or 1 /
// (number of pairs of its case).
struct Slow {
  double agreeing = 0, pairs = 0, ratings = 0;
  double first = 0, both = 0;  // pairs with the first rating in category 1, and with both
  std::vector<double> share = std::vector<double>(N, 0.0);

  Slow(const RatedRows& rows, const std::vector<double>& weight, bool pool) {
    for (int i = 0; i < rows.size(); ++i) {
      double of_case = 0;
      for (const int a : rows.positions(i)) {
        for (const int b : rows.positions(i)) of_case += rows.judge[a] != rows.judge[b];
      }
      const double size = rows.start[i + 1] - rows.start[i];
      for (const int a : rows.positions(i)) {
        const int k = rows.category[a];
        share[k] += weight[i] / (pool ? 1 : size);
        ratings += weight[i] / (pool ? 1 : size);
        for (const int b : rows.positions(i)) {
          if (rows.judge[a] == rows.judge[b]) continue;
          const double w = weight[i] / (pool ? 1 : of_case);
          pairs += w;
          agreeing += w * scale[k * N + rows.category[b]];
          first += w * (k == 0);
          both += w * (k == 0 && rows.category[b] == 0);
        }
      }
    }
    for (double& x : share) x /= ratings;
  }

  double expected(const std::string& name) const {
    double all = 0, by_share = 0, spread = 0;
    for (int a = 0; a < N; ++a) {
      spread += share[a] * (1 - share[a]);
      for (int b = 0; b < N; ++b) {
        all += scale[a * N + b];
        by_share += scale[a * N + b] * share[a] * share[b];
      }
    }
    if (name == "chance_kappa") return all / (N * N);
    if (name == "gwet_ac") return all * spread / (N * (N - 1));
    return name == "fleiss_kappa" ? by_share : 0;
  }

  double value(const std::string& name) const {
    if (name == "specific_agreement") return both / first;
    return (agreeing / pairs - expected(name)) / (1 - expected(name));
  }
};

}  // namespace

TEST_CASE("measures of counts are sums over pairs of ratings by different judges") {
  const RatedRows rows = ratings();
  for (const std::string name :
       {"percent_agreement", "chance_kappa", "fleiss_kappa", "gwet_ac", "specific_agreement"}) {
    CAPTURE(name);
    for (const bool pool : {true, false}) {
      const auto kernel = make_kernel(rows, {name, scale, pool ? Pooling::pairs : Pooling::cases});
      const Slow slow(rows, rows.weight, pool);
      CHECK(kernel->estimate(rows.weight).value == Approx(slow.value(name)).epsilon(1e-12));
      const auto influence = kernel->influence(rows.weight);
      const auto without = kernel->estimates_without_case(rows.weight, Host());
      for (int i = 0; i < rows.size(); ++i) {
        std::vector<double> up = rows.weight, down = up, less = up;
        up[i] += 1e-5;
        down[i] -= 1e-5;
        less[i] -= 1;
        const double slope =
            (Slow(rows, up, pool).value(name) - Slow(rows, down, pool).value(name)) / 2e-5;
        CHECK(std::fabs(influence[i] - slope) < 1e-8);
        CHECK(without[i] == Approx(Slow(rows, less, pool).value(name)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("the error without agreement beyond chance is that of random ratings") {
  // Two cases of two ratings each form one row. One case has three ratings.
  RatedRows rows;
  rows.judges = 3;
  rows.categories = N;
  const std::vector<std::vector<int>> given{{0, 0, 1, 2}, {0, 1, 1, 2, 2, 2}};
  for (const auto& row : given) rows.add_row(row.data(), row.data() + row.size());
  rows.weight = {2, 1};
  const std::vector<int> ends{2, 4, 7};
  for (const bool pool : {true, false}) {
    const Slow slow(rows, rows.weight, pool);
    const Pooling pooling = pool ? Pooling::pairs : Pooling::cases;
    // Observed minus expected agreement, to first order in the deviation of category shares from
    // their expected values.
    const auto left = [&](const std::vector<int>& answer) {
      double agreeing = 0, chance = 0;
      int first = 0;
      for (const int end : ends) {
        const double size = end - first;
        const double pairs = size * (size - 1);
        for (int a = first; a < end; ++a) {
          for (int b = first; b < end; ++b) {
            if (a != b) agreeing += scale[answer[a] * N + answer[b]] / (pool ? 1 : pairs);
          }
          for (int k = 0; k < N; ++k) {
            chance += slow.share[k] * scale[answer[a] * N + k] / (pool ? 1 : size);
          }
        }
        first = end;
      }
      return agreeing / slow.pairs - 2 * chance / slow.ratings;
    };
    double mean = 0, square = 0;
    for (int way = 0; way < 2187; ++way) {
      std::vector<int> answer;
      double probability = 1;
      for (int rest = way; answer.size() < 7; rest /= N) {
        answer.push_back(rest % N);
        probability *= slow.share[rest % N];
      }
      mean += probability * left(answer);
      square += probability * left(answer) * left(answer);
    }
    const double error = std::sqrt(square - mean * mean) / (1 - slow.expected("fleiss_kappa"));
    const auto kernel = make_kernel(rows, {"fleiss_kappa", scale, pooling});
    CHECK(kernel->null_error(rows.weight) == Approx(error).epsilon(1e-10));
    CHECK(std::isnan(make_kernel(rows, {"gwet_ac", scale, pooling})->null_error(rows.weight)));
  }
}
