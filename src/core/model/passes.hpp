// One pass over rows of ratings: computes the class posterior of each row, and sums over ratings.
//
// A row may have the same beginning as the row before it (LatentRows::shared). The product for a
// shared beginning is computed once, and its sums are added once. Beginnings form a tree: products
// are passed down, sums are passed up. If all judges rated all cases, the tree has few more nodes
// than rows. In a crowd most rows share no beginning.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "../base/host.hpp"
#include "latent_rows.hpp"

namespace fallible {

// Probabilities in the order of AnswerLaw, and their logarithms. Logarithms are used for long or
// improbable rows, whose products would underflow.
struct AnswerTables {
  int classes;
  const double *weight, *probability;                              // `weight`: per population
  const double *log_weight = nullptr, *log_probability = nullptr;  // null: computed if needed
  const double* abstaining = nullptr;                              // judges x classes, or null
};

// Destinations of the sums, in the order of Counts.
struct AnswerSums {
  double *classes, *ratings;
  double* abstentions = nullptr;  // judges x classes
};

// Sum of logarithms of many probabilities. Multiplies before it takes a logarithm.
class LogSum {
 public:
  void add(double probability, double weight) {
    if (weight != 1) {
      sum_ += weight * std::log(probability);
      return;
    }
    product_ *= probability;
    if (product_ < small) flush();
  }
  void add_log(double x) { sum_ += x; }
  double value() {
    flush();
    return sum_;
  }

 private:
  static constexpr double small = 1e-100;

  void flush() {
    sum_ += std::log(product_);
    product_ = 1;
  }

  double sum_ = 0, product_ = 1;
};

// K is the number of classes if it is known to the compiler, or Eigen::Dynamic.
template <int K>
class Pass {
 public:
  using Array = Eigen::Array<double, K, 1>;

  Pass(const LatentRows& rows, const AnswerTables& tables, const AnswerSums* sums)
      : rows_(rows), tables_(tables), sums_(sums) {
    const std::size_t levels = 1 + static_cast<std::size_t>(rows.longest_shared);
    product_.assign(levels, Constant(weights(), tables.classes));
    rating_.resize(levels);
    if (sums) sum_.assign(levels, Array::Zero(tables.classes));
  }

  // Calls visit(row, posterior) for each row, or only for rows with weight. Returns the sum of the
  // log probabilities of rows.
  template <class Visit>
  double run(bool all, const Visit& visit) {
    LogSum out;
    int shared = 0;
    Array posterior;
    for (int i = 0; i < rows_.size(); ++i) {
      shared = std::min(shared, rows_.shared_by(i));
      const double w = rows_.weight[i];
      if (w == 0 && !all) continue;
      close(shared);
      if (rows_.population_of(i) != population_) move_to(rows_.population_of(i));
      shared = std::numeric_limits<int>::max();
      open_until(i + 1 < rows_.size() ? rows_.shared_by(i + 1) : 0, rows_.start[i]);
      const double total = expect(i, posterior);
      if (total >= vanishing) {
        posterior *= 1 / total;
        if (w != 0) out.add(total, w);
      } else {
        const double log = expect_by_logs(i, posterior);
        if (w != 0) out.add_log(w * log);
      }
      visit(i, posterior);
      if (sums_) add(i, w, posterior);
      if (i % rows_at_once == rows_at_once - 1) steps_done(rows_at_once);
    }
    steps_done(static_cast<unsigned>(rows_.size() % rows_at_once));
    close(0);
    move_to(0);
    return out.value();
  }

 private:
  using Map = Eigen::Map<Array>;
  using Constant = Eigen::Map<const Array>;
  static constexpr int rows_at_once = 64;
  static constexpr double vanishing = 1e-200;  // rows with lower probabilities use logarithms

  int classes() const { return K > 0 ? K : tables_.classes; }
  std::size_t place(std::size_t rating) const { return rating * classes(); }

  const double* weights() const { return tables_.weight + population_ * classes(); }

  // All beginnings must be closed.
  void move_to(int population) {
    if (sums_) {
      Map(sums_->classes + population_ * classes(), classes()) += sum_[0];
      sum_[0].setZero();
    }
    population_ = population;
    product_[0] = Constant(weights(), classes());
  }

