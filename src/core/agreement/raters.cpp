// Kappas in which each rater has separate shares of categories: Conger's kappa and Light's kappa.
// For two raters both are equal to Cohen's kappa.
#include <cmath>

#include "../base/special.hpp"
#include "kernels.hpp"

namespace fallible {

namespace {

// Sums for Conger's kappa. Agreement expected by chance is averaged over all pairs of raters. For
// each pair, it is computed from the category shares of both raters.
struct CongerSums {
  const RatedRows* ratings;
  ObservedAgreement observed;
  Eigen::MatrixXd count;  // weighted number of ratings: judges x categories

  void add(int i, double w) {
    observed.add(i, w);
    for (const int r : ratings->positions(i)) count(ratings->judge[r], ratings->category[r]) += w;
  }

  const Eigen::MatrixXd& scale() const { return observed.rows->scale; }
  Eigen::VectorXd n_ratings() const { return count.rowwise().sum(); }
  // For each judge, 1 / (weighted number of ratings), or 0 if there are no ratings.
  Eigen::VectorXd inverse_ratings() const {
    return n_ratings().unaryExpr([](double n) { return n > 0 ? 1 / n : 0.0; });
  }
  Eigen::MatrixXd shares() const { return inverse_ratings().asDiagonal() * count; }
  double pairs_of_judges() const {
    const double judges = static_cast<double>((n_ratings().array() > 0).count());
    return judges * (judges - 1);
  }

  double expected() const {
    const Eigen::MatrixXd share = shares();
    const Eigen::VectorXd sum = share.colwise().sum();
    const double same_rater = (share * scale()).cwiseProduct(share).sum();
    return (sum.dot(scale() * sum) - same_rater) / pairs_of_judges();
  }

  Estimate value() const {
    if (!(observed.pairs > 0)) return undefined(Undefined::no_pairs);
    return chance_corrected_estimate(observed.value(), expected());
  }
};

class CongerKernel : public SumKernel<CongerSums> {
 public:
  CongerKernel(const RatedRows& ratings, const KernelOptions& options)
      : ratings_(ratings),
        rows_(count_rows(ratings, agreement_weights(ratings, options))),
        pooling_(options.pooling) {}

  std::vector<double> influence(const std::vector<double>& weight) const override {
    const CongerSums sums = total(weight);
    const double expected = sums.expected(), kappa = sums.value().value;
    const Eigen::MatrixXd slope = chance_slopes(sums);
    std::vector<double> influence(rows_.size());
    for (int i = 0; i < rows_.size(); ++i) {
      double chance_change = 0;
      for (const int r : ratings_.positions(i)) {
        chance_change += slope(ratings_.judge[r], ratings_.category[r]);
      }
      influence[i] = (sums.observed.influence(i) - (1 - kappa) * chance_change) / (1 - expected);
    }
    return influence;
  }

  // For two raters: formula of Fleiss, Cohen and Everitt (1969). NaN for more raters.
  double null_error(const std::vector<double>& weight) const override {
    const CongerSums sums = total(weight);
    if (ratings_.judges != 2) return not_a_number;
    const Eigen::MatrixXd share = sums.shares();
    const Eigen::VectorXd first = share.row(0), second = share.row(1);
    const Eigen::VectorXd chance_given_first = rows_.scale * second,
                          chance_given_second = rows_.scale * first;
    const double expected = sums.expected();
    Eigen::MatrixXd centred = rows_.scale.array() + expected;
    centred.colwise() -= chance_given_first;
    centred.rowwise() -= chance_given_second.transpose();
    const double spread = first.dot(centred.cwiseAbs2() * second);
    // The formula assumes that both raters rated all cases. Otherwise, the category shares are
    // computed from all ratings of a rater, but the agreement only from the cases that both rated.
    // The variance then has one more term for each rater.
    double n_common = 0;
    for (int i = 0; i < ratings_.size(); ++i) {
      if (ratings_.positions(i).size() == 2) n_common += weight[i];
    }
    const double first_variance =
        first.dot((chance_given_first.array() - expected).square().matrix());
    const double second_variance =
        second.dot((chance_given_second.array() - expected).square().matrix());
    const Eigen::VectorXd inverse_excess = 1 / n_common - sums.inverse_ratings().array();
    return std::sqrt(spread / n_common + first_variance * inverse_excess[0] +
                     second_variance * inverse_excess[1]) /
           (1 - expected);
  }

