// Latent class models: functions that R calls.
#include <RcppEigen.h>

#include <algorithm>
#include <memory>
#include <string>

#include "core/accuracy/profile_interval.hpp"
#include "core/model/curvature.hpp"
#include "core/model/identified.hpp"
#include "core/model/latent_pairs.hpp"
#include "core/model/naming.hpp"
#include "core/model/pooled.hpp"
#include "core/model/reading.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace glue {

LatentModel latent_model(const List& x) {
  LatentModel model;
  model.separate_raters = choice<bool>(x["accuracy"], {{"common", false}, {"rater", true}});
  model.errors = choice<Errors>(x["errors"], {{"uniform", Errors::uniform},
                                              {"distance", Errors::distance},
                                              {"free", Errors::free},
                                              {"ordinal", Errors::ordinal}});
  model.strata = choice<bool>(x["difficulty"], {{"none", false}, {"strata", true}});
  model.separate_system = choice<bool>(x["system"], {{"shared", false}, {"own", true}});
  return model;
}

LatentPrior latent_prior(const List& x) {
  LatentPrior prior;
  prior.none = x.size() == 0;
  if (prior.none) return prior;
  prior.pooled = x.containsElementNamed("pooled");
  if (prior.pooled) {
    if (x.containsElementNamed("rows")) {
      prior.rows = std::make_shared<const std::vector<double>>(as<std::vector<double>>(x["rows"]));
    }
    return prior;
  }
  const NumericVector accuracy = x["accuracy"];
  prior.base_rates = x["base_rates"];
  prior.correct = accuracy[0];
  prior.wrong = accuracy[1];
  prior.spread = x["spread"];
  prior.dispersion = x["dispersion"];
  prior.difficulty = x["difficulty"];
  prior.errors = x["errors"];
  return prior;
}

Known known(const List& x) {
  Known known_values;
  known_values.truth = as<std::vector<int>>(x["truth"]);
  const auto matrices = [&x](const char* name) {
    std::vector<std::vector<double>> converted;
    if (!x.containsElementNamed(name)) return converted;
    for (const SEXP matrix : List(x[name])) {
      converted.push_back(Rf_isNull(matrix) ? std::vector<double>() : row_by_row(matrix));
    }
    return converted;
  };
  known_values.matrix = matrices("raters");
  known_values.calibration = matrices("counts");
  if (x.containsElementNamed("design")) {
    known_values.populations.population_of_pattern = from_zero(x["population"]);
    known_values.populations.design = as<Eigen::MatrixXd>(x["design"]);
    known_values.populations.report = as<Eigen::MatrixXd>(x["report"]);
  }
  return known_values;
}

Fitting latent_fitting(const std::string& method) {
  return choice<Fitting>(method, {{"likelihood", Fitting::likelihood}, {"pairs", Fitting::pairs}});
}

}  // namespace glue

namespace {

// Posterior probabilities of the categories: patterns x categories. Patterns without ratings get
// the base rates of their population.
NumericMatrix posterior_of_patterns(const LatentClass& latent, const Eigen::VectorXd& x) {
  const ParameterReader reader(latent.layout, x);
  const auto rates = reader.population_rates();
  return glue::by_row(copy_to_patterns(latent.layout.rows, latent.posterior(x), rates),
                      latent.layout.categories);
}

// A latent class model of the raters. Keeps its rows, settings and prior in memory, because the
// model refers to them.
struct RatedClass {
  RatedClass(const List& patterns, const NumericVector& weight, const List& known,
             const List& model)
      : rows(latent_rows(glue::view(patterns, model), glue::doubles(weight), -1,
                         glue::known(known))),
        settings(glue::latent_model(model)),
        prior(glue::latent_prior(model["prior"])),
        latent(rows, settings, prior) {}

