#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/simulation/simulate.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

const std::vector<double> fifths(5, 0.2);

std::vector<double> matrix(double accuracy, const std::vector<double>& base_rates,
                           const ConfusionOptions& options, std::uint64_t item = 0) {
  Stream stream(1, item);
  const int N = static_cast<int>(base_rates.size());
  return confusion_matrix(accuracy, base_rates, options,
                          error_factors(N, options.error_range, stream));
}

double row_sum(const std::vector<double>& x, int row, int N) {
  return std::accumulate(x.begin() + row * N, x.begin() + (row + 1) * N, 0.0);
}

bool near(double a, double b) { return std::fabs(a - b) < 1e-12; }

Design simple(std::vector<double> raters, std::vector<double> systems) {
  Design out;
  out.categories = 5;
  out.raters = std::move(raters);
  out.systems = std::move(systems);
  return out;
}

}  // namespace

TEST_CASE("errors are `dispersion` times more probable than errors one step further away") {
  ConfusionOptions options;
  options.dispersion = 2;
  const auto x = matrix(0.4, fifths, options);
  const double rows[3][5] = {{0.400, 0.320, 0.160, 0.080, 0.040},
                             {0.218, 0.400, 0.218, 0.109, 0.055},
                             {0.100, 0.200, 0.400, 0.200, 0.100}};
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 5; ++l) CHECK(std::fabs(x[k * 5 + l] - rows[k][l]) <= 5e-4);
  }
}

TEST_CASE("normalisation keeps the mean accuracy or the accuracy of each category") {
  Stream stream(2, 0);
  bool sums = true, expected = true, rows = true, inside = true;
  for (int i = 0; i < 500; ++i) {
    const int N = 2 + i % 9;
    std::vector<double> base_rates(N);
    for (double& rate : base_rates) rate = stream.uniform() < 0.2 ? 0 : 1 - stream.uniform();
    base_rates[0] += 1e-3;
    const double total = std::accumulate(base_rates.begin(), base_rates.end(), 0.0);
    for (double& rate : base_rates) rate /= total;
    const double accuracy = i % 10 == 0 ? 0 : i % 10 == 1 ? 1 : stream.uniform();
    ConfusionOptions options;
    options.dispersion = std::exp(4 * stream.uniform() - 2);
    options.error_range = i % 3 == 0 ? 1 : stream.uniform();
    for (const auto how : {Normalise::expected, Normalise::row}) {
      options.normalise = how;
      const auto x = matrix(accuracy, base_rates, options, i);
      for (const double p : x) inside = inside && p >= 0 && p <= 1;
      for (int k = 0; k < N; ++k) {
        sums = sums && near(row_sum(x, k, N), 1);
        if (how == Normalise::row) rows = rows && x[k * N + k] == accuracy;
      }
      expected = expected && near(expected_accuracy(x, base_rates), accuracy);
    }
  }
  CHECK(sums);
  CHECK(expected);
  CHECK(rows);
  CHECK(inside);
}

TEST_CASE("extreme settings still give probabilities from 0 to 1") {
  for (const double dispersion : {1e-300, 1e-100, 1e100, 1e300}) {
    for (const double accuracy : {1e-12, 0.5, 1 - 1e-12, -0.3, 1.4}) {
      ConfusionOptions options;
      options.dispersion = dispersion;
      options.error_range = 1;
      const auto x = matrix(accuracy, fifths, options);
      for (int k = 0; k < 5; ++k) CHECK(row_sum(x, k, 5) == Approx(1));
      CHECK(expected_accuracy(x, fifths) ==
            Approx(std::min(std::max(accuracy, 0.0), 1.0)).epsilon(1e-10));
    }
  }
}

TEST_CASE("base rates sum to one and have the means and variances of their distribution" *
          doctest::test_suite("slow")) {
  for (const double concentration : {0.0, 0.001, 0.5, 1.0, 4.0}) {  // 0: uniform rates
    CAPTURE(concentration);
    Design design = simple({0.6, 0.6}, {});
    design.law = concentration == 0 ? BaseRateLaw::uniform : BaseRateLaw::dirichlet;
    design.concentration = concentration;
    Stream stream(4, 0);
    const int draws = 20000;
    double sum = 0, squares = 0;
    bool complete = true;
    for (int i = 0; i < draws; ++i) {
      const auto rates = draw_panel_parameters(design, stream).base_rates;
      complete = complete && near(std::accumulate(rates.begin(), rates.end(), 0.0), 1);
      sum += rates[1];
      squares += rates[1] * rates[1];
    }
    const double mean = sum / draws, variance = squares / draws - mean * mean;
    CHECK(complete);
    CHECK(std::fabs(mean - 0.2) < 4 * std::sqrt(variance / draws));
    if (concentration > 0) {
      // The margin is about four standard errors. scale(0) makes it relative to the expected value.
      CHECK(variance == Approx(0.16 / (5 * concentration + 1)).epsilon(0.045).scale(0));
    }
  }
}

