// Agreement measures that use only the number of ratings per category and case. Raters need not be
// identified.

// Notation in this file: W is the matrix of agreement weights (`scale`), pi the vector of the
// categories' shares of all ratings.
#include <algorithm>
#include <cmath>

#include "../base/special.hpp"
#include "kernels.hpp"

namespace fallible {

RowCounts count_rows(const RatedRows& rows, const Eigen::MatrixXd& scale) {
  RowCounts counts;
  counts.scale = scale;
  std::vector<int> sorted_categories;
  for (int i = 0; i < rows.size(); ++i) {
    const int begin = rows.start[i], end = rows.start[i + 1];
    sorted_categories.assign(rows.category.begin() + begin, rows.category.begin() + end);
    std::sort(sorted_categories.begin(), sorted_categories.end());
    const std::size_t first = counts.category.size();
    for_each_run(0, end - begin, sorted_categories, [&](int from, int to) {
      counts.category.push_back(sorted_categories[from]);
      counts.count.push_back(to - from);
    });
    double pairs = static_cast<double>(end - begin) * (end - begin), agreeing = 0;
    for (std::size_t from = first; from < counts.category.size(); ++from) {
      for (std::size_t to = first; to < counts.category.size(); ++to) {
        agreeing += scale(counts.category[from], counts.category[to]) * counts.count[from] *
                    counts.count[to];
      }
    }
    // Subtracts pairs of ratings by the same judge, including pairs of a rating with itself.
    for_each_run(begin, end, rows.judge, [&](int from, int to) {
      for (int u = from; u < to; ++u) {
        for (int v = from; v < to; ++v) agreeing -= scale(rows.category[u], rows.category[v]);
      }
      pairs -= static_cast<double>(to - from) * (to - from);
    });
    counts.end_row(counts.category.size());
    counts.ratings.push_back(end - begin);
    counts.pairs.push_back(pairs);
    counts.agreeing.push_back(agreeing);
  }
  return counts;
}

namespace {

// Weighted sums over cases, from which the observed agreement and the shares of categories are
// computed. Each rating has the same weight in the shares. If the pooling is `cases`, each case has
// the same weight instead.
struct PairSums {
  ObservedAgreement observed;
  Chance chance = Chance::none;
  // Weighted number of ratings of each category; proportional to the shares.
  Eigen::VectorXd weight;
  double ratings = 0;

  double rating_weight(int i) const {
    return observed.pooling == Pooling::cases ? 1 / observed.rows->ratings[i] : 1;
  }

  void add(int i, double w) {
    const RowCounts& rows = *observed.rows;
    observed.add(i, w);
    const double rating_weight_in_case = w * rating_weight(i);
    for (const int c : rows.positions(i)) {
      weight[rows.category[c]] += rating_weight_in_case * rows.count[c];
    }
    ratings += rating_weight_in_case * rows.ratings[i];
  }

  const Eigen::MatrixXd& scale() const { return observed.rows->scale; }
  Eigen::VectorXd shares() const { return weight / ratings; }
  // For each category, its agreement with a random rating: the vector W' pi, where W are the
  // agreement weights and pi the category shares.
  Eigen::VectorXd scaled_shares() const { return scale().transpose() * shares(); }
  // Factor of the agreement expected by chance in Gwet's AC: sum of the agreement weights / (k (k -
  // 1)), with k categories.
  double gwet_factor() const {
    return scale().sum() / static_cast<double>(weight.size() * (weight.size() - 1));
  }

  double expected() const {
    if (chance == Chance::none) return 0;
    if (chance == Chance::uniform) return scale().mean();
    if (chance == Chance::gwet) {
      return gwet_factor() * shares().dot((1 - shares().array()).matrix());
    }
    return shares().dot(scaled_shares());
  }

  // Derivative of the agreement expected by chance with respect to the share of each category.
  Eigen::VectorXd slope() const {
    if (chance == Chance::shares) return 2 * scaled_shares();
    if (chance == Chance::gwet) return gwet_factor() * (1 - 2 * shares().array());
    return Eigen::VectorXd::Zero(weight.size());
  }

  Estimate value() const {
    if (!(observed.pairs > 0)) return undefined(Undefined::no_pairs);
    return chance_corrected_estimate(observed.value(), expected());
  }
};

// Percent agreement, and the kappas for raters that are not identified. These measures differ in
// the agreement expected by chance (`chance`).
class PairKernel : public SumKernel<PairSums> {
 public:
  PairKernel(RowCounts rows, Chance chance, Pooling pooling)
      : rows_(std::move(rows)), chance_(chance), pooling_(pooling) {}

  std::vector<double> influence(const std::vector<double>& weight) const override {
    const PairSums sums = total(weight);
    const double expected = sums.expected(), kappa = sums.value().value;
    const Eigen::VectorXd slope = sums.slope();
    const double mean_slope = slope.dot(sums.shares());
    std::vector<double> influence(rows_.size());
    for (int i = 0; i < rows_.size(); ++i) {
      double chance_change = 0;
      for (const int c : rows_.positions(i)) {
        chance_change += rows_.count[c] * (slope[rows_.category[c]] - mean_slope);
      }
      chance_change *= sums.rating_weight(i) / sums.ratings;
      influence[i] = (sums.observed.influence(i) - (1 - kappa) * chance_change) / (1 - expected);
    }
    return influence;
  }

