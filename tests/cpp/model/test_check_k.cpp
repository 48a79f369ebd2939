#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "../panel.hpp"
#include "core/model/algebraic.hpp"
#include "core/model/check_k.hpp"
#include "core/model/reading.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// Four raters, some with missing ratings.
Panel gaps() {
  return Panel({"ABCABCABBCAABBCC", "ABCABCACBA..BBCA", "ABCBBCABCC..ABCC", "A..ABAABCCABBACB"},
               {"ABCABBABBCABCABC"}, 3);
}

LatentRows rows_of(const Panel& panel, int system) {
  return latent_rows(panel.view(), panel.weights(), system, {});
}

// Number of cases of each set of judges. It is the same in the data and in drawn panels.
std::map<std::vector<int>, double> sets(const LatentRows& rows) {
  std::map<std::vector<int>, double> out;
  for (int i = 0; i < rows.size(); ++i) {
    out[{rows.judge.begin() + rows.start[i], rows.judge.begin() + rows.start[i + 1]}] +=
        rows.weight[i];
  }
  return out;
}

std::vector<KTest> all_tests() {
  const Errors uniform = Errors::uniform, distance = Errors::distance;
  const LatentModel common{false, uniform, true, false}, rater{true, uniform, true, false};
  KTest accuracy{common, rater, false, false};
  KTest errors{rater, LatentModel{true, distance, true, false}, true, false};
  KTest rest{rater, {}, false, true};
  return {accuracy, errors, rest};
}

}  // namespace

TEST_CASE("drawn panels have the same missing ratings as the data") {
  const Panel panel = gaps();
  const LatentRows rows = rows_of(panel, 0);
  const LatentClass latent(rows, {true, Errors::uniform, true, false}, LatentPrior());
  const RowSampler sampler(rows, Law(latent.layout, latent.start()));
  Stream stream(1, 0);
  for (int i = 0; i < 5; ++i) {
    const LatentRows drawn = sampler.draw(stream);
    CHECK(sets(drawn) == sets(rows));
    CHECK(drawn.judges == rows.judges);
    CHECK(drawn.raters == rows.raters);
  }
}

TEST_CASE("answers have the model's probabilities, whether drawn singly or as counts") {
  const Panel panel({"ABAABBAB", "ABBABAAB"}, {}, 2);
  LatentRows rows = rows_of(panel, -1);
  const LatentClass latent(rows, {true, Errors::uniform, true, false}, LatentPrior());
  Eigen::VectorXd x = latent.start();
  const AnswerLaw law = Law(latent.layout, x);
  double expected[4] = {0, 0, 0, 0};
  for (int way = 0; way < 4; ++way) {
    for (int c = 0; c < law.classes; ++c) {
      expected[way] += law.class_probability[c] *
                       law.probability[(0 * 2 + way / 2) * law.classes + c] *
                       law.probability[(1 * 2 + way % 2) * law.classes + c];
    }
  }
  // Three cases are fewer than the four combinations of answers, so the cases are drawn one by one.
  for (const double cases : {3.0, 60000.0}) {
    std::fill(rows.weight.begin(), rows.weight.end(), 0.0);
    rows.weight[0] = cases;
    const RowSampler sampler(rows, law);
    Stream stream(2, 0);
    double seen[4] = {0, 0, 0, 0}, total = 0;
    while (total < 60000) {
      const LatentRows drawn = sampler.draw(stream);
      for (int i = 0; i < drawn.size(); ++i) {
        seen[drawn.category[2 * i] * 2 + drawn.category[2 * i + 1]] += drawn.weight[i];
        total += drawn.weight[i];
      }
    }
    for (int way = 0; way < 4; ++way) {
      const double sd = std::sqrt(expected[way] * (1 - expected[way]) / total);
      CHECK(std::fabs(seen[way] / total - expected[way]) < 4 * sd);
    }
  }
}

