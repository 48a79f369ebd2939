#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../panel.hpp"
#include "core/base/optimise.hpp"
#include "core/base/random.hpp"
#include "core/model/latent.hpp"
#include "core/model/passes.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// Cases of a crowd: each of six raters rates half of them, the last judge is a system. Some truths
// are known, and some rows have weight 0.
LatentRows crowd(int categories, std::uint64_t seed) {
  Stream stream(seed, 0);
  std::vector<std::string> raters(6), system(1);
  std::vector<int> known;
  for (int i = 0; i < 60; ++i) {
    for (auto& rater : raters) {
      const bool silent = stream.uniform() < 0.5;
      const char any = static_cast<char>('A' + stream.uniform() * categories);
      rater += silent ? '.' : any;
    }
    system[0] += static_cast<char>('A' + i % categories);
  }
  const Panel panel(raters, system, categories);
  for (int p = 0; p < panel.view().patterns; ++p) known.push_back(p % 7 == 0 ? 1 : 0);
  LatentRows out = latent_rows(panel.view(), panel.weights(), 0, {known, {}, {}});
  for (int i = 0; i < out.size(); ++i) out.weight[i] *= i % 5 == 0 ? 0 : 1 + i % 3;
  return out;
}

LatentModel settings(Errors errors, bool strata, bool separate_raters) {
  LatentModel out;
  out.separate_raters = separate_raters;
  out.errors = errors;
  out.strata = strata;
  return out;
}

// Returns the log likelihood of one row, and writes the posterior of the classes.
double slow_row(const Law& law, const LatentRows& rows, int row, std::vector<double>& posterior) {
  double most = -1e300, total = 0;
  for (int c = 0; c < law.classes; ++c) {
    posterior[c] = std::log(law.class_probability[c]);
    for (const int at : rows.positions(row)) {
      posterior[c] += std::log(law.answer_probability(rows.judge[at], rows.category[at], c));
    }
    if (rows.known_truth[row] >= 0 && c % rows.categories != rows.known_truth[row])
      posterior[c] = -1e300;
    most = std::max(most, posterior[c]);
  }
  for (double& p : posterior) total += p = std::exp(p - most);
  for (double& p : posterior) p /= total;
  return most + std::log(total);
}

// A pass that computes each row separately.
double slow_pass(const Layout& layout, const Law& law, ExpectedCounts& counts,
                 std::vector<double>& posterior) {
  const LatentRows& rows = layout.rows;
  const std::size_t N = layout.categories;
  std::vector<double> classes(law.classes);
  posterior.assign(rows.size() * N, 0.0);
  double out = 0;
  for (int i = 0; i < rows.size(); ++i) {
    const double log = slow_row(law, rows, i, classes);
    for (std::size_t c = 0; c < classes.size(); ++c) posterior[i * N + c % N] += classes[c];
    if (rows.weight[i] == 0) continue;
    out += rows.weight[i] * log;
    rows.add_expected(i, classes.data(), law.classes, counts.classes.data(), counts.ratings.data());
  }
  return out;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, std::fabs(a[i] - b[i]));
  return out;
}

void compare_with_slow(const LatentRows& rows, const LatentModel& model) {
  const LatentClass latent(rows, model, LatentPrior());
  Stream stream(3, 0);
  Eigen::VectorXd x = latent.start();
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] += stream.uniform() - 0.5;
  const Law law(latent.layout, x);
  ExpectedCounts slow(latent.layout), fast(latent.layout);
  std::vector<double> posterior;
  const double log_likelihood = slow_pass(latent.layout, law, slow, posterior);
  CHECK(latent.expect(law, &fast) == Approx(log_likelihood).epsilon(1e-12));
  CHECK(latent.expect(law, nullptr) == Approx(log_likelihood).epsilon(1e-12));
  CHECK(distance(slow.ratings, fast.ratings) < 1e-10);
  CHECK(distance(slow.classes, fast.classes) < 1e-10);
  CHECK(distance(posterior, latent.posterior(x)) < 1e-12);
}

}  // namespace

