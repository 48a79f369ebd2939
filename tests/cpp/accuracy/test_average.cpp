#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "../panel.hpp"
#include "core/accuracy/member_matrices.hpp"
#include "core/accuracy/member_one_coin.hpp"
#include "core/accuracy/member_own_errors.hpp"
#include "core/base/special.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

double total(const std::vector<MemberResult>& members) {
  double out = 0;
  for (const auto& member : members) out += member.weight;
  return out;
}

std::unique_ptr<Estimator> fit(const Panel& panel, const std::vector<double>& weight,
                               const std::vector<int>& known, int threads = 1) {
  EstimatorOptions options;
  options.threads = threads;
  return make_estimator({panel.view(), weight, {known, {}, {}}, nullptr}, options, Host());
}

}  // namespace

TEST_CASE("the log gamma function and its derivative equal known values") {
  for (const double x : {0.01, 0.5, 1.0, 3.7, 8.0, 123.4, 1e6}) {
    CHECK(log_gamma(x) == Approx(std::lgamma(x)).epsilon(1e-12));
    CHECK(digamma(x + 1) == Approx(digamma(x) + 1 / x).epsilon(1e-12));
    const double h = 1e-5 * x;
    CHECK(digamma(x) == Approx((log_gamma(x + h) - log_gamma(x - h)) / (2 * h)).epsilon(1e-5));
  }
  CHECK(digamma(1) == Approx(-0.57721566490153286).epsilon(1e-13));
}

TEST_CASE("members of the family come after the members that they need") {
  const Panel panel = three_raters();
  LatentRows rows = latent_rows(panel.view(), panel.weights(), 0, {});
  const auto check = [](const Family& family, std::size_t size, double prior, bool ordered) {
    REQUIRE(family.size() == size);
    double total = 0;
    std::set<const Member*> before{nullptr};
    for (const auto& member : family) {
      CHECK(before.count(member->base()) == 1);
      CHECK(before.count(member->start()) == 1);
      before.insert(member.get());
      total += std::exp(member->result().log_prior);
    }
    CHECK(total == Approx(prior));
    std::set<std::tuple<std::string, std::string, double, double>> labels;
    for (const auto& member : family) {
      const MemberLabel member_label = member->result().label;
      labels.insert({member_label.accuracy, member_label.errors, member_label.difficulty,
                     std::isnan(member_label.concentration) ? 0 : member_label.concentration});
    }
    CHECK(labels.size() == size);
    // The members with confusion matrices extend the most flexible one-coin members without strata:
    // with equal raters (last but one), and with different raters (last).
    for (const bool separate_raters : {false, true}) {
      const Member& matrices = *family[size - (separate_raters ? 1 : 2)];
      CHECK(matrices.result().label.errors == "matrix");
      REQUIRE(matrices.base());
      const MemberLabel base = matrices.base()->result().label;
      CHECK(base.accuracy == (separate_raters ? "rater" : "common"));
      CHECK(base.difficulty == 0);
      CHECK(base.errors == (ordered ? "distance" : "uniform"));
    }
  };
  check(make_family(rows, true), 4 * 4 + 2 * 4 * 2 + 2, 4 + 2 + 2, true);
  check(make_family(rows, false), 2 * 4 + 2 * 4 * 2 + 2, 2 + 2 + 2, false);
  rows.raters = 121;  // large panels have no members with separate error rates
  check(make_family(rows, true), 4 * 4 + 2, 4 + 2, true);
  check(make_family(rows, false), 2 * 4 + 2, 2 + 2, false);
  rows.categories = 2;
  check(make_family(rows, true), 2 * 4 + 2, 2 + 2, false);  // two categories have only one distance
}

