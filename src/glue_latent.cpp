// Latent class models.
#include <RcppEigen.h>

#include <memory>
#include <string>

#include "core/accuracy/profile_interval.hpp"
#include "core/model/curvature.hpp"
#include "core/model/confidence.hpp"
#include "core/model/identified.hpp"
#include "core/model/latent_pairs.hpp"
#include "core/model/ordinal.hpp"
#include "core/model/naming.hpp"
#include "core/model/pooled.hpp"
#include "core/model/reading.hpp"
#include "core/model/start.hpp"
#include "glue.h"

namespace glue {

fallible::LatentModel latent_model(const Rcpp::List& x) {
  using fallible::Errors;
  fallible::LatentModel out;
  out.by_rater = choice<bool>(x["accuracy"], {{"common", false}, {"rater", true}});
  out.errors = choice<Errors>(x["errors"], {{"uniform", Errors::uniform},
                                            {"distance", Errors::distance},
                                            {"free", Errors::free},
                                            {"ordinal", Errors::ordinal}});
  out.strata = choice<bool>(x["difficulty"], {{"none", false}, {"strata", true}});
  out.own = choice<bool>(x["system"], {{"shared", false}, {"own", true}});
  return out;
}

fallible::LatentPrior latent_prior(const Rcpp::List& x) {
  fallible::LatentPrior out;
  out.none = x.size() == 0;
  if (out.none) return out;
  out.pooled = x.containsElementNamed("pooled");
  if (out.pooled) {
    if (x.containsElementNamed("rows")) {
      out.rows =
          std::make_shared<const std::vector<double>>(Rcpp::as<std::vector<double>>(x["rows"]));
    }
    return out;
  }
  const Rcpp::NumericVector accuracy = x["accuracy"];
  out.base_rates = x["base_rates"];
  out.correct = accuracy[0];
  out.wrong = accuracy[1];
  out.spread = x["spread"];
  out.dispersion = x["dispersion"];
  out.difficulty = x["difficulty"];
  out.errors = x["errors"];
  return out;
}

fallible::Known known(const Rcpp::List& x) {
  fallible::Known out;
  out.truth = Rcpp::as<std::vector<int>>(x["truth"]);
  const auto matrices = [&x](const char* name) {
    std::vector<std::vector<double>> of;
    if (!x.containsElementNamed(name)) return of;
    for (const SEXP one : Rcpp::List(x[name])) {
      of.emplace_back();
      if (Rf_isNull(one)) continue;
      const Rcpp::NumericMatrix matrix(one);
      for (int k = 0; k < matrix.nrow(); ++k) {
        for (int l = 0; l < matrix.ncol(); ++l) of.back().push_back(matrix(k, l));
      }
    }
    return of;
  };
  out.matrix = matrices("raters");
  out.before = matrices("counts");
  return out;
}

fallible::Fitting latent_fitting(const std::string& method) {
  using fallible::Fitting;
  return choice<Fitting>(method,
                         {{"likelihood", Fitting::likelihood}, {"pairs", Fitting::pairs}});
}

}  // namespace glue

namespace {

// Patterns x categories; patterns without ratings have the base rates.
Rcpp::NumericMatrix posterior_of_patterns(const fallible::LatentClass& latent,
                                          const Eigen::VectorXd& x) {
  const fallible::LatentRows& rows = latent.rows();
  const fallible::Reading reading(latent.layout(), x);
  return glue::by_row(fallible::by_pattern(rows, latent.posterior(x), reading.base_rates()),
                      rows.categories);
}

Eigen::VectorXd start_of(const fallible::Layout& layout, const Rcpp::Nullable<Rcpp::List>& start) {
  if (start.isNull()) return {};
  const Rcpp::List of(start);
  return fallible::warm_start(layout, Rcpp::as<Eigen::VectorXd>(of["theta"]), of["raters"]);
}

}  // namespace

namespace {

// A model of the raters whose ratings these are.
struct RatedClass {
  RatedClass(const Rcpp::List& patterns, const Rcpp::NumericVector& weight, const Rcpp::List& known,
             const Rcpp::List& model)
      : rows(fallible::latent_rows(glue::view(patterns, model), glue::doubles(weight), -1,
                                   glue::known(known))),
        settings(glue::latent_model(model)),
        prior(glue::latent_prior(model["prior"])),
        latent(rows, settings, prior) {}

