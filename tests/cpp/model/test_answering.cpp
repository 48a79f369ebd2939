#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/model/identified.hpp"
#include "core/model/naming.hpp"
#include "core/model/pooled.hpp"
#include "replies.hpp"

using namespace fallible;

namespace {

PooledFit fit(const LatentRows& rows, bool one_coin, bool all_constant = false) {
  PooledOptions options;
  options.one_coin = one_coin;
  options.tolerance = 1e-12;
  options.constant.assign(rows.judges, all_constant);
  return fit_pooled(rows, options);
}

bool near(double x, double y) { return std::fabs(x - y) < 1e-6; }

}  // namespace

TEST_CASE("answering probabilities of the one-coin model equal those of two other programs") {
  const LatentRows rows = three_tests().rows();
  const PooledFit found = fit(rows, true);
  CHECK(near(found.centre.c, 19.7456238));
  CHECK(near(found.centre.tau, 0.4412957));
  CHECK(near(found.answering.kappa, 5.1419595));
  CHECK(near(found.answering.omega, 0.2613917));
  CHECK(near(found.answering.h[0], 0.1401001));
  CHECK(near(found.answering.h[1], -0.0801110));
  CHECK(near(found.rates[1], 0.3158436));
  CHECK(near(found.log_answers, -281.824426));
  const PooledFit sources = fit(four_sources().rows(), true);
  CHECK(near(sources.answering.kappa, 2.2749924));
  CHECK(near(sources.rates[1], 0.4475942));
}

TEST_CASE("answers of constant judges are not used in predictions") {
  const LatentRows rows = four_sources().rows();
  CHECK(near(fit(rows, false, true).log_answers, 0));
  CHECK(near(fit(rows, false).log_answers, -0.394575));
  CHECK(near(fit(rows, false).log_likelihood, -698.169292));
}

TEST_CASE("judges who never abstain always answer") {
  Replies replies("111 30 112 5 221 4 222 20 12? 3 21? 2", 2);
  const PooledFit found = fit(replies.rows(), false);
  CHECK(found.answering.used_judges == std::vector<int>{2});
  CHECK(found.answer_probability[0][0] == 1);
  CHECK(found.answer_probability[2][1] < 1);
  // A judge who always abstains has no effect.
  const PooledFit four =
      fit(Replies("111? 30 112? 5 221? 4 222? 20 12?? 3 21?? 2", 2).rows(), false);
  CHECK(near(four.log_likelihood, found.log_likelihood));
  CHECK(four.answer_probability[3][0] == 1);
  // If abstentions are not modelled, all judges always answer.
  LatentRows rows = replies.rows();
  rows.abstained.clear();
  const PooledFit plain = fit(rows, false);
  CHECK(plain.answering.used_judges.empty());
  CHECK(near(plain.log_answers, plain.log_likelihood));
}

TEST_CASE("chance-corrected agreement of replies equals that of two other programs") {
  const ReplyAssociation tests = reply_association(three_tests().rows());
  CHECK(near(tests.chance_agreement, 0.580554591));
  CHECK(near(tests.excess, 122.985044));
  CHECK(std::fabs(tests.variance - 242.206600) < 1e-5);
  CHECK(near(tests.z(), 7.9024056));
  const ReplyAssociation sources = reply_association(four_sources().rows());
  CHECK(near(sources.excess, 28.8456814));
  CHECK(near(sources.z(), 5.9620400));
  CHECK(sources.pairs == 6);
}

TEST_CASE("three sources identify two classes, and two do not") {
  CHECK(identified_by_replies(four_sources().rows(), 2));
  CHECK(!identified_by_replies(four_sources().rows(), 3));
  CHECK(!identified_by_replies(Replies("1? 3 ?2 4 12 5 ?? 6", 2).rows(), 2));
}
