// Random numbers are the same on all machines, so results with a seed can be reproduced. Sums of
// draws are compared with recorded sums, and moments with those of the distributions.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/base/random.hpp"
#include "core/base/slice.hpp"
#include "core/base/special.hpp"

using namespace fallible;
using doctest::Approx;

TEST_CASE("binomial draws equal the recorded draws") {
  struct Recorded {
    int trials;
    double probability;
    double sum;  // sum of 2000 draws, with weights 1, ..., 7
  };
  // Settings for both algorithms: means below and above 10, probabilities below and above 1/2.
  const Recorded recorded[] = {{10, 0.3, 23309},      {200, 0.02, 31775},      {20, 0.5, 80362},
                               {100, 0.1, 79907},     {100, 0.0999, 79817},    {60, 0.4, 191506},
                               {1000, 0.95, 7595553}, {100000, 0.001, 801160}, {50, 0.5, 200347},
                               {7, 0.8, 45075},       {30, 0.35, 83599}};
  for (const Recorded& of : recorded) {
    CAPTURE(of.trials);
    Stream stream(11, static_cast<std::uint64_t>(of.trials));
    double sum = 0;
    for (int i = 0; i < 2000; ++i) {
      sum += static_cast<double>(stream.binomial(of.trials, of.probability)) * (i % 7 + 1);
    }
    CHECK(sum == of.sum);
  }
}

TEST_CASE("uniform, normal and gamma draws equal the recorded draws") {
  Stream stream(5, 6, 7);
  for (const double x : {0.051335375668569161, 0.84407743858711681, 0.7781007410008981}) {
    CHECK(stream.uniform() == x);
  }
  for (const double x : {0.71152576267421308, -0.64390923487754281, 2.2180676596627178}) {
    CHECK(stream.normal() == Approx(x).epsilon(1e-12));
  }
  struct Recorded {
    double shape, sum;
  };
  for (const Recorded& of : {Recorded{0.05, -30652.9965466715}, Recorded{0.7, -1764.64142578668},
                             Recorded{1, -926.135831786326}, Recorded{3.5, 1613.66036183312}}) {
    CAPTURE(of.shape);
    Stream gamma(3, 4);
    double sum = 0;
    for (int i = 0; i < 500; ++i) sum += gamma.log_gamma(of.shape) * (i % 5 + 1);
    CHECK(sum == Approx(of.sum).epsilon(1e-12));
  }
  Stream third(9, 9);
  double share[] = {0.5, 2, 3};
  dirichlet(third, share, 3, share);
  CHECK(share[0] == Approx(0.0839956201751957).epsilon(1e-12));
  CHECK(share[1] == Approx(0.536281675387211).epsilon(1e-12));
  CHECK(share[2] == Approx(0.379722704437593).epsilon(1e-12));
}

TEST_CASE("normal and log gamma draws have the moments of their distributions") {
  const int draws = 40000;
  Stream stream(21, 1);
  double mean = 0, square = 0, fourth = 0;
  for (int i = 0; i < draws; ++i) {
    const double x = stream.normal();
    mean += x / draws;
    square += x * x / draws;
    fourth += x * x * x * x / draws;
  }
  CHECK(std::fabs(mean) < 0.02);
  CHECK(std::fabs(square - 1) < 0.03);
  CHECK(std::fabs(fourth - 3) < 0.2);
  for (const double shape : {0.3, 1.0, 2.5, 40.0}) {
    CAPTURE(shape);
    // Mean and variance of the logarithm of a gamma variate are digamma and trigamma.
    const Polygamma expected(shape);
    double sum = 0, squares = 0;
    for (int i = 0; i < draws; ++i) {
      const double x = stream.log_gamma(shape) - expected.first;
      sum += x / draws;
      squares += x * x / draws;
    }
    CHECK(std::fabs(sum) < 5 * std::sqrt(expected.second / draws));
    CHECK(squares == Approx(expected.second).epsilon(0.06));
  }
}

TEST_CASE("draws with only one possible value use no random number") {
  Stream used(4, 4), fresh(4, 4);
  CHECK(used.binomial(0, 0.3) == 0);
  CHECK(used.binomial(-1, 0.3) == 0);
  CHECK(used.binomial(12, 0) == 0);
  CHECK(used.binomial(12, 1) == 12);
  CHECK(used.binomial(12, -0.5) == 0);
  CHECK(used.binomial(12, 1.5) == 12);
  // The last category with a weight gets all remaining trials.
  std::vector<double> count;
  multinomial(used, 9, {0, 3, 0}, count);
  CHECK(count == std::vector<double>{0, 9, 0});
  multinomial(used, 0, {1, 2}, count);
  CHECK(count == std::vector<double>{0, 0});
  CHECK(used.uniform() == fresh.uniform());
}

TEST_CASE("one trial uses one random number, for any probability") {
  for (const double p : {0.2, 0.5, 0.8}) {
    Stream used(4, 5), fresh(4, 5);
    for (int i = 0; i < 200; ++i) {
      const double u = fresh.uniform();
      // If p <= 1/2, high uniform numbers are successes; otherwise low ones.
      const bool success = p <= 0.5 ? u > 1 - p : u <= p;
      CHECK(used.binomial(1, p) == success);
    }
  }
}

TEST_CASE("a multinomial draw is a chain of binomial draws") {
  Stream used(4, 6), fresh(4, 6);
  const std::vector<double> weight{2, 0, 5, 1, 4};
  std::vector<double> count;
  for (int i = 0; i < 50; ++i) {
    multinomial(used, 30, weight, count);
    const auto first = fresh.binomial(30, 2 / 12.0);
    const auto third = fresh.binomial(30 - first, 5 / 10.0);
    const auto fourth = fresh.binomial(30 - first - third, 1 / 5.0);
    const std::vector<double> expected{static_cast<double>(first), 0, static_cast<double>(third),
                                       static_cast<double>(fourth),
                                       static_cast<double>(30 - first - third - fourth)};
    CHECK(count == expected);
  }
}
