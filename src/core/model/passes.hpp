// One pass over rows of ratings. Computes the posterior probabilities of the classes of each row.
// The sums of these probabilities over rows are the expected numbers of cases and ratings in each
// class.
//
// Rows are sorted, so a row often begins with the same ratings as the row before it. Probabilities
// and sums for such a prefix are computed only once. A prefix is called open while the pass is in
// the consecutive rows that begin with it. In a crowd, where most raters rate few cases, most rows
// have no prefix in common.
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

// Probabilities of classes and answers. Their logarithms are used for rows with many or improbable
// ratings, whose product of probabilities would underflow.
struct AnswerTables {
  int classes;
  const double* class_probability;  // populations x classes
  const double* probability;        // probabilities of the answers: judges x answer codes x classes
  // Logarithms of `class_probability` and `probability`. If a pointer is null, logarithms are
  // computed when they are needed.
  const double *log_class_probability = nullptr, *log_probability = nullptr;
  const double* abstaining = nullptr;  // probabilities of abstaining: judges x classes, or null
};

// Arrays to which the pass adds expected numbers, in the order of struct ExpectedCounts.
struct AnswerSums {
  double *classes, *ratings;
  double* abstentions = nullptr;  // judges x classes
};

// Sum of the logarithms of many probabilities. Multiplies probabilities, and takes the logarithm
// only when the product becomes small, because logarithms are slow.
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

// The computations of one pass. K is the number of classes if it is fixed at compile time, which
// makes the pass faster, or else Eigen::Dynamic.
template <int K>
class Pass {
 public:
  using Array = Eigen::Array<double, K, 1>;

  Pass(const LatentRows& rows, const AnswerTables& tables, const AnswerSums* sums)
      : rows_(rows), tables_(tables), sums_(sums) {
    const std::size_t lengths = 1 + static_cast<std::size_t>(rows.longest_prefix);
    product_.assign(lengths, Constant(class_probabilities(), tables.classes));
    rating_.resize(lengths);
    if (sums) sum_.assign(lengths, Array::Zero(tables.classes));
  }

  // Calls visit(row, posterior) for each row whose weight is not 0, or for all rows if `all_rows`
  // is true. Returns the log likelihood: the weighted sum of the log probabilities of the rows.
  template <class Visit>
  double run(bool all_rows, const Visit& visit) {
    LogSum log_likelihood;
    int shared_length = 0;
    Array posterior;
    for (int i = 0; i < rows_.size(); ++i) {
      shared_length = std::min(shared_length, rows_.prefix_length(i));
      const double w = rows_.weight[i];
      if (w == 0 && !all_rows) continue;
      close_prefixes(shared_length);
      if (rows_.population_of(i) != population_) change_population(rows_.population_of(i));
      shared_length = std::numeric_limits<int>::max();
      open_prefixes(i + 1 < rows_.size() ? rows_.prefix_length(i + 1) : 0, rows_.start[i]);
      const double total = expect(i, posterior);
      if (total >= least_total) {
        posterior *= 1 / total;
        if (w != 0) log_likelihood.add(total, w);
      } else {
        const double log = expect_by_logs(i, posterior);
        if (w != 0) log_likelihood.add_log(w * log);
      }
      visit(i, posterior);
      if (sums_) add(i, w, posterior);
      if (i % rows_at_once == rows_at_once - 1) count_steps(rows_at_once);
    }
    count_steps(static_cast<unsigned>(rows_.size() % rows_at_once));
    close_prefixes(0);
    change_population(0);
    return log_likelihood.value();
  }

 private:
  using Map = Eigen::Map<Array>;
  using Constant = Eigen::Map<const Array>;
  static constexpr int rows_at_once = 64;
  // A row with a lower probability is computed with logarithms.
  static constexpr double least_total = 1e-200;

  int classes() const { return K > 0 ? K : tables_.classes; }
  std::size_t array_position(std::size_t rating) const { return rating * classes(); }

  const double* class_probabilities() const {
    return tables_.class_probability + population_ * classes();
  }

  // Adds the numbers of cases of the current population to the expected numbers, and changes to
  // another population. No prefix may be open, because a prefix is within one population.
  void change_population(int population) {
    if (sums_) {
      Map(sums_->classes + population_ * classes(), classes()) += sum_[0];
      sum_[0].setZero();
    }
    population_ = population;
    product_[0] = Constant(class_probabilities(), classes());
  }

  // Closes all open prefixes of more than `length` ratings, longest first. `sum_` contains, for
  // each prefix, the weighted sum of the posterior probabilities of its rows. This sum is added to
  // the expected numbers of the last rating of the prefix, and to the sum of the next shorter
  // prefix.
  void close_prefixes(int length) {
    for (; open_length_ > length; --open_length_) {
      if (!sums_) continue;
      Map(sums_->ratings + array_position(rating_[open_length_]), classes()) += sum_[open_length_];
      sum_[open_length_ - 1] += sum_[open_length_];
    }
  }

