#include <doctest/doctest.h>

#include <cmath>

#include "../panel.hpp"
#include "core/base/random.hpp"
#include "core/model/curvature.hpp"
#include "core/model/identified.hpp"
#include "core/model/latent.hpp"
#include "core/model/latent_pairs.hpp"
#include "core/model/reading.hpp"
#include "models.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// All patterns of answers to five equally frequent categories with their exact probabilities. The
// last accuracy is the system's. Error probabilities decrease with distance. Accuracies differ
// between strata of difficulty.
LatentRows exact_rows(const std::vector<double>& accuracies, double dispersion, double difficulty,
                      double system_dispersion, double system_difficulty) {
  const int N = 5, U = static_cast<int>(accuracies.size());
  LatentRows out;
  out.categories = N;
  out.raters = U - 1;
  out.judges = U;
  std::vector<int> answer(U, 0);
  for (;;) {
    double probability = 0;
    for (int s = -1; s <= 1; ++s) {
      for (int k = 0; k < N; ++k) {
        double product = 1.0 / (3 * N);
        for (int u = 0; u < U; ++u) {
          const bool system = u == U - 1;
          const double shift = s * (system ? system_difficulty : difficulty);
          const double p = std::min(std::max(accuracies[u] + shift, 0.0), 1.0);
          const double ratio = system ? system_dispersion : dispersion;
          double total = 0;
          for (int l = 0; l < N; ++l) total += l == k ? 0 : std::pow(ratio, -std::abs(k - l));
          product *=
              answer[u] == k ? p : (1 - p) * std::pow(ratio, -std::abs(k - answer[u])) / total;
        }
        probability += product;
      }
    }
    for (int u = 0; u < U; ++u) {
      out.judge.push_back(u);
      out.category.push_back(answer[u]);
    }
    out.end_row(out.judge.size());
    out.known_truth.push_back(-1);
    out.weight.push_back(1e4 * probability);
    int u = 0;
    while (u < U && ++answer[u] == N) answer[u++] = 0;
    if (u == U) break;
  }
  return out;
}

OptimiserOptions careful() {
  OptimiserOptions out;
  out.iterations = 5000;
  out.value_tolerance = 1e-15;
  return out;
}

// Assigns patterns to three populations, with two covariates.
Populations three(const Panel& panel) {
  Populations out;
  for (int p = 0; p < panel.view().patterns; ++p) out.population_of_pattern.push_back(p % 3);
  out.design.resize(3, 2);
  out.design << -1, 0.5, 0.2, -1, 0.9, 0.7;
  out.report = Eigen::MatrixXd::Identity(3, 3);
  return out;
}

double joint(const LatentRows& rows, const LatentModel& model) {
  const LatentClass latent(rows, model, flat());
  const LatentFit fit = fit_latent(latent, careful());
  CHECK(fit.converged);
  return latent.accuracy(fit.x, rows.raters);
}

}  // namespace

