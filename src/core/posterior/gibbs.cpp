#include "gibbs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "../base/random.hpp"
#include "centre_draws.hpp"
#include "chain.hpp"
#include "dependent.hpp"

namespace fallible {

PosteriorRows posterior_rows(const PatternView& x, const std::vector<double>& weight,
                             const std::vector<int>& truth, const std::vector<int>& population,
                             bool joined) {
  PosteriorRows rows;
  rows.categories = x.categories;
  rows.systems = joined ? 0 : x.systems;
  rows.judges = x.raters + (joined ? x.systems : 0);
  const int skip = 2 + rows.systems;
  // Key of a row: truth, population, answers of systems, then judge and category of each rating.
  const RowGroups groups(x.patterns, [&](int p, std::vector<int>& key) {
    if (weight[p] <= 0) return false;
    key.push_back(truth.empty() ? -1 : std::max(truth[p], 0) - 1);
    key.push_back(population.empty() ? 0 : population[p]);
    for (int s = 0; s < rows.systems; ++s) key.push_back(std::max(x.answer_of(p, s), 0) - 1);
    for (const int i : x.positions(p)) {
      key.push_back(x.rater[i] - 1);
      key.push_back(x.category[i] - 1);
    }
    for (int s = 0; joined && s < x.systems; ++s) {
      if (x.answer_of(p, s) < 1) continue;
      key.push_back(x.raters + s);
      key.push_back(x.answer_of(p, s) - 1);
    }
    return static_cast<int>(key.size()) > skip || key[0] >= 0;
  });
  // A population may have no row, if none of its cases has a rating. It still has base rates.
  for (const int p : population) rows.populations = std::max(rows.populations, p + 1);
  for (int i = 0; i < groups.size(); ++i) {
    const int* group = groups.begin(i);
    rows.truth.push_back(group[0]);
    rows.population.push_back(group[1]);
    rows.answer.insert(rows.answer.end(), group + 2, group + skip);
  }
  rows.add_groups(groups, skip, weight);
  return rows;
}

namespace {

// Draws of matrices are repeated until they satisfy the condition `PosteriorPrior::order`. After
// this number of draws, the old matrices are kept.
constexpr int max_tries = 100;
// After this number of factors, a product of probabilities is rescaled to avoid underflow.
constexpr int factors_per_rescaling = 64;

// Chain of the model in which errors are independent given the truth.
class GibbsChain : public Chain {
 public:
  GibbsChain(const PosteriorRows& rows, const PosteriorPrior& prior, const ChainOptions& options,
             int number)
      : Chain(rows, prior, options, number),
        class_count_(base_rates_.size()),
        judge_count_(judge_matrices_),
        system_count_(system_matrices_),
        centre_(K_) {
    draw_start_matrices(prior, K_, stream_, judge_matrices_);
  }

 private:
  void sweep(PosteriorChain* kept) override {
    draw_classes(kept);
    draw_parameters();
    if (kept) store(*kept);
  }

  // Computes the joint probability of the row's ratings and each class. Writes these probabilities,
  // divided by a common factor, to `class_weight_`, and returns the logarithm of the factor.
  double compute_joint(int row) {
    const double* base_rate = &base_rates_[class_position(rows_.population[row], 0)];
    class_weight_.assign(base_rate, base_rate + K_);
    double scale = 0;
    int factors = 0;
    for (const int position : rows_.positions(row)) {
      const ConstSquare matrix = judge_matrices_[prior_.matrix_of[rows_.judge[position]]];
      for (int k = 0; k < K_; ++k) class_weight_[k] *= matrix[k][rows_.category[position]];
      if (++factors % factors_per_rescaling == 0) scale += rescale();
    }
    return scale;
  }

  // Divides `class_weight_` by its largest entry, and returns the logarithm of this entry.
  double rescale() {
    const double largest = *std::max_element(class_weight_.begin(), class_weight_.end());
    if (largest <= 0) return 0;
    for (double& w : class_weight_) w /= largest;
    return std::log(largest);
  }

  // Draws the classes of all cases, given the parameters. Counts cases and answers in the drawn
  // classes; the next parameters are drawn from these counts. If `kept` is not null, also adds the
  // posterior probabilities of the classes to it.
  void draw_classes(PosteriorChain* kept) {
    for (auto* counts : {&class_count_, &judge_count_.values(), &system_count_.values()}) {
      std::fill(counts->begin(), counts->end(), 0.0);
    }
    for (int row = 0; row < rows_.size(); ++row) {
      const int truth = rows_.truth[row];
      if (truth >= 0 && !kept) {
        add_cases(row, truth, rows_.weight[row]);
        continue;
      }
      compute_joint(row);
      const double total = std::accumulate(class_weight_.begin(), class_weight_.end(), 0.0);
      if (kept) add_posterior(*kept, row, total);
      if (truth >= 0) {
        add_cases(row, truth, rows_.weight[row]);
      } else if (rows_.weight[row] == 1) {
        add_cases(row, draw_class(total), 1);
      } else {
        multinomial(stream_, static_cast<std::int64_t>(rows_.weight[row]), class_weight_,
                    class_cases_);
        for (int k = 0; k < K_; ++k) {
          if (class_cases_[k] > 0) add_cases(row, k, class_cases_[k]);
        }
      }
      count_steps(1);
    }
  }

