#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/random.hpp"

using namespace fallible;
using doctest::Approx;

TEST_CASE("a stream depends only on seed and item") {
  Stream a(1, 2), b(1, 2), other_item(1, 3), other_seed(2, 2);
  for (int i = 0; i < 10; ++i) {
    const double u = a.uniform();
    CHECK(u == b.uniform());
    CHECK(u != other_item.uniform());
    CHECK(u != other_seed.uniform());
    CHECK(u >= 0);
    CHECK(u < 1);
  }
}

TEST_CASE("streams of neighbouring items are independent, and all bits of the seed are used") {
  std::vector<double> a, b, c;
  Stream first(5, 0), second(5, 1), high_word((std::uint64_t{1} << 32) | 5, 0);
  for (int i = 0; i < 1000; ++i) {
    a.push_back(first.uniform());
    b.push_back(second.uniform());
    c.push_back(high_word.uniform());
  }
  std::sort(a.begin(), a.end());
  bool shared = false;
  for (int i = 0; i < 1000; ++i) {
    shared = shared || std::binary_search(a.begin(), a.end(), b[i]) ||
             std::binary_search(a.begin(), a.end(), c[i]);
  }
  CHECK(!shared);
}

TEST_CASE("binomial numbers follow their distribution") {
  // Chi-squared statistic of all values with expected frequency of at least five. Its limit is the
  // .9999 quantile, approximated by the formula of Wilson and Hilferty.
  struct Setting {
    std::int64_t n;
    double p;
  };
  for (const Setting s : {Setting{10, 0.3}, Setting{200, 0.02}, Setting{60, 0.4},
                          Setting{1000, 0.95}, Setting{100000, 0.001}, Setting{50, 0.5}}) {
    CAPTURE(s.n);
    Stream stream(7, static_cast<std::uint64_t>(s.n));
    const int draws = 100000;
    std::vector<int> seen(s.n + 1, 0);
    for (int i = 0; i < draws; ++i) ++seen[stream.binomial(s.n, s.p)];
    double chi2 = 0, rest = draws, rest_seen = draws;
    int df = 0;
    const double n = static_cast<double>(s.n);
    for (int i = 0; i <= s.n; ++i) {
      const double k = i;
      const double log_mass = std::lgamma(n + 1.0) - std::lgamma(k + 1.0) -
                              std::lgamma(n - k + 1.0) + k * std::log(s.p) +
                              (n - k) * std::log1p(-s.p);
      const double expected = draws * std::exp(log_mass);
      if (expected < 5) continue;
      chi2 += (seen[i] - expected) * (seen[i] - expected) / expected;
      rest -= expected;
      rest_seen -= seen[i];
      ++df;
    }
    const double z = 3.719, a = 2.0 / (9 * df);
    CHECK(chi2 < df * std::pow(1 - a + z * std::sqrt(a), 3));
    CHECK(std::fabs(rest_seen - rest) < 6 * std::sqrt(std::max(rest, 1.0)) + 6);
  }
}

TEST_CASE("rare events in very many trials are drawn correctly and fast") {
  const auto trials = static_cast<std::int64_t>(8e12);
  const double p = 1.3e-13, mean = static_cast<double>(trials) * p;
  const int draws = 20000;
  Stream stream(3, 1);
  double sum = 0, none = 0;
  for (int i = 0; i < draws; ++i) {
    const auto k = static_cast<double>(stream.binomial(trials, p));
    sum += k;
    none += k == 0;
  }
  CHECK(std::fabs(sum / draws - mean) < 4 * std::sqrt(mean / draws));
  CHECK(std::fabs(none / draws - std::exp(-mean)) < 4 * std::sqrt(0.25 / draws));
}

TEST_CASE("binomial numbers with probability 0 or 1 are exact") {
  Stream stream(1, 1);
  CHECK(stream.binomial(10, 0) == 0);
  CHECK(stream.binomial(10, 1) == 10);
  CHECK(stream.binomial(0, 0.5) == 0);
  for (int i = 0; i < 100; ++i) {
    const auto k = static_cast<double>(stream.binomial(1000000000, 0.5));
    CHECK(std::fabs(k - 5e8) < 7 * std::sqrt(2.5e8));
  }
}

TEST_CASE("multinomial counts have the correct sum, and are zero for weight zero") {
  Stream stream(3, 3);
  std::vector<double> count, mean(5, 0.0);
  const std::vector<double> weight{0, 1, 2, 0, 7};
  const int draws = 20000;
  bool complete = true;
  for (int i = 0; i < draws; ++i) {
    multinomial(stream, 50, weight, count);
    complete = complete && std::accumulate(count.begin(), count.end(), 0.0) == 50;
    for (int k = 0; k < 5; ++k) mean[k] += count[k] / draws;
  }
  CHECK(complete);
  CHECK(mean[0] == 0);
  CHECK(mean[3] == 0);
  for (const int k : {1, 2, 4}) {
    const double p = weight[k] / 10;
    CHECK(std::fabs(mean[k] - 50 * p) < 5 * std::sqrt(50 * p * (1 - p) / draws));
  }
}