TEST_CASE("gradients are derivatives of the log posterior, scores those of the likelihood" *
          doctest::test_suite("slow")) {
  const Panel panel = lehner();
  for (const int setting : {0, 1, 2}) {
    const int system = setting == 0 ? -1 : 0;
    std::vector<int> known(panel.view().patterns, 0);
    known[2] = 3;
    const LatentRows rows =
        latent_rows(panel.view(), panel.weights(), system,
                    {known, {}, {}, setting == 2 ? three(panel) : Populations()});
    for (const LatentModel& model : all_models()) {
      for (const bool none : {false, true}) {
        LatentPrior prior;
        prior.none = none;
        const LatentClass latent(rows, model, prior);
        Eigen::VectorXd x = latent.start(), gradient;
        Stream stream(1, 0);
        for (int i = 0; i < x.size(); ++i) x[i] += 0.6 * (stream.uniform() - 0.5);
        double log_likelihood;
        latent.evaluate(x, &gradient, &log_likelihood);
        const Eigen::MatrixXd scores = latent.scores(x);
        double off = 0, scores_off = 0;
        for (int i = 0; i < x.size(); ++i) {
          Eigen::VectorXd up = x, down = x;
          up[i] += 1e-5;
          down[i] -= 1e-5;
          double up_likelihood, down_likelihood;
          const double slope = (latent.evaluate(up, nullptr, &up_likelihood) -
                                latent.evaluate(down, nullptr, &down_likelihood)) /
                               2e-5;
          double total = 0;
          for (int r = 0; r < rows.size(); ++r) total += rows.weight[r] * scores(r, i);
          off = std::max(off, std::fabs(slope - gradient[i]));
          scores_off =
              std::max(scores_off, std::fabs((up_likelihood - down_likelihood) / 2e-5 - total));
        }
        CHECK(off < 1e-6);
        CHECK(scores_off < 1e-6);
        const Eigen::MatrixXd curvature = log_posterior_hessian(latent, x);
        double curvature_off = 0;
        for (int i = 0; i < x.size(); ++i) {
          Eigen::VectorXd slope = Eigen::VectorXd::Zero(x.size());  // error of fourth order
          for (const int step : {-2, -1, 1, 2}) {
            Eigen::VectorXd moved = x;
            moved[i] += 1e-4 * step;
            latent.evaluate(moved, &gradient);
            slope += gradient * (step > 0 ? 1 : -1) * (step * step > 1 ? -1 : 8) / 12e-4;
          }
          curvature_off =
              std::max(curvature_off, (curvature.col(i) - slope).lpNorm<Eigen::Infinity>());
        }
        CHECK(curvature_off < 1e-7 * curvature.cwiseAbs().maxCoeff());
      }
    }
  }
}

TEST_CASE("the likelihood of a case is correct for any number of ratings") {
  for (const int ratings : {1, 3, 40, 5000}) {
    LatentRows rows;
    rows.categories = 5;
    rows.raters = rows.judges = 2;
    for (int i = 0; i < ratings; ++i) {
      rows.judge.push_back(i % 2);
      rows.category.push_back(i % 5);
    }
    rows.end_row(ratings);
    rows.known_truth.push_back(-1);
    rows.weight.push_back(1);
    const LatentClass latent(rows, {true, Errors::uniform, false, false}, LatentPrior());
    const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(latent.layout.size, -0.5, 1.5);
    const auto rates = ParameterReader(latent.layout, x).base_rates();
    std::vector<double> logs;
    double most = -1e300, total = 0;
    for (int k = 0; k < 5; ++k) {
      logs.push_back(std::log(rates[k]));
      for (int i = 0; i < ratings; ++i) {
        const double p = latent.accuracy(x, i % 2);
        logs[k] += std::log(i % 5 == k ? p : (1 - p) / 4);
      }
      most = std::max(most, logs[k]);
    }
    for (const double value : logs) total += std::exp(value - most);
    double found;
    latent.evaluate(x, nullptr, &found);
    CHECK(found == Approx(most + std::log(total)).epsilon(1e-10));
    const auto posterior = latent.posterior(x);
    for (int k = 0; k < 5; ++k) {
      CHECK(posterior[k] == Approx(std::exp(logs[k] - most) / total).epsilon(1e-8));
    }
  }
}

TEST_CASE("joint maximum likelihood recovers the parameters that generated the data") {
  const Errors uniform = Errors::uniform, distance = Errors::distance;
  CHECK(joint(exact_rows({.6, .6, .6, .9}, 1, 0, 1, 0), {false, uniform, false, false}) ==
        Approx(.9).epsilon(1e-5));
  CHECK(joint(exact_rows({.4, .6, .8, .9}, 1, 0, 1, 0), {true, uniform, false, false}) ==
        Approx(.9).epsilon(1e-5));
  CHECK(joint(exact_rows({.6, .6, .6, .9}, 1, .2, 1, 0), {false, uniform, true, true}) ==
        Approx(.9).epsilon(1e-4));
  CHECK(joint(exact_rows({.6, .6, .6, .9}, 1, .2, 1, .2), {false, uniform, true, false}) ==
        Approx(2.6 / 3).epsilon(1e-4));
  CHECK(joint(exact_rows({.6, .6, .6, .9}, 2, 0, 1, 0), {false, distance, false, true}) ==
        Approx(.9).epsilon(1e-4));
  CHECK(joint(exact_rows({.6, .6, .6, .9}, 2, 0, 2, 0), {false, distance, false, false}) ==
        Approx(.9).epsilon(1e-4));
  CHECK(joint(exact_rows({.5, .6, .7, .9}, 2, .2, 2, .2), {true, distance, true, false}) ==
        Approx(2.6 / 3).epsilon(1e-4));
  // Difficulty affects the raters' errors, but not the system's.
  CHECK(joint(exact_rows({.6, .6, .6, .9}, 1, .2, 1, 0), {false, uniform, true, false}) ==
        Approx(.8405).epsilon(1e-4));
  CHECK(joint(exact_rows({.6, .6, .6, .9}, 2, 0, 1, 0), {false, distance, false, false}) ==
        Approx(.8818).epsilon(1e-4));
}