TEST_CASE("a system that gives one answer is no judge, and only its cases are fitted") {
  const auto data = [](const std::string& answers) {
    const Panel panel({"AABBAB", "AABABB", "ABBBAA"}, {answers}, 2);
    return JointData({panel.view(), panel.weights(), {}, nullptr}, 0);
  };
  const auto cases_to_fit = [](const JointData& joint) {
    return std::accumulate(joint.rows().weight.begin(), joint.rows().weight.end(), 0.0);
  };
  const JointData several = data("AAB.AB"), one = data("AAAAAA"), rule = data("A.A..A");
  CHECK(several.rows().joined());
  CHECK(several.cases() == 5);
  CHECK(cases_to_fit(several) == 6);
  CHECK(!one.rows().joined());
  CHECK(one.cases() == 6);
  CHECK(cases_to_fit(one) == 6);
  CHECK(!rule.rows().joined());
  CHECK(rule.cases() == 3);
  CHECK(cases_to_fit(rule) == 3);
}

TEST_CASE("names of members contain the assumptions that they relax") {
  const auto label = [](const Member& member) { return member.result().label; };
  const MemberLabel k_model = label(OneCoin({false, false, 0}));
  CHECK(k_model.accuracy == "common");
  CHECK(k_model.errors == "uniform");
  CHECK(k_model.difficulty == 0);
  CHECK(std::isnan(k_model.concentration));
  CHECK(OneCoin({true, true, 0}).has_no_shared_errors());
  CHECK(!OneCoin({false, false, 0.1}).has_no_shared_errors());
  const OneCoin equal({true, true, 0}), hard({true, true, 0.2});
  const MemberLabel separate_label = label(SeparateErrorRows(&hard, 30, 2));
  CHECK(separate_label.accuracy == "rater");
  CHECK(separate_label.errors == "own");
  CHECK(separate_label.difficulty == 0.2);
  CHECK(separate_label.concentration == 30);
  CHECK(!SeparateErrorRows(&equal, 30, 2).has_no_shared_errors());
  CHECK(label(Matrices(&equal, false)).errors == "matrix");
  CHECK(label(Matrices(&equal, false)).accuracy == "rater");
}

TEST_CASE("weights of an average depend on known truths and on weights of cases") {
  const Panel panel = three_raters();
  const auto weight = panel.weights();
  const auto average = fit(panel, weight, {});
  const SystemEstimate& estimate = average->systems().front();
  const AverageParts& parts = *estimate.average;
  CHECK(total(parts.members) == Approx(1));
  CHECK(estimate.estimate > 0.5);
  CHECK(estimate.estimate < 1);
  CHECK(parts.shared_estimate > 0.5);
  CHECK(parts.std_error > 0);
  CHECK(parts.rater_error < 0.5);
  CHECK(average->estimate_with_weights(average->cells().cases)[0] ==
        Approx(estimate.estimate).epsilon(2e-3));
  CHECK(std::isnan(average->estimate_with_weights(std::vector<double>(weight.size(), 0.0))[0]));
  const auto posterior = average->posterior(0);
  REQUIRE(posterior.size() == weight.size() * 3);
  CHECK(posterior[0] + posterior[1] + posterior[2] == Approx(1));

  CHECK(fit(panel, weight, {}, 3)->systems().front().estimate == estimate.estimate);

  // If all truths are known and differ from the system's answers, the estimate is that of a system
  // that is always wrong.
  std::vector<int> known;
  for (int p = 0; p < panel.view().patterns; ++p) {
    known.push_back(panel.view().answer_of(p, 0) % 3 + 1);
  }
  CHECK(fit(panel, weight, known)->systems().front().average->independent_estimate ==
        Approx(1.0 / 22));
}

TEST_CASE("an average needs at least one case") {
  const Panel panel({"ABAB", "ABBB", "ABAB"}, {"A...", "...."}, 2);
  const auto average = fit(panel, panel.weights(), {});
  const double independent = average->systems()[0].average->independent_estimate;
  CHECK(independent > 0.5);
  CHECK(independent < 1);
  CHECK(!average->systems()[1].average);
}

