// Checks of the K-properties.
#include <RcppEigen.h>

#include "core/model/check_k.hpp"
#include "core/model/identified.hpp"
#include "glue.h"

namespace {

fallible::LatentRows joined_rows(const Rcpp::List& patterns, const Rcpp::NumericVector& weight,
                                 int system) {
  return fallible::latent_rows(glue::view(patterns), glue::doubles(weight), system, {});
}

Rcpp::NumericVector values(const fallible::KStatistics& x) {
  return Rcpp::NumericVector::create(
      Rcpp::Named("ratio") = x.ratio, Rcpp::Named("pairs") = x.pairs,
      Rcpp::Named("lowest_rate") = x.lowest_rate, Rcpp::Named("residual") = x.residual);
}

}  // namespace

// Can judges so many of whom rated together tell the parameters of a model apart?
// [[Rcpp::export(rng = false)]]
bool core_identified(Rcpp::List patterns, Rcpp::NumericVector weight, int system,
                     Rcpp::List model) {
  return fallible::is_identified(joined_rows(patterns, weight, system), glue::latent_model(model),
                                 glue::latent_prior(model["prior"]));
}

// `tests` is a list of null, alternative (NULL for none), pairs and residual. A list per test.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_check_k(Rcpp::List patterns, Rcpp::NumericVector weight, int system,
                        Rcpp::List tests, Rcpp::List options, Rcpp::Function tick) {
  const auto rows = joined_rows(patterns, weight, system);
  std::vector<fallible::KTester> testers;
  for (const Rcpp::List test : tests) {
    const Rcpp::List null = test["null"];
    fallible::KTest settings;
    settings.null = glue::latent_model(null);
    if (!Rf_isNull(test["alternative"])) {
      settings.alternative = glue::latent_model(test["alternative"]);
    }
    settings.pairs = test["pairs"];
    settings.residual = test["residual"];
    const auto prior = glue::latent_prior(null["prior"]);
    glue::interruptible([&] { testers.emplace_back(rows, settings, prior); });
  }
  const auto bootstrap = glue::bootstrap_options(options);
  const auto replicates = glue::interruptible(
      [&] { return fallible::bootstrap_k(testers, bootstrap, glue::host(tick)); });

  Rcpp::List out;
  for (std::size_t t = 0; t < testers.size(); ++t) {
    Rcpp::NumericMatrix drawn(bootstrap.replicates, 4);
    for (int r = 0; r < bootstrap.replicates; ++r) drawn(r, Rcpp::_) = values(replicates[t][r]);
    const auto cells = fallible::disagreeing_pairs(rows, testers[t].law());
    const auto agreement =
        fallible::pair_agreement(rows, testers[t].law(), fallible::least_common_cases);
    const R_xlen_t n = static_cast<R_xlen_t>(agreement.size());
    Rcpp::IntegerVector judge1(n), judge2(n);
    Rcpp::NumericVector cases(n), observed(n), expected(n), excess(n);
    for (R_xlen_t i = 0; i < n; ++i) {
      judge1[i] = agreement[i].judge1 + 1;
      judge2[i] = agreement[i].judge2 + 1;
      cases[i] = agreement[i].cases;
      observed[i] = agreement[i].observed;
      expected[i] = agreement[i].expected;
      excess[i] = agreement[i].excess();
    }
    out.push_back(Rcpp::List::create(
        Rcpp::Named("statistic") = values(testers[t].observed()),
        Rcpp::Named("df") = testers[t].degrees(),
        Rcpp::Named("converged") = testers[t].converged(), Rcpp::Named("replicates") = drawn,
        Rcpp::Named("cells") =
            Rcpp::DataFrame::create(Rcpp::Named("observed") = cells.observed,
                                    Rcpp::Named("expected") = cells.expected),
        Rcpp::Named("agreement") = Rcpp::DataFrame::create(
            Rcpp::Named("judge1") = judge1, Rcpp::Named("judge2") = judge2,
            Rcpp::Named("cases") = cases, Rcpp::Named("observed") = observed,
            Rcpp::Named("expected") = expected, Rcpp::Named("excess") = excess)));
  }
  return out;
}
