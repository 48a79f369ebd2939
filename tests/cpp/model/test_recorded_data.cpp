// Fits to data with covariates, levels of confidence, known matrices, calibration samples or
// categories without ratings, compared with recorded sums.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../panel.hpp"
#include "../recorded.hpp"
#include "core/base/random.hpp"
#include "core/model/algebraic.hpp"
#include "core/model/check_k.hpp"
#include "core/model/curvature.hpp"
#include "core/model/identified.hpp"
#include "core/model/latent.hpp"
#include "core/model/pooled.hpp"
#include "core/model/reading.hpp"
#include "models.hpp"

using namespace fallible;

namespace {

const Panel& panel() {
  static const Panel out({"ABCABCABBCAACBC.BCABDA", "ABCABCACBA..BBCABCACAA",
                          "ABCBBCABCCABA.CACCABDD", "A..ABAABCCABBACBBCAADB"},
                         {"ABCABBABBCABCABC.CBBAD"}, 4);
  return out;
}

// A known matrix with few errors.
std::vector<double> matrix(int categories) {
  std::vector<double> out(categories * categories, 0.3 / (categories - 1));
  for (int k = 0; k < categories; ++k) out[k * categories + k] = 0.7;
  return out;
}

// kind 0: covariates; 1: levels of confidence; 2: a known matrix; 3: a calibration sample.
struct Data {
  LatentRows rows;

  Data(int kind, int system) {
    PatternView view = panel().view();
    Known known;
    if (kind == 0) {
      for (int p = 0; p < view.patterns; ++p) known.populations.of_pattern.push_back(p % 3);
      known.populations.design.resize(3, 2);
      known.populations.design << -1, 0.5, 0.2, -1, 0.9, 0.7;
      known.populations.report = Eigen::MatrixXd::Identity(3, 3);
    } else if (kind == 1) {
      Stream stream(3, 0);
      for (int i = 0; i < view.start[view.patterns]; ++i) {
        level_.push_back(static_cast<int>(4 * stream.uniform()));
      }
      view.levels = 3;
      view.level = level_.data();
    } else if (kind == 2) {
      known.matrix = {{}, matrix(4), {}, {}};
    } else {
      known.calibration = {{}, {}, {5, 1, 0, 0, 2, 7, 1, 0, 0, 0, 4, 1, 1, 0, 0, 3}, {}};
    }
    rows = latent_rows(view, panel().weights(), system, known);
  }

 private:
  std::vector<int> level_;
};

std::vector<double> all(const Eigen::MatrixXd& x) { return {x.data(), x.data() + x.size()}; }

// Models for all data, and models with ordinal errors.
std::vector<LatentModel> models() {
  std::vector<LatentModel> out = all_models();
  for (const bool by_rater : {false, true}) {
    out.push_back({by_rater, Errors::ordinal, false, false});
  }
  return out;
}

}  // namespace

TEST_CASE("values and derivatives with further data are those that were recorded") {
  Recorded recorded({-5524.413957, -8096.899183, -14394.22802, -18020.5829, -5052.781212,
                     -8074.029853, -7082.329129},
                    1e-6);
  for (int kind = 0; kind < 4; ++kind) {
    for (const int system : {-1, 0}) {
      if (kind == 3 && system < 0) continue;
      const Data data(kind, system);
      for (const LatentModel& model : models()) {
        const LatentClass latent(data.rows, model, LatentPrior());
        Eigen::VectorXd x = latent.start(), gradient;
        recorded.add_all(all(x));
        for (Eigen::Index i = 0; i < x.size(); ++i)
          x[i] += 0.1 * std::sin(2.0 + static_cast<double>(i));
        recorded.add(latent.layout.free_parameters());
        recorded.add(latent.evaluate(x, &gradient));
        recorded.add_all(all(gradient));
        recorded.add_all(latent.posterior(x));
        recorded.add_all(all(latent.scores(x)));
        for (int j = 0; j < data.rows.judges; ++j) {
          Eigen::VectorXd slope;
          recorded.add(latent.accuracy(x, j, &slope));
          recorded.add_all(all(slope));
        }
        recorded.add_all(all(latent.warm_start(x, 3)));
        const Eigen::VectorXd warm = latent.warm_start(x, data.rows.judges);
        CHECK((system >= 0 || (warm - x).norm() < 1e-12));
        const IdentifiedJudges found = identified_judges(data.rows, model, flat());
        recorded.add(found.all);
        recorded.add(found.model);
        recorded.add_all(found.judge);
      }
      recorded.check();
    }
  }
}