TEST_CASE("answers of a panel follow their confusion matrices") {
  Design design = simple({0.5, 0.6, 0.7}, {0.1, 0.9});
  design.confusion.dispersion = 2;
  design.confusion.error_range = 1;
  design.strata = {{-0.2, 0.25}, {0, 0.35}, {0.2, 0.4}};
  Stream stream(5, 0);
  const auto parameters = draw_panel_parameters(design, stream);
  CHECK(parameters.matrix.size() == 15);
  const std::size_t cases = 200000;
  const auto panel = draw_panel(design, parameters, cases, stream);
  std::vector<double> visible_systems(15 * 25, 0.0), of_truth(15, 0.0);
  for (std::size_t i = 0; i < cases; ++i) {
    const int s = panel.stratum[i] - 1, k = panel.truth[i] - 1;
    ++of_truth[s * 5 + k];
    for (int u = 0; u < 5; ++u)
      ++visible_systems[((u * 3 + s) * 5 + k) * 5 + panel.answers[u][i] - 1];
  }
  double chi2 = 0;
  int df = 0;
  for (int u = 0; u < 5; ++u) {
    for (int s = 0; s < 3; ++s) {
      for (int k = 0; k < 5; ++k) {
        for (int l = 0; l < 5; ++l) {
          const double mean = of_truth[s * 5 + k] * parameters.matrix[u * 3 + s][k * 5 + l];
          const double seen = visible_systems[((u * 3 + s) * 5 + k) * 5 + l];
          if (mean < 1e-9) CHECK(seen == 0);
          if (mean < 5) continue;
          chi2 += (seen - mean) * (seen - mean) / mean;
          ++df;
        }
        --df;
      }
    }
  }
  const double z = 4, a = 2.0 / (9 * df);  // quantile of chi-squared by Wilson and Hilferty
  CHECK(chi2 < df * std::pow(1 - a + z * std::sqrt(a), 3));
  for (int s = 0; s < 3; ++s) {
    for (int k = 0; k < 5; ++k) {
      const double p = design.strata[s].weight * parameters.base_rates[k];
      CHECK(std::fabs(of_truth[s * 5 + k] - cases * p) < 4.5 * std::sqrt(cases * p * (1 - p)));
    }
  }
}

TEST_CASE("strata can have exactly their expected share of cases") {
  Design design = simple({0.6, 0.6}, {});
  design.strata = {{-0.2, 1.0 / 3}, {0, 1.0 / 3}, {0.2, 1.0 / 3}};
  design.strata_drawn = false;
  for (const int cases : {1, 2, 3, 200, 3000}) {
    Stream stream(6, 0);
    const auto panel = draw_panel(design, draw_panel_parameters(design, stream), cases, stream);
    for (int s = 1; s <= 3; ++s) {
      const auto size = std::count(panel.stratum.begin(), panel.stratum.end(), s);
      CHECK(std::fabs(static_cast<double>(size) - cases / 3.0) <= 1);
    }
  }
}

TEST_CASE("the expected accuracy includes copied answers") {
  Design design = simple({0.9, 0.3}, {0.1, 0.8});
  design.copying = {{0, 1, 0.5}, {1, 2, 0.5}, {0, 3, 1}};
  Stream stream(7, 0);
  const auto parameters = draw_panel_parameters(design, stream);
  CHECK(parameters.expected_accuracy[0] == Approx((0.6 + 0.1) / 2));
  CHECK(parameters.expected_accuracy[1] == Approx(0.9));
  const std::size_t cases = 50000;
  const auto panel = draw_panel(design, parameters, cases, stream);
  CHECK(panel.answers[3] == panel.answers[0]);
  double right = 0;
  for (std::size_t i = 0; i < cases; ++i) right += panel.answers[2][i] == panel.truth[i];
  CHECK(std::fabs(right / cases - 0.35) < 4 * std::sqrt(0.35 * 0.65 / cases));
}

TEST_CASE("a stream gives the same panel again") {
  Design design = simple({0.5, 0.6, 0.7}, {0.9});
  design.law = BaseRateLaw::dirichlet;
  design.missing = {0.3, 0.3, 0.3};
  Panel panels[2];
  for (Panel& panel : panels) {
    Stream stream(8, 9);
    const auto parameters = draw_panel_parameters(design, stream);
    panel = draw_panel(design, parameters, 100, stream);
  }
  CHECK(panels[0].truth == panels[1].truth);
  CHECK(panels[0].answers == panels[1].answers);
}

