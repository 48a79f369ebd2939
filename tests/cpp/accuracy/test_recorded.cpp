// Estimates of all methods for small panels, compared with recorded sums.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../panel.hpp"
#include "../recorded.hpp"
#include "core/accuracy/bootstrap.hpp"
#include "core/accuracy/estimator.hpp"
#include "core/accuracy/profile_interval.hpp"

using namespace fallible;

namespace {

Panel three_categories() {
  return Panel({"ABCABCABBCAACBC.BCAB", "ABCABCACBA..BBCABCAC", "ABCBBCABCCABA.CACCAB",
                "A..ABAABCCABBACBBCAA"},
               {"ABCABBABBCABCABC.CBB", "CBCA.CABACABBABCBCAB"}, 3);
}

Panel two_categories() {
  return Panel({"AABBABBAABAAABAB", "AABBABABABB.ABBA", "ABBBAABAAB.AABBB"}, {"AABBABBBABABABBA"},
               2);
}

std::vector<int> some_truths(const Panel& panel, int categories) {
  std::vector<int> out(panel.view().patterns, 0);
  for (std::size_t p = 0; p < out.size(); p += 4) out[p] = 1 + static_cast<int>(p) % categories;
  return out;
}

std::vector<double> other_weights(const Estimator& of) {
  std::vector<double> out = of.cells().cases;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] *= static_cast<double>((i * 5 + 2) % 4);
  return out;
}

void check_parts(const SystemEstimate& of, Recorded& recorded) {
  recorded.add(of.estimate);
  if (of.algebra) {
    recorded.add_all(std::vector<double>{of.algebra->cases, of.algebra->uninformative,
                                         of.algebra->mean_posterior});
    std::vector<double> bins;
    for (const Bin& bin : of.algebra->bins) {
      bins.insert(bins.end(), {bin.lower, bin.upper, bin.probability, bin.cases, bin.agreement,
                               bin.estimate_raw, bin.estimate});
    }
    recorded.add_all(bins);
  }
  if (!of.average) return;
  const AverageParts& parts = *of.average;
  recorded.add_all(std::vector<double>{parts.independent, parts.shared, parts.dependence,
                                       parts.typical, parts.std_error, parts.rater_error,
                                       parts.independence_weight});
  recorded.add_all(parts.independent_counts);
  recorded.add_all(parts.shared_counts);
  std::vector<double> evidence, prior, weight, estimate;
  for (const MemberResult& member : parts.members) {
    // Differences between models, not the large common part.
    evidence.push_back(member.log_evidence - parts.members.front().log_evidence);
    prior.push_back(member.log_prior);
    weight.push_back(member.weight);
    estimate.insert(estimate.end(), {member.estimate, member.std_error, member.rater_accuracy});
  }
  recorded.add_all(evidence);
  recorded.add_all(prior);
  recorded.add_all(weight);
  recorded.add_all(estimate);
}

void check_all(const Panel& panel, const std::vector<int>& truth, const EstimatorOptions& options,
               Recorded& recorded) {
  const auto of =
      make_estimator({panel.view(), panel.weights(), {truth, {}, {}}, nullptr}, options, Host());
  for (int s = 0; s < panel.view().systems; ++s) {
    check_parts(of->systems()[s], recorded);
    recorded.add_all(of->posterior(s));
  }
  const auto weights = other_weights(*of);
  recorded.add_all(of->with_weights(weights));
  recorded.add_all(of->counts_with_weights(weights));
  recorded.check();
}

EstimatorOptions by(Method method) {
  EstimatorOptions out;
  out.method = method;
  return out;
}

}  // namespace

TEST_CASE("estimates by algebra are those that were recorded") {
  Recorded recorded({432.233619,  158.6367989, 391.0702496, 111.593639,  466.2646989, 183.7993004,
                     351.4358581, 67.02717416, 177.7604478, 43.12702714, 437.8742243, 172.0803003,
                     397.5648894, 119.5781229, 473.2844614, 201.9772733, 351.4358581, 67.02717416,
                     177.7604478, 43.12702714, 437.8742243, 175.2379277, 397.5648894, 121.8486164,
                     473.2844614, 204.979734,  351.4358581, 67.71460009, 177.7604478, 43.16716188},
                    1e-8);
  for (const Clip clip : {Clip::bin, Clip::overall, Clip::none}) {
    for (const double width : {0.1, 0.25, 0.07, 1.0}) {
      EstimatorOptions options = by(Method::binned);
      options.bin_width = width;
      options.clip = clip;
      check_all(three_categories(), {}, options, recorded);
      check_all(lehner(), {}, options, recorded);
    }
    EstimatorOptions options = by(Method::unbinned);
    options.clip = clip;
    check_all(three_categories(), {}, options, recorded);
    check_all(two_categories(), {}, options, recorded);
  }
}

