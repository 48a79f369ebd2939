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
  PosteriorRows out;
  out.categories = x.categories;
  out.systems = joined ? 0 : x.systems;
  out.judges = x.raters + (joined ? x.systems : 0);
  const int skip = 2 + out.systems;
  // Key of a row: truth, population, answers of systems, then judge and category of each rating.
  const RowGroups groups(x.patterns, [&](int p, std::vector<int>& key) {
    if (weight[p] <= 0) return false;
    key.push_back(truth.empty() ? -1 : std::max(truth[p], 0) - 1);
    key.push_back(population.empty() ? 0 : population[p]);
    for (int s = 0; s < out.systems; ++s) key.push_back(std::max(x.answer_of(p, s), 0) - 1);
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
  for (const int p : population) out.populations = std::max(out.populations, p + 1);
  for (int i = 0; i < groups.size(); ++i) {
    const int* group = groups.begin(i);
    out.known.push_back(group[0]);
    out.population.push_back(group[1]);
    out.answer.insert(out.answer.end(), group + 2, group + skip);
  }
  out.add_groups(groups, skip, weight);
  return out;
}

namespace {

// Limit for repeated draws of matrices until classes are in order. After this number of draws, the
// old matrices are kept.
constexpr int most_tries = 100;
// After this number of factors, a product of probabilities is rescaled to avoid underflow.
constexpr int factors_per_rescaling = 64;

class GibbsChain : public Chain {
 public:
  GibbsChain(const PosteriorRows& rows, const PosteriorPrior& prior, const ChainOptions& options,
             int number)
      : Chain(rows, prior, options, number),
        base_count_(base_rates_.size()),
        count_(theta_),
        system_count_(system_),
        centre_(K_) {
    start_matrices(prior, K_, stream_, theta_);
  }

 private:
  void sweep(PosteriorChain* kept) override {
    draw_classes(kept);
    draw_parameters();
    if (kept) store(*kept);
  }

  // Writes the joint probability of the row's ratings and each class to `weight_`, divided by
  // exp(returned value).
  double compute_joint(int row) {
    const double* rate = &base_rates_[place(rows_.population[row], 0)];
    weight_.assign(rate, rate + K_);
    double scale = 0;
    int factors = 0;
    for (const int at : rows_.positions(row)) {
      const ConstSquare matrix = theta_[prior_.matrix_of[rows_.judge[at]]];
      for (int k = 0; k < K_; ++k) weight_[k] *= matrix[k][rows_.category[at]];
      if (++factors % factors_per_rescaling == 0) scale += rescale();
    }
    return scale;
  }

  // Divides `weight_` by its largest entry, and returns the logarithm of this entry.
  double rescale() {
    const double most = *std::max_element(weight_.begin(), weight_.end());
    if (most <= 0) return 0;
    for (double& w : weight_) w /= most;
    return std::log(most);
  }

  // Draws the classes of all cases, given the parameters. Adds them to the counts from which the
  // next parameters are drawn. If `kept` is not null, also adds the posterior probabilities.
  void draw_classes(PosteriorChain* kept) {
    for (auto* counts : {&base_count_, &count_.values(), &system_count_.values()}) {
      std::fill(counts->begin(), counts->end(), 0.0);
    }
    for (int row = 0; row < rows_.size(); ++row) {
      const int truth = rows_.known[row];
      if (truth >= 0 && !kept) {
        add_cases(row, truth, rows_.weight[row]);
        continue;
      }
      compute_joint(row);
      const double total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
      if (kept) add_posterior(*kept, row, total);
      if (truth >= 0) {
        add_cases(row, truth, rows_.weight[row]);
      } else if (rows_.weight[row] == 1) {
        add_cases(row, draw_class(total), 1);
      } else {
        multinomial(stream_, static_cast<std::int64_t>(rows_.weight[row]), weight_, class_cases_);
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
    while (k < K_ - 1 && u >= weight_[k]) u -= weight_[k++];
    return k;
  }

  void add_cases(int row, int k, double cases) {
    base_count_[place(rows_.population[row], k)] += cases;
    for (const int i : rows_.positions(row)) {
      count_[prior_.matrix_of[rows_.judge[i]]][k][rows_.category[i]] += cases;
    }
    for_each_answer(row, [&](int s, int answer) { system_count_[s][k][answer] += cases; });
  }

  // Adds the posterior probabilities of the classes of a row to the sums of the chain.
  void add_posterior(PosteriorChain& out, int row, double total) {
    const int truth = rows_.known[row];
    double* probability = &out.probability[place(row, 0)];
    for (int k = 0; k < K_; ++k) probability[k] += truth >= 0 ? k == truth : weight_[k] / total;
  }

  void draw_parameters() {
    std::vector<double> parameter(K_);
    for (int p = 0; p < rows_.populations; ++p) {
      for (int k = 0; k < K_; ++k) {
        parameter[k] = prior_.base_rates[p][k] + base_count_[place(p, k)];
      }
      dirichlet(stream_, parameter.data(), K_, &base_rates_[place(p, 0)]);
    }
    if (prior_.pooled) {
      centre_.update(counts_of_pooled(), prior_.order != ClassOrder::none, stream_);
    }
    draw_matrices();
    for (std::size_t s = 0; s < prior_.system.size(); ++s) {
      draw_rows(prior_.system[s], system_count_[s], stream_, system_[s]);
    }
  }

  std::vector<ConstSquare> counts_of_pooled() const {
    std::vector<ConstSquare> out;
    for (std::size_t m = 0; m < prior_.matrix.size(); ++m) {
      if (prior_.matrix[m].fixed.empty()) out.push_back(count_[m]);
    }
    return out;
  }

  // Draws the confusion matrices given the classes. If the prior requires an order of the classes,
  // repeats the draw until the matrices satisfy it (rejection sampling). This leaves the posterior
  // distribution restricted to this order invariant. With a pooled prior and ClassOrder::mean, only
  // the centre is restricted, which CentreDraws::update() does.
  void draw_matrices() {
    if (prior_.order == ClassOrder::mean && !prior_.pooled) {
      previous_matrices_ = theta_;
      for (int tries = 0; tries < most_tries; ++tries) {
        for (std::size_t m = 0; m < prior_.matrix.size(); ++m) draw_matrix(m);
        if (dominates(mean_matrix()[0])) return;
      }
      theta_ = previous_matrices_;
      stuck_ += static_cast<double>(prior_.matrix.size());
      return;
    }
    for (std::size_t m = 0; m < prior_.matrix.size(); ++m) {
      const Square matrix = theta_[m];
      const std::vector<double> previous(matrix.begin(), matrix.end());
      int tries = 0;
      do {
        draw_matrix(m);
      } while (prior_.order == ClassOrder::each && !dominates(matrix) && ++tries < most_tries);
      if (tries < most_tries) continue;
      std::copy(previous.begin(), previous.end(), matrix.begin());
      ++stuck_;
    }
  }

  void draw_matrix(std::size_t m) {
    if (!prior_.matrix[m].fixed.empty()) return;
    if (!prior_.pooled) {
      draw_rows(prior_.matrix[m], count_[m], stream_, theta_[m]);
      return;
    }
    MatrixPrior matrix_prior;
    for (int k = 0; k < K_; ++k) {
      for (int l = 0; l < K_; ++l) matrix_prior.rows.push_back(centre_.parameter(k, l));
    }
    draw_rows(matrix_prior, count_[m], stream_, theta_[m]);
  }

  double log_likelihood(int row) {
    const double scale = compute_joint(row);
    const int truth = rows_.known[row];
    const double total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    return std::log(truth >= 0 ? weight_[truth] : total) + scale;
  }

  void store(PosteriorChain& out) {
    for (int row = 0; options_.log_likelihood && row < rows_.size(); ++row) {
      out.log_likelihood.push_back(log_likelihood(row));
    }
    store_parameters(out);
    if (prior_.pooled) {
      out.draws.insert(out.draws.end(), centre_.nu().begin(), centre_.nu().end());
      out.draws.insert(out.draws.end(), centre_.mu().begin(), centre_.mu().end());
    }
    for (std::size_t s = 0; s < prior_.system.size(); ++s) {
      out.right.push_back(share_right(system_count_[s]));
    }
  }

  // Numbers of cases (populations x classes), and of answers of judges and of systems, in the drawn
  // classes.
  std::vector<double> base_count_;
  Squares count_, system_count_, previous_matrices_;
  CentreDraws centre_;
  std::vector<double> weight_, class_cases_;
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
  double out = 0;
  for (int k = 0; k < count.size(); ++k) out += count[k][k];
  return out;
}

double sum(ConstSquare count) { return std::accumulate(count.begin(), count.end(), 0.0); }

}  // namespace

double share_right(ConstSquare count) { return sum_right(count) / sum(count); }

void draw_rows(const MatrixPrior& prior, ConstSquare count, Stream& stream, Square matrix) {
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

void start_matrices(const PosteriorPrior& prior, int K, Stream& stream, Squares& matrices) {
  const Squares no_counts(1, K);
  MatrixPrior start_prior{std::vector<double>(no_counts.values().size(), 20 * 0.3 / (K - 1))};
  for (int k = 0; k < K; ++k) Square(start_prior.rows.data(), K)[k][k] = 20 * 0.7;
  for (std::size_t m = 0; m < prior.matrix.size(); ++m) {
    const Square matrix = matrices[m];
    const std::vector<double>& fixed = prior.matrix[m].fixed;
    if (!fixed.empty()) {
      std::copy(fixed.begin(), fixed.end(), matrix.begin());
      continue;
    }
    const MatrixPrior& matrix_prior =
        prior.matrix[m].equal_errors ? MatrixPrior{{14, 6}, true} : start_prior;
    do {
      draw_rows(matrix_prior, no_counts[0], stream, matrix);
    } while (!dominates(matrix));
  }
}

int posterior_parameters(const PosteriorRows& rows, const PosteriorPrior& prior) {
  const int K = rows.categories;
  const int matrices = static_cast<int>(prior.matrix.size() + prior.system.size());
  return rows.populations * K + matrices * K * K + (prior.pooled ? K + K * K : 0) +
         dependence_parameters(rows, prior);
}

std::vector<PosteriorChain> draw_posterior(const PosteriorRows& rows, const PosteriorPrior& prior,
                                           const ChainOptions& options, const Host& host) {
  std::vector<PosteriorChain> out(options.chains);
  for_each_item(out.size(), options.threads, host, [&](std::size_t chain) {
    const int number = static_cast<int>(chain);
    out[chain] = prior.dependence == Dependence::none
                     ? GibbsChain(rows, prior, options, number).run()
                     : draw_dependent(rows, prior, options, number);
  });
  return out;
}

}  // namespace fallible
