// Measures that give every rater shares of categories of its own: Conger's and Light's kappa, which
// for two raters are Cohen's.
#include <cmath>

#include "kernels.hpp"

namespace fallible {

namespace {

// Sum over categories of a_k W_kl b_l.
double bilinear(const double* a, const std::vector<double>& scale, const double* b, int k) {
  double out = 0;
  for (int i = 0; i < k; ++i) {
    if (a[i] == 0) continue;
    for (int j = 0; j < k; ++j) out += a[i] * scale[static_cast<std::size_t>(i) * k + j] * b[j];
  }
  return out;
}

// Expected agreement is the mean over pairs of raters of what their own shares give.
struct CongerSums {
  const RatedRows* ratings;
  Observed observed;
  std::vector<double> count;  // judges x categories
  std::vector<double> rated;  // per judge

  void add(int i, double w) {
    observed.add(i, w);
    for (const int r : ratings->places(i)) {
      const auto judge = static_cast<std::size_t>(ratings->judge[r]);
      count[judge * ratings->categories + ratings->category[r]] += w;
      rated[judge] += w;
    }
  }

  // Shares of each judge (zeros if it has no rating), and their sum.
  std::vector<double> shares() const {
    std::vector<double> out = count;
    const auto k = static_cast<std::size_t>(ratings->categories);
    for (std::size_t g = 0; g < rated.size(); ++g) {
      if (!(rated[g] > 0)) continue;
      for (std::size_t c = 0; c < k; ++c) out[g * k + c] /= rated[g];
    }
    return out;
  }
  std::vector<double> sum_of(const std::vector<double>& share) const {
    const auto k = static_cast<std::size_t>(ratings->categories);
    std::vector<double> out(k, 0.0);
    for (std::size_t i = 0; i < share.size(); ++i) out[i % k] += share[i];
    return out;
  }
  double judges() const {
    double out = 0;
    for (const double n : rated) out += n > 0;
    return out;
  }

  double expected() const {
    const auto share = shares();
    const auto sum = sum_of(share);
    const int k = ratings->categories;
    double out = bilinear(sum.data(), observed.rows->scale, sum.data(), k);
    for (std::size_t g = 0; g < rated.size(); ++g) {
      out -= bilinear(&share[g * k], observed.rows->scale, &share[g * k], k);
    }
    return out / (judges() * (judges() - 1));
  }

  Estimate value() const {
    if (!(observed.pairs > 0)) return undefined(Undefined::no_pairs);
    return beyond_chance(observed.value(), expected());
  }
};

class CongerKernel : public SumKernel<CongerSums> {
 public:
  CongerKernel(const RatedRows& ratings, const KernelOptions& options)
      : ratings_(ratings),
        rows_(count_rows(ratings, options.scale)),
        pool_pairs_(options.pool_pairs) {}

  std::vector<double> influence(const std::vector<double>& weight) const override {
    const CongerSums sums = total(weight);
    const double expected = sums.expected(), kappa = sums.value().value;
    const auto slope = slopes(sums);
    std::vector<double> out(rows_.size());
    for (int i = 0; i < rows_.size(); ++i) {
      double by_chance = 0;
      for (const int r : ratings_.places(i)) {
        by_chance += slope[static_cast<std::size_t>(ratings_.judge[r]) * rows_.categories +
                           ratings_.category[r]];
      }
      out[i] = (sums.observed.influence(i) - (1 - kappa) * by_chance) / (1 - expected);
    }
    return out;
  }

