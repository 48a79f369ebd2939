// Fits of latent class models to small panels, compared with recorded sums. Counts of iterations
// are compared too: wrong steps often reach the same maximum, only later.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../panel.hpp"
#include "../recorded.hpp"
#include "core/base/random.hpp"
#include "core/model/check_k.hpp"
#include "core/model/curvature.hpp"
#include "core/model/identified.hpp"
#include "core/model/latent.hpp"
#include "core/model/latent_pairs.hpp"
#include "core/model/naming.hpp"
#include "core/model/pooled.hpp"
#include "core/model/score.hpp"
#include "core/model/variational.hpp"
#include "models.hpp"
#include "replies.hpp"

using namespace fallible;

namespace {

const Panel& panel() {
  static const Panel out({"ABCABCABBCAACBC.BCAB", "ABCABCACBA..BBCABCAC", "ABCBBCABCCABA.CACCAB",
                          "A..ABAABCCABBACBBCAA"},
                         {"ABCABBABBCABCABC.CBB"}, 3);
  return out;
}

LatentRows rows(int system, bool known = false) {
  std::vector<int> truth;
  for (int p = 0; known && p < panel().view().patterns; ++p) {
    truth.push_back(p % 3 == 0 ? 1 + p % 2 : 0);
  }
  return latent_rows(panel().view(), panel().weights(), system, {truth, {}, {}});
}

std::vector<double> all(const Eigen::MatrixXd& x) { return {x.data(), x.data() + x.size()}; }

}  // namespace

TEST_CASE("fits of all models are those that were recorded") {
  Recorded recorded(
      {231.3918074, 231.3918074, 231.9210867, 231.5122325, 233.0188052, 232.737736,  233.9262137,
       233.0069997, 228.3553191, 228.3553191, 228.3389921, 228.3553191, 233.1195236, 233.1195236,
       233.3990741, 233.2216287, 234.4415944, 234.2966592, 235.017419,  234.5216028, 235.1628797,
       235.1628797, 236.0185678, 235.3394528, 189.2596497, 189.2596497, 219.7970998, 214.6940668,
       196.6815358, 195.5198129, 225.5455322, 220.1538587, 189.6607045, 189.6607045, 226.1788555,
       219.8878678, 197.5682161, 196.3020624, 228.6417848, 225.5506955},
      1e-6);
  Recorded recorded_steps(
      {16, 16, 19, 25, 16, 17, 26, 24, 20, 20, 24, 29, 17, 17, 22, 26, 17, 17, 21, 24,
       20, 20, 22, 26, 15, 15, 23, 24, 17, 16, 24, 26, 16, 16, 41, 29, 17, 17, 32, 33},
      0.1);
  for (const bool known : {false, true}) {
    for (const LatentModel& model : all_models()) {
      if (known && model.errors == Errors::free) continue;
      const LatentRows of = rows(0, known);
      const LatentClass latent(of, model, LatentPrior());
      const LatentFit fit =
          fit_latent(latent, Eigen::VectorXd(), OptimiserOptions(), Fitting::likelihood, true);
      recorded.add(fit.value);
      recorded.add(fit.log_likelihood);
      recorded.add_all(latent.posterior(fit.x));
      recorded.add_all(latent.expected_ratings(fit.x));
      for (int j = 0; j < 5; ++j) recorded.add(latent.accuracy(fit.x, j));
      recorded.check();
      recorded_steps.add(10 + fit.iterations);
      recorded_steps.check();
    }
  }
}

