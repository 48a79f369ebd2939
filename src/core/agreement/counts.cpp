// Measures that only count ratings per category and case: raters need no identity.
//
// Notation: a case has r ratings, d ordered pairs of ratings by different raters and a agreeing
// pairs (weighted by the scale W); pi are the shares of categories.
#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace fallible {

RowCounts count_rows(const RatedRows& rows, const std::vector<double>& scale) {
  RowCounts out;
  const int k = rows.categories;
  out.categories = k;
  out.scale = scale;
  const auto weight = [&](int a, int b) { return scale[static_cast<std::size_t>(a) * k + b]; };
  std::vector<int> sorted;
  for (int i = 0; i < rows.size(); ++i) {
    const int begin = rows.start[i], end = rows.start[i + 1];
    sorted.assign(rows.category.begin() + begin, rows.category.begin() + end);
    std::sort(sorted.begin(), sorted.end());
    const std::size_t first = out.category.size();
    for (const int category : sorted) {
      if (out.category.size() == first || out.category.back() != category) {
        out.category.push_back(category);
        out.count.push_back(0);
      }
      ++out.count.back();
    }
    double pairs = static_cast<double>(end - begin) * (end - begin), agreeing = 0;
    for (std::size_t a = first; a < out.category.size(); ++a) {
      for (std::size_t b = first; b < out.category.size(); ++b) {
        agreeing += weight(out.category[a], out.category[b]) * out.count[a] * out.count[b];
      }
    }
    // Less the pairs of ratings by one judge, each rating's with itself among them.
    for (int a = begin; a < end;) {
      int b = a;
      while (b < end && rows.judge[b] == rows.judge[a]) ++b;
      for (int u = a; u < b; ++u) {
        for (int v = a; v < b; ++v) agreeing -= weight(rows.category[u], rows.category[v]);
      }
      pairs -= static_cast<double>(b - a) * (b - a);
      a = b;
    }
    out.end_row(out.category.size());
    out.ratings.push_back(end - begin);
    out.pairs.push_back(pairs);
    out.agreeing.push_back(agreeing);
  }
  return out;
}

namespace {

enum class Chance { none, uniform, shares, gwet };

// Observed agreement and shares of categories, in which every rating or every case counts the same.
struct PairSums {
  Observed observed;
  Chance chance = Chance::none;
  double scale_total = 0;
  std::vector<double> share;
  double ratings = 0;

  double rating_weight(int i) const {
    return observed.pool_pairs ? 1 : 1 / observed.rows->ratings[i];
  }

  void add(int i, double w) {
    const RowCounts& rows = *observed.rows;
    observed.add(i, w);
    const double each = w * rating_weight(i);
    for (const int c : rows.places(i)) {
      share[rows.category[c]] += each * rows.count[c];
    }
    ratings += each * rows.ratings[i];
  }

  // W pi.
  std::vector<double> scaled_shares() const {
    const int k = observed.rows->categories;
    std::vector<double> out(k, 0.0);
    for (int a = 0; a < k; ++a) {
      if (share[a] == 0) continue;
      for (int b = 0; b < k; ++b) {
        out[b] += observed.rows->scale[static_cast<std::size_t>(a) * k + b] * share[a] / ratings;
      }
    }
    return out;
  }

  double expected() const {
    const double k = observed.rows->categories;
    double sum = 0;
    if (chance == Chance::none) return 0;
    if (chance == Chance::uniform) return scale_total / (k * k);
    if (chance == Chance::gwet) {
      for (const double n : share) sum += n / ratings * (1 - n / ratings);
      return scale_total * sum / (k * (k - 1));
    }
    const auto scaled = scaled_shares();
    for (std::size_t a = 0; a < share.size(); ++a) sum += share[a] / ratings * scaled[a];
    return sum;
  }

  // Derivative of expected agreement by each share.
  std::vector<double> slope() const {
    const double k = observed.rows->categories;
    std::vector<double> out(share.size(), 0.0);
    if (chance == Chance::shares) {
      out = scaled_shares();
      for (double& x : out) x *= 2;
    } else if (chance == Chance::gwet) {
      for (std::size_t a = 0; a < share.size(); ++a) {
        out[a] = scale_total * (1 - 2 * share[a] / ratings) / (k * (k - 1));
      }
    }
    return out;
  }

  Estimate value() const {
    if (!(observed.pairs > 0)) return undefined(Undefined::no_pairs);
    return beyond_chance(observed.value(), expected());
  }
};

// Percent agreement and the kappas that know raters only by their ratings.
class PairKernel : public SumKernel<PairSums> {
 public:
  PairKernel(RowCounts rows, Chance chance, bool pool_pairs)
      : rows_(std::move(rows)), chance_(chance), pool_pairs_(pool_pairs) {
    for (const double weight : rows_.scale) scale_total_ += weight;
  }