TEST_CASE("with new weights, members that are not refitted do not affect the average") {
  const Panel panel = three_raters();
  std::vector<double> few = panel.weights(), many(few);
  for (double& w : few) w *= 20;
  for (std::size_t i = 0; i < many.size(); ++i) many[i] *= i % 4 == 0 ? 400 : 40;
  const auto average = fit(panel, few, {}), repeated = fit(panel, many, {});
  const auto& members = average->systems().front().average->members;
  REQUIRE(std::any_of(members.begin(), members.end(), [](const MemberResult& member) {
    return member.weight < 1e-3 && !std::isnan(member.log_evidence);
  }));
  CHECK(average->estimate_with_weights(repeated->cells().cases)[0] ==
        Approx(repeated->systems().front().estimate).epsilon(1e-4));
}

TEST_CASE("fits of members with little weight end early, unless others depend on them") {
  const Panel panel = three_raters();
  std::vector<double> weight = panel.weights();
  for (double& w : weight) w *= 500;
  const JointData data({panel.view(), weight, {}, nullptr}, 0);
  OneCoin has_no_shared_errors({true, false, 0}), hard({true, false, 0.3}, &has_no_shared_errors),
      short_fit(hard);
  has_no_shared_errors.fit(data, no_weight_limit);
  hard.fit(data, no_weight_limit);
  short_fit.fit(data, 0);
  CHECK(!hard.has_ended_early());
  CHECK(short_fit.has_ended_early());
  CHECK(short_fit.log_posterior() < hard.log_posterior());
  const auto refitted = short_fit.refit(data, nullptr);
  CHECK(!refitted->as_base()->has_ended_early());
  CHECK(refitted->result().estimate == Approx(hard.result().estimate).epsilon(1e-3));

  SeparateErrorRows on_hard(&hard, 8, 2), on_rough(&short_fit, 8, 2), given_up(on_rough);
  on_hard.fit(data, no_weight_limit);
  on_rough.fit(data, no_weight_limit);
  given_up.fit(data, 0);
  CHECK(on_rough.result().log_evidence == Approx(on_hard.result().log_evidence).epsilon(1e-4));
  CHECK(given_up.result().log_evidence < on_hard.result().log_evidence + 1);
}

TEST_CASE("the variance of an average is the sum of those within and between its members") {
  const Panel panel = three_raters();
  std::vector<double> weight = panel.weights();
  for (double& w : weight) w *= 20;
  const auto average = fit(panel, weight, {});
  const AverageParts& found = *average->systems().front().average;
  double mean = 0, square = 0;
  for (const MemberResult& member : found.members) {
    mean += member.weight * member.estimate;
    square += member.weight * (std::pow(member.std_error, 2) + std::pow(member.estimate, 2));
  }
  CHECK(found.independent_estimate == Approx((400 * mean + 1) / 402).epsilon(1e-9));
  CHECK(found.std_error == Approx(std::sqrt(square - mean * mean)).epsilon(1e-9));
}

TEST_CASE("with known truths there is no correction for shared errors") {
  const Panel panel({"AABAABBA", "ABAABABA"}, {"AAABBBAB"}, 2);
  const std::vector<int> truth{1, 1, 1, 2, 2, 2, 2, 2};
  std::vector<int> known(panel.view().patterns);
  for (std::size_t i = 0; i < truth.size(); ++i) known[panel.patterns.index[i] - 1] = truth[i];
  const auto average = fit(panel, panel.weights(), known);
  const AverageParts& found = *average->systems().front().average;
  CHECK(found.typical_correction == 1);  // raters at chance
  CHECK(found.shared_estimate == Approx(7.0 / 8));
  CHECK(average->systems().front().estimate == Approx(found.independent_estimate).epsilon(1e-12));
}

TEST_CASE("a member is excluded if raters would be worse than chance on difficult cases") {
  const Panel panel({"AAABBBABAB", "AABBBBABBA", "ABABBAABBB"}, {"AAABBBABAB"}, 2);
  const JointData data({panel.view(), panel.weights(), {}, nullptr}, 0);
  const auto ruled_out = [&](double shift) {
    OneCoin member({true, false, shift});
    member.fit(data, no_weight_limit);
    REQUIRE(std::fabs(member.result().rater_accuracy - 0.7) < 0.1);
    return member.ruled_out();
  };
  CHECK(!ruled_out(0));
  CHECK(!ruled_out(0.1));
  CHECK(ruled_out(0.3));
}