  const LatentRows rows;
  const LatentModel settings;
  const LatentPrior prior;
  const LatentClass latent;
};

// Converts a fit to the list that R receives.
List fit_list(const LatentClass& latent, const LatentFit& top, const IdentifiedJudges& identified,
              const NumericMatrix& posterior) {
  const LatentRows& rows = latent.layout.rows;
  const int N = rows.categories;
  const Law law(latent.layout, top.x);
  const ParameterReader reader(latent.layout, top.x);
  const NaturalParameters naturals = reader.naturals();
  NumericVector confusion(Dimension(rows.judges, N, N));
  for (int u = 0; u < rows.judges; ++u) {
    const auto matrix = law.confusion(u);
    for (int k = 0; k < N; ++k) {
      for (int l = 0; l < N; ++l) confusion[u + rows.judges * (k + N * l)] = matrix[k * N + l];
    }
  }
  return List::create(
      _["theta"] = top.x, _["log_likelihood"] = top.log_likelihood, _["log_posterior"] = top.value,
      _["iterations"] = top.iterations, _["converged"] = top.converged,
      _["parameters"] = latent.layout.free_parameters(), _["identified"] = identified.model,
      _["informed"] = LogicalVector(identified.judge.begin(), identified.judge.end()),
      _["base_rates"] = reader.base_rates(), _["confusion"] = confusion,
      _["naturals"] = List::create(_["term"] = naturals.term, _["of"] = naturals.owner,
                                   _["part"] = naturals.number, _["value"] = naturals.value),
      _["posterior"] = posterior);
}

// A pooled fit, and a latent class model (`latent`) with the same probabilities. The prior of
// `latent` is computed from the centre of the pooled fit.
struct PooledClass {
  PooledClass(const LatentRows& rows, const LatentModel& settings, const LatentPrior& prior,
              PooledFit fitted)
      : fit(std::move(fitted)),
        latent(rows, settings, given_centre(prior, fit, rows)),
        identified(identified_judges(rows, settings, latent.layout.prior)) {
    top.x = parameters_of(fit, latent.layout);
    top.value = latent.evaluate(top.x, nullptr, &top.log_likelihood);
    top.iterations = fit.rounds;
    top.converged = fit.converged;
  }

  const PooledFit fit;
  const LatentClass latent;
  const IdentifiedJudges identified;
  LatentFit top;
};

List pooled_list(const PooledClass& pooled, const PooledOptions& options) {
  const LatentRows& rows = pooled.latent.layout.rows;
  const PooledFit& fit = pooled.fit;
  List result =
      fit_list(pooled.latent, pooled.top, pooled.identified,
               glue::by_row(copy_to_patterns(rows, fit.posterior, fit.rates), rows.categories));
  result["base_rates"] = fit.rates;
  const Centre& centre = fit.centre;
  result["centre"] = List::create(
      _["c"] = centre.c, _["tau"] = centre.tau, _["ups"] = centre.one_coin ? NA_REAL : centre.ups,
      _["a"] = centre.one_coin || centre.categories < 3 ? NA_REAL : centre.a,
      _["rows"] = *pooled.latent.layout.prior.rows, _["categories"] = glue::from_one(fit.category),
      _["renamed"] = fit.renamed, _["log_density"] = fit.log_density);
  if (options.constant.empty()) return result;
  const Answering& answering = fit.answering;
  const bool has_abstentions = !answering.used_judges.empty();
  result["answering"] =
      List::create(_["log_answers"] = fit.log_answers, _["log_likelihood"] = fit.log_likelihood,
                   _["kappa"] = has_abstentions ? answering.kappa : NA_REAL,
                   _["omega"] = has_abstentions ? answering.omega : NA_REAL, _["h"] = answering.h,
                   _["raters"] = glue::from_one(answering.used_judges),
                   _["answered"] = glue::by_row(fit.answer_probability.values(), rows.categories));
  return result;
}

}  // namespace

// Fits a latent class model. `method`: "likelihood" or "pairs". `known`: see glue::known().
// `start`: NULL, or the parameters `theta` and the number of raters `raters` of an identified fit
// to the same data with fewer raters. The result contains confusion matrices (judges x truths x
// ratings), posteriors (patterns x categories), natural parameters (`naturals`, see
// NaturalParameters), and `informed` (IdentifiedJudges::judge).
// [[Rcpp::export(rng = false)]]
List core_fit_latent(List patterns, NumericVector weight, List known, List model,
                     std::string method, int iterations, Nullable<List> start, Function tick) {
  const glue::Interruptible guard(tick);
  const RatedClass rated(patterns, weight, known, model);
  const auto& [rows, settings, prior, latent] = rated;
  const auto fitting = glue::latent_fitting(method);
  Eigen::VectorXd from;
  if (start.isNotNull()) {
    const List old_fit(start);
    from = latent.warm_start(as<Eigen::VectorXd>(old_fit["theta"]), old_fit["raters"]);
  }
  IdentifiedJudges identified{true, true, std::vector<bool>(rows.judges, true)};
  if (from.size() == 0) identified = identified_judges(rows, settings, prior, fitting);
  OptimiserOptions options;
  options.iterations = iterations;
  const LatentFit top = fit_latent(latent, from, options, fitting, true);
  return fit_list(latent, top, identified, posterior_of_patterns(latent, top.x));
}

