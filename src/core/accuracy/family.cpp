#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "member_matrices.hpp"
#include "member_one_coin.hpp"
#include "member_own_errors.hpp"

namespace fallible {

namespace {

// Concentrations of the Dirichlet priors that shrink the error rates of each judge towards those of
// the one-coin member that is extended (the base). Each member with separate error rates has one of
// these values.
constexpr double error_concentrations[] = {30, 8};
// Larger panels have no members with separate error rates, which would be too slow.
constexpr int most_raters = 120;

// Constructs a member, appends it to the family, and returns a pointer to it.
template <class MemberType, class... Arguments>
const MemberType* add_member(Family& family, const Arguments&... arguments) {
  auto member = std::make_unique<MemberType>(arguments...);
  const MemberType* out = member.get();
  family.push_back(std::move(member));
  return out;
}

// Adds one-coin members, one for each shift in accuracy between strata. The fit of a member starts
// from the fit of the member before it. If `separate_errors` is true, also adds members that extend
// them by separate error rates. Returns the first one-coin member.
const OneCoin* add_one_coins(Family& family, bool by_rater, bool distance, bool separate_errors) {
  const auto variants = static_cast<int>(std::size(error_concentrations));
  const OneCoin *first = nullptr, *last = nullptr;
  for (const double shift : shifts) {
    last = add_member<OneCoin>(family, OneCoinSettings{by_rater, distance, shift}, last);
    if (!first) first = last;
    const SeparateErrorRows* start = nullptr;
    for (const double concentration : error_concentrations) {
      if (separate_errors)
        start = add_member<SeparateErrorRows>(family, last, concentration, variants, start);
    }
  }
  return first;
}

}  // namespace

const Member* Member::root() const {
  const Member* predecessor = base() ? base() : start();
  return predecessor ? predecessor->root() : this;
}

Family make_family(const LatentRows& rows, bool ordered) {
  Family out;
  // With two categories there is only one possible error, so there are no separate error rates.
  const bool has_error_rows = rows.categories > 2 && rows.raters <= most_raters;
  const bool by_distance = rows.categories > 2 && ordered;
  const OneCoin* common = add_one_coins(out, false, false, has_error_rows && !by_distance);
  const OneCoin* by_rater = add_one_coins(out, true, false, has_error_rows && !by_distance);
  if (by_distance) {
    common = add_one_coins(out, false, true, has_error_rows);
    by_rater = add_one_coins(out, true, true, has_error_rows);
  }
  add_member<Matrices>(out, common, by_distance);
  add_member<Matrices>(out, by_rater, by_distance);
  return out;
}

JointData::JointData(const Ratings& ratings, int system)
    : is_used_(patterns_to_fit(ratings, system)),
      rows_(latent_rows(ratings.patterns, masked(ratings.weight, is_used_),
                        gives_one_answer(ratings, system) ? -1 : system,
                        {ratings.known.truth, {}})),
      exchangeable_(regardless_of_rater(rows_)) {
  answer_.assign(rows_.size(), -1);
  if (system < 0) return;
  for_each_answer(ratings, system, rows_, [&](int p, int row, int answer) {
    answer_[row] = answer;
    answered_patterns_.push_back(p);
  });
  count_cases(ratings.weight);
}

JointData JointData::with_weights(const std::vector<double>& pattern_weight) const {
  JointData out = *this;
  out.rows_.weight = row_weights(rows_.of_pattern, masked(pattern_weight, is_used_), rows_.size());
  out.exchangeable_.reweight(out.rows_.weight);
  out.count_cases(pattern_weight);
  return out;
}

void JointData::set_rater_posterior(const std::vector<double>& of_patterns) {
  const std::size_t K = rows_.categories;
  rater_posterior_.resize(rows_.size() * K);
  for (std::size_t p = 0; p < rows_.of_pattern.size(); ++p) {
    if (rows_.of_pattern[p] < 0) continue;
    std::copy_n(row_of(of_patterns, p, K), K, row_of(rater_posterior_, rows_.of_pattern[p], K));
  }
}

void JointData::count_cases(const std::vector<double>& pattern_weight) {
  answered_.assign(rows_.size(), 0.0);
  for (const int p : answered_patterns_) answered_[rows_.of_pattern[p]] += pattern_weight[p];
  cases_ = std::accumulate(answered_.begin(), answered_.end(), 0.0);
}

double JointData::mean_posterior(const std::vector<double>& posterior) const {
  double out = 0;
  for (int i = 0; i < rows_.size(); ++i) {
    if (answer_[i] >= 0) out += answered_[i] * answer_probability(posterior, i) / cases_;
  }
  return out;
}

double JointData::conditional_error(const std::vector<double>& posterior) const {
  const double p = mean_posterior(posterior), variance = p * (1 - p);
  // Part of `variance` that is lost because only probabilities of the truth are known. At least 5%
  // of the variance is kept, so that the error is finite.
  double lost_variance = 0;
  for (int i = 0; i < rows_.size(); ++i) {
    if (answer_[i] < 0) continue;
    const double p_right = answer_probability(posterior, i);
    lost_variance += answered_[i] * p_right * (1 - p_right) / cases_;
  }
  return variance /
         std::sqrt(std::max(cases_ * (variance - lost_variance), 0.05 * cases_ * variance + 0.25));
}

double JointData::rater_error(const std::vector<double>& posterior) const {
  double wrong = 0, total = 0;
  for (int i = 0; i < rows_.size(); ++i) {
    const double* probability = row_of(posterior, i, rows_.categories);
    for (int at = rows_.start[i]; at < rows_.start[i + 1]; ++at) {
      if (rows_.judge[at] >= rows_.raters) continue;
      total += rows_.weight[i];
      wrong += rows_.weight[i] * (1 - probability[rows_.category[at]]);
    }
  }
  return wrong / total;
}

}  // namespace fallible
