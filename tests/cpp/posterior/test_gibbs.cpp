#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "core/posterior/gibbs.hpp"

using namespace fallible;

namespace {

// A panel without missing ratings: one string per pattern, with a letter per rater and then per
// system.
struct Panel {
  Panel(const std::vector<std::string>& rows, const std::vector<double>& n, int raters,
        int categories)
      : weight(n) {
    view.patterns = static_cast<int>(rows.size());
    view.raters = raters;
    view.categories = categories;
    view.systems = static_cast<int>(rows[0].size()) - raters;
    start.push_back(0);
    for (const std::string& row : rows) {
      for (int j = 0; j < raters; ++j) {
        if (row[j] == '.') continue;
        rater.push_back(j + 1);
        category.push_back(row[j] - 'A' + 1);
      }
      start.push_back(static_cast<int>(rater.size()));
    }
    for (int s = 0; s < view.systems; ++s) {
      for (const std::string& row : rows) answer.push_back(row[raters + s] - 'A' + 1);
    }
    view.start = start.data();
    view.rater = rater.data();
    view.category = category.data();
    view.answer = answer.data();
  }

  PosteriorRows rows(bool joined = false, const std::vector<int>& truth = {}) const {
    return posterior_rows(view, weight, truth, {}, joined);
  }

  PatternView view;
  std::vector<int> start, rater, category, answer;
  std::vector<double> weight;
};

// Checks the mean of a function over the draws of all chains. Its standard error is computed from
// means of batches.
template <class Value>
void check_mean(const std::vector<PosteriorChain>& chains, int parameters, double expected,
                const Value& value) {
  constexpr int batch = 500;
  std::vector<double> means;
  for (const PosteriorChain& chain : chains) {
    const int draws = static_cast<int>(chain.draws.size()) / parameters;
    for (int from = 0; from + batch <= draws; from += batch) {
      double sum = 0;
      for (int d = from; d < from + batch; ++d) {
        sum += value(&chain.draws[static_cast<std::size_t>(d) * parameters]);
      }
      means.push_back(sum / batch);
    }
  }
  const double batches = static_cast<double>(means.size());
  double mean = 0, square = 0;
  for (const double m : means) mean += m / batches;
  for (const double m : means) square += (m - mean) * (m - mean);
  const double error = std::sqrt(square / (batches - 1.0) / batches);
  INFO("mean ", mean, " error ", error, " expected ", expected);
  CHECK(std::abs(mean - expected) < 4 * error);
}

ChainOptions options(int kept, std::uint64_t seed = 1) {
  ChainOptions out;
  out.kept = kept;
  out.seed = seed;
  return out;
}

const Panel strongyloides({"BB", "BA", "AB", "AA"}, {38, 2, 87, 35}, 2, 2);

PosteriorPrior two_tests() {
  PosteriorPrior prior;
  prior.matrix_of = {0, 1};
  prior.matrix_priors = {{{71.25, 3.75, 13.3125, 4.4375}}, {{4.1, 1.76, 5.488889, 21.955556}}};
  prior.base_rates = {{1, 1}};
  prior.order = ClassOrder::none;
  prior.raters = 2;
  return prior;
}

const Panel lehner({"CDCCA", "BDCCC", "CCDCC", "BBDDB", "ABBBB", "CBDAA", "AAAAA", "ADBCC", "DBAAD",
                    "ADABB"},
                   std::vector<double>(10, 1), 4, 4);

// One accuracy for all raters and one of the system, both Beta(3, 2).
PosteriorPrior lehner_prior(bool joined) {
  PosteriorPrior prior;
  prior.matrix_of = {0, 0, 0, 0};
  prior.matrix_priors = {{{3, 2}, true}};
  (joined ? prior.matrix_priors : prior.system_priors).push_back({{3, 2}, true});
  if (joined) prior.matrix_of.push_back(1);
  prior.base_rates = {{1, 1, 1, 1}};
  prior.order = ClassOrder::none;
  prior.raters = 4;
  return prior;
}

}  // namespace

// Data of Joseph, Gyorkos and Coupal (1995). Expected values are sums over all true classes of
// cases.
TEST_CASE("two tests without a gold standard have the exact posterior" *
          doctest::test_suite("slow")) {
  const PosteriorRows rows = strongyloides.rows();
  const PosteriorPrior prior = two_tests();
  const auto chains = draw_posterior(rows, prior, options(25000), {});
  const int p = posterior_parameters(rows, prior);
  CHECK(p == 10);
  check_mean(chains, p, 0.7589928, [](const double* d) { return d[1]; });
  check_mean(chains, p, 0.9570525, [](const double* d) { return d[2]; });
  check_mean(chains, p, 0.3103328, [](const double* d) { return d[5]; });
  check_mean(chains, p, 0.6878223, [](const double* d) { return d[6]; });
  check_mean(chains, p, 0.8838959, [](const double* d) { return d[9]; });
}