// Fits the hierarchical model once for each element of `one_coin` (see Centre). Each result has the
// elements of core_fit_latent() and `centre`. The field `rows` of `centre` contains the Dirichlet
// parameters of the confusion matrices: judges x truths x ratings, row by row.
// [[Rcpp::export(rng = false)]]
List core_fit_pooled(List patterns, NumericVector weight, List known, List model,
                     std::vector<bool> one_coin, double tolerance, int rounds, int threads,
                     Function tick) {
  const glue::Interruptible guard(tick);
  const auto rows =
      latent_rows(glue::view(patterns, model), glue::doubles(weight), -1, glue::known(known));
  const auto settings = glue::latent_model(model);
  const auto prior = glue::latent_prior(model["prior"]);
  PooledOptions options;
  options.tolerance = tolerance;
  options.rounds = rounds;
  if (model.containsElementNamed("constant")) {
    options.constant.assign(rows.judges, false);
    for (const int j : glue::from_zero(model["constant"])) options.constant[j] = true;
  }
  std::vector<std::unique_ptr<PooledClass>> fits(one_coin.size());
  const auto fit = [&](std::size_t i) {
    PooledOptions fit_options = options;
    fit_options.one_coin = one_coin[i];
    fits[i] = std::make_unique<PooledClass>(rows, settings, prior, fit_pooled(rows, fit_options));
  };
  for_each_item(fits.size(), std::min(threads, static_cast<int>(fits.size())), Host(), fit);
  List results;
  for (auto& pooled : fits) {
    results.push_back(pooled_list(*pooled, options));
    pooled.reset();
  }
  return results;
}

// Returns the category, from 1, that is the name of each class. Chooses different categories for
// all classes, so that the sum of the gains is highest. `gain`: gain if a class is named by a
// category, classes x categories, row by row.
// [[Rcpp::export(rng = false)]]
IntegerVector core_best_names(NumericVector gain, int categories) {
  return glue::from_one(names_by_majority(glue::doubles(gain), std::vector<double>{1}, categories));
}

// Returns the agreement of all pairs of raters beyond chance (in cases), and a chi-square statistic
// of their association with its degrees of freedom.
// [[Rcpp::export(rng = false)]]
NumericVector core_association(List patterns, NumericVector weight) {
  const glue::Interruptible guard;
  const auto result =
      association(latent_rows(glue::view(patterns), glue::doubles(weight), -1, Known()));
  return NumericVector::create(_["excess"] = result.excess, _["statistic"] = result.statistic,
                               _["df"] = result.df);
}

// Returns the association between raters' replies, which are answers and abstentions (struct
// ReplyAssociation). Also returns `identified`: true if a model with `classes` classes is
// identified from replies. Uses only the field `abstained` of `model`.
// [[Rcpp::export(rng = false)]]
NumericVector core_reply_association(List patterns, NumericVector weight, List model, int classes) {
  const glue::Interruptible guard;
  const auto rows = latent_rows(glue::view(patterns, model), glue::doubles(weight), -1, Known());
  const auto result = reply_association(rows);
  return NumericVector::create(_["excess"] = result.excess, _["variance"] = result.variance,
                               _["z"] = result.z(), _["by_chance"] = result.chance_agreement,
                               _["pairs"] = result.pairs,
                               _["identified"] = identified_by_replies(rows, classes));
}

// Returns the covariance matrix and the variances of the natural parameters (accuracies, base
// rates, ...) at the maximum `theta`. `covariance` is NULL if its computation would take too long.
// `variance` is then an approximation, or NULL if the model has none (see natural_variances()).
// [[Rcpp::export(rng = false)]]
List core_latent_covariance(List patterns, NumericVector weight, List known, List model,
                            std::string method, NumericVector theta) {
  const glue::Interruptible guard;
  const RatedClass rated(patterns, weight, known, model);
  const auto& latent = rated.latent;
  const Eigen::VectorXd x = as<Eigen::VectorXd>(theta);
  const bool pairs = glue::latent_fitting(method) == Fitting::pairs;
  const Eigen::MatrixXd matrix =
      pairs ? pair_covariance(latent.layout, x) : natural_covariance(latent, x);
  RObject covariance = R_NilValue, variance = R_NilValue;
  if (matrix.size() > 0) {
    covariance = wrap(matrix);
    variance = wrap(matrix.diagonal().eval());
  } else if (!pairs) {
    const auto variances = natural_variances(latent, x);
    if (!variances.empty()) variance = wrap(variances);
  }
  return List::create(_["covariance"] = covariance, _["variance"] = variance);
}