TEST_CASE("estimates of latent class models are those that were recorded") {
  Recorded recorded(
      {446.5558516, 101.8426235, 446.7933175, 448.1849739, 101.7625402, 449.9377751, 436.4396771,
       444.6568342, 448.1849739, 450.8313551, 447.3025306, 100.7657659, 447.2091649, 448.736142,
       100.9456402, 452.2469583, 437.1943839, 442.8055697, 448.736142,  450.4855342},
      1e-6);
  const Panel panel = three_categories();
  for (const Method method : {Method::joint, Method::shared}) {
    for (const bool by_rater : {false, true}) {
      EstimatorOptions options = by(method);
      options.model.by_rater = by_rater;
      check_all(panel, {}, options, recorded);
      check_all(two_categories(), some_truths(two_categories(), 2), options, recorded);
      options.prior.none = true;
      check_all(panel, {}, options, recorded);
    }
    EstimatorOptions options = by(method);
    options.model = {true, Errors::distance, false, true};
    check_all(panel, some_truths(panel, 3), options, recorded);
    options.model = {true, Errors::free, false, false};
    options.prior.pooled = true;
    check_all(panel, {}, options, recorded);
    options = by(method);
    options.model.by_rater = true;
    options.deviance = 2;
    check_all(panel, {}, options, recorded);
    options.fitting = Fitting::pairs;
    check_all(panel, {}, options, recorded);
  }
}

TEST_CASE("averages over models are those that were recorded") {
  Recorded recorded({223.4987176, 173.1739913, 222.2570246, 185.9704804}, 1e-5);
  for (const bool ordered : {false, true}) {
    EstimatorOptions options = by(Method::average);
    options.ordered = ordered;
    check_all(three_categories(), {}, options, recorded);
  }
  EstimatorOptions options = by(Method::average);
  check_all(two_categories(), some_truths(two_categories(), 2), options, recorded);
  options.correction = 0.3;
  check_all(two_categories(), {}, options, recorded);
}

TEST_CASE("linear replicates are those that were recorded") {
  Recorded recorded({26.58383874, 27.41127726, 26.83684227, 27.93127404}, 1e-6);
  const Panel panel = three_categories();
  BootstrapOptions draws;
  draws.replicates = 5;
  draws.seed = 12;
  for (const bool by_rater : {false, true}) {
    for (const bool none : {false, true}) {
      EstimatorOptions options = by(Method::joint);
      options.model.by_rater = by_rater;
      options.prior.none = none;
      const Ratings ratings{
          panel.view(), panel.weights(), {some_truths(panel, 3), {}, {}}, nullptr};
      recorded.add_all(linear_replicates(ratings, options, draws, Host()));
      recorded.check();
    }
  }
}

TEST_CASE("profile intervals are those that were recorded") {
  Recorded recorded({5.424736901, 5.491470078, 5.517670605, 5.312467123, 5.390427509, 5.43413279,
                     5.520317584, 5.572458474, 5.581644547, 5.713699873, 5.73868011,  5.822818792,
                     5.889198724, 5.868707437, 5.77904645,  5.69869299,  5.734650056, 5.760062261,
                     6.254521572, 6.028158391, 5.3,         5.949768108, 5.925816624, 5.80501239},
                    1e-5);
  for (const Panel& panel : {three_categories(), two_categories()}) {
    const LatentRows rows = latent_rows(panel.view(), panel.weights(), 0, {});
    for (const bool none : {false, true}) {
      LatentPrior prior;
      prior.none = none;
      for (const Errors errors : {Errors::uniform, Errors::free}) {
        const LatentClass latent(rows, {true, errors, false, false}, prior);
        for (const double deviance : {0.5, 2.7, 6.0}) {
          const ProfileInterval of = profile_interval(latent, OptimiserOptions(), deviance);
          recorded.add_all(std::vector<double>{of.low, of.high, of.converged ? 1.0 : 0.0});
          recorded.add(of.moved);
          recorded.check();
        }
      }
    }
  }
}
