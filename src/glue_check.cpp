// Tests of the K-properties: functions that R calls.
#include <RcppEigen.h>

#include "core/model/check_k.hpp"
#include "core/model/identified.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace {

LatentRows joined_rows(const List& patterns, const NumericVector& weight, int system) {
  return latent_rows(glue::view(patterns), glue::doubles(weight), system, {});
}

NumericVector statistics_vector(const KStatistics& x) {
  return NumericVector::create(_["ratio"] = x.ratio, _["pairs"] = x.pairs,
                               _["lowest_rate"] = x.lowest_rate, _["residual"] = x.residual);
}

}  // namespace

// Returns true if all parameters of a model of the raters and of `system` (from 0; -1 for none) are
// identified. Identification depends on which judges (raters, system) rated the same cases.
// [[Rcpp::export(rng = false)]]
bool core_identified(List patterns, NumericVector weight, int system, List model) {
  return identified_judges(joined_rows(patterns, weight, system), glue::latent_model(model),
                           glue::latent_prior(model["prior"]))
      .all;
}

// Runs bootstrap tests of the K-properties. The elements of `tests` have the fields of struct
// KTest: `null`, `alternative` (NULL if there is none), `pairs` and `residual`. `options`: `alpha`
// (level of the tests), and the fields of glue::bootstrap_options(). Returns a list with one
// element per test: statistics of the data and of the replicates, disagreeing pairs of ratings
// (`cells`), and the agreement of each pair of judges.
// [[Rcpp::export(rng = false)]]
List core_check_k(List patterns, NumericVector weight, int system, List tests, List options,
                  Function tick) {
  const auto rows = joined_rows(patterns, weight, system);
  std::vector<KTester> testers;
  for (const List test : tests) {
    const List null = test["null"];
    KTest settings;
    settings.null = glue::latent_model(null);
    if (!Rf_isNull(test["alternative"])) {
      settings.alternative = glue::latent_model(test["alternative"]);
    }
    settings.uses_pairs = test["pairs"];
    settings.uses_residual = test["residual"];
    const auto prior = glue::latent_prior(null["prior"]);
    testers.emplace_back(settings, prior);
    glue::interruptible([&] { testers.back().fit(rows); });
  }
  const auto bootstrap = glue::bootstrap_options(options);
  const double alpha = options["alpha"];
  const auto replicates =
      glue::interruptible([&] { return bootstrap_k(testers, bootstrap, alpha, glue::host(tick)); });

  List results;
  for (std::size_t t = 0; t < testers.size(); ++t) {
    const int draws = static_cast<int>(replicates[t].size());
    NumericMatrix drawn(draws, 4);
    for (int r = 0; r < draws; ++r) drawn(r, _) = statistics_vector(replicates[t][r]);
    const auto cells = disagreeing_pairs(rows, testers[t].law());
    const auto agreement = pair_agreement(rows, testers[t].law(), least_common_cases);
    std::vector<double> excess;
    for (const PairAgreement& pair : agreement) excess.push_back(pair.excess());
    const auto pair_column = [&](double PairAgreement::*field) {
      return glue::column(agreement, field);
    };
    const List pairs =
        List::create(_["judge1"] = glue::from_one(glue::column(agreement, &PairAgreement::judge1)),
                     _["judge2"] = glue::from_one(glue::column(agreement, &PairAgreement::judge2)),
                     _["cases"] = pair_column(&PairAgreement::cases),
                     _["observed"] = pair_column(&PairAgreement::observed),
                     _["expected"] = pair_column(&PairAgreement::expected), _["excess"] = excess);
    results.push_back(
        List::create(_["statistic"] = statistics_vector(testers[t].observed()),
                     _["df"] = testers[t].degrees_of_freedom(),
                     _["converged"] = testers[t].converged(), _["replicates"] = drawn,
                     _["cells"] = glue::data_frame(List::create(_["observed"] = cells.observed,
                                                                _["expected"] = cells.expected)),
                     _["agreement"] = glue::data_frame(pairs)));
  }
  return results;
}