TEST_CASE("a pass over rows with shared prefixes gives the same result as a pass row by row") {
  for (int categories = 2; categories <= 10; ++categories) {
    LatentRows rows = crowd(categories, categories);
    CHECK(rows.longest_prefix > 0);
    for (const bool strata : {false, true}) {
      compare_with_slow(rows, settings(Errors::free, strata, true));
    }
    rows.prefix.clear();  // without prefixes
    rows.longest_prefix = 0;
    compare_with_slow(rows, settings(Errors::distance, true, true));
  }
}

TEST_CASE("rows whose probability underflows are computed with logarithms") {
  LatentRows rows;
  rows.categories = 3;
  rows.raters = rows.judges = 900;
  for (const int last : {0, 1}) {
    for (int u = 0; u < 900; ++u) {
      rows.judge.push_back(u);
      rows.category.push_back(u < 899 ? u % 3 : last);
    }
    rows.end_row(rows.judge.size());
    rows.known_truth.push_back(-1);
    rows.weight.push_back(2);
  }
  rows.find_prefixes();
  CHECK(rows.prefix == std::vector<int>{0, 899});
  compare_with_slow(rows, settings(Errors::uniform, true, true));
}

TEST_CASE("shared prefixes are found in rows with repeated ratings") {
  LatentRows rows;
  rows.categories = 2;
  rows.raters = rows.judges = 2;
  const std::vector<std::vector<int>> given{{0, 1}, {0, 1, 0, 1}, {0, 1, 0, 1, 1, 0}, {1, 0}};
  for (const auto& row : given) {
    rows.add_row(row.data(), row.data() + row.size());
    rows.known_truth.push_back(-1);
    rows.weight.push_back(1);
  }
  rows.find_prefixes();
  CHECK(rows.prefix == std::vector<int>{0, 1, 2, 0});
  CHECK(rows.longest_prefix == 2);
  compare_with_slow(rows, settings(Errors::free, false, true));
}

TEST_CASE("if raters are exchangeable, rows that differ only in the raters are merged") {
  const LatentRows rows = crowd(3, 9);
  const ExchangeableRows alike = merge_raters(rows);
  CHECK(alike.rows.size() < rows.size());
  for (const Errors errors : {Errors::uniform, Errors::distance, Errors::free}) {
    const LatentModel model = settings(errors, true, false);
    const LatentClass whole(rows, model, LatentPrior()), small(alike.rows, model, LatentPrior());
    REQUIRE(whole.layout.size == small.layout.size);
    const Eigen::VectorXd x = whole.start();
    CHECK((x - small.start()).norm() < 1e-10);
    Eigen::VectorXd slope, other;
    CHECK(whole.evaluate(x, &slope) == Approx(small.evaluate(x, &other)).epsilon(1e-12));
    CHECK((slope - other).norm() < 1e-9);
    CHECK(distance(whole.posterior(x), alike.copy_to_rows(small.posterior(x))) < 1e-12);
  }
  ExchangeableRows other = alike;
  other.reweight(std::vector<double>(rows.size(), 1.0));
  double cases = 0;
  for (const double w : other.rows.weight) cases += w;
  CHECK(cases == rows.size());
}

TEST_CASE("a search stops only if it cannot reach a useful value") {
  const auto hill = [](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
    const double value = -x.squaredNorm() - 0.01 * std::pow(x[0], 4);
    if (gradient) {
      *gradient = -2 * x;
      (*gradient)[0] -= 0.04 * std::pow(x[0], 3);
    }
    return value;
  };
  const Eigen::VectorXd start = Eigen::VectorXd::Constant(3, 20.0);
  OptimiserOptions options;
  const Optimum all = maximise(hill, start, options);
  CHECK(all.converged);
  CHECK(!all.hopeless);
  options.useful_value = -1;
  const Optimum reached = maximise(hill, start, options);
  CHECK(reached.x == all.x);
  CHECK(!reached.hopeless);
  options.useful_value = 1e9;
  const Optimum given_up = maximise(hill, start, options);
  CHECK(given_up.hopeless);
  CHECK(!given_up.converged);
  CHECK(given_up.iterations < all.iterations);
}
