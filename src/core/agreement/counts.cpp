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
  RowCounts out;
  out.scale = scale;
  std::vector<int> sorted;
  for (int i = 0; i < rows.size(); ++i) {
    const int begin = rows.start[i], end = rows.start[i + 1];
    sorted.assign(rows.category.begin() + begin, rows.category.begin() + end);
    std::sort(sorted.begin(), sorted.end());
    const std::size_t first = out.category.size();
    for_each_run(0, end - begin, sorted, [&](int a, int b) {
      out.category.push_back(sorted[a]);
      out.count.push_back(b - a);
    });
    double pairs = static_cast<double>(end - begin) * (end - begin), agreeing = 0;
    for (std::size_t a = first; a < out.category.size(); ++a) {
      for (std::size_t b = first; b < out.category.size(); ++b) {
        agreeing += scale(out.category[a], out.category[b]) * out.count[a] * out.count[b];
      }
    }
    // Subtracts pairs of ratings by the same judge, including pairs of a rating with itself.
    for_each_run(begin, end, rows.judge, [&](int a, int b) {
      for (int u = a; u < b; ++u) {
        for (int v = a; v < b; ++v) agreeing -= scale(rows.category[u], rows.category[v]);
      }
      pairs -= static_cast<double>(b - a) * (b - a);
    });
    out.end_row(out.category.size());
    out.ratings.push_back(end - begin);
    out.pairs.push_back(pairs);
    out.agreeing.push_back(agreeing);
  }
  return out;
}

namespace {

// Weighted sums over cases, from which the observed agreement and the shares of categories are
// computed. Ratings or cases have equal weights, depending on the pooling.
struct PairSums {
  Observed observed;
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
    const double weight_of_rating = w * rating_weight(i);
    for (const int c : rows.positions(i)) {
      weight[rows.category[c]] += weight_of_rating * rows.count[c];
    }
    ratings += weight_of_rating * rows.ratings[i];
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
    return beyond_chance(observed.value(), expected());
  }
};

// Percent agreement, and the kappas for raters that are not identified. They differ in the
// agreement expected by chance (`chance`).
class PairKernel : public SumKernel<PairSums> {
 public:
  PairKernel(RowCounts rows, Chance chance, Pooling pooling)
      : rows_(std::move(rows)), chance_(chance), pooling_(pooling) {}

  std::vector<double> influence(const std::vector<double>& weight) const override {
    const PairSums sums = total(weight);
    const double expected = sums.expected(), kappa = sums.value().value;
    const Eigen::VectorXd slope = sums.slope();
    const double mean_slope = slope.dot(sums.shares());
    std::vector<double> out(rows_.size());
    for (int i = 0; i < rows_.size(); ++i) {
      double by_chance = 0;
      for (const int c : rows_.positions(i)) {
        by_chance += rows_.count[c] * (slope[rows_.category[c]] - mean_slope);
      }
      by_chance *= sums.rating_weight(i) / sums.ratings;
      out[i] = (sums.observed.influence(i) - (1 - kappa) * by_chance) / (1 - expected);
    }
    return out;
  }

  // If ratings are independent, the difference between observed and expected agreement is a
  // degenerate U-statistic of pairs of ratings. Its variance is computed from the matrix W after
  // rows and columns are centred at zero. For nominal categories this is the formula of Fleiss, Nee
  // and Landis (1979).
  double null_error(const std::vector<double>& weight) const override {
    const PairSums sums = total(weight);
    if (chance_ != Chance::shares) return not_a_number;
    const Eigen::VectorXd share = sums.shares(), scaled = sums.scaled_shares();
    const double expected = sums.expected();
    Eigen::MatrixXd centred = rows_.scale.array() + expected;
    centred.colwise() -= scaled;
    centred.rowwise() -= scaled.transpose();
    const double spread = share.dot(centred.cwiseAbs2() * share);
    const double linear_spread = share.dot((scaled.array() - expected).square().matrix());
    // If ratings have different weights in the observed and in the expected agreement, the
    // difference also has a part that is linear in single ratings. Its variance is added.
    double squares = 0, linear = 0;
    for (int i = 0; i < rows_.size(); ++i) {
      const double r = rows_.ratings[i];
      if (r == 0) continue;
      double weight_in_pairs = 0;
      if (rows_.pairs[i] > 0) {
        const double w = sums.observed.weight(i);
        squares += weight[i] * w * w / rows_.pairs[i];
        weight_in_pairs = w / r / sums.observed.pairs;
      }
      linear += weight[i] * r * std::pow(weight_in_pairs - sums.rating_weight(i) / sums.ratings, 2);
    }
    const double pairs = sums.observed.pairs;
    return std::sqrt(2 * spread * squares / (pairs * pairs) + 4 * linear_spread * linear) /
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
    // With the scale `within`, count_rows() counts the pairs with both ratings in the category.
    // With the scale `from`, it counts the pairs with the first rating in the category.
    Eigen::MatrixXd within = Eigen::MatrixXd::Zero(rows.categories, rows.categories), from = within;
    within(0, 0) = 1;
    from.row(0).setOnes();
    both_ = count_rows(rows, within).agreeing;
    const RowCounts counts = count_rows(rows, from);
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
    std::vector<double> out(both_.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = (both_[i] - sums.agreeing / sums.pairs * first_[i]) / sums.pairs;
    }
    return out;
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
  return std::make_unique<PairKernel>(count_rows(rows, scale_of(rows, options)), chance,
                                      options.pooling);
}

}  // namespace

const KernelTable& count_kernels() {
  static const KernelTable out = {{"percent_agreement", pair_kernel<Chance::none>},
                                  {"chance_kappa", pair_kernel<Chance::uniform>},
                                  {"fleiss_kappa", pair_kernel<Chance::shares>},
                                  {"gwet_ac", pair_kernel<Chance::gwet>},
                                  {"specific_agreement", specific_kernel}};
  return out;
}

}  // namespace fallible