TEST_CASE("models are nested: a model with one more feature never fits worse") {
  const Panel panel = lehner();
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), 0, {});
  const auto best = [&](const LatentModel& model) {
    return fit_latent(LatentClass(rows, model, flat()), careful()).log_likelihood;
  };
  for (const bool strata : {false, true}) {
    const double origin = best({false, Errors::uniform, strata, false});
    CHECK(best({true, Errors::uniform, strata, false}) > origin - 1e-6);
    CHECK(best({false, Errors::distance, strata, false}) > origin - 1e-6);
  }
}

TEST_CASE("known truths are kept, and rows do not depend on the order of cases") {
  const Panel panel = lehner();
  std::vector<int> known(panel.view().patterns, 0);
  known[0] = 4;
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), 0, {known, {}, {}});
  const LatentClass latent(rows, {true, Errors::uniform, true, false}, LatentPrior());
  const auto posterior = latent.posterior(fit_latent(latent, OptimiserOptions()).x);
  CHECK(posterior[rows.row_of_pattern[0] * 4 + 3] == Approx(1));
  for (int i = 0; i < rows.size(); ++i) {
    double total = 0;
    for (int k = 0; k < 4; ++k) total += posterior[i * 4 + k];
    CHECK(total == Approx(1));
  }
}

TEST_CASE("a model is identified if the ratings determine its parameters") {
  const auto identified = [](const std::vector<std::string>& raters, int categories,
                             const LatentModel& model) {
    const Panel panel(raters, {}, categories);
    return identified_judges(latent_rows(panel.view(), panel.weights(), -1, {}), model, flat()).all;
  };
  const Errors uniform = Errors::uniform, distance = Errors::distance, free = Errors::free;
  const std::vector<std::string> two{"ABC", "ABB"}, three{"ABC", "ABB", "CBB"};
  CHECK(identified(two, 3, {false, uniform, false, false}));
  CHECK(identified(two, 3, {false, distance, false, false}));
  CHECK(!identified(two, 3, {true, free, false, false}));
  CHECK(identified(three, 3, {true, free, false, false}));
  CHECK(identified(three, 2, {true, uniform, false, false}));
  CHECK(identified(two, 2, {true, uniform, false, false}));  // three numbers for three unknowns
  CHECK(!identified(two, 2, {true, uniform, true, false}));
  CHECK(!identified(three, 2, {false, distance, false, false}));
  for (const Errors errors : {uniform, free}) {  // no ratings
    CHECK(!identified({".", ".", "."}, 3, {true, errors, false, false}));
  }
  CHECK(!identified({"A..", ".B.", "..C"}, 3, {false, uniform, false, false}));
  std::vector<std::string> crowd(30, "...");
  for (int j = 0; j < 30; ++j) crowd[j][j % 3] = 'A';
  CHECK(!identified(crowd, 3, {true, free, false, false}));  // constant raters
  for (int j = 0; j < 30; ++j) crowd[j][(j + 1) % 3] = 'B';
  CHECK(identified(crowd, 3, {true, free, false, false}));
  // Raters who rated a case twice are only once in the small panel.
  const Panel panel(crowd, {}, 3);
  LatentRows rows = latent_rows(panel.view(), panel.weights(), -1, {});
  for (int i = 0; i < rows.size(); ++i) {
    const int at = rows.start[i];
    rows.judge.insert(rows.judge.begin() + at, rows.judge[at]);
    rows.category.insert(rows.category.begin() + at, rows.category[at]);
    for (int j = i + 1; j <= rows.size(); ++j) ++rows.start[j];
  }
  CHECK(identified_judges(rows, {true, free, false, false}, flat()).all);
}