 protected:
  CongerSums empty_sums() const override {
    return {
        &ratings_, {&rows_, pooling_}, Eigen::MatrixXd::Zero(ratings_.judges, ratings_.categories)};
  }

 private:
  // Derivative of the agreement expected by chance with respect to the number of a judge's ratings
  // of a category: judges x categories.
  static Eigen::MatrixXd chance_slopes(const CongerSums& sums) {
    const Eigen::MatrixXd share = sums.shares();
    const Eigen::RowVectorXd sum = share.colwise().sum();
    Eigen::MatrixXd slope = ((-share).rowwise() + sum) * sums.scale().transpose();
    const Eigen::VectorXd mean = share.cwiseProduct(slope).rowwise().sum();
    slope.colwise() -= mean;
    return sums.inverse_ratings().asDiagonal() * slope * (2 / sums.pairs_of_judges());
  }

  const RatedRows& ratings_;
  RowCounts rows_;
  Pooling pooling_;
};

// Sums for one pair of raters over the cases that both rated.
struct PairOfRaters {
  double agreeing, cases;
  // Weighted number of ratings of each category, by the first and the second rater. Refers to
  // memory of LightSums.
  Eigen::VectorXd::ConstMapType first, second;

  Estimate kappa(const Eigen::MatrixXd& scale) const {
    if (!(cases > 0)) return undefined(Undefined::unshared);
    return chance_corrected_estimate(agreeing / cases, first.dot(scale * second) / (cases * cases));
  }
};

// Derivative of the kappa of two raters with respect to the weight of one case.
class CohenSlope {
 public:
  CohenSlope(const PairOfRaters& pair, const Eigen::MatrixXd& scale)
      : cases_(pair.cases),
        observed_(pair.agreeing / pair.cases),
        kappa_(pair.kappa(scale).value),
        first_(scale * pair.second / cases_),
        second_(scale * pair.first / cases_),
        expected_(pair.first.dot(first_) / cases_) {}

  // `x` and `y`: categories that the two raters gave the case. `weight`: agreement weight of these
  // categories.
  double operator()(int x, int y, double weight) const {
    const double chance_change = first_[x] + second_[y] - 2 * expected_;
    return (weight - observed_ - (1 - kappa_) * chance_change) / (cases_ * (1 - expected_));
  }

 private:
  double cases_, observed_, kappa_;
  Eigen::VectorXd first_, second_;  // agreement expected by chance, given the category of one rater
  double expected_;
};

// Sums for Light's kappa, the mean of Cohen's kappa over all pairs of raters.
struct LightSums {
  const RatedRows* ratings;
  const Eigen::MatrixXd* scale;
  // Sums of all pairs of raters, one pair after the other. A pair has 2 + 2 * categories numbers:
  // sum of agreement weights, number of cases, and weight of each category of the first and of the
  // second rater. Empty if a pair of raters has no common case, because the measure is then
  // undefined.
  std::vector<double> sums;

  std::size_t width() const { return 2 + 2 * static_cast<std::size_t>(ratings->categories); }
  std::size_t pairs() const { return sums.size() / width(); }