// Returns the second derivatives of the log posterior density at `theta`: parameters x parameters.
// [[Rcpp::export(rng = false)]]
NumericMatrix core_latent_hessian(List patterns, NumericVector weight, List known, List model,
                                  NumericVector theta) {
  const glue::Interruptible guard;
  const RatedClass rated(patterns, weight, known, model);
  return wrap(log_posterior_hessian(rated.latent, as<Eigen::VectorXd>(theta)));
}

// Returns the influence of one case of each pattern on the estimates at the maximum `theta`:
// patterns x natural parameters.
// [[Rcpp::export(rng = false)]]
NumericMatrix core_latent_influence(List patterns, NumericVector weight, List known, List model,
                                    NumericVector theta) {
  const glue::Interruptible guard;
  const RatedClass rated(patterns, weight, known, model);
  const auto& latent = rated.latent;
  const Eigen::VectorXd x = as<Eigen::VectorXd>(theta);
  const Eigen::MatrixXd response =
      Curvature(latent.layout, log_posterior_hessian(latent, x), x).response();
  const Eigen::MatrixXd row_influence = latent.scores(x) * response.transpose();
  const auto& row = rated.rows.row_of_pattern;
  Eigen::MatrixXd influence =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(row.size()), row_influence.cols());
  for (std::size_t p = 0; p < row.size(); ++p) {
    if (row[p] >= 0) influence.row(static_cast<Eigen::Index>(p)) = row_influence.row(row[p]);
  }
  return wrap(influence);
}

// Returns probabilities under the parameters `theta`, for any patterns of the same raters.
// `posterior`: posterior probabilities of the true categories, patterns x categories.
// `probability`: probability of each rating, classes (category within stratum) x ratings x raters.
// [[Rcpp::export(rng = false)]]
List core_latent_probabilities(List patterns, NumericVector weight, List known, List model,
                               NumericVector theta) {
  const glue::Interruptible guard;
  const RatedClass rated(patterns, weight, known, model);
  const auto& latent = rated.latent;
  const Eigen::VectorXd x = as<Eigen::VectorXd>(theta);
  const Law law(latent.layout, x);
  NumericVector probability(Dimension(law.classes, law.categories, rated.rows.judges));
  auto to = probability.begin();
  for (int u = 0; u < rated.rows.judges; ++u) {
    for (int l = 0; l < law.categories; ++l) {
      for (int c = 0; c < law.classes; ++c) *to++ = law.answer_probability(u, l, c);
    }
  }
  return List::create(_["posterior"] = posterior_of_patterns(latent, x),
                      _["probability"] = probability);
}

// Returns the profile interval of each system's accuracy: limits `low` and `high`, whether all fits
// have converged, and `moved`, true if a higher maximum was found along the profile. `deviance`:
// twice the difference between the log posterior at its maximum and at the limits.
// [[Rcpp::export(rng = false)]]
List core_latent_profile(List patterns, NumericVector weight, List known, List model,
                         double deviance, int threads, Function tick) {
  const auto view = glue::view(patterns, model);
  const auto weights = glue::doubles(weight);
  const auto settings = glue::latent_model(model);
  const auto prior = glue::latent_prior(model["prior"]);
  std::vector<ProfileInterval> profiles(view.systems);
  glue::interruptible([&] {
    for_each_item(profiles.size(), threads, glue::host(tick), [&](std::size_t s) {
      const auto rows = latent_rows(view, weights, static_cast<int>(s), glue::known(known));
      profiles[s] =
          profile_interval(LatentClass(rows, settings, prior), OptimiserOptions(), deviance);
    });
    return 0;
  });
  return List::create(_["low"] = glue::column(profiles, &ProfileInterval::low),
                      _["high"] = glue::column(profiles, &ProfileInterval::high),
                      _["converged"] = glue::column(profiles, &ProfileInterval::converged),
                      _["moved"] = glue::column(profiles, &ProfileInterval::moved));
}