TEST_CASE("two raters are identified in two populations with different base rates, not in one") {
  const Panel panel({"AABBAABB", "ABABABAB"}, {}, 2);
  // Patterns are not distinct here: each combination of answers occurs in both populations.
  PatternView view = panel.view();
  const std::vector<int> start{0, 2, 4, 6, 8, 10, 12, 14, 16};
  const std::vector<int> rater{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
  const std::vector<int> category{1, 1, 1, 2, 2, 1, 2, 2, 1, 1, 1, 2, 2, 1, 2, 2};
  view.patterns = 8;
  view.start = start.data();
  view.rater = rater.data();
  view.category = category.data();
  view.systems = 0;
  const LatentModel model{true, Errors::free, false, false};
  Known known;
  known.populations.population_of_pattern = {0, 0, 0, 0, 1, 1, 1, 1};
  known.populations.design = Eigen::MatrixXd::Zero(2, 1);
  known.populations.design(1, 0) = 1;
  known.populations.report = Eigen::MatrixXd::Identity(2, 2);
  // Hui and Walter (1980).
  const std::vector<double> weight{528, 9, 4, 14, 367, 37, 31, 887};
  const LatentRows rows = latent_rows(view, weight, -1, known);
  CHECK(rows.size() == 8);
  CHECK(identified_judges(rows, model, flat()).all);
  CHECK(!identified_judges(latent_rows(view, weight, -1, {}), model, flat()).all);
  const LatentClass latent(rows, model, flat());
  const LatentFit fit = fit_latent(latent, careful());
  const Law law(latent.layout, fit.x);
  const std::vector<double> rates{0.9732, 0.0268, 0.2832, 0.7168};
  for (std::size_t i = 0; i < rates.size(); ++i)
    CHECK(law.rates[i] == Approx(rates[i]).epsilon(1e-3));
  CHECK(law.base_rates[0] == Approx((555 * law.rates[0] + 1322 * law.rates[2]) / 1877));
  // The model is saturated: expected frequencies are equal to observed frequencies.
  for (int i = 0; i < rows.size(); ++i) {
    double p = 0;
    for (int k = 0; k < 2; ++k) {
      double product = law.rates[rows.population_of(i) * 2 + k];
      for (const int at : rows.positions(i))
        product *= law.answer_probability(rows.judge[at], rows.category[at], k);
      p += product;
    }
    CHECK(p * (rows.population_of(i) == 0 ? 555 : 1322) == Approx(rows.weight[i]).epsilon(1e-4));
  }
}

TEST_CASE("one rater is identified if all truths are known, even if they are all the same") {
  const Panel panel({"ABB"}, {}, 2);
  const LatentModel model{false, Errors::uniform, false, false};
  for (const int truth : {0, 1, 2}) {  // 0: unknown
    const std::vector<int> known(panel.view().patterns, truth);
    const LatentRows rows = latent_rows(panel.view(), panel.weights(), -1, {known, {}, {}});
    CHECK(identified_judges(rows, model, flat()).all == (truth > 0));
  }
}

TEST_CASE("gradients for pairs of ratings are finite differences of their closeness" *
          doctest::test_suite("slow")) {
  const Panel panel = lehner();
  for (const int system : {-1, 0}) {
    Known known;
    known.matrix.resize(4);
    known.matrix[1] = {.7, .1, .1, .1, .2, .4, .2, .2, 0, .5, .5, 0, 0, 0, 0, 1};
    for (const bool some : {false, true}) {
      const LatentRows rows =
          latent_rows(panel.view(), panel.weights(), system, some ? known : Known());
      for (const LatentModel& model : all_models()) {
        if (some && !model.separate_raters) continue;  // only pairs of different raters are used
        const LatentClass latent(rows, model, flat());
        const PairFrequencies pairs = pair_frequencies(latent.layout);
        double share = 0, cells = 0;
        for (const double pair_share : pairs.share) share += pair_share;
        for (const double frequency : pairs.frequency) cells += frequency;
        CHECK(share == Approx(1));
        CHECK(cells == Approx(pairs.kinds()));
        Eigen::VectorXd x = latent.start(), gradient, expected;
        Stream stream(2, 0);
        for (int i = 0; i < x.size(); ++i) x[i] += 0.6 * (stream.uniform() - 0.5);
        const PairObjective closeness(latent.layout, pairs);
        closeness.evaluate(x, &gradient);
        const Eigen::MatrixXd slopes = closeness.probability_jacobian(x, &expected);
        CHECK(expected.sum() == Approx(pairs.kinds()));
        double off = 0, slopes_off = 0;
        for (int i = 0; i < x.size(); ++i) {
          Eigen::VectorXd up = x, down = x, expected_up, expected_down;
          up[i] += 1e-5;
          down[i] -= 1e-5;
          const double slope =
              (closeness.evaluate(up, nullptr) - closeness.evaluate(down, nullptr)) / 2e-5;
          off = std::max(off, std::fabs(slope - gradient[i]));
          closeness.probability_jacobian(up, &expected_up);
          closeness.probability_jacobian(down, &expected_down);
          slopes_off = std::max(
              slopes_off,
              ((expected_up - expected_down) / 2e-5 - slopes.col(i)).lpNorm<Eigen::Infinity>());
        }
        CHECK(off < 1e-5);
        CHECK(slopes_off < 1e-8);
      }
    }
  }
}

TEST_CASE("known raters have no parameters, and their matrices are used as given") {
  const Panel panel = lehner();
  Known known;
  known.matrix.resize(4);
  known.matrix[2] = {.7, .1, .1, .1, .1, .7, .1, .1, .1, .1, .7, .1, .1, .1, .1, .7};
  for (const int system : {-1, 0}) {
    const LatentRows rows = latent_rows(panel.view(), panel.weights(), system, known);
    const LatentRows all = latent_rows(panel.view(), panel.weights(), system, Known());
    for (const LatentModel& model : all_models()) {
      const LatentClass latent(rows, model, flat()), plain(all, model, flat());
      const int system_parameters = model.errors == Errors::free ? 4 * 3 : 1;
      const int fewer = plain.layout.free_parameters() - latent.layout.free_parameters();
      CHECK(fewer == (model.separate_raters ? system_parameters : 0));
      Eigen::VectorXd x = latent.start(), gradient;
      Stream stream(3, 0);
      for (int i = 0; i < x.size(); ++i) x[i] += 0.6 * (stream.uniform() - 0.5);
      latent.evaluate(x, &gradient);
      double off = 0;
      for (int i = 0; i < x.size(); ++i) {
        Eigen::VectorXd up = x, down = x;
        up[i] += 1e-5;
        down[i] -= 1e-5;
        const double slope = (latent.evaluate(up, nullptr) - latent.evaluate(down, nullptr)) / 2e-5;
        off = std::max(off, std::fabs(slope - gradient[i]));
      }
      CHECK(off < 1e-6);
      CHECK(latent.accuracy(x, 2) == Approx(.7));
      CHECK(Law(latent.layout, x).confusion(2)[1] == Approx(.1));
      if (system < 0)
        CHECK(identified_judges(rows, {true, Errors::free, false, false}, flat()).all);
    }
  }
}

TEST_CASE("in a crowd, cases of all known truths are used, whichever case has most ratings") {
  const auto identified = [](int first) {  // known truth of the busiest case
    LatentRows rows;
    rows.categories = 2;
    rows.raters = rows.judges = 21;
    for (int i = 0; i < 3; ++i) {
      for (int u = 0; u < 6 - i; ++u) {
        rows.judge.push_back(u);
        rows.category.push_back(i % 2);
      }
      rows.end_row(rows.judge.size());
      rows.known_truth.push_back(i % 2 == 0 ? first : 1 - first);
      rows.weight.push_back(1);
    }
    return identified_judges(rows, {true, Errors::free, false, false}, flat()).all;
  };
  CHECK(identified(0));
  CHECK(identified(1));
}