namespace {

double share(const std::vector<int>& a, const std::vector<int>& b, std::size_t from,
             std::size_t to) {
  double same = 0;
  for (std::size_t i = from; i < to; ++i) same += a[i] == b[i];
  return same / static_cast<double>(to - from);
}

// Upper limit of four standard errors of a share of these cases.
double margin(std::size_t cases) { return 2 / std::sqrt(static_cast<double>(cases)); }

}  // namespace

TEST_CASE("loadings correlate errors without changing accuracies") {
  Design design = simple({0.5, 0.5}, {0.5});
  design.categories = 2;
  design.loading = {0.8, 0.5, 0};
  Stream stream(10, 0);
  const auto parameters = draw_panel_parameters(design, stream);
  CHECK(parameters.expected_accuracy[0] == Approx(0.5));
  const std::size_t cases = 50000;
  const auto panel = draw_panel(design, parameters, cases, stream);
  for (int u = 0; u < 3; ++u) {
    CHECK(std::fabs(share(panel.answers[u], panel.truth, 0, cases) - 0.5) < margin(cases));
  }
  // Two normal deviates have the same sign with probability 1/2 + asin(correlation) / pi.
  const double alike = 0.5 + std::asin(0.4) / 3.14159265358979;
  CHECK(std::fabs(share(panel.answers[0], panel.answers[1], 0, cases) - alike) < margin(cases));
  CHECK(std::fabs(share(panel.answers[0], panel.answers[2], 0, cases) - 0.5) < margin(cases));
}

TEST_CASE("accuracy drifts linearly and is limited to [0, 1]") {
  Design design = simple({0.6, 0.9}, {0.7, 1});
  design.drift = {-0.4, 0.4, 0, -0.5};
  Stream stream(11, 0);
  const auto parameters = draw_panel_parameters(design, stream);
  CHECK(parameters.expected_accuracy[0] == Approx(0.7));
  CHECK(parameters.expected_accuracy[1] == Approx(1 - 0.25 * 0.25 / 2 / 0.5));
  const std::size_t cases = 60000, tenth = cases / 10;
  const auto panel = draw_panel(design, parameters, cases, stream);
  const auto right = [&](int u, std::size_t from, std::size_t to) {
    return share(panel.answers[u], panel.truth, from, to);
  };
  CHECK(std::fabs(right(0, 0, tenth) - 0.78) < margin(tenth));
  CHECK(std::fabs(right(0, cases - tenth, cases) - 0.42) < margin(tenth));
  CHECK(std::fabs(right(1, cases - tenth, cases) - 1) < 1e-12);
  CHECK(std::fabs(right(2, 0, tenth) - 0.7) < margin(tenth));
  CHECK(std::fabs(right(3, 0, cases) - parameters.expected_accuracy[1]) < margin(cases));
}

TEST_CASE("systems that others copy may be hidden, and matrices differ by stratum") {
  Design design = simple({0.6, 0.6}, {0.5, 0.9});
  design.hidden = 1;
  design.strata = {{-0.1, 0.5}, {0.1, 0.5}};
  design.copying = {{3, 2, 0.25}};
  std::vector<double> given(50, 0.0);
  for (int k = 0; k < 5; ++k) {
    given[k * 6] = 1;
    for (int l = 0; l < 5; ++l) given[25 + k * 5 + l] = 0.2;
  }
  design.custom = {given, {}, {}, {}};
  design.missing = {0, 0.5};
  Stream stream(12, 0);
  const auto parameters = draw_panel_parameters(design, stream);
  CHECK(parameters.expected_accuracy.size() == 1);
  CHECK(parameters.expected_accuracy[0] == Approx(0.6));
  const std::size_t cases = 50000;
  const auto panel = draw_panel(design, parameters, cases, stream);
  CHECK(panel.answers.size() == 3);
  CHECK(std::fabs(share(panel.answers[2], panel.truth, 0, cases) - 0.6) < margin(cases));
  double right[2] = {0, 0}, n[2] = {0, 0};
  for (std::size_t i = 0; i < cases; ++i) {
    const int s = panel.stratum[i] - 1;
    ++n[s];
    right[s] += panel.answers[0][i] == panel.truth[i];
  }
  CHECK(right[0] == n[0]);
  CHECK(std::fabs(right[1] / n[1] - 0.2) < margin(cases / 2));
  CHECK(std::count(panel.answers[0].begin(), panel.answers[0].end(), 0) == 0);
  const auto lost =
      static_cast<double>(std::count(panel.answers[1].begin(), panel.answers[1].end(), 0));
  CHECK(std::fabs(lost / cases - 0.5) < margin(cases));
}
