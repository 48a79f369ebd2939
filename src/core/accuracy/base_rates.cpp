#include "base_rates.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

namespace {

constexpr int grid_size = 201;  // number of base rates for which the accuracy is computed
// A kappa below this value is treated as zero. Two shares of categories are treated as equal if
// their relative difference is below it.
constexpr double least_kappa = 1e-9;
constexpr double chance_limit = 1.6448536;  // quantile .95 of the normal distribution

// Number of ratings of this category in a case of the pattern.
double count_ratings(const PatternView& patterns, int pattern, int category) {
  const int* ratings = patterns.category;
  return static_cast<double>(std::count(ratings + patterns.start[pattern],
                                        ratings + patterns.start[pattern + 1], category));
}

// Kappa of a category against all other categories, from pairs of ratings of the same case. It is
// clipped to [0, 1], and NaN if there are no pairs. `share`: share of the category among all
// ratings.
double category_kappa(const PatternView& patterns, const std::vector<double>& weight, int category,
                      double share) {
  double differing_pairs = 0, pairs = 0;
  for (int p = 0; p < patterns.patterns; ++p) {
    const double n_category = count_ratings(patterns, p, category),
                 n_ratings = patterns.positions(p).size();
    differing_pairs += weight[p] * n_category * (n_ratings - n_category);
    pairs += weight[p] * n_ratings * (n_ratings - 1);
  }
  const double chance_agreement = share * share + (1 - share) * (1 - share);
  const double kappa =
      (1 - 2 * differing_pairs / pairs - chance_agreement) / (1 - chance_agreement);
  return std::isfinite(kappa) ? std::clamp(kappa, 0.0, 1.0) : not_a_number;
}

// Agreement as a z statistic, see LeadingCategory. `share`: share of each category among all
// ratings.
//
// The variance assumes independent ratings. Each pair then contributes the following term to
// observed minus expected agreement: the indicator that its ratings are equal, minus the
// expectations of this indicator given the first and given the second rating, plus a constant.
// Terms of different pairs are uncorrelated. The variance of a term is `pair_variance`.
double agreement_z(const PatternView& patterns, const std::vector<double>& weight,
                   const std::vector<double>& share) {
  double equal_pairs = 0, pairs = 0;
  std::vector<double> count(share.size());
  for (int p = 0; p < patterns.patterns; ++p) {
    std::fill(count.begin(), count.end(), 0.0);
    for (const int position : patterns.positions(p)) ++count[patterns.category[position] - 1];
    for (const double n : count) equal_pairs += weight[p] * n * (n - 1) / 2;
    const double n_ratings = patterns.positions(p).size();
    pairs += weight[p] * n_ratings * (n_ratings - 1) / 2;
  }
  double chance_agreement = 0, sum_of_cubes = 0;
  for (const double s : share) {
    chance_agreement += s * s;
    sum_of_cubes += s * s * s;
  }
  const double pair_variance =
      chance_agreement - 2 * sum_of_cubes + chance_agreement * chance_agreement;
  return (equal_pairs / pairs - chance_agreement) / std::sqrt(pair_variance / pairs);
}

}  // namespace

bool may_agree_by_chance(const std::vector<LeadingCategory>& leading) {
  return !leading.empty() && leading.front().agreement_z < chance_limit;
}

std::vector<LeadingCategory> leading_categories(const PatternView& patterns,
                                                const std::vector<double>& weight) {
  std::vector<double> category_weight(patterns.categories, 0.0);
  double total = 0;
  for (int p = 0; p < patterns.patterns; ++p) {
    for (int i = patterns.start[p]; i < patterns.start[p + 1]; ++i) {
      category_weight[patterns.category[i] - 1] += weight[p];
      total += weight[p];
    }
  }
  const double highest = *std::max_element(category_weight.begin(), category_weight.end());
  std::vector<double> share;
  for (const double w : category_weight) share.push_back(w / total);
  const double agreement = agreement_z(patterns, weight, share);
  std::vector<LeadingCategory> leading;
  for (int k = 0; k < patterns.categories; ++k) {
    if (category_weight[k] < highest * (1 - least_kappa)) continue;
    leading.push_back(
        {k + 1, share[k], category_kappa(patterns, weight, k + 1, share[k]), agreement});
  }
  return leading;
}

std::pair<double, double> possible_base_rates(double share, double kappa) {
  const double other_share = 1 - share;
  return {kappa * share / (other_share + kappa * share),
          1 - kappa * other_share / (share + kappa * other_share)};
}

double base_rate_range(double share, double kappa, double answer_share, double covariance) {
  if (std::isnan(kappa) || std::isnan(answer_share)) return not_a_number;
  if (kappa < least_kappa) return 1;
  const auto limits = possible_base_rates(share, kappa);
  double lowest = 1, highest = 0;
  for (int i = 0; i < grid_size; ++i) {
    const double base_rate = limits.first + i * (limits.second - limits.first) / (grid_size - 1);
    // Variance over cases of the indicator that the given category is the true one.
    const double truth_variance = base_rate * (1 - base_rate);
    // Sensitivity + specificity - 1 of a rater, for this base rate.
    const double youden_index =
        truth_variance > 0 ? std::sqrt(kappa * share * (1 - share) / truth_variance) : 1;
    // Probability that the answer and the true category are both the given category. It is clipped
    // to the range that is possible for this answer share and base rate.
    const double joint = std::min(std::max(answer_share * base_rate + covariance / youden_index,
                                           std::max(0.0, answer_share + base_rate - 1)),
                                  std::min(answer_share, base_rate));
    const double accuracy = 1 - answer_share - base_rate + 2 * joint;
    lowest = std::min(lowest, accuracy);
    highest = std::max(highest, accuracy);
  }
  return highest - lowest;
}

double base_rate_range(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const std::vector<LeadingCategory>& leading) {
  double widest = not_a_number;
  for (const LeadingCategory& leading_category : leading) {
    double cases = 0, category_answers = 0, share = 0, joint = 0;
    for (int p = 0; p < patterns.patterns; ++p) {
      const double n_ratings = patterns.positions(p).size();
      const int answer = patterns.answer_of(p, system);
      if (answer < 1 || n_ratings == 0) continue;
      const double rater_share = count_ratings(patterns, p, leading_category.category) / n_ratings;
      cases += weight[p];
      share += weight[p] * rater_share;
      if (answer != leading_category.category) continue;
      category_answers += weight[p];
      joint += weight[p] * rater_share;
    }
    const double answer_share = category_answers / cases;
    const double range =
        base_rate_range(leading_category.share, leading_category.kappa, answer_share,
                        joint / cases - answer_share * share / cases);
    if (!(range <= widest)) widest = range;
  }
  return widest;
}

}  // namespace fallible