// If all truths are known, sweeps draw from Dirichlet distributions. The test draws from them
// directly with the same stream and compares the numbers.
TEST_CASE("if all truths are known, the posterior is computed from counts") {
  const PosteriorRows rows = strongyloides.rows(false, {2, 2, 1, 1});
  ChainOptions one = options(50);
  one.chains = one.thin = 1;
  one.warmup = 0;
  const auto chains = draw_posterior(rows, two_tests(), one, {});
  Stream stream(one.seed, 0);
  const double start[4][2] = {{14, 6}, {6, 14}, {14, 6}, {6, 14}};
  double drawn[2];
  for (const auto& row : start) dirichlet(stream, row, 2, drawn);
  const double counted[5][2] = {{1 + 122, 1 + 40},
                                {71.25 + 122, 3.75},
                                {13.3125, 4.4375 + 40},
                                {4.1 + 35, 1.76 + 87},
                                {5.488889 + 2, 21.955556 + 38}};
  for (int i = 0; i < 250; ++i) {
    dirichlet(stream, counted[i % 5], 2, drawn);
    CHECK(std::abs(chains[0].draws[2 * i] - drawn[0]) < 1e-12);
    CHECK(std::abs(chains[0].draws[2 * i + 1] - drawn[1]) < 1e-12);
  }
  CHECK(chains[0].probability[0] == 50);
}

// Expected values are sums over all 4^10 combinations of truths.
TEST_CASE("a system is used like a rater, or only evaluated by the raters" *
          doctest::test_suite("slow")) {
  for (const bool joined : {true, false}) {
    const PosteriorRows rows = lehner.rows(joined);
    const PosteriorPrior prior = lehner_prior(joined);
    const auto chains = draw_posterior(rows, prior, options(25000), {});
    const int p = posterior_parameters(rows, prior);
    CHECK(p == 36);
    check_mean(chains, p, joined ? 0.5178166 : 0.4565409, [](const double* d) { return d[4]; });
    check_mean(chains, p, joined ? 0.2698823 : 0.2900957, [](const double* d) { return d[0]; });
    check_mean(chains, p, joined ? 0.1208979 : 0.1741089, [](const double* d) { return d[3]; });
    check_mean(chains, p, joined ? 0.6785612 : 0.4776185, [](const double* d) { return d[20]; });
    if (joined) continue;
    double right = 0;
    for (const PosteriorChain& chain : chains) {
      for (const double share : chain.accuracy) right += share;
    }
    CHECK(right / 100000 == doctest::Approx(0.4164277).epsilon(0.01));
  }
}

TEST_CASE("draws do not depend on threads, and a seed repeats them" * doctest::test_suite("slow")) {
  const PosteriorRows rows = lehner.rows(true);
  PosteriorPrior prior;
  prior.matrix_of = {0, 1, 2, 3, 4};
  prior.matrix_priors.assign(5, {std::vector<double>(16, 1)});
  prior.base_rates = {{1, 1, 1, 1}};
  prior.raters = 4;
  prior.pooled = true;
  ChainOptions one = options(50), two = options(50);
  two.threads = 2;
  const auto first = draw_posterior(rows, prior, one, {});
  const auto second = draw_posterior(rows, prior, two, {});
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i].draws == second[i].draws);
  CHECK(first[0].draws != first[1].draws);
  CHECK(first[0].draws.size() == 50u * posterior_parameters(rows, prior));
}

TEST_CASE("a missing rating does not change the effect of the others") {
  const Panel panel({"BB.", "BA.", "AB.", "AA."}, {38, 2, 87, 35}, 3, 2);
  PosteriorPrior prior = two_tests();
  prior.matrix_of = {0, 1, 2};
  prior.matrix_priors.push_back({{2.8, 1.2, 1.2, 2.8}});
  const PosteriorRows rows = panel.rows();
  const auto chains = draw_posterior(rows, prior, options(5000), {});
  const int p = posterior_parameters(rows, prior);
  check_mean(chains, p, 0.7589928, [](const double* d) { return d[1]; });
  check_mean(chains, p, 0.7, [](const double* d) { return d[10]; });
}

TEST_CASE("a known matrix stays fixed, and ordered matrices stay ordered") {
  PosteriorPrior prior = two_tests();
  prior.matrix_priors[0].fixed = {0.9, 0.1, 0.3, 0.7};
  prior.order = ClassOrder::each;
  const PosteriorRows rows = strongyloides.rows();
  const auto chains = draw_posterior(rows, prior, options(500), {});
  for (std::size_t d = 0; d < chains[0].draws.size(); d += 10) {
    CHECK(chains[0].draws[d + 5] == 0.7);
    CHECK(chains[0].draws[d + 6] + chains[0].draws[d + 9] > 1);
  }
}

TEST_CASE("probabilities of rows with shared errors sum to one") {
  const PosteriorRows rows = strongyloides.rows();
  for (const Dependence dependence : {Dependence::easy, Dependence::pairs}) {
    PosteriorPrior prior = two_tests();
    prior.dependence = dependence;
    if (dependence == Dependence::pairs) prior.pairs = {{0, 1}};
    ChainOptions some = options(20);
    some.warmup = 10;
    some.log_likelihood = true;
    const auto chains = draw_posterior(rows, prior, some, {});
    const std::vector<double>& found = chains[0].log_likelihood;
    REQUIRE(found.size() == 80);
    for (std::size_t d = 0; d < found.size(); d += 4) {
      double sum = 0;
      for (int row = 0; row < 4; ++row) sum += std::exp(found[d + row]);
      CHECK(std::abs(sum - 1) < 1e-9);
    }
  }
}