  void close(int level) {
    for (; open_ > level; --open_) {
      if (!sums_) continue;
      Map(sums_->ratings + place(rating_[open_]), classes()) += sum_[open_];
      sum_[open_ - 1] += sum_[open_];
    }
  }

  void open_until(int level, int first) {
    while (open_ < level) {
      const std::size_t rating = rows_.rating(first + open_);
      product_[open_ + 1] =
          product_[open_] * Constant(tables_.probability + place(rating), classes());
      ++open_;
      rating_[open_] = rating;
      if (sums_) sum_[open_].setZero();
    }
  }

  // Returns the total probability of the row. The posterior is not yet divided by it.
  double expect(int row, Array& posterior) const {
    Array p = product_[open_];
    const int end = rows_.start[row + 1];
    for (int at = rows_.start[row] + open_; at < end; ++at) {
      p *= Constant(tables_.probability + place(rows_.rating(at)), classes());
    }
    for (const int at : abstentions_of(row)) {
      p *= Constant(tables_.abstaining + place(rows_.abstained[at]), classes());
    }
    if (rows_.known[row] >= 0) keep_known(row, 0, p);
    posterior = p;
    return p.sum();
  }

  double expect_by_logs(int row, Array& posterior) const {
    posterior = logs(tables_.log_weight, tables_.weight, population_ * classes());
    for (const int at : rows_.places(row)) {
      posterior += logs(tables_.log_probability, tables_.probability, place(rows_.rating(at)));
    }
    for (const int at : abstentions_of(row)) {
      posterior += logs(nullptr, tables_.abstaining, place(rows_.abstained[at]));
    }
    keep_known(row, -std::numeric_limits<double>::infinity(), posterior);
    const double most = posterior.maxCoeff();
    posterior = (posterior - most).exp();
    const double total = posterior.sum();
    posterior /= total;
    return most + std::log(total);
  }

  Array logs(const double* log, const double* probability, std::size_t at) const {
    return log ? Array(Constant(log + at, classes()))
               : Array(Constant(probability + at, classes()).log());
  }

  // Classes other than the known truth are impossible.
  void keep_known(int row, double impossible, Array& p) const {
    const int known = rows_.known[row];
    for (int c = 0; known >= 0 && c < classes(); ++c) {
      if (c % rows_.categories != known) p[c] = impossible;
    }
  }

  void add(int row, double w, const Array& posterior) {
    const Array p = w * posterior;
    const int end = rows_.start[row + 1];
    for (int at = rows_.start[row] + open_; at < end; ++at) {
      Map(sums_->ratings + place(rows_.rating(at)), classes()) += p;
    }
    for (const int at : abstentions_of(row)) {
      Map(sums_->abstentions + place(rows_.abstained[at]), classes()) += p;
    }
    sum_[open_] += p;
  }

  Places abstentions_of(int row) const {
    return tables_.abstaining ? rows_.abstentions_of(row) : Places(0, 0);
  }

  const LatentRows& rows_;
  AnswerTables tables_;
  const AnswerSums* sums_;
  int population_ = 0;
  int open_ = 0;  // number of ratings of the beginning on the stack
  std::vector<Array> product_, sum_;
  std::vector<std::size_t> rating_;
};

// Calls work(size) where decltype(size)::value is the number of classes, or Eigen::Dynamic: two to
// five categories, or two to four in three strata.
template <class Work>
auto with_classes(int classes, const Work& work) {
  switch (classes) {
    case 2:
      return work(std::integral_constant<int, 2>());
    case 3:
      return work(std::integral_constant<int, 3>());
    case 4:
      return work(std::integral_constant<int, 4>());
    case 5:
      return work(std::integral_constant<int, 5>());
    case 6:
      return work(std::integral_constant<int, 6>());
    case 9:
      return work(std::integral_constant<int, 9>());
    case 12:
      return work(std::integral_constant<int, 12>());
    default:
      return work(std::integral_constant<int, Eigen::Dynamic>());
  }
}

// See Pass::run(). visit(row, posterior) receives a pointer to the probabilities of the classes.
template <class Visit>
double pass_over(const LatentRows& rows, const AnswerTables& tables, const AnswerSums* sums,
                 bool all, const Visit& visit) {
  return with_classes(tables.classes, [&](auto size) {
    Pass<decltype(size)::value> pass(rows, tables, sums);
    return pass.run(all, [&](int row, const auto& posterior) { visit(row, posterior.data()); });
  });
}

}  // namespace fallible