  std::vector<double> influence(const std::vector<double>& weight) const override {
    const PairSums sums = total(weight);
    const double expected = sums.expected(), kappa = sums.value().value;
    const auto slope = sums.slope();
    double mean_slope = 0;
    for (int k = 0; k < rows_.categories; ++k) mean_slope += slope[k] * sums.share[k];
    mean_slope /= sums.ratings;
    std::vector<double> out(rows_.size());
    for (int i = 0; i < rows_.size(); ++i) {
      double by_chance = 0;
      for (const int c : rows_.places(i)) {
        by_chance += rows_.count[c] * (slope[rows_.category[c]] - mean_slope);
      }
      by_chance *= sums.rating_weight(i) / sums.ratings;
      out[i] = (sums.observed.influence(i) - (1 - kappa) * by_chance) / (1 - expected);
    }
    return out;
  }

  // Under independence observed less expected agreement is a degenerate statistic of pairs: its
  // variance comes from the doubly centred scale. For nominal ratings this is Fleiss, Nee and
  // Landis (1979).
  double null_error(const std::vector<double>& weight) const override {
    const PairSums sums = total(weight);
    if (chance_ != Chance::shares) return undefined_value;
    const auto scaled = sums.scaled_shares();
    const double expected = sums.expected();
    const int k = rows_.categories;
    double spread = 0;
    for (int a = 0; a < k; ++a) {
      for (int b = 0; b < k; ++b) {
        const double centred =
            rows_.scale[static_cast<std::size_t>(a) * k + b] - scaled[a] - scaled[b] + expected;
        spread += sums.share[a] * sums.share[b] * centred * centred;
      }
    }
    spread /= sums.ratings * sums.ratings;
    double linear_spread = 0;
    for (int a = 0; a < k; ++a) {
      linear_spread += sums.share[a] / sums.ratings * std::pow(scaled[a] - expected, 2);
    }
    // Where ratings count for more in the one than in the other, a linear part remains as well.
    double squares = 0, linear = 0;
    for (int i = 0; i < rows_.size(); ++i) {
      const double r = rows_.ratings[i];
      if (r == 0) continue;
      double of_pairs = 0;
      if (rows_.pairs[i] > 0) {
        const double w = sums.observed.weight(i);
        squares += weight[i] * w * w / rows_.pairs[i];
        of_pairs = w / r / sums.observed.pairs;
      }
      linear += weight[i] * r * std::pow(of_pairs - sums.rating_weight(i) / sums.ratings, 2);
    }
    const double pairs = sums.observed.pairs;
    return std::sqrt(2 * spread * squares / (pairs * pairs) + 4 * linear_spread * linear) /
           (1 - expected);
  }

 protected:
  PairSums none() const override {
    return {
        {&rows_, pool_pairs_}, chance_, scale_total_, std::vector<double>(rows_.categories, 0.0)};
  }

 private:
  RowCounts rows_;
  Chance chance_;
  bool pool_pairs_;
  double scale_total_ = 0;
};

// Of the pairs of ratings in which the first is the first category, those whose second is too.
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
  SpecificKernel(const RatedRows& rows, bool pool_pairs) {
    // With these scales the agreeing pairs are those within a category, and those from it.
    const auto k = static_cast<std::size_t>(rows.categories);
    std::vector<double> within(k * k, 0.0), from(k * k, 0.0);
    within[0] = 1;
    for (std::size_t b = 0; b < k; ++b) from[b] = 1;
    both_ = count_rows(rows, within).agreeing;
    const RowCounts counts = count_rows(rows, from);
    first_ = counts.agreeing;
    if (pool_pairs) return;
    for (int i = 0; i < rows.size(); ++i) {
      if (!(counts.pairs[i] > 0)) continue;
      both_[i] /= counts.pairs[i];
      first_[i] /= counts.pairs[i];
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
  SpecificSums none() const override { return {&both_, &first_}; }

 private:
  std::vector<double> both_, first_;
};

}  // namespace

std::unique_ptr<Kernel> make_count_kernel(const RatedRows& rows, const KernelOptions& options) {
  if (options.name == "specific_agreement") {
    return std::make_unique<SpecificKernel>(rows, options.pool_pairs);
  }
  Chance chance = Chance::none;
  if (options.name == "chance_kappa") {
    chance = Chance::uniform;
  } else if (options.name == "fleiss_kappa") {
    chance = Chance::shares;
  } else if (options.name == "gwet_ac") {
    chance = Chance::gwet;
  } else if (options.name != "percent_agreement") {
    return nullptr;
  }
  return std::make_unique<PairKernel>(count_rows(rows, options.scale), chance, options.pool_pairs);
}

}  // namespace fallible
