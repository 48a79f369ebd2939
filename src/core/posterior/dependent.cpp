#include "dependent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../base/random.hpp"
#include "../base/slice.hpp"
#include "chain.hpp"

namespace fallible {

namespace {

double log_beta_density(double t, double a, double b) {
  return (a - 1) * std::log(t) + (b - 1) * std::log1p(-t);
}

// Answer of a single judge, or answers of both judges of a pair with dependent errors. `matrix` and
// `category` belong to the single or first judge, `other_matrix` and `other_category` to the second
// judge. `pair`: index of the pair, -1 for a single judge.
struct Answer {
  int matrix, category;
  int pair = -1, other_matrix = 0, other_category = 0;
};

// Chain of a model with dependent errors, see dependent.hpp.
class DependentChain : public Chain {
 public:
  DependentChain(const PosteriorRows& rows, const PosteriorPrior& prior,
                 const ChainOptions& options, int number)
      : Chain(rows, prior, options, number),
        has_easy_cases_(prior.dependence == Dependence::easy),
        dependence_(dependence_parameters(rows, prior), 0.25),
        row_probability_(class_position(rows.size(), 0)) {
    list_answers();
    draw_start_matrices(prior, K_, stream_, judge_matrices_);
    for (int k = 0; k < K_; ++k) update_row_probabilities(all_rows_, k);
  }

 private:
  void sweep(PosteriorChain* kept) override {
    draw_base_rates();
    for (std::size_t m = 0; m < prior_.matrix_priors.size(); ++m) draw_matrix(m);
    for (std::size_t i = 0; i < dependence_.size(); ++i) draw_dependence(i);
    if (kept) store(*kept);
  }

  // Sets `answers_`, `unanimous_answer_` and the lists of rows.
  void list_answers() {
    std::vector<int> pair_of(rows_.judges, -1);
    for (std::size_t i = 0; i < prior_.pairs.size(); ++i) {
      pair_of[prior_.pairs[i].first] = pair_of[prior_.pairs[i].second] = static_cast<int>(i);
    }
    all_rows_.resize(rows_.size());
    std::iota(all_rows_.begin(), all_rows_.end(), 0);
    rows_of_matrix_.resize(prior_.matrix_priors.size());
    rows_of_pair_.resize(prior_.pairs.size());
    answers_.resize(rows_.size());
    unanimous_answer_.assign(rows_.size(), -1);
    for (int row = 0; row < rows_.size(); ++row) {
      std::vector<Answer>& answers = answers_[row];
      bool all_equal = true;
      for (const int position : rows_.positions(row)) {
        const int judge = rows_.judge[position], pair = pair_of[judge];
        const int matrix = prior_.matrix_of[judge], category = rows_.category[position];
        all_equal = all_equal && (unanimous_answer_[row] < 0 || unanimous_answer_[row] == category);
        unanimous_answer_[row] = category;
        if (rows_of_matrix_[matrix].empty() || rows_of_matrix_[matrix].back() != row) {
          rows_of_matrix_[matrix].push_back(row);
        }
        const auto partner = std::find_if(answers.begin(), answers.end(), [&](const Answer& a) {
          return pair >= 0 && a.pair == pair;
        });
        if (partner == answers.end()) {
          answers.push_back({matrix, category, pair});
        } else {
          partner->other_matrix = matrix;
          partner->other_category = category;
          rows_of_pair_[pair].push_back(row);
        }
      }
      if (!all_equal) unanimous_answer_[row] = -1;
    }
    // If only one judge of a pair answered the cases of a row, the answer counts as the answer of a
    // single judge.
    for (int row = 0; row < rows_.size(); ++row) {
      for (Answer& a : answers_[row]) {
        if (a.pair < 0) continue;
        const std::vector<int>& rows_of_pair = rows_of_pair_[a.pair];
        if (!std::binary_search(rows_of_pair.begin(), rows_of_pair.end(), row)) a.pair = -1;
      }
    }
  }

  // Upper limit of e_k, the share of easy cases of class k: the lowest accuracy of all matrices in
  // this class. Raters are always right in easy cases, so their accuracy is at least e_k.
  double easy_bound(int k) const {
    double lowest_accuracy = 1;
    for (std::size_t m = 0; m < prior_.matrix_priors.size(); ++m) {
      lowest_accuracy = std::min(lowest_accuracy, judge_matrices_[m][k][k]);
    }
    return lowest_accuracy;
  }

  // Term of the log density of the matrices. The chain draws e_k / easy_bound(k), which is uniform
  // on [0, 1], instead of e_k. The change of variables multiplies the density by easy_bound(k).
  // High accuracies are therefore more probable than in the prior of the matrices.
  double log_easy_bound(int k) const { return has_easy_cases_ ? std::log(easy_bound(k)) : 0; }