  // Two raters: Fleiss, Cohen and Everitt (1969).
  double null_error(const std::vector<double>& weight) const override {
    const CongerSums sums = total(weight);
    if (ratings_.judges != 2) return undefined_value;
    const int k = rows_.categories;
    const auto share = sums.shares();
    const double expected = sums.expected();
    const double *first = share.data(), *second = first + k;
    std::vector<double> judge(k, 0.0), by_first(k), by_second(k);
    for (int c = 0; c < k; ++c) {
      judge[c] = 1;
      by_first[c] = bilinear(judge.data(), rows_.scale, second, k);
      by_second[c] = bilinear(judge.data(), rows_.scale, first, k);
      judge[c] = 0;
    }
    double spread = 0;
    for (int a = 0; a < k; ++a) {
      for (int b = 0; b < k; ++b) {
        const double centred = rows_.scale[static_cast<std::size_t>(a) * k + b] - by_first[a] -
                               by_second[b] + expected;
        spread += first[a] * second[b] * centred * centred;
      }
    }
    // Shares rest on all ratings of a judge, agreement on the cases that both rated.
    double both = 0, of_first = 0, of_second = 0;
    for (int i = 0; i < ratings_.size(); ++i) {
      if (ratings_.places(i).size() == 2) both += weight[i];
    }
    for (int c = 0; c < k; ++c) {
      of_first += first[c] * std::pow(by_first[c] - expected, 2);
      of_second += second[c] * std::pow(by_second[c] - expected, 2);
    }
    return std::sqrt(spread / both + of_first * (1 / both - 1 / sums.rated[0]) +
                     of_second * (1 / both - 1 / sums.rated[1])) /
           (1 - expected);
  }

 protected:
  CongerSums none() const override {
    const auto judges = static_cast<std::size_t>(ratings_.judges);
    return {&ratings_,
            {&rows_, pool_pairs_},
            std::vector<double>(judges * rows_.categories, 0.0),
            std::vector<double>(judges, 0.0)};
  }

 private:
  // What one rating more of a judge in a category does to expected agreement.
  std::vector<double> slopes(const CongerSums& sums) const {
    const auto k = static_cast<std::size_t>(rows_.categories);
    const auto share = sums.shares();
    const auto sum = sums.sum_of(share);
    const double pairs = sums.judges() * (sums.judges() - 1);
    std::vector<double> out(share.size(), 0.0), others(k);
    for (std::size_t g = 0; g < sums.rated.size(); ++g) {
      if (!(sums.rated[g] > 0)) continue;
      for (std::size_t c = 0; c < k; ++c) others[c] = sum[c] - share[g * k + c];
      double mean = 0;
      for (std::size_t a = 0; a < k; ++a) {
        for (std::size_t b = 0; b < k; ++b) out[g * k + a] += rows_.scale[a * k + b] * others[b];
        mean += share[g * k + a] * out[g * k + a];
      }
      for (std::size_t a = 0; a < k; ++a) {
        out[g * k + a] = 2 * (out[g * k + a] - mean) / (pairs * sums.rated[g]);
      }
    }
    return out;
  }

  const RatedRows& ratings_;
  RowCounts rows_;
  bool pool_pairs_;
};

// Sums of one pair of raters over the cases that both rated, where LightSums keeps them.
struct PairOfRaters {
  double agreeing, cases;
  const double *first, *second;  // per category

  Estimate kappa(const std::vector<double>& scale, int k) const {
    if (!(cases > 0)) return undefined(Undefined::unshared);
    return beyond_chance(agreeing / cases, bilinear(first, scale, second, k) / (cases * cases));
  }
};

// The derivative of a pair's kappa by the weight of a case.
class CohenSlope {
 public:
  CohenSlope() = default;
  CohenSlope(const PairOfRaters& pair, const std::vector<double>& scale, std::size_t k)
      : cases_(pair.cases), observed_(pair.agreeing / pair.cases) {
    kappa_ = pair.kappa(scale, static_cast<int>(k)).value;
    first_.assign(k, 0.0);
    second_.assign(k, 0.0);
    for (std::size_t a = 0; a < k; ++a) {
      for (std::size_t b = 0; b < k; ++b) {
        first_[a] += scale[a * k + b] * pair.second[b] / cases_;
        second_[a] += scale[a * k + b] * pair.first[b] / cases_;
      }
      expected_ += pair.first[a] / cases_ * first_[a];
    }
  }

  double operator()(int x, int y, double weight) const {
    const double by_chance = first_[x] + second_[y] - 2 * expected_;
    return (weight - observed_ - (1 - kappa_) * by_chance) / (cases_ * (1 - expected_));
  }