  int draw_class(double total) {
    double u = stream_.uniform() * total;
    int k = 0;
    while (k < K_ - 1 && u >= class_weight_[k]) u -= class_weight_[k++];
    return k;
  }

  void add_cases(int row, int k, double cases) {
    class_count_[class_position(rows_.population[row], k)] += cases;
    for (const int i : rows_.positions(row)) {
      judge_count_[prior_.matrix_of[rows_.judge[i]]][k][rows_.category[i]] += cases;
    }
    for_each_answer(row, [&](int s, int answer) { system_count_[s][k][answer] += cases; });
  }

  // Adds the posterior probabilities of the classes of a row to the sums of the chain.
  void add_posterior(PosteriorChain& chain, int row, double total) {
    const int truth = rows_.truth[row];
    double* probability = &chain.probability[class_position(row, 0)];
    for (int k = 0; k < K_; ++k)
      probability[k] += truth >= 0 ? k == truth : class_weight_[k] / total;
  }

  void draw_parameters() {
    std::vector<double> parameter(K_);
    for (int p = 0; p < rows_.populations; ++p) {
      for (int k = 0; k < K_; ++k) {
        parameter[k] = prior_.base_rates[p][k] + class_count_[class_position(p, k)];
      }
      dirichlet(stream_, parameter.data(), K_, &base_rates_[class_position(p, 0)]);
    }
    if (prior_.pooled) {
      centre_.update(counts_of_unknown_matrices(), prior_.order != ClassOrder::none, stream_);
    }
    draw_matrices();
    for (std::size_t s = 0; s < prior_.system_priors.size(); ++s) {
      draw_confusion_matrix(prior_.system_priors[s], system_count_[s], stream_,
                            system_matrices_[s]);
    }
  }

  std::vector<ConstSquare> counts_of_unknown_matrices() const {
    std::vector<ConstSquare> counts;
    for (std::size_t m = 0; m < prior_.matrix_priors.size(); ++m) {
      if (prior_.matrix_priors[m].fixed.empty()) counts.push_back(judge_count_[m]);
    }
    return counts;
  }

  // Draws the confusion matrices given the classes. Repeats the draw until the matrices satisfy the
  // condition `prior_.order` (rejection sampling). The chain then has the posterior under this
  // condition as its stationary distribution.
  void draw_matrices() {
    // With a pooled prior, the matrices need not be checked here, because CentreDraws::update()
    // draws only centres that satisfy this condition.
    if (prior_.order == ClassOrder::mean && !prior_.pooled) {
      previous_matrices_ = judge_matrices_;
      for (int tries = 0; tries < max_tries; ++tries) {
        for (std::size_t m = 0; m < prior_.matrix_priors.size(); ++m) draw_matrix(m);
        if (dominates(mean_matrix()[0])) return;
      }
      judge_matrices_ = previous_matrices_;
      n_stuck_ += static_cast<double>(prior_.matrix_priors.size());
      return;
    }
    for (std::size_t m = 0; m < prior_.matrix_priors.size(); ++m) {
      const Square matrix = judge_matrices_[m];
      const std::vector<double> previous(matrix.begin(), matrix.end());
      int tries = 0;
      do {
        draw_matrix(m);
      } while (prior_.order == ClassOrder::each && !dominates(matrix) && ++tries < max_tries);
      if (tries < max_tries) continue;
      std::copy(previous.begin(), previous.end(), matrix.begin());
      ++n_stuck_;
    }
  }

  void draw_matrix(std::size_t m) {
    if (!prior_.matrix_priors[m].fixed.empty()) return;
    if (!prior_.pooled) {
      draw_confusion_matrix(prior_.matrix_priors[m], judge_count_[m], stream_, judge_matrices_[m]);
      return;
    }
    MatrixPrior matrix_prior;
    for (int k = 0; k < K_; ++k) {
      for (int l = 0; l < K_; ++l) matrix_prior.rows.push_back(centre_.parameter(k, l));
    }
    draw_confusion_matrix(matrix_prior, judge_count_[m], stream_, judge_matrices_[m]);
  }