  // Draws a probability by slice sampling, given its current value. log_density(p) first sets the
  // probability to p, and then returns its log density. The last call of log_density() is for the
  // drawn value, so the probability has this value afterwards.
  template <class F>
  void draw_probability(double current, const F& log_density) {
    const double level = log_density(current) + std::log(stream_.uniform());
    shrink_slice(stream_, current, level, 0, 1, log_density);
  }

  // Probability of the answers of a pair of judges, given class k (see dependent.hpp).
  double pair_probability(const Answer& a, int k) const {
    const double* first = judge_matrices_[a.matrix][k];
    const double* second = judge_matrices_[a.other_matrix][k];
    const double dependence = dependence_[class_position(a.pair, k)];
    const auto common = [&](int l) { return std::min(first[l], second[l]); };
    double coupled = 0;
    if (a.category == a.other_category) {
      coupled = common(a.category);
    } else {
      double remaining = 1;
      for (int l = 0; l < K_; ++l) remaining -= common(l);
      const double gap = (first[a.category] - common(a.category)) *
                         (second[a.other_category] - common(a.other_category));
      if (gap > 0) coupled = gap / remaining;
    }
    return (1 - dependence) * first[a.category] * second[a.other_category] + dependence * coupled;
  }

  // Probability of the answers of a row, given class k. `easy_share`: share of easy cases e_k, 0 in
  // the model with pairs.
  double answers_probability(int row, int k, double easy_share) const {
    double product = 1;
    for (const Answer& a : answers_[row]) {
      const double margin = judge_matrices_[a.matrix][k][a.category];
      if (has_easy_cases_) {
        product *= (a.category == k ? margin - easy_share : margin) / (1 - easy_share);
      } else {
        product *= a.pair < 0 ? margin : pair_probability(a, k);
      }
    }
    if (!has_easy_cases_) return product;
    const bool is_possible = unanimous_answer_[row] == k || answers_[row].empty();
    return (1 - easy_share) * product + (is_possible ? easy_share : 0);
  }

  // Computes `row_probability_` of these rows for class k.
  void update_row_probabilities(const std::vector<int>& rows, int k) {
    const double easy = has_easy_cases_ ? dependence_[k] * easy_bound(k) : 0;
    for (const int row : rows)
      row_probability_[class_position(row, k)] = answers_probability(row, k, easy);
  }

  double joint(int row, int k) const {
    return base_rates_[class_position(rows_.population[row], k)] *
           row_probability_[class_position(row, k)];
  }

  double likelihood(int row) const {
    if (rows_.truth[row] >= 0) return joint(row, rows_.truth[row]);
    double sum = 0;
    for (int k = 0; k < K_; ++k) sum += joint(row, k);
    return sum;
  }

  double log_likelihood(const std::vector<int>& rows) {
    double sum = 0;
    for (const int row : rows) sum += rows_.weight[row] * std::log(likelihood(row));
    count_steps(static_cast<unsigned>(rows.size()));
    return sum;
  }

  // Sets entry l of a probability distribution to t. Scales the other entries in proportion, so
  // that the sum is 1. Adds up the other entries instead of using 1 - share[l], because rounding
  // errors would otherwise grow from one call to the next.
  void set_share(double* share, int l, double t) {
    double other_sum = 0;
    for (int i = 0; i < K_; ++i) other_sum += i == l ? 0 : share[i];
    for (int i = 0; i < K_; ++i) {
      if (i != l) share[i] = other_sum > 0 ? share[i] / other_sum * (1 - t) : (1 - t) / (K_ - 1);
    }
    share[l] = t;
  }

  void draw_base_rates() {
    for (int p = 0; p < rows_.populations; ++p) {
      double* base_rate = &base_rates_[class_position(p, 0)];
      const std::vector<double>& parameter = prior_.base_rates[p];
      const double total = std::accumulate(parameter.begin(), parameter.end(), 0.0);
      for (int k = K_ == 2 ? 1 : 0; k < K_; ++k) {
        draw_probability(base_rate[k], [&](double rate) {
          set_share(base_rate, k, rate);
          return log_beta_density(rate, parameter[k], total - parameter[k]) +
                 log_likelihood(all_rows_);
        });
      }
    }
  }

  // Returns the log likelihood of `rows`, or minus infinity if the matrices violate the condition
  // `prior_.order`. `m`: index of the matrix that has changed.
  double ordered_log_likelihood(std::size_t m, const std::vector<int>& rows) {
    const bool in_order = prior_.order == ClassOrder::none ||
                          (prior_.order == ClassOrder::each ? dominates(judge_matrices_[m])
                                                            : dominates(mean_matrix()[0]));
    return in_order ? log_likelihood(rows) : -std::numeric_limits<double>::infinity();
  }