  // Calls visit(index of the pair of raters, category of the first, category of the second) for
  // all pairs of ratings in row `i`. Pairs of raters are numbered (0, 1), (0, 2), ..., (1, 2), ...
  template <class Visit>
  void for_each_pair(int i, const Visit& visit) const {
    const auto judges = static_cast<std::size_t>(ratings->judges);
    for (const int a : ratings->positions(i)) {
      const auto first = static_cast<std::size_t>(ratings->judge[a]);
      const std::size_t offset = first * (2 * judges - first - 1) / 2 - first - 1;
      for (int b = a + 1; b < ratings->start[i + 1]; ++b) {
        visit(offset + ratings->judge[b], ratings->category[a], ratings->category[b]);
      }
    }
  }

  void add(int i, double w) {
    if (sums.empty()) return;
    for_each_pair(i, [&](std::size_t pair, int x, int y) {
      double* pair_sums = &sums[pair * width()];
      pair_sums[0] += w * (*scale)(x, y);
      pair_sums[1] += w;
      pair_sums[2 + x] += w;
      pair_sums[2 + ratings->categories + y] += w;
    });
  }

  PairOfRaters pair(std::size_t number) const {
    const double* pair_sums = &sums[number * width()];
    const auto category_weights = [&](const double* first) {
      return Eigen::VectorXd::Map(first, ratings->categories);
    };
    return {pair_sums[0], pair_sums[1], category_weights(pair_sums + 2),
            category_weights(pair_sums + 2 + ratings->categories)};
  }

  Estimate value() const {
    if (sums.empty()) return undefined(Undefined::unshared);
    double sum = 0;
    for (std::size_t i = 0; i < pairs(); ++i) {
      const Estimate kappa = pair(i).kappa(*scale);
      if (kappa.reason != Undefined::no) return kappa;
      sum += kappa.value;
    }
    return {sum / static_cast<double>(pairs()), Undefined::no};
  }
};

class LightKernel : public SumKernel<LightSums> {
 public:
  LightKernel(const RatedRows& ratings, const KernelOptions& options)
      : ratings_(ratings), scale_(agreement_weights(ratings, options)) {}

  std::vector<double> influence(const std::vector<double>& weight) const override {
    const LightSums sums = total(weight);
    std::vector<CohenSlope> chance_slopes;
    for (std::size_t i = 0; i < sums.pairs(); ++i) {
      chance_slopes.emplace_back(sums.pair(i), scale_);
    }
    std::vector<double> influence(ratings_.size(), 0.0);
    for (int i = 0; i < ratings_.size(); ++i) {
      sums.for_each_pair(i, [&](std::size_t pair, int x, int y) {
        influence[i] += chance_slopes[pair](x, y, scale_(x, y));
      });
      influence[i] /= static_cast<double>(chance_slopes.size());
    }
    return influence;
  }

 protected:
  LightSums empty_sums() const override {
    LightSums empty{&ratings_, &scale_, {}};
    const auto judges = static_cast<std::size_t>(ratings_.judges);
    // If there are fewer pairs of ratings than pairs of raters, some pair of raters has no common
    // case. The measure is then undefined, so no memory is allocated for the sums.
    std::size_t n_rating_pairs = 0;
    for (int i = 0; i < ratings_.size(); ++i) {
      const auto r = static_cast<std::size_t>(ratings_.positions(i).size());
      n_rating_pairs += r * (r - 1) / 2;
    }
    const std::size_t pairs = judges * (judges - 1) / 2;
    if (n_rating_pairs >= pairs) empty.sums.assign(pairs * empty.width(), 0.0);
    return empty;
  }

 private:
  const RatedRows& ratings_;
  Eigen::MatrixXd scale_;
};

template <class RaterKernel>
KernelPointer rater_kernel(const RatedRows& rows, const KernelOptions& options) {
  return std::make_unique<RaterKernel>(rows, options);
}

}  // namespace

const KernelTable& rater_kernels() {
  static const KernelTable kernels = {{"conger_kappa", rater_kernel<CongerKernel>},
                                      {"light_kappa", rater_kernel<LightKernel>}};
  return kernels;
}

}  // namespace fallible
