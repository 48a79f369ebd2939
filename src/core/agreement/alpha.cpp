// Krippendorff's alpha: 1 - observed disagreement / disagreement expected by chance. Both are
// computed from coincidences of categories, which are pairs of ratings of the same case.

// In a case with m ratings, each ordered pair of ratings has weight 1 / (m - 1). The case then has
// m coincidences in all.
#include <cmath>

#include "kernels.hpp"

namespace fallible {

namespace {

struct AlphaSums {
  const RowCounts* rows;
  bool ordinal;
  Eigen::MatrixXd coincidence;  // weighted pairs of ratings: categories x categories
  Eigen::VectorXd total;        // weighted number of ratings of each category
  double n_ratings = 0;

  void add(int i, double w) {
    const double pair_weight = w / (rows->ratings[i] - 1);
    for (const int a : rows->positions(i)) {
      const int k = rows->category[a];
      for (const int b : rows->positions(i)) {
        const double pairs = rows->count[a] * (rows->count[b] - (a == b));
        coincidence(k, rows->category[b]) += pair_weight * pairs;
      }
      total[k] += w * rows->count[a];
    }
    n_ratings += w * rows->ratings[i];
  }

  // Mean rank of the ratings of each category, if all ratings are sorted by category.
  Eigen::VectorXd midranks() const {
    Eigen::VectorXd rank = total / 2;
    for (Eigen::Index k = 1; k < rank.size(); ++k) rank[k] += total.head(k).sum();
    return rank;
  }
  // Differences between the mean ranks of all pairs of categories: categories x categories.
  Eigen::MatrixXd rank_differences() const {
    const Eigen::VectorXd mean_rank = midranks();
    return mean_rank.replicate(1, mean_rank.size()).rowwise() - mean_rank.transpose();
  }

  // Disagreement of each pair of categories: squared difference of mean ranks for the ordinal
  // measure, otherwise 1 minus the agreement weight.
  Eigen::MatrixXd distances() const {
    if (ordinal) return rank_differences().cwiseAbs2();
    return 1 - rows->scale.array();
  }

  // Sum of the disagreements of all coincidences.
  double observed(const Eigen::MatrixXd& distance) const {
    return coincidence.cwiseProduct(distance).sum();
  }
  // Sum of the disagreements expected by chance, times (number of ratings - 1).
  double expected(const Eigen::MatrixXd& distance) const { return total.dot(distance * total); }

  Estimate value() const {
    if (!(n_ratings > 0)) return undefined(Undefined::no_pairs);
    const Eigen::MatrixXd distance = distances();
    const double chance_disagreement = expected(distance);
    if (chance_disagreement <= certain_tolerance * n_ratings * n_ratings)
      return undefined(Undefined::certain);
    return {1 - (n_ratings - 1) * observed(distance) / chance_disagreement, Undefined::no};
  }
};

class AlphaKernel : public SumKernel<AlphaSums> {
 public:
  AlphaKernel(RowCounts rows, bool ordinal) : rows_(std::move(rows)), ordinal_(ordinal) {}

  // Influence on 1 - n_ratings * observed() / expected(). The estimate has `n_ratings - 1` instead
  // of `n_ratings`. The difference vanishes in large samples, and Gwet's formula ignores it as
  // well.
  std::vector<double> influence(const std::vector<double>& weight) const override {
    const AlphaSums sums = total(weight);
    const Eigen::MatrixXd distance = sums.distances();
    const double observed = sums.observed(distance), expected = sums.expected(distance);
    const double ratio = sums.n_ratings * observed / expected;
    // Derivative of `ratio` with respect to the number of ratings of each category. This line
    // contains the part from the change of `expected`.
    Eigen::VectorXd total_slope = -2 * ratio / expected * (distance * sums.total);
    // In the ordinal measure, mean ranks change, too. One more rating of a category increases the
    // mean rank of this category by 1/2, and the mean ranks of all higher categories by 1.
    if (ordinal_) {
      const Eigen::MatrixXd slope_by_rank = 4 * sums.rank_differences();
      const Eigen::VectorXd rank_slope =
          sums.n_ratings * slope_by_rank.cwiseProduct(sums.coincidence).rowwise().sum() -
          ratio * sums.total.cwiseProduct(slope_by_rank * sums.total);
      double sum_above = 0;
      for (Eigen::Index a = total_slope.size(); a-- > 0; sum_above += rank_slope[a]) {
        total_slope[a] += (sum_above + rank_slope[a] / 2) / expected;
      }
    }
    std::vector<double> influence(rows_.size());
    for (int i = 0; i < rows_.size(); ++i) {
      double row_disagreement = 0, change = 0;
      for (const int a : rows_.positions(i)) {
        for (const int b : rows_.positions(i)) {
          row_disagreement += rows_.count[a] * (rows_.count[b] - (a == b)) *
                              distance(rows_.category[a], rows_.category[b]);
        }
        change += rows_.count[a] * total_slope[rows_.category[a]];
      }
      row_disagreement /= rows_.ratings[i] - 1;
      influence[i] = -(rows_.ratings[i] * observed / expected +
                       sums.n_ratings * row_disagreement / expected + change);
    }
    return influence;
  }

  // If ratings are independent, observed minus expected disagreement is a degenerate U-statistic of
  // pairs of ratings, as for Fleiss' kappa (PairKernel::null_error()). Every rating has the same
  // weight in both disagreements, so there is no part that is linear in single ratings.
  double null_error(const std::vector<double>& weight) const override {
    const AlphaSums sums = total(weight);
    const Eigen::MatrixXd distance = sums.distances();
    const Eigen::VectorXd share = sums.total / sums.n_ratings, mean_distance = distance * share;
    Eigen::MatrixXd centred = distance.array() + share.dot(mean_distance);
    centred.colwise() -= mean_distance;
    centred.rowwise() -= mean_distance.transpose();
    const double spread = share.dot(centred.cwiseAbs2() * share);
    double squares = 0;
    for (int i = 0; i < rows_.size(); ++i) {
      squares += weight[i] * rows_.ratings[i] / (rows_.ratings[i] - 1);
    }
    return (sums.n_ratings - 1) * std::sqrt(2 * spread * squares) / sums.expected(distance);
  }

 protected:
  AlphaSums empty_sums() const override {
    const Eigen::Index k = rows_.scale.rows();
    return {&rows_, ordinal_, Eigen::MatrixXd::Zero(k, k), Eigen::VectorXd::Zero(k)};
  }

 private:
  RowCounts rows_;
  bool ordinal_;
};

template <bool ordinal>
KernelPointer alpha_kernel(const RatedRows& rows, const KernelOptions& options) {
  return std::make_unique<AlphaKernel>(count_rows(rows, agreement_weights(rows, options)), ordinal);
}

}  // namespace

const KernelTable& alpha_kernels() {
  static const KernelTable kernels = {{"krippendorff_alpha", alpha_kernel<false>},
                                      {"krippendorff_alpha_ordinal", alpha_kernel<true>}};
  return kernels;
}

}  // namespace fallible
