#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "../panel.hpp"
#include "core/model/curvature.hpp"
#include "core/model/latent.hpp"
#include "core/model/reading.hpp"
#include "models.hpp"

using namespace fallible;
using doctest::Approx;

TEST_CASE("each estimated parameter has a unique name") {
  const Panel panel = lehner();
  for (const int system : {-1, 0}) {
    const LatentRows rows = latent_rows(panel.view(), panel.weights(), system, {});
    for (const LatentModel& model : all_models()) {
      const LatentClass latent(rows, model, LatentPrior());
      const Eigen::VectorXd x = latent.start();
      std::map<std::string, int> terms;
      double rates = 0;
      const NaturalParameters naturals = ParameterReader(latent.layout, x).naturals();
      for (std::size_t i = 0; i < naturals.term.size(); ++i) {
        const int number = ++terms[naturals.term[i]];
        if (naturals.owner[i] > 0) CHECK(naturals.owner[i] == number);
        if (naturals.term[i] == "base_rate") rates += naturals.value[i];
      }
      const int judge_types = system >= 0 && model.separate_system ? 2 : 1;
      CHECK(terms["rater_accuracy"] == (model.separate_raters ? 4 : 1));
      CHECK(terms["system_accuracy"] == (system >= 0));
      CHECK(terms["base_rate"] == 4);
      CHECK(rates == Approx(1));
      CHECK(terms["dispersion"] == (model.errors == Errors::distance ? judge_types : 0));
      CHECK(terms["difficulty"] == (model.strata ? judge_types : 0));
    }
  }
}

TEST_CASE("base rates are finite for any distance between their logits") {
  const Panel panel = lehner();
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), -1, {});
  const LatentClass latent(rows, LatentModel(), LatentPrior());
  Eigen::VectorXd x = latent.start();
  x.head(3) << 800, 800 + std::log(3.0), -800;
  const auto rates = ParameterReader(latent.layout, x).base_rates();
  CHECK(rates[0] == Approx(0.25));
  CHECK(rates[1] == Approx(0.75));
  CHECK(rates[2] == 0);
  CHECK(rates[3] == 0);
}

TEST_CASE("if the full curvature would be too slow, only variances are computed") {
  std::vector<std::string> crowd(2100, "..........");
  for (std::size_t j = 0; j < crowd.size(); ++j) {
    for (std::size_t i = j % 3; i < 10; i += 3) crowd[j][i] = i % 2 == j % 5 % 2 ? 'A' : 'B';
  }
  const Panel panel(crowd, {}, 2);
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), -1, {});
  const LatentClass separate_raters(rows, {true, Errors::uniform, false, false}, LatentPrior());
  CHECK(natural_covariance(separate_raters, separate_raters.start()).size() == 0);
  const std::vector<double> variance = natural_variances(separate_raters, separate_raters.start());
  CHECK(variance.size() == 2102);
  CHECK(*std::min_element(variance.begin(), variance.end()) > 0);
  const LatentClass common(rows, {false, Errors::uniform, false, false}, LatentPrior());
  CHECK(natural_covariance(common, common.start()).size() == 9);
}