 private:
  double cases_ = 0, observed_ = 0, expected_ = 0, kappa_ = 0;
  std::vector<double> first_, second_;  // expected agreement by what one of them answered
};

// The mean of Cohen's kappa over all pairs of raters.
struct LightSums {
  const RatedRows* ratings;
  const std::vector<double>* scale;
  // Of each pair, one beside the other so that a case goes through them in their order: agreeing,
  // cases, and the weight of each category of the first, and of the second. Empty if some pair
  // shares no case.
  std::vector<double> sums;

  double weight(int a, int b) const {
    return (*scale)[static_cast<std::size_t>(a) * ratings->categories + b];
  }
  std::size_t width() const { return 2 + 2 * static_cast<std::size_t>(ratings->categories); }
  std::size_t pairs() const { return sums.size() / width(); }

  // Calls visit(number of the pair, category of the first, of the second) for all in a row.
  template <class Visit>
  void for_each_pair(int i, const Visit& visit) const {
    const auto judges = static_cast<std::size_t>(ratings->judges);
    for (const int a : ratings->places(i)) {
      const auto first = static_cast<std::size_t>(ratings->judge[a]);
      const std::size_t before = first * (2 * judges - first - 1) / 2 - first - 1;
      for (int b = a + 1; b < ratings->start[i + 1]; ++b) {
        visit(before + ratings->judge[b], ratings->category[a], ratings->category[b]);
      }
    }
  }

  void add(int i, double w) {
    if (sums.empty()) return;
    for_each_pair(i, [&](std::size_t pair, int x, int y) {
      double* at = &sums[pair * width()];
      at[0] += w * weight(x, y);
      at[1] += w;
      at[2 + x] += w;
      at[2 + ratings->categories + y] += w;
    });
  }

  PairOfRaters pair(std::size_t number) const {
    const double* at = &sums[number * width()];
    return {at[0], at[1], at + 2, at + 2 + ratings->categories};
  }

  Estimate value() const {
    if (sums.empty()) return undefined(Undefined::unshared);
    double sum = 0;
    for (std::size_t i = 0; i < pairs(); ++i) {
      const Estimate kappa = pair(i).kappa(*scale, ratings->categories);
      if (kappa.why != Undefined::no) return kappa;
      sum += kappa.value;
    }
    return {sum / static_cast<double>(pairs()), Undefined::no};
  }
};

class LightKernel : public SumKernel<LightSums> {
 public:
  LightKernel(const RatedRows& ratings, const KernelOptions& options)
      : ratings_(ratings), scale_(options.scale) {}

  std::vector<double> influence(const std::vector<double>& weight) const override {
    const LightSums sums = total(weight);
    std::vector<CohenSlope> slopes;
    for (std::size_t i = 0; i < sums.pairs(); ++i) {
      slopes.emplace_back(sums.pair(i), scale_, ratings_.categories);
    }
    std::vector<double> out(ratings_.size(), 0.0);
    for (int i = 0; i < ratings_.size(); ++i) {
      sums.for_each_pair(i, [&](std::size_t pair, int x, int y) {
        out[i] += slopes[pair](x, y, sums.weight(x, y));
      });
      out[i] /= static_cast<double>(slopes.size());
    }
    return out;
  }

 protected:
  LightSums none() const override {
    LightSums out{&ratings_, &scale_, {}};
    const auto judges = static_cast<std::size_t>(ratings_.judges);
    // With fewer pairs of ratings than pairs of raters some pair has none: no need to look.
    std::size_t most = 0;
    for (int i = 0; i < ratings_.size(); ++i) {
      const auto r = static_cast<std::size_t>(ratings_.places(i).size());
      most += r * (r - 1) / 2;
    }
    const std::size_t pairs = judges * (judges - 1) / 2;
    if (most >= pairs) out.sums.assign(pairs * out.width(), 0.0);
    return out;
  }

 private:
  const RatedRows& ratings_;
  std::vector<double> scale_;
};

}  // namespace

std::unique_ptr<Kernel> make_rater_kernel(const RatedRows& rows, const KernelOptions& options) {
  if (options.name == "conger_kappa") return std::make_unique<CongerKernel>(rows, options);
  if (options.name == "light_kappa") return std::make_unique<LightKernel>(rows, options);
  return nullptr;
}

}  // namespace fallible