TEST_CASE("fits and their errors with further data are those that were recorded") {
  Recorded recorded(
      {37.66761236, 49.56591395, 74.80924682, -70.13589066, -64.66602226, -38.22234617,
       -4.230376928, 5.677205856, 19.23581719, -4.307591359, 3.971367973, 33.74174553},
      1e-5);
  for (int kind = 0; kind < 4; ++kind) {
    const Data data(kind, 0);
    for (const LatentModel& model : {LatentModel{true, Errors::uniform, false, false},
                                     LatentModel{false, Errors::distance, true, true},
                                     LatentModel{true, Errors::ordinal, false, false}}) {
      const LatentClass latent(data.rows, model, LatentPrior());
      const LatentFit fit =
          fit_latent(latent, Eigen::VectorXd(), OptimiserOptions(), Fitting::likelihood, true);
      recorded.add(fit.value);
      recorded.add_all(latent.posterior(fit.x));
      for (int j = 0; j < data.rows.judges; ++j) recorded.add(latent.accuracy(fit.x, j));
      for (const double variance : all(natural_covariance(latent, fit.x).diagonal())) {
        recorded.add(std::sqrt(std::max(variance, 0.0)));
      }
      recorded.check();
    }
  }
}

TEST_CASE("one model starts from the fit of a simpler one") {
  Recorded recorded({5845.256196}, 1e-9);
  const Data data(0, 0);
  const auto list = models();
  for (const LatentModel& from : list) {
    for (const LatentModel& to : list) {
      if (to.errors == Errors::ordinal || from.errors == Errors::ordinal) continue;
      if (from.by_rater && !to.by_rater) continue;
      if (from.errors != Errors::uniform && from.errors != to.errors) continue;
      if (from.strata && !to.strata) continue;
      if (from.separate_system && !to.separate_system) continue;
      if ((from.errors == Errors::free) != (to.errors == Errors::free)) continue;
      const LatentClass simple(data.rows, from, LatentPrior()), rich(data.rows, to, LatentPrior());
      Eigen::VectorXd x = simple.start();
      for (Eigen::Index i = 0; i < x.size(); ++i)
        x[i] += 0.1 * std::sin(1.0 + static_cast<double>(i));
      recorded.add_all(all(rich.layout.start_from(simple.layout, x)));
    }
  }
  recorded.check();
}

TEST_CASE("pooled fits with further data are those that were recorded") {
  Recorded recorded({1168.655175, 1168.655267, 2150.110706, 1657.468539, 1657.468534, 3371.837485,
                     210.6379396, 210.6379396, 1029.903308, 1029.903308, 1868.057207, 1109.175555,
                     1109.175555, 2265.823125, 209.988315, 209.9883151},
                    1e-5);
  // The last two panels have categories without ratings, and names that the raters exchange.
  const Panel unused({"ACACACCAAC.A", "ACCCACCAAACA", "AAACACCACC.A", "CCACACCAACAA"}, {}, 3);
  for (const bool one_coin : {false, true}) {
    for (const int kind : {2, 3, 4}) {
      const LatentRows of =
          kind < 4 ? Data(kind, -1).rows : latent_rows(unused.view(), unused.weights(), -1, {});
      PooledOptions options;
      options.one_coin = one_coin;
      for (const int few : {10, 2}) {
        options.few_judges = few;
        const PooledFit fit = fit_pooled(of, options);
        recorded.add_all(fit.category);
        recorded.add_all(fit.posterior);
        recorded.add_all(fit.rates);
        recorded.add_all(fit.matrix);
        recorded.add_all(fit.prior);
        recorded.check();
      }
      if (kind == 4) continue;
      LatentPrior prior;
      prior.pooled = true;
      const PooledFit fit = fit_pooled(of, options);
      const LatentRows joined = Data(kind, 0).rows;
      recorded.add_all(*given_centre(prior, fit, joined).rows);
      const LatentRows alone = of;
      const LatentPrior given = given_centre(prior, fit, alone);
      recorded.add_all(*given.rows);
      const LatentClass latent(alone, {true, Errors::free, false, false}, given);
      recorded.add_all(all(parameters_of(fit, latent.layout)));
      recorded.check();
    }
  }
}

TEST_CASE("algebra with odd sizes is that which was recorded") {
  Recorded recorded({68.59380062, 546.8028818, -56.32527778, 280.8189798, 104.0385732, 224.6005543,
                     115.0777083, 67.00292283, 22.867, 41.741, 37.5},
                    1e-9);
  for (const Panel& of :
       {panel(), lehner(), three_raters(), Panel({"AAAA", "ABAB", "AB.."}, {"AAAA"}, 2),
        Panel({"AB", ".."}, {"AB"}, 2), Panel({"AAA", "AAA"}, {"AAB"}, 3)}) {
    const Tallies tallies = of.tallies();
    const KFit fit = fit_algebraic(tallies, tallies.weight);
    recorded.add(static_cast<int>(fit.identified));
    recorded.add(fit.agreement);
    recorded.add(fit.kappa);
    recorded.add(fit.rater_accuracy);
    recorded.add(fit.negative);
    recorded.add_all(fit.base_rates);
    for (const double x : all(covariance(tallies, fit))) recorded.add(1e3 * x);
    recorded.check();
    if (fit.identified != Identified::yes) continue;
    const Posterior posterior(tallies, fit);
    std::vector<double> p(tallies.categories);
    for (int i = 0; i < tallies.size(); ++i) {
      posterior(i, p.data());
      recorded.add_all(p);
      recorded.add_all(
          std::vector<double>{tallies.weight[i], static_cast<double>(tallies.ratings[i])});
    }
    recorded.check();
  }
}