TEST_CASE("derivatives, errors and evidence at a fixed point are those that were recorded") {
  Recorded recorded(
      {-692.1556704, -100.8332949, 3.719104295,  -107.2555546, -692.1556704, -100.8332949,
       3.719104295,  -107.2555546, -950.0375906, 1298.422017,  3.818763538,  -97.58002775,
       -889.6384442, 1005.583328,  6.097998279,  -97.21168248, -1037.139383, -166.7112761,
       13.21190784,  -106.0783514, -1358.059094, -34.99412794, 28.18726042,  -106.949256,
       -924.5993647, 400.1192701,  14.78088532,  -96.58602846, -915.043719,  1067.686143,
       22.44609761,  -96.92684842, -1143.420203, -406.8683114, 3.661018274,  -1143.420203,
       -406.8683114, 3.661018274,  -855.2017026, -406.1799302, 6.047090346,  -258.4221608,
       -1876.324143, 8.057116648,  -824.3042707, -125.5407417, 6.644602464,  -108.4466498,
       -824.3042707, -125.5407417, 6.644602464,  -108.4466498, -130.6939736, -438.7779553,
       15.55227,     -100.0738015, -1183.992545, -284.2449594, 8.216459298,  -98.00964145,
       -1273.339027, -190.8393659, 12.87237956,  -107.2388852, -1004.311192, -90.50303638,
       23.96398602,  -108.1100939, -1181.792181, 23.65735585,  13.55461538,  -97.48802164,
       -744.8600278, 1491657.719,  21.99225739,  -97.6581947,  -343.8895658, -916.3689473,
       6.018373061,  -343.8895658, -916.3689473, 6.018373061,  -937.0773539, -816.0655881,
       9.833322245,  -269.8719567, -825.6771701, 15.2702348},
      1e-6);
  for (const LatentModel& model : all_models()) {
    const LatentRows of = rows(0, true);
    const LatentClass latent(of, model, LatentPrior());
    Eigen::VectorXd x = latent.start();
    for (Eigen::Index i = 0; i < x.size(); ++i) x[i] += 0.1 * std::sin(static_cast<double>(i));
    recorded.add_all(all(x));
    for (const Eigen::VectorXd& start : latent.starts()) recorded.add_all(all(start));
    recorded.add_all(all(latent.warm_start(x, 3)));
    Eigen::VectorXd gradient;
    double log_likelihood = 0;
    recorded.add(latent.evaluate(x, &gradient, &log_likelihood));
    recorded.add(log_likelihood);
    recorded.add_all(all(gradient));
    recorded.add_all(all(latent.scores(x)));
    recorded.add(log_prior_constant(latent.layout));
    recorded.check();
    recorded.add_all(all(log_posterior_hessian(latent, x)));
    recorded.check();
    const Eigen::VectorXd top = fit_latent(latent, x, OptimiserOptions()).x;
    for (const double variance : all(natural_covariance(latent, top).diagonal()))
      recorded.add(std::sqrt(std::max(variance, 0.0)));
    for (const double variance : natural_variances(latent, top)) recorded.add(std::sqrt(variance));
    recorded.check();
    if (model.errors == Errors::free) continue;
    const Evidence evidence = laplace_evidence(latent, top);
    recorded.add(evidence.log_evidence);
    recorded.add(evidence.std_error);
    recorded.check();
  }
}

TEST_CASE("identification of all models is that which was recorded") {
  Recorded recorded({291, 291, 143.5, 143.5, 247, 247, 124.5, 124.5, 226.9, 226.9, 124.5, 134.4,
                     291, 291, 143.5, 143.5, 247, 247, 124.5, 124.5, 226.9, 226.9, 134.4, 134.4},
                    1e-9);
  const Panel few({"AB.AB.ABBA", "ABA.BBAAB.", "..BABAA.AA", "B........."}, {"AABBA....."}, 2);
  for (const LatentModel& model : all_models()) {
    for (const Fitting fitting : {Fitting::likelihood, Fitting::pairs}) {
      for (const LatentRows& of :
           {rows(0), rows(-1), rows(0, true), latent_rows(few.view(), few.weights(), 0, {}),
            latent_rows(few.view(), few.weights(), -1, {})}) {
        if (fitting == Fitting::pairs && model.strata) continue;
        const IdentifiedJudges found = identified_judges(of, model, flat(), fitting);
        recorded.add(found.all);
        recorded.add(found.model);
        recorded.add_all(found.judge);
      }
    }
    recorded.check();
  }
}

TEST_CASE("fits to pairs of ratings are those that were recorded") {
  Recorded recorded(
      {-190.887127, -190.887127, -174.8302063, -167.566752, -139.7105464, -139.7105464,
       -263.3038778, -263.3038778, -251.1702054, -240.7191871, -168.5366964, -168.5366964},
      1e-5);
  for (const LatentModel& model : all_models()) {
    if (model.strata) continue;
    const LatentRows of = rows(0);
    const LatentClass latent(of, model, flat());
    const LatentFit fit =
        fit_latent(latent, Eigen::VectorXd(), OptimiserOptions(), Fitting::pairs, true);
    recorded.add(fit.value);
    recorded.add(fit.log_likelihood);
    for (int j = 0; j < 5; ++j) recorded.add(latent.accuracy(fit.x, j));
    recorded.check();
  }
}

