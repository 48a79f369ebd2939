#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "member_matrices.hpp"
#include "member_one_coin.hpp"
#include "member_own_errors.hpp"

namespace fallible {

namespace {

// Concentrations of a Dirichlet prior. The prior shrinks the shares of wrong answers of each judge
// towards the shares in a one-coin model. Each concentration is used in separate models.
constexpr double error_concentrations[] = {30, 8};
// With more raters, models with separate shares of wrong answers for each judge are left out,
// because their fits are slow.
constexpr int max_raters = 120;

// Constructs a model, appends it to `family`, and returns a pointer to it.
template <class MemberType, class... Arguments>
const MemberType* add_member(Family& family, const Arguments&... arguments) {
  auto member = std::make_unique<MemberType>(arguments...);
  const MemberType* pointer = member.get();
  family.push_back(std::move(member));
  return pointer;
}

// Adds a one-coin model for each element of `shifts` (differences in accuracy between strata of
// difficulty). Returns the model with shift 0. If `separate_errors` is true, also adds extensions
// of these models, in which each judge has separate shares of wrong answers.
const OneCoin* add_one_coins(Family& family, bool separate_raters, bool distance,
                             bool separate_errors) {
  const auto variants = static_cast<int>(std::size(error_concentrations));
  const OneCoin *first_member = nullptr, *last_member = nullptr;
  for (const double shift : shifts) {
    // The fit starts from the fit with the previous shift.
    last_member =
        add_member<OneCoin>(family, OneCoinSettings{separate_raters, distance, shift}, last_member);
    if (!first_member) first_member = last_member;
    const SeparateErrorRows* start = nullptr;
    for (const double concentration : error_concentrations) {
      if (separate_errors)
        start = add_member<SeparateErrorRows>(family, last_member, concentration, variants, start);
    }
  }
  return first_member;
}

}  // namespace

const Member* Member::root() const {
  const Member* predecessor = base() ? base() : start();
  return predecessor ? predecessor->root() : this;
}

Family make_family(const LatentRows& rows, bool ordered) {
  Family family;
  // With two categories there is only one possible error, so there are no separate error rates.
  const bool has_error_rows = rows.categories > 2 && rows.raters <= max_raters;
  const bool has_distance_errors = rows.categories > 2 && ordered;
  const OneCoin* common_base =
      add_one_coins(family, false, false, has_error_rows && !has_distance_errors);
  const OneCoin* rater_base =
      add_one_coins(family, true, false, has_error_rows && !has_distance_errors);
  if (has_distance_errors) {
    common_base = add_one_coins(family, false, true, has_error_rows);
    rater_base = add_one_coins(family, true, true, has_error_rows);
  }
  add_member<Matrices>(family, common_base, has_distance_errors);
  add_member<Matrices>(family, rater_base, has_distance_errors);
  return family;
}

JointData::JointData(const Ratings& ratings, int system)
    : is_used_(patterns_to_fit(ratings, system)),
      rows_(latent_rows(ratings.patterns, mask_weights(ratings.weight, is_used_),
                        gives_one_answer(ratings, system) ? -1 : system,
                        {ratings.known.truth, {}})),
      exchangeable_(merge_raters(rows_)) {
  answer_.assign(rows_.size(), -1);
  if (system < 0) return;
  for_each_answer(ratings, system, rows_, [&](int p, int row, int answer) {
    answer_[row] = answer;
    answered_patterns_.push_back(p);
  });
  count_cases(ratings.weight);
}

JointData JointData::reweighted(const std::vector<double>& pattern_weight) const {
  JointData data = *this;
  data.rows_.weight =
      row_weights(rows_.row_of_pattern, mask_weights(pattern_weight, is_used_), rows_.size());
  data.exchangeable_.reweight(data.rows_.weight);
  data.count_cases(pattern_weight);
  return data;
}

void JointData::set_rater_posterior(const std::vector<double>& pattern_posterior) {
  const std::size_t K = rows_.categories;
  rater_posterior_.resize(rows_.size() * K);
  for (std::size_t p = 0; p < rows_.row_of_pattern.size(); ++p) {
    if (rows_.row_of_pattern[p] < 0) continue;
    std::copy_n(row_of(pattern_posterior, p, K), K,
                row_of(rater_posterior_, rows_.row_of_pattern[p], K));
  }
}

void JointData::count_cases(const std::vector<double>& pattern_weight) {
  answer_weight_.assign(rows_.size(), 0.0);
  for (const int p : answered_patterns_)
    answer_weight_[rows_.row_of_pattern[p]] += pattern_weight[p];
  cases_ = std::accumulate(answer_weight_.begin(), answer_weight_.end(), 0.0);
}

double JointData::mean_posterior(const std::vector<double>& posterior) const {
  double mean = 0;
  for (int i = 0; i < rows_.size(); ++i) {
    if (answer_[i] >= 0) mean += answer_weight_[i] * answer_probability(posterior, i) / cases_;
  }
  return mean;
}

double JointData::conditional_error(const std::vector<double>& posterior) const {
  const double accuracy = mean_posterior(posterior), variance = accuracy * (1 - accuracy);
  // Information is lost, because only probabilities of the true categories are known. The loss is
  // p (1 - p), averaged over cases, where p is the posterior probability that the answer is right.
  double lost_variance = 0;
  for (int i = 0; i < rows_.size(); ++i) {
    if (answer_[i] < 0) continue;
    const double p_right = answer_probability(posterior, i);
    lost_variance += answer_weight_[i] * p_right * (1 - p_right) / cases_;
  }
  // At most 95% of `variance` counts as lost, so that the standard error is finite.
  return variance /
         std::sqrt(std::max(cases_ * (variance - lost_variance), 0.05 * cases_ * variance + 0.25));
}

double JointData::rater_error(const std::vector<double>& posterior) const {
  double wrong = 0, total = 0;
  for (int i = 0; i < rows_.size(); ++i) {
    const double* probability = row_of(posterior, i, rows_.categories);
    for (int position = rows_.start[i]; position < rows_.start[i + 1]; ++position) {
      if (rows_.judge[position] >= rows_.raters) continue;
      total += rows_.weight[i];
      wrong += rows_.weight[i] * (1 - probability[rows_.category[position]]);
    }
  }
  return wrong / total;
}

}  // namespace fallible