  const fallible::LatentRows rows;
  const fallible::LatentModel settings;
  const fallible::LatentPrior prior;
  const fallible::LatentClass latent;
};

// What R gets of a fit.
Rcpp::List fit_list(const fallible::LatentClass& latent, const fallible::LatentFit& top,
                    const fallible::IdentifiedJudges& identified) {
  const fallible::LatentRows& rows = latent.rows();
  const int N = rows.categories;
  const fallible::Law law(latent.layout(), top.x);
  const fallible::Reading reading(latent.layout(), top.x);
  const fallible::Naturals naturals = reading.naturals();
  Rcpp::NumericVector confusion(Rcpp::Dimension(rows.judges, N, N));
  for (int u = 0; u < rows.judges; ++u) {
    const auto matrix = law.confusion(u);
    for (int k = 0; k < N; ++k) {
      for (int l = 0; l < N; ++l) confusion[u + rows.judges * (k + N * l)] = matrix[k * N + l];
    }
  }
  return Rcpp::List::create(
      Rcpp::Named("theta") = top.x, Rcpp::Named("log_likelihood") = top.log_likelihood,
      Rcpp::Named("log_posterior") = top.value, Rcpp::Named("iterations") = top.iterations,
      Rcpp::Named("converged") = top.converged,
      Rcpp::Named("parameters") = latent.layout().free_parameters(),
      Rcpp::Named("identified") = identified.model,
      Rcpp::Named("informed") = Rcpp::LogicalVector(identified.judge.begin(), identified.judge.end()),
      Rcpp::Named("base_rates") = reading.base_rates(), Rcpp::Named("confusion") = confusion,
      Rcpp::Named("naturals") =
          Rcpp::List::create(Rcpp::Named("term") = naturals.term, Rcpp::Named("of") = naturals.of,
                             Rcpp::Named("part") = naturals.part,
                             Rcpp::Named("value") = naturals.value),
      Rcpp::Named("posterior") = posterior_of_patterns(latent, top.x));
}

}  // namespace

// `known`: see glue::known(); `method`: "likelihood" or "pairs". Confusion matrices are judges x
// truths x ratings, posteriors patterns x categories. `start`: theta of a former fit, identified,
// and how many raters it had; or NULL. `tick` is called a few times a second.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_fit_latent(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List known,
                           Rcpp::List model, std::string method, int iterations,
                           Rcpp::Nullable<Rcpp::List> start, Rcpp::Function tick) {
  const glue::Interruptible here(tick);
  const RatedClass of(patterns, weight, known, model);
  const auto& [rows, settings, prior, latent] = of;
  const auto fitting = glue::latent_fitting(method);
  const Eigen::VectorXd from = start_of(latent.layout(), start);
  const bool warm = from.size() > 0;
  fallible::IdentifiedJudges identified{true, std::vector<bool>(rows.judges, true)};
  if (!warm) identified = fallible::identified_judges(rows, settings, prior, fitting);
  fallible::OptimiserOptions options;
  options.iterations = iterations;
  fallible::LatentFit fit;
  if (fitting == fallible::Fitting::pairs) {
    const auto pairs = fallible::pair_frequencies(rows, settings);
    fit = warm ? fallible::fit_pairs(latent, pairs, from, options)
               : fallible::fit_pairs(latent, pairs, options);
  } else {
    fit =
        warm ? fallible::fit_latent(latent, from, options) : fallible::fit_latent(latent, options);
  }
  return fit_list(latent, fit, identified);
}