  // Opens the prefixes of up to `length` ratings, which begin at position `first`.
  void open_prefixes(int length, int first) {
    while (open_length_ < length) {
      const std::size_t rating = rows_.code_index(first + open_length_);
      product_[open_length_ + 1] =
          product_[open_length_] *
          Constant(tables_.probability + array_position(rating), classes());
      ++open_length_;
      rating_[open_length_] = rating;
      if (sums_) sum_[open_length_].setZero();
    }
  }

  // Writes the joint probabilities of the row's ratings and each class to `posterior`, and returns
  // their sum. The caller divides by this sum.
  double expect(int row, Array& posterior) const {
    Array p = product_[open_length_];
    const int end = rows_.start[row + 1];
    for (int position = rows_.start[row] + open_length_; position < end; ++position) {
      p *= Constant(tables_.probability + array_position(rows_.code_index(position)), classes());
    }
    for (const int position : abstentions_of(row)) {
      p *= Constant(tables_.abstaining + array_position(rows_.abstained[position]), classes());
    }
    if (rows_.known_truth[row] >= 0) exclude_other_classes(row, 0, p);
    posterior = p;
    return p.sum();
  }

  // Like expect(), but computed with logarithms. Writes the posterior probabilities to `posterior`,
  // and returns the log probability of the row.
  double expect_by_logs(int row, Array& posterior) const {
    posterior =
        logs(tables_.log_class_probability, tables_.class_probability, population_ * classes());
    for (const int position : rows_.positions(row)) {
      posterior += logs(tables_.log_probability, tables_.probability,
                        array_position(rows_.code_index(position)));
    }
    for (const int position : abstentions_of(row)) {
      posterior += logs(nullptr, tables_.abstaining, array_position(rows_.abstained[position]));
    }
    exclude_other_classes(row, -std::numeric_limits<double>::infinity(), posterior);
    const double largest = posterior.maxCoeff();
    posterior = (posterior - largest).exp();
    const double total = posterior.sum();
    posterior /= total;
    return largest + std::log(total);
  }

  Array logs(const double* log, const double* probability, std::size_t position) const {
    return log ? Array(Constant(log + position, classes()))
               : Array(Constant(probability + position, classes()).log());
  }

  // Sets p to `impossible` (0, or the logarithm of 0) for all classes other than the known category
  // of the row. Does nothing if the category is unknown.
  void exclude_other_classes(int row, double impossible, Array& p) const {
    const int known = rows_.known_truth[row];
    for (int c = 0; known >= 0 && c < classes(); ++c) {
      if (c % rows_.categories != known) p[c] = impossible;
    }
  }

  // Adds a row with weight `w` to the expected numbers. Ratings of the open prefixes are added
  // later by close_prefixes().
  void add(int row, double w, const Array& posterior) {
    const Array p = w * posterior;
    const int end = rows_.start[row + 1];
    for (int position = rows_.start[row] + open_length_; position < end; ++position) {
      Map(sums_->ratings + array_position(rows_.code_index(position)), classes()) += p;
    }
    for (const int position : abstentions_of(row)) {
      Map(sums_->abstentions + array_position(rows_.abstained[position]), classes()) += p;
    }
    sum_[open_length_] += p;
  }

  Positions abstentions_of(int row) const {
    return tables_.abstaining ? rows_.abstentions_of(row) : Positions(0, 0);
  }

  const LatentRows& rows_;
  AnswerTables tables_;
  const AnswerSums* sums_;
  int population_ = 0;
  // Number of ratings in the longest open prefix. Entry i of `product_`, `sum_` and `rating_` is
  // for the prefix of i ratings.
  int open_length_ = 0;
  std::vector<Array> product_, sum_;
  std::vector<std::size_t> rating_;
};

// Calls work(size), where the type of `size` contains the number of classes, so that the compiler
// can unroll loops over classes. Covers two to five categories, and two to four categories in three
// strata. For other numbers, the type contains Eigen::Dynamic.
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

// Runs a pass over all rows, see Pass::run(), with the fastest version for this number of classes.
// visit(row, posterior) receives a pointer to the posterior probabilities of the classes.
template <class Visit>
double pass_over(const LatentRows& rows, const AnswerTables& tables, const AnswerSums* sums,
                 bool all_rows, const Visit& visit) {
  return with_classes(tables.classes, [&](auto size) {
    Pass<decltype(size)::value> pass(rows, tables, sums);
    return pass.run(all_rows,
                    [&](int row, const auto& posterior) { visit(row, posterior.data()); });
  });
}

}  // namespace fallible
