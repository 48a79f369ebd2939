#include <doctest/doctest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "core/model/identified.hpp"
#include "core/model/naming.hpp"
#include "core/model/pooled.hpp"

using namespace fallible;

namespace {

// Rows of replies with counts: digits are categories, '?' is an abstention and '.' a case that the
// rater was not asked.
struct Replies {
  Replies(const std::string& text, int categories) : categories_(categories) {
    std::istringstream in(text);
    double n = 0;
    for (std::string row; in >> row >> n; weight.push_back(n)) {
      raters_ = static_cast<int>(row.size());
      for (int j = 0; j < raters_; ++j) {
        if (row[j] == '?') abstained_.push_back(j + 1);
        if (row[j] < '1' || row[j] > '9') continue;
        rater_.push_back(j + 1);
        category_.push_back(row[j] - '0');
      }
      start_.push_back(static_cast<int>(rater_.size()));
      abstained_start_.push_back(static_cast<int>(abstained_.size()));
    }
  }

  LatentRows rows() const {
    PatternView view;
    view.patterns = static_cast<int>(weight.size());
    view.raters = raters_;
    view.categories = categories_;
    view.start = start_.data();
    view.rater = rater_.data();
    view.category = category_.data();
    view.abstained_start = abstained_start_.data();
    view.abstained = abstained_.data();
    return latent_rows(view, weight, -1, {});
  }

  std::vector<double> weight;

 private:
  int categories_, raters_ = 0;
  std::vector<int> start_{0}, rater_, category_, abstained_start_{0}, abstained_;
};

// 1 is "-", 2 is "+".
Replies three_tests() {
  return Replies(
      "111 95 211 9 ?11 8 121 8 221 6 ?21 1 1?1 4 2?1 1 ??1 1 112 12 212 4 ?12 2 122 5 222 20 ?22 "
      "6 "
      "1?2 1 2?2 6 ??2 2 11? 6 21? 2 ?1? 1 12? 1 22? 7 ?2? 3 1?? 1 2?? 3 ??? 2",
      2);
}

Replies four_sources() {
  return Replies(
      "???? 150 1??? 40 ?1?? 35 11?? 22 ??2? 30 ???2 45 ??22 26 1?2? 6 ?1?2 8 11?2 3 1?22 2", 2);
}

PooledFit fit(const LatentRows& rows, bool one_coin, bool all_constant = false) {
  PooledOptions options;
  options.one_coin = one_coin;
  options.tolerance = 1e-12;
  options.constant.assign(rows.judges, all_constant);
  return fit_pooled(rows, options);
}

bool near(double x, double y) { return std::fabs(x - y) < 1e-6; }

}  // namespace

TEST_CASE("answering probabilities around a centre of one coin are those of two other programs") {
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

TEST_CASE("answers of constant judges are no part of what is predicted") {
  const LatentRows rows = four_sources().rows();
  CHECK(near(fit(rows, false, true).log_answers, 0));
  CHECK(near(fit(rows, false).log_answers, -0.394575));
  CHECK(near(fit(rows, false).log_likelihood, -698.169292));
}

TEST_CASE("judges who never abstain always answer") {
  Replies replies("111 30 112 5 221 4 222 20 12? 3 21? 2", 2);
  const PooledFit found = fit(replies.rows(), false);
  CHECK(found.answering.used_judges == std::vector<int>{2});
  CHECK(found.answered[0] == 1);
  CHECK(found.answered[5] < 1);
  // One who only abstains has no part.
  const PooledFit four =
      fit(Replies("111? 30 112? 5 221? 4 222? 20 12?? 3 21?? 2", 2).rows(), false);
  CHECK(near(four.log_likelihood, found.log_likelihood));
  CHECK(four.answered[6] == 1);
  // If no abstention is modelled, all do.
  LatentRows rows = replies.rows();
  rows.abstained.clear();
  const PooledFit plain = fit(rows, false);
  CHECK(plain.answering.used_judges.empty());
  CHECK(near(plain.log_answers, plain.log_likelihood));
}

TEST_CASE("agreement of replies beyond chance is that of two other programs") {
  const ReplyAssociation tests = reply_association(three_tests().rows());
  CHECK(near(tests.by_chance, 0.580554591));
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