// The same of the model with a pooled prior: around a centre of the panel, of one coin or not. Has
// also `centre`, the prior's `rows` (judges x truths x ratings, row by row) given it, and is
// `theta` that of the same model without.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_fit_pooled(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List known,
                           Rcpp::List model, bool one_coin, double tolerance, int rounds,
                           Rcpp::Function tick) {
  const glue::Interruptible here(tick);
  const auto rows =
      fallible::latent_rows(glue::view(patterns), glue::doubles(weight), -1, glue::known(known));
  const auto settings = glue::latent_model(model);
  fallible::PooledOptions options;
  options.one_coin = one_coin;
  options.tolerance = tolerance;
  options.rounds = rounds;
  const auto fit = fallible::fit_pooled(rows, options);
  const auto prior = fallible::given_centre(glue::latent_prior(model["prior"]), fit, rows);
  const fallible::LatentClass latent(rows, settings, prior);
  fallible::LatentFit top;
  top.x = fallible::parameters_of(fit, latent.layout());
  top.value = latent.evaluate(top.x, nullptr, &top.log_likelihood);
  top.iterations = fit.rounds;
  top.converged = fit.converged;
  const auto identified = fallible::identified_judges(rows, settings, prior);
  Rcpp::List out = fit_list(latent, top, identified);
  out["base_rates"] = fit.rates;
  out["posterior"] =
      glue::by_row(fallible::by_pattern(rows, fit.posterior, fit.rates), rows.categories);
  const fallible::Centre& centre = fit.centre;
  out["centre"] = Rcpp::List::create(
      Rcpp::Named("c") = centre.c, Rcpp::Named("tau") = centre.tau,
      Rcpp::Named("ups") = one_coin ? NA_REAL : centre.ups,
      Rcpp::Named("a") = one_coin || centre.categories < 3 ? NA_REAL : centre.a,
      Rcpp::Named("rows") = *prior.rows, Rcpp::Named("categories") = glue::from_one(fit.category),
      Rcpp::Named("renamed") = fit.renamed, Rcpp::Named("log_density") = fit.log_density);
  return out;
}

// The name of each class, from 1; `gain` is truths x ratings, row by row. See names_by_majority().
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_best_names(Rcpp::NumericVector gain, int categories) {
  return glue::from_one(
      fallible::names_by_majority(glue::doubles(gain), std::vector<double>{1}, categories));
}

// Agreement beyond chance and chi-square over all pairs of raters.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_association(Rcpp::List patterns, Rcpp::NumericVector weight) {
  const glue::Interruptible here;
  const auto found = fallible::association(
      fallible::latent_rows(glue::view(patterns), glue::doubles(weight), -1, fallible::Known()));
  return Rcpp::NumericVector::create(Rcpp::Named("excess") = found.excess,
                                     Rcpp::Named("statistic") = found.statistic,
                                     Rcpp::Named("df") = found.df);
}

// Of the naturals at the top `theta`: `covariance`, NULL where it would take too long; and
// `variance`, which is there wherever there is a likelihood.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_latent_covariance(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List known,
                                  Rcpp::List model, std::string method, Rcpp::NumericVector theta) {
  const glue::Interruptible here;
  const RatedClass of(patterns, weight, known, model);
  const auto& latent = of.latent;
  const Eigen::VectorXd x = Rcpp::as<Eigen::VectorXd>(theta);
  const bool pairs = glue::latent_fitting(method) == fallible::Fitting::pairs;
  const Eigen::MatrixXd found =
      pairs ? fallible::pair_covariance(latent.layout(),
                                        fallible::pair_frequencies(of.rows, of.settings), x)
            : fallible::natural_covariance(latent.layout(), x);
  Rcpp::RObject covariance = R_NilValue, variance = R_NilValue;
  if (found.size() > 0) {
    covariance = Rcpp::wrap(found);
    variance = Rcpp::wrap(found.diagonal().eval());
  } else if (!pairs) {
    const auto alone = fallible::natural_variances(latent.layout(), x);
    if (!alone.empty()) variance = Rcpp::wrap(alone);
  }
  return Rcpp::List::create(Rcpp::Named("covariance") = covariance,
                            Rcpp::Named("variance") = variance);
}

// Second derivatives of the log posterior by all parameters.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_latent_hessian(Rcpp::List patterns, Rcpp::NumericVector weight,
                                        Rcpp::List known, Rcpp::List model,
                                        Rcpp::NumericVector theta) {
  const glue::Interruptible here;
  const RatedClass of(patterns, weight, known, model);
  return Rcpp::wrap(
      fallible::log_posterior_hessian(of.latent.layout(), Rcpp::as<Eigen::VectorXd>(theta)));
}