  double log_likelihood(int row) {
    const double scale = compute_joint(row);
    const int truth = rows_.truth[row];
    const double total = std::accumulate(class_weight_.begin(), class_weight_.end(), 0.0);
    return std::log(truth >= 0 ? class_weight_[truth] : total) + scale;
  }

  void store(PosteriorChain& chain) {
    for (int row = 0; options_.log_likelihood && row < rows_.size(); ++row) {
      chain.log_likelihood.push_back(log_likelihood(row));
    }
    store_parameters(chain);
    if (prior_.pooled) {
      chain.draws.insert(chain.draws.end(), centre_.nu().begin(), centre_.nu().end());
      chain.draws.insert(chain.draws.end(), centre_.mu().begin(), centre_.mu().end());
    }
    for (std::size_t s = 0; s < prior_.system_priors.size(); ++s) {
      chain.accuracy.push_back(share_right(system_count_[s]));
    }
  }

  // Number of cases in each drawn class: populations x classes.
  std::vector<double> class_count_;
  // `judge_count_`, `system_count_`: numbers of answers, drawn classes x answers, for each matrix
  // of judges and of systems. `previous_matrices_`: matrices of judges before the current draw.
  Squares judge_count_, system_count_, previous_matrices_;
  CentreDraws centre_;
  std::vector<double> class_weight_, class_cases_;
};

}  // namespace

void set_equal_errors(double right, Square matrix) {
  const int K = matrix.size();
  for (int k = 0; k < K; ++k) {
    for (int l = 0; l < K; ++l) matrix[k][l] = k == l ? right : (1 - right) / (K - 1);
  }
}

namespace {

double sum_right(ConstSquare count) {
  double n_right = 0;
  for (int k = 0; k < count.size(); ++k) n_right += count[k][k];
  return n_right;
}

double sum(ConstSquare count) { return std::accumulate(count.begin(), count.end(), 0.0); }

}  // namespace

double share_right(ConstSquare count) { return sum_right(count) / sum(count); }

void draw_confusion_matrix(const MatrixPrior& prior, ConstSquare count, Stream& stream,
                           Square matrix) {
  const int K = matrix.size();
  if (prior.equal_errors) {
    const double right = sum_right(count);
    const double parameters[2] = {prior.rows[0] + right, prior.rows[1] + sum(count) - right};
    double drawn[2];
    dirichlet(stream, parameters, 2, drawn);
    set_equal_errors(drawn[0], matrix);
    return;
  }
  const ConstSquare prior_rows(prior.rows.data(), K);
  for (int k = 0; k < K; ++k) {
    std::transform(prior_rows[k], prior_rows[k] + K, count[k], matrix[k], std::plus<>());
    dirichlet(stream, matrix[k], K, matrix[k]);
  }
}

void draw_start_matrices(const PosteriorPrior& prior, int K, Stream& stream, Squares& matrices) {
  const Squares no_counts(1, K);
  MatrixPrior start_prior{std::vector<double>(no_counts.values().size(), 20 * 0.3 / (K - 1))};
  for (int k = 0; k < K; ++k) Square(start_prior.rows.data(), K)[k][k] = 20 * 0.7;
  for (std::size_t m = 0; m < prior.matrix_priors.size(); ++m) {
    const Square matrix = matrices[m];
    const std::vector<double>& fixed = prior.matrix_priors[m].fixed;
    if (!fixed.empty()) {
      std::copy(fixed.begin(), fixed.end(), matrix.begin());
      continue;
    }
    const MatrixPrior& matrix_prior =
        prior.matrix_priors[m].equal_errors ? MatrixPrior{{14, 6}, true} : start_prior;
    do {
      draw_confusion_matrix(matrix_prior, no_counts[0], stream, matrix);
    } while (!dominates(matrix));
  }
}

int posterior_parameters(const PosteriorRows& rows, const PosteriorPrior& prior) {
  const int K = rows.categories;
  const int matrices = static_cast<int>(prior.matrix_priors.size() + prior.system_priors.size());
  return rows.populations * K + matrices * K * K + (prior.pooled ? K + K * K : 0) +
         dependence_parameters(rows, prior);
}

std::vector<PosteriorChain> draw_posterior(const PosteriorRows& rows, const PosteriorPrior& prior,
                                           const ChainOptions& options, const Host& host) {
  std::vector<PosteriorChain> chains(options.chains);
  for_each_item(chains.size(), options.threads, host, [&](std::size_t i) {
    const int number = static_cast<int>(i);
    chains[i] = prior.dependence == Dependence::none
                    ? GibbsChain(rows, prior, options, number).run()
                    : draw_dependent(rows, prior, options, number);
  });
  return chains;
}

}  // namespace fallible
