// Draws from posteriors with a fixed seed, compared with recorded sums.
#include <doctest/doctest.h>

#include <vector>

#include "../panel.hpp"
#include "../recorded.hpp"
#include "core/posterior/gibbs.hpp"

using namespace fallible;

namespace {

PosteriorPrior prior_of(int judges, int raters, int categories, int populations) {
  PosteriorPrior out;
  for (int j = 0; j < judges; ++j) {
    out.matrix_of.push_back(j);
    std::vector<double> rows(static_cast<std::size_t>(categories) * categories, 1.0);
    for (int k = 0; k < categories; ++k) rows[k * categories + k] = 3 + 0.5 * j;
    out.matrix.push_back({rows});
  }
  out.base_rates.assign(populations, std::vector<double>(categories, 1.5));
  out.raters = raters;
  return out;
}

void check_draws(const PosteriorRows& rows, const PosteriorPrior& prior, Recorded& recorded) {
  ChainOptions options;
  options.chains = 2;
  options.kept = 5;
  options.warmup = 3;
  options.thin = 2;
  options.seed = 17;
  options.log_likelihood = true;
  for (const PosteriorChain& chain : draw_posterior(rows, prior, options, {})) {
    CHECK(chain.draws.size() == 5u * posterior_parameters(rows, prior));
    recorded.add_all(chain.draws);
    recorded.add_all(chain.right);
    recorded.add_all(chain.log_likelihood);
    recorded.add_all(chain.probability);
    recorded.add(chain.switched);
    recorded.add(chain.stuck);
  }
  recorded.check();
}

}  // namespace

TEST_CASE("draws with a seed are those that were recorded") {
  Recorded recorded(
      {-477.6236763, -534.247254,  784.1036918,  726.3115074,  -477.6236763, -534.247254,
       784.1036918,  943.7308565,  -554.4877549, -530.3072005, 784.1036918,  604.2746937,
       -610.4050233, -591.3187368, -998.7274638, -1188.050231, 1024.705373,  1475.795164,
       -998.7274638, -1188.050231, 1024.705373,  1337.041941,  -1005.766129, -1226.669412,
       1114.762588,  225.841419,   -1195.975097, -1184.491782},
      1e-8);
  const Panel panel({"ABCABCABBCAACBC.BCAB", "ABCABCACBA..BBCABCAC", "ABCBBCABCCABA.CACCAB"},
                    {"ABCABBABBCABCABC.CBB"}, 3);
  const PatternView view = panel.view();
  std::vector<int> truth(view.patterns, 0), population(view.patterns);
  for (int p = 0; p < view.patterns; ++p) {
    population[p] = p % 2;
    if (p % 5 == 0) truth[p] = 1 + p % 3;
  }
  for (const bool joined : {false, true}) {
    const PosteriorRows one = posterior_rows(view, panel.weights(), {}, {}, joined);
    const PosteriorRows two = posterior_rows(view, panel.weights(), truth, population, joined);
    for (const ClassOrder order : {ClassOrder::none, ClassOrder::mean, ClassOrder::each}) {
      for (const bool pooled : {false, true}) {
        PosteriorPrior prior = prior_of(joined ? 4 : 3, 3, 3, 1);
        prior.order = order;
        prior.pooled = pooled;
        if (!joined) prior.system = {{{3, 2}, true}};
        check_draws(one, prior, recorded);
        prior.base_rates.push_back({2, 1, 1});
        check_draws(two, prior, recorded);
      }
    }
    PosteriorPrior prior = prior_of(joined ? 4 : 3, 3, 3, 1);
    if (!joined) prior.system = {{std::vector<double>(9, 1.0)}};
    prior.matrix[1].fixed = {0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0.05, 0.05, 0.9};
    prior.matrix[2] = {{4, 2}, true};
    check_draws(one, prior, recorded);
    prior.matrix_of[2] = 0;
    check_draws(one, prior, recorded);
  }
}

TEST_CASE("draws with dependent errors are those that were recorded") {
  Recorded recorded(
      {-123.9561171, -165.2204489, -420.8570073, -117.9085728, -136.6991244, -442.7846476,
       -123.9561171, -165.2204489, -420.8570073, -117.9085728, -136.6991244, -442.7846476,
       -123.9561171, -165.2204489, -456.0172594, -139.3425069, -131.7471096, -477.5030004},
      1e-7);
  const Panel panel(
      {"AABBABBAABAAABAB", "AABBABABABB.ABBA", "ABBBAABAAB.AABBB", "AABBAABAAB.AABAB"},
      {"AABBABBBABABABBA"}, 2);
  const Panel three({"ABCABCABBCAACBC.BCAB", "ABCABCACBA..BBCABCAC", "ABCBBCABCCABA.CACCAB"}, {},
                    3);
  std::vector<int> truth(panel.view().patterns, 0);
  for (std::size_t p = 0; p < truth.size(); p += 3) truth[p] = 1 + static_cast<int>(p) % 2;
  const PosteriorRows rows = posterior_rows(panel.view(), panel.weights(), truth, {}, false);
  const PosteriorRows of_three = posterior_rows(three.view(), three.weights(), {}, {}, false);
  for (const ClassOrder order : {ClassOrder::none, ClassOrder::mean, ClassOrder::each}) {
    for (const Dependence dependence : {Dependence::easy, Dependence::pairs}) {
      PosteriorPrior prior = prior_of(4, 4, 2, 1);
      prior.dependence = dependence;
      prior.order = order;
      prior.system = {{{1, 1, 1, 1}}};
      if (dependence == Dependence::pairs) prior.pairs = {{0, 2}, {1, 3}};
      check_draws(rows, prior, recorded);
      prior.matrix[3].fixed = {0.9, 0.1, 0.3, 0.7};
      check_draws(rows, prior, recorded);
      PosteriorPrior other = prior_of(3, 3, 3, 1);
      other.dependence = dependence;
      other.order = order;
      if (dependence == Dependence::pairs) other.pairs = {{1, 2}};
      check_draws(of_three, other, recorded);
    }
  }
}