  void draw_matrix(std::size_t m) {
    const MatrixPrior& prior = prior_.matrix_priors[m];
    if (!prior.fixed.empty()) return;
    const Square matrix = judge_matrices_[m];
    // In the model with easy cases, a matrix changes the bound of e_k, and so the probabilities of
    // all rows. In the model with pairs, it changes only rows with answers from this matrix.
    const std::vector<int>& affected_rows = has_easy_cases_ ? all_rows_ : rows_of_matrix_[m];
    if (prior.equal_errors) {
      draw_probability(matrix[0][0], [&](double t) {
        set_equal_errors(t, matrix);
        double sum_log_bounds = 0;
        for (int k = 0; k < K_; ++k) {
          update_row_probabilities(affected_rows, k);
          sum_log_bounds += log_easy_bound(k);
        }
        return log_beta_density(t, prior.rows[0], prior.rows[1]) + sum_log_bounds +
               ordered_log_likelihood(m, affected_rows);
      });
      return;
    }
    for (int k = 0; k < K_; ++k) {
      const double* parameter = ConstSquare(prior.rows.data(), K_)[k];
      const double total = std::accumulate(parameter, parameter + K_, 0.0);
      for (int i = 0; i < (K_ == 2 ? 1 : K_); ++i) {
        const int l = (k + i) % K_;
        draw_probability(matrix[k][l], [&](double t) {
          set_share(matrix[k], l, t);
          update_row_probabilities(affected_rows, k);
          return log_beta_density(t, parameter[l], total - parameter[l]) + log_easy_bound(k) +
                 ordered_log_likelihood(m, affected_rows);
        });
      }
    }
  }

  void draw_dependence(std::size_t i) {
    const std::vector<int>& affected_rows = has_easy_cases_ ? all_rows_ : rows_of_pair_[i / K_];
    const int k = static_cast<int>(i % K_);
    draw_probability(dependence_[i], [&](double dependence) {
      dependence_[i] = dependence;
      update_row_probabilities(affected_rows, k);
      return log_likelihood(affected_rows);
    });
  }

  void store(PosteriorChain& chain) {
    Squares count(prior_.system_priors.size(), K_);
    std::vector<double> weight(K_), class_cases;
    for (int row = 0; row < rows_.size(); ++row) {
      const double total = likelihood(row);
      for (int k = 0; k < K_; ++k) {
        const bool is_possible = rows_.truth[row] < 0 || rows_.truth[row] == k;
        weight[k] = is_possible ? joint(row, k) / total : 0;
        chain.probability[class_position(row, k)] += weight[k];
      }
      if (options_.log_likelihood) chain.log_likelihood.push_back(std::log(total));
      if (rows_.systems == 0) continue;
      multinomial(stream_, static_cast<std::int64_t>(rows_.weight[row]), weight, class_cases);
      for_each_answer(row, [&](int s, int answer) {
        for (int k = 0; k < K_; ++k) count[s][k][answer] += class_cases[k];
      });
    }
    for (std::size_t s = 0; s < prior_.system_priors.size(); ++s) {
      draw_confusion_matrix(prior_.system_priors[s], count[s], stream_, system_matrices_[s]);
      chain.accuracy.push_back(share_right(count[s]));
    }
    store_parameters(chain);
    for (std::size_t i = 0; i < dependence_.size(); ++i) {
      chain.draws.push_back(has_easy_cases_ ? dependence_[i] * easy_bound(static_cast<int>(i))
                                            : dependence_[i]);
    }
  }

  bool has_easy_cases_;
  // Parameters of dependence, from 0 to 1. In the model with easy cases: e_k / easy_bound(k) of
  // each class k. In the model with pairs: u_k of each pair and class k.
  std::vector<double> dependence_;
  // Probability of the row's answers given the class: rows x classes.
  std::vector<double> row_probability_;
  std::vector<std::vector<Answer>> answers_;
  // Category that all judges of a row gave; -1 if answers differ or there is no answer.
  std::vector<int> unanimous_answer_;
  std::vector<int> all_rows_;  // indices of all rows: 0, 1, ...
  // Rows with answers from each matrix, and rows that both judges of each pair answered.
  std::vector<std::vector<int>> rows_of_matrix_, rows_of_pair_;
};

}  // namespace

int dependence_parameters(const PosteriorRows& rows, const PosteriorPrior& prior) {
  switch (prior.dependence) {
    case Dependence::easy:
      return rows.categories;
    case Dependence::pairs:
      return static_cast<int>(prior.pairs.size()) * rows.categories;
    default:
      return 0;
  }
}

PosteriorChain draw_dependent(const PosteriorRows& rows, const PosteriorPrior& prior,
                              const ChainOptions& options, int number) {
  return DependentChain(rows, prior, options, number).run();
}

}  // namespace fallible