  // If ratings are independent, the difference between observed and expected agreement is a
  // degenerate U-statistic of pairs of ratings. Its variance is computed from the matrix of
  // agreement weights after rows and columns are centred at zero. For nominal categories this is
  // the formula of Fleiss, Nee and Landis (1979).
  double null_error(const std::vector<double>& weight) const override {
    const PairSums sums = total(weight);
    if (chance_ != Chance::shares) return not_a_number;
    const Eigen::VectorXd share = sums.shares(), chance_given_category = sums.scaled_shares();
    const double expected = sums.expected();
    Eigen::MatrixXd centred = rows_.scale.array() + expected;
    centred.colwise() -= chance_given_category;
    centred.rowwise() -= chance_given_category.transpose();
    const double spread = share.dot(centred.cwiseAbs2() * share);
    const double linear_spread =
        share.dot((chance_given_category.array() - expected).square().matrix());
    // If ratings have different weights in the observed and in the expected agreement, the
    // difference also has a part that is linear in single ratings. Its variance is added.
    double squared_weight_sum = 0, linear_sum = 0;
    for (int i = 0; i < rows_.size(); ++i) {
      const double n_ratings = rows_.ratings[i];
      if (n_ratings == 0) continue;
      double weight_in_pairs = 0;
      if (rows_.pairs[i] > 0) {
        const double case_weight = sums.observed.weight(i);
        squared_weight_sum += weight[i] * case_weight * case_weight / rows_.pairs[i];
        weight_in_pairs = case_weight / n_ratings / sums.observed.pairs;
      }
      linear_sum += weight[i] * n_ratings *
                    std::pow(weight_in_pairs - sums.rating_weight(i) / sums.ratings, 2);
    }
    const double pairs = sums.observed.pairs;
    return std::sqrt(2 * spread * squared_weight_sum / (pairs * pairs) +
                     4 * linear_spread * linear_sum) /
           (1 - expected);
  }

 protected:
  PairSums empty_sums() const override {
    return {{&rows_, pooling_}, chance_, Eigen::VectorXd::Zero(rows_.scale.rows())};
  }

 private:
  RowCounts rows_;
  Chance chance_;
  Pooling pooling_;
};

// Sums for specific agreement in category 1, from ordered pairs of ratings. `first`: number of
// pairs in each row whose first rating is in category 1. `both`: number of these pairs whose second
// rating is also in category 1.
struct SpecificSums {
  const std::vector<double>* both;
  const std::vector<double>* first;
  double agreeing = 0, pairs = 0;

  void add(int i, double w) {
    agreeing += w * (*both)[i];
    pairs += w * (*first)[i];
  }
  Estimate value() const {
    if (!(pairs > 0)) return undefined(Undefined::unused);
    return {agreeing / pairs, Undefined::no};
  }
};

class SpecificKernel : public SumKernel<SpecificSums> {
 public:
  SpecificKernel(const RatedRows& rows, Pooling pooling) {
    // With the scale `both_in_category`, count_rows() counts the pairs with both ratings in the
    // category. With the scale `first_in_category`, it counts the pairs with the first rating in
    // the category.
    Eigen::MatrixXd both_in_category = Eigen::MatrixXd::Zero(rows.categories, rows.categories),
                    first_in_category = both_in_category;
    both_in_category(0, 0) = 1;
    first_in_category.row(0).setOnes();
    both_ = count_rows(rows, both_in_category).agreeing;
    const RowCounts counts = count_rows(rows, first_in_category);
    first_ = counts.agreeing;
    if (pooling == Pooling::pairs) return;
    const std::vector<double>& size = pooling == Pooling::cases ? counts.pairs : counts.ratings;
    for (int i = 0; i < rows.size(); ++i) {
      if (!(counts.pairs[i] > 0)) continue;
      both_[i] /= size[i];
      first_[i] /= size[i];
    }
  }

  std::vector<double> influence(const std::vector<double>& weight) const override {
    const SpecificSums sums = total(weight);
    std::vector<double> influence(both_.size());
    for (std::size_t i = 0; i < influence.size(); ++i) {
      influence[i] = (both_[i] - sums.agreeing / sums.pairs * first_[i]) / sums.pairs;
    }
    return influence;
  }

 protected:
  SpecificSums empty_sums() const override { return {&both_, &first_}; }

 private:
  std::vector<double> both_, first_;
};

KernelPointer specific_kernel(const RatedRows& rows, const KernelOptions& options) {
  return std::make_unique<SpecificKernel>(rows, options.pooling);
}

template <Chance chance>
KernelPointer pair_kernel(const RatedRows& rows, const KernelOptions& options) {
  return std::make_unique<PairKernel>(count_rows(rows, agreement_weights(rows, options)), chance,
                                      options.pooling);
}

}  // namespace

const KernelTable& count_kernels() {
  static const KernelTable kernels = {{"percent_agreement", pair_kernel<Chance::none>},
                                      {"chance_kappa", pair_kernel<Chance::uniform>},
                                      {"fleiss_kappa", pair_kernel<Chance::shares>},
                                      {"gwet_ac", pair_kernel<Chance::gwet>},
                                      {"specific_agreement", specific_kernel}};
  return kernels;
}

}  // namespace fallible