// Ordinal errors of groups of raters, a row of `theta` each: `law`, groups x truths x ratings, and
// `thresholds`, groups x thresholds; see OrdinalLaw.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_ordinal_law(Rcpp::NumericMatrix theta) {
  const int groups = theta.nrow(), N = theta.ncol();
  Rcpp::NumericVector law(Rcpp::Dimension(groups, N, N));
  Rcpp::NumericMatrix thresholds(groups, N - 1);
  for (int g = 0; g < groups; ++g) {
    const Rcpp::NumericVector row = theta.row(g);
    const fallible::OrdinalLaw of(row.begin(), N);
    for (int i = 0; i < N * N; ++i) law[g + groups * (i / N + N * (i % N))] = of.matrix()[i];
    for (int t = 0; t < N - 1; ++t) thresholds(g, t) = of.thresholds()[t];
  }
  return Rcpp::List::create(Rcpp::Named("law") = law, Rcpp::Named("thresholds") = thresholds);
}

// Levels x (right, wrong); see LevelLaw.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_level_law(Rcpp::NumericVector theta, int levels) {
  const fallible::LevelLaw law(theta.begin(), levels);
  Rcpp::NumericMatrix out(levels, 2);
  for (int l = 0; l < levels; ++l) {
    out(l, 0) = law.of(true, l);
    out(l, 1) = law.of(false, l);
  }
  return out;
}

// Posteriors of any patterns of the same raters under parameters `theta`, and the probability of
// each rating: classes (category within stratum) x ratings x raters.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_latent_probabilities(Rcpp::List patterns, Rcpp::NumericVector weight,
                                     Rcpp::List known, Rcpp::List model,
                                     Rcpp::NumericVector theta) {
  const glue::Interruptible here;
  const RatedClass of(patterns, weight, known, model);
  const auto& latent = of.latent;
  const Eigen::VectorXd x = Rcpp::as<Eigen::VectorXd>(theta);
  const auto law = latent.law(x);
  Rcpp::NumericVector probability(Rcpp::Dimension(law.classes, law.categories, of.rows.judges));
  auto to = probability.begin();
  for (int u = 0; u < of.rows.judges; ++u) {
    for (int l = 0; l < law.categories; ++l) {
      for (int c = 0; c < law.classes; ++c) *to++ = law.of(u, l, c);
    }
  }
  return Rcpp::List::create(Rcpp::Named("posterior") = posterior_of_patterns(latent, x),
                            Rcpp::Named("probability") = probability);
}

// For each system the ends of the profile, whether all fits converged, and whether it came upon a
// higher top than that of the fit.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_latent_profile(Rcpp::List patterns, Rcpp::NumericVector weight, Rcpp::List known,
                               Rcpp::List model, double deviance, int threads,
                               Rcpp::Function tick) {
  const auto view = glue::view(patterns, model);
  const auto weights = glue::doubles(weight);
  const auto settings = glue::latent_model(model);
  const auto prior = glue::latent_prior(model["prior"]);
  std::vector<fallible::ProfileInterval> found(view.systems);
  glue::interruptible([&] {
    fallible::for_each_item(found.size(), threads, glue::host(tick), [&](std::size_t s) {
      const auto rows =
          fallible::latent_rows(view, weights, static_cast<int>(s), glue::known(known));
      found[s] = fallible::profile_interval(fallible::LatentClass(rows, settings, prior),
                                            fallible::OptimiserOptions(), deviance);
    });
    return 0;
  });
  Rcpp::NumericVector low, high;
  Rcpp::LogicalVector converged, moved;
  for (const auto& of : found) {
    low.push_back(of.low);
    high.push_back(of.high);
    converged.push_back(of.converged);
    moved.push_back(of.moved);
  }
  return Rcpp::List::create(Rcpp::Named("low") = low, Rcpp::Named("high") = high,
                            Rcpp::Named("converged") = converged, Rcpp::Named("moved") = moved);
}