TEST_CASE("probabilities of answers equal the confusion matrices, and classes sum to one") {
  const Panel panel = gaps();
  const LatentRows rows = rows_of(panel, 0);
  const LatentClass latent(rows, {true, Errors::distance, true, true}, LatentPrior());
  const Eigen::VectorXd x = latent.start();
  const AnswerLaw law = Law(latent.layout, x);
  const auto rates = ParameterReader(latent.layout, x).base_rates();
  double total = 0;
  for (const double weight : law.class_probability) total += weight;
  CHECK(total == Approx(1));
  for (int u = 0; u < rows.judges; ++u) {
    const auto confusion = Law(latent.layout, x).confusion(u);
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) {
        double mean = 0;
        for (int s = 0; s < 3; ++s) {
          mean += law.class_probability[s * 3 + k] / rates[k] *
                  law.probability[(u * 3 + l) * law.classes + s * 3 + k];
        }
        CHECK(mean == Approx(confusion[k * 3 + l]).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("expected agreement of pairs equals a slow sum over all pairs") {
  const Panel panel = gaps();
  const LatentRows rows = rows_of(panel, 0);
  const LatentClass latent(rows, {true, Errors::uniform, true, false}, LatentPrior());
  const AnswerLaw law = Law(latent.layout, latent.start());
  const auto joint = [&](int u, int v, int k, int l) {
    double out = 0;
    for (int c = 0; c < law.classes; ++c) {
      out += law.class_probability[c] * law.probability[(u * 3 + k) * law.classes + c] *
             law.probability[(v * 3 + l) * law.classes + c];
    }
    return out;
  };
  std::vector<double> expected(3, 0.0), observed(3, 0.0);
  std::map<std::pair<int, int>, double> agreement, cases;
  for (int i = 0; i < rows.size(); ++i) {
    for (const int a : rows.positions(i)) {
      for (int b = rows.start[i]; b < a; ++b) {
        const int u = rows.judge[b], v = rows.judge[a];
        cases[{u, v}] += rows.weight[i];
        for (int k = 0; k < 3; ++k) agreement[{u, v}] += rows.weight[i] * joint(u, v, k, k);
        if (v >= rows.raters) continue;
        for (int k = 0; k < 3; ++k) {
          for (int l = k + 1; l < 3; ++l) {
            expected[k + l - 1] += rows.weight[i] * (joint(u, v, k, l) + joint(u, v, l, k));
          }
        }
        const int k = rows.category[a], l = rows.category[b];
        if (k != l) observed[k + l - 1] += rows.weight[i];
      }
    }
  }
  const double scale =
      (observed[0] + observed[1] + observed[2]) / (expected[0] + expected[1] + expected[2]);
  const DisagreeingPairs found = disagreeing_pairs(rows, law);
  double distance = 0;
  for (int i = 0; i < 3; ++i) {
    CHECK(found.observed[i] == observed[i]);
    CHECK(found.expected[i] == Approx(scale * expected[i]));
    distance += std::pow(observed[i] - scale * expected[i], 2) / (scale * expected[i]);
  }
  CHECK(found.distance() == Approx(distance));

  const auto pairs = pair_agreement(rows, law, 1);
  CHECK(pairs.size() == 10);
  for (const PairAgreement& pair : pairs) {
    CHECK(pair.cases == (cases[{pair.judge1, pair.judge2}]));
    CHECK(pair.expected == Approx(agreement[{pair.judge1, pair.judge2}]));
  }
  CHECK(pair_agreement(rows, law, 15).size() < pairs.size());
}

TEST_CASE("pairs with expected number zero do not contribute to the distance") {
  DisagreeingPairs pairs;
  pairs.observed = {3, 0, 5};
  pairs.expected = {2, 0, 6};
  CHECK(pairs.distance() == Approx(1.0 / 2 + 1.0 / 6));
}

TEST_CASE("the lowest base rate equals the algebraic solution before clipping") {
  const Panel panel = lehner();
  const auto fit = fit_algebraic(panel.tallies(), panel.tallies().weight);
  CHECK(lowest_base_rate(rows_of(panel, 0)) ==
        Approx(*std::min_element(fit.base_rates.begin(), fit.base_rates.end())));
  const Panel chance({"ABCABC", "BCABCA"}, {}, 3);
  CHECK(lowest_base_rate(rows_of(chance, -1)) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("a model with more parameters starts at the fit of a simpler model") {
  const Panel panel = gaps();
  const LatentRows rows = rows_of(panel, 0);
  const LatentPrior prior;
  const LatentClass simple(rows, {false, Errors::uniform, true, false}, prior);
  const LatentFit fit = fit_latent(simple, OptimiserOptions());
  for (const LatentModel& model :
       {LatentModel{true, Errors::uniform, true, false},
        LatentModel{false, Errors::free, true, false}, LatentModel{true, Errors::free, true, false},
        LatentModel{true, Errors::distance, true, false}}) {
    const LatentClass richer(rows, model, prior);
    double log_likelihood;
    richer.evaluate(richer.layout.start_from(simple.layout, fit.x), nullptr, &log_likelihood);
    CHECK(log_likelihood == Approx(fit.log_likelihood).epsilon(1e-12));
  }
}

TEST_CASE("with a Hessian from other data, a fit reaches the maximum of the usual search") {
  const Panel panel = gaps();
  const LatentRows rows = rows_of(panel, 0);
  const LatentPrior prior;
  for (const bool strata : {false, true}) {
    const LatentModel model{true, Errors::uniform, strata, false};
    const LatentClass of_data(rows, model, prior);
    Eigen::VectorXd x = fit_latent(of_data, OptimiserOptions()).x;
    // The drawn cases are equally difficult (shift 0), or differ in difficulty (shift 0.1).
    for (const double shift : {0.0, 0.1}) {
      if (strata) x[of_data.layout.shifts_at] = shift;
      LatentRows many = rows;
      for (double& weight : many.weight) weight *= 100;
      const SimplifiedNewton newton(of_data, x);
      const RowSampler sampler(many, Law(of_data.layout, x));
      Stream stream(3, 0);
      for (int i = 0; i < 5; ++i) {
        const LatentRows drawn = sampler.draw(stream);
        const LatentClass drawn_model(drawn, model, prior);
        Eigen::VectorXd start = x;
        if (strata) start[of_data.layout.shifts_at] = 0.1;
        const LatentFit fit = newton.fit(drawn_model, start);
        const LatentFit usual = fit_latent(drawn_model, start, OptimiserOptions());
        CHECK(fit.converged);
        CHECK(fit.value == Approx(usual.value).epsilon(1e-7));
        CHECK(fit.log_likelihood ==
              Approx(fit.value - log_prior(drawn_model.layout, fit.x, nullptr)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("checks do not depend on threads, and compute only the requested statistics") {
  const Panel panel = gaps();
  const LatentRows rows = rows_of(panel, 0);
  std::vector<KTester> testers;
  for (const KTest& test : all_tests()) testers.emplace_back(test, LatentPrior()).fit(rows);
  CHECK(testers[0].degrees_of_freedom() == 3);
  CHECK(testers[1].degrees_of_freedom() == 1);
  CHECK(std::isfinite(testers[0].observed().ratio));
  CHECK(std::isnan(testers[0].observed().pairs));
  CHECK(std::isfinite(testers[1].observed().pairs));
  CHECK(std::isnan(testers[2].observed().ratio));
  CHECK(std::isfinite(testers[2].observed().residual));
  BootstrapOptions options;
  options.replicates = 8;
  options.seed = 5;
  const auto one = bootstrap_k(testers, options, 0.05, Host());
  options.threads = 3;
  const auto three = bootstrap_k(testers, options, 0.05, Host());
  bool varies = false;
  for (std::size_t t = 0; t < testers.size(); ++t) {
    for (int r = 0; r < 8; ++r) {
      if (t < 2) CHECK(one[t][r].ratio == three[t][r].ratio);
      if (t == 1) CHECK(one[t][r].pairs == three[t][r].pairs);
      if (t == 2) CHECK(one[t][r].residual == three[t][r].residual);
      varies = varies || one[0][r].ratio != one[0][0].ratio;
    }
  }
  CHECK(varies);
  // Drawing stops when ten draws are as extreme as the data. These draws are the first of all
  // draws.
  options.replicates = 199;
  const std::vector<KStatistics> few = bootstrap_k(testers, options, 0.05, Host())[0];
  options.threads = 1;
  const std::vector<KStatistics> all = bootstrap_k(testers, options, 1, Host())[0];
  CHECK(all.size() == 199);
  int extreme = 0;
  for (std::size_t r = 0; r < few.size(); ++r) {
    CHECK(few[r].ratio == all[r].ratio);
    extreme += !(few[r].ratio < testers[0].observed().ratio - 1e-6);
  }
  CHECK((few.size() == 199 || extreme == 10));
  Host stops;
  stops.tick = [](std::size_t) { return false; };
  options.replicates = 100000;
  CHECK_THROWS_AS(bootstrap_k(testers, options, 1, stops), Interrupted);
}