TEST_CASE("pooled fits are those that were recorded, in as many rounds") {
  Recorded recorded(
      {1672.764284, -474.2608377, 981.333532, -448.8543411, 853.5384055, -2562.01939, 92.91029609,
       -3015.720604, 824.2114496, 1522.541706, -488.9937797, 758.2814279, -470.3751996, 744.0147603,
       -2573.782878, 92.91074086, -3026.142668, 913.1609356},
      1e-6);
  Recorded recorded_rounds({29, 26, 46, 53, 21, 16, 37, 47}, 0.15);
  for (const bool one_coin : {false, true}) {
    for (const LatentRows& of :
         {rows(0), rows(-1, true), three_tests().rows(), four_sources().rows()}) {
      PooledOptions options;
      options.one_coin = one_coin;
      options.constant.assign(of.judges, false);
      options.constant[0] = true;
      const PooledFit fit = fit_pooled(of, options);
      recorded.add_all(fit.posterior);
      recorded.add_all(fit.rates);
      recorded.add_all(fit.matrix);
      recorded.add_all(fit.prior);
      recorded.add_all(fit.answered);
      recorded.check();
      recorded.add(fit.log_likelihood);
      recorded.add(fit.log_answers);
      recorded.add(fit.log_density);
      recorded.add(fit.renamed);
      recorded.add(fit.converged);
      recorded.check();
      recorded_rounds.add(fit.rounds);
      recorded_rounds.check();
      options.rounds = 7;
      CHECK(fit_pooled(of, options).rounds <= 11);
    }
    // A system joins with a skill of its own.
    PooledOptions options;
    options.one_coin = one_coin;
    const PooledFit panel_fit = fit_pooled(rows(-1), options);
    recorded.add_all(*given_centre(LatentPrior(), panel_fit, rows(0)).rows);
    recorded.check();
  }
}

TEST_CASE("variational fits are those that were recorded, in as many iterations") {
  Recorded recorded({-11.92557097, 0.2108785579, 0.5518445731, 199.4792368, 205.031407,
                     -10.74409854, 2.834910017, 3.525377785, 199.1039114, 204.5789609},
                    1e-6);
  Recorded recorded_steps({23, 8, 7, 3, 3, 16, 7, 8, 3, 3}, 0.1);
  const LatentRows of = rows(0, true);
  std::vector<double> start;
  for (int i = 0; i < of.size(); ++i) {
    const auto votes = of.votes(i);
    start.insert(start.end(), votes.begin(), votes.end());
  }
  for (const bool ordered : {false, true}) {
    for (const double concentration : {2.0, 30.0, equal_matrices}) {
      VariationalOptions options;
      options.ordered = ordered;
      options.concentration = concentration;
      const DawidSkene fit = fit_dawid_skene(of, LatentPrior(), start, options);
      recorded.add(fit.bound);
      recorded.add_all(fit.posterior);
      recorded.add_all(fit.accuracy);
      recorded.add(fit.dispersion);
      recorded.check();
      recorded_steps.add(fit.iterations);
      recorded_steps.check();
    }
    for (const double shift : {0.0, 0.2}) {
      LatentModel model;
      model.by_rater = true;
      model.errors = ordered ? Errors::distance : Errors::uniform;
      model.strata = shift > 0;
      const LatentClass latent(of, model, LatentPrior(), {shift, nullptr});
      const OwnErrors fit = fit_own_errors(of, model, LatentPrior(), shift, latent.start(), 8, {});
      recorded.add(fit.bound);
      recorded.add_all(fit.counts);
      recorded.add_all(fit.log_error);
      recorded.check();
      recorded_steps.add(fit.rounds);
      recorded_steps.check();
    }
  }
}

TEST_CASE("names, associations and statistics of a panel are those that were recorded") {
  Recorded recorded({1422.737985, 57.13692727, 931.9669193, 60.7545102, 1058.710269, 167.1831219},
                    1e-6);
  for (const LatentRows& of : {rows(0), rows(-1, true)}) {
    recorded.add_all(ratings_by_judge(of));
    const Association found = association(of);
    recorded.add(found.excess);
    recorded.add(found.statistic);
    recorded.add(found.df);
    recorded.add(lowest_base_rate(of));
    recorded.check();
    const LatentModel uniform{true, Errors::uniform, false, false};
    const LatentModel distance{true, Errors::distance, true, false};
    const KTester ratio(of, {uniform, distance, true, false}, LatentPrior());
    const KTester residual(of, {uniform, {}, false, true}, LatentPrior());
    Stream stream(4, 4);
    for (const KStatistics& x : {ratio.observed(), residual.observed(), ratio.replicate(stream),
                                 residual.replicate(stream)}) {
      recorded.add(x.ratio);
      recorded.add(x.pairs);
      recorded.add(x.lowest_rate);
      recorded.add(x.residual);
    }
    recorded.add(ratio.degrees());
    recorded.check();
  }
  for (const LatentRows& of : {three_tests().rows(), four_sources().rows()}) {
    const ReplyAssociation found = reply_association(of);
    recorded.add(found.by_chance);
    recorded.add(found.excess);
    recorded.add(found.variance);
    recorded.add(found.pairs);
    for (const int classes : {2, 3}) recorded.add(identified_by_replies(of, classes));
    recorded.check();
  }
}
