#include "gibbs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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
  // Key: truth, population, answers; then judge and category of each rating.
  const RowGroups groups(x.patterns, [&](int p, std::vector<int>& key) {
    if (weight[p] <= 0) return false;
    key.push_back(truth.empty() ? -1 : std::max(truth[p], 0) - 1);
    key.push_back(population.empty() ? 0 : population[p]);
    for (int s = 0; s < out.systems; ++s) key.push_back(std::max(x.answer_of(p, s), 0) - 1);
    for (const int i : x.places(p)) {
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
  for (int i = 0; i < groups.size(); ++i) {
    const int* of = groups.begin(i);
    out.known.push_back(of[0]);
    out.population.push_back(of[1]);
    out.populations = std::max(out.populations, of[1] + 1);
    out.answer.insert(out.answer.end(), of + 2, of + skip);
  }
  out.add_groups(groups, skip, weight);
  return out;
}

namespace {

// Draws of matrices until they are in order. After that the old matrices are kept.
constexpr int most_tries = 100;
constexpr int rescaled = 64;  // a product is rescaled after this number of factors

class GibbsChain : public Chain {
 public:
  GibbsChain(const PosteriorRows& rows, const PosteriorPrior& prior, const ChainOptions& options,
             int number)
      : Chain(rows, prior, options, number),
        base_count_(base_.size()),
        count_(theta_.size()),
        system_count_(system_.size()),
        centre_(K_) {
    start_matrices(prior, K_, stream_, theta_);
  }

 private:
  void sweep(PosteriorChain* kept) override {
    allocate(kept);
    draw_parameters();
    if (kept) store(*kept);
  }

  // Joint probability of a row and each class, in `weight_`, divided by exp(returned value).
  double joint(int row) {
    const double* rate = &base_[place(rows_.population[row], 0)];
    weight_.assign(rate, rate + K_);
    double scale = 0;
    int factors = 0;
    for (const int at : rows_.places(row)) {
      const double* matrix = &theta_[prior_.matrix_of[rows_.judge[at]] * cells_];
      for (int k = 0; k < K_; ++k) weight_[k] *= matrix[k * K_ + rows_.category[at]];
      if (++factors % rescaled == 0) scale += rescale();
    }
    return scale;
  }

  double rescale() {
    const double most = *std::max_element(weight_.begin(), weight_.end());
    if (most <= 0) return 0;
    for (double& w : weight_) w /= most;
    return std::log(most);
  }

  // Draws the classes of the cases of each row, and adds them to the counts.
  void allocate(PosteriorChain* kept) {
    std::fill(base_count_.begin(), base_count_.end(), 0.0);
    std::fill(count_.begin(), count_.end(), 0.0);
    std::fill(system_count_.begin(), system_count_.end(), 0.0);
    for (int row = 0; row < rows_.size(); ++row) {
      const int truth = rows_.known[row];
      if (truth >= 0 && !kept) {
        add(row, truth, rows_.weight[row]);
        continue;
      }
      joint(row);
      const double total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
      if (kept) note(*kept, row, total);
      if (truth >= 0) {
        add(row, truth, rows_.weight[row]);
      } else if (rows_.weight[row] == 1) {
        add(row, one_of(total), 1);
      } else {
        multinomial(stream_, static_cast<std::int64_t>(rows_.weight[row]), weight_, split_);
        for (int k = 0; k < K_; ++k) {
          if (split_[k] > 0) add(row, k, split_[k]);
        }
      }
      steps_done(1);
    }
  }

  int one_of(double total) {
    double u = stream_.uniform() * total;
    int k = 0;
    while (k < K_ - 1 && u >= weight_[k]) u -= weight_[k++];
    return k;
  }

  void add(int row, int k, double cases) {
    base_count_[place(rows_.population[row], k)] += cases;
    for (const int i : rows_.places(row)) {
      const std::size_t matrix = prior_.matrix_of[rows_.judge[i]] * cells_;
      count_[matrix + k * K_ + rows_.category[i]] += cases;
    }
    for_each_answer(
        row, [&](int s, int answer) { system_count_[s * cells_ + k * K_ + answer] += cases; });
  }

  // Adds the posterior probabilities of the classes of a row.
  void note(PosteriorChain& out, int row, double total) {
    const int truth = rows_.known[row];
    double* of = &out.probability[place(row, 0)];
    for (int k = 0; k < K_; ++k) of[k] += truth >= 0 ? k == truth : weight_[k] / total;
  }

  void draw_parameters() {
    std::vector<double> parameter(K_);
    for (int p = 0; p < rows_.populations; ++p) {
      for (int k = 0; k < K_; ++k) {
        parameter[k] = prior_.base_rates[p][k] + base_count_[place(p, k)];
      }
      dirichlet(stream_, parameter.data(), K_, &base_[place(p, 0)]);
    }
    if (prior_.pooled) {
      centre_.update(counts_of_pooled(), prior_.order != ClassOrder::none, stream_);
    }
    draw_matrices();
    for (std::size_t s = 0; s < prior_.system.size(); ++s) {
      draw_rows(prior_.system[s], &system_count_[s * cells_], K_, stream_, &system_[s * cells_]);
    }
  }

  std::vector<const double*> counts_of_pooled() const {
    std::vector<const double*> out;
    for (std::size_t m = 0; m < prior_.matrix.size(); ++m) {
      if (prior_.matrix[m].fixed.empty()) out.push_back(&count_[m * cells_]);
    }
    return out;
  }

  // Draws matrices given the counts and the order of classes. Repeats draws until they are in
  // order, which leaves the conditional distribution in that order invariant.
  void draw_matrices() {
    if (prior_.order == ClassOrder::mean && !prior_.pooled) {
      before_ = theta_;
      for (int tries = 0; tries < most_tries; ++tries) {
        for (std::size_t m = 0; m < prior_.matrix.size(); ++m) draw_matrix(m);
        if (dominates(mean_matrix().data(), K_)) return;
      }
      theta_ = before_;
      stuck_ += static_cast<double>(prior_.matrix.size());
      return;
    }
    std::vector<double> old(cells_);
    for (std::size_t m = 0; m < prior_.matrix.size(); ++m) {
      double* matrix = &theta_[m * cells_];
      old.assign(matrix, matrix + cells_);
      int tries = 0;
      do {
        draw_matrix(m);
      } while (prior_.order == ClassOrder::each && !dominates(matrix, K_) && ++tries < most_tries);
      if (tries < most_tries) continue;
      std::copy(old.begin(), old.end(), matrix);
      ++stuck_;
    }
  }

  void draw_matrix(std::size_t m) {
    if (!prior_.matrix[m].fixed.empty()) return;
    if (!prior_.pooled) {
      draw_rows(prior_.matrix[m], &count_[m * cells_], K_, stream_, &theta_[m * cells_]);
      return;
    }
    MatrixPrior around;
    for (int k = 0; k < K_; ++k) {
      for (int l = 0; l < K_; ++l) around.rows.push_back(centre_.parameter(k, l));
    }
    draw_rows(around, &count_[m * cells_], K_, stream_, &theta_[m * cells_]);
  }

  double log_likelihood(int row) {
    const double scale = joint(row);
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
      out.right.push_back(share_right(&system_count_[s * cells_], K_));
    }
  }

  std::vector<double> base_count_, count_, system_count_;
  CentreDraws centre_;
  std::vector<double> weight_, split_, before_;
};

}  // namespace

void set_equal_errors(double right, int K, double* matrix) {
  for (int k = 0; k < K; ++k) {
    for (int l = 0; l < K; ++l) matrix[k * K + l] = k == l ? right : (1 - right) / (K - 1);
  }
}

double share_right(const double* count, int K) {
  double right = 0;
  for (int k = 0; k < K; ++k) right += count[k * K + k];
  return right / std::accumulate(count, count + static_cast<std::size_t>(K) * K, 0.0);
}

void draw_rows(const MatrixPrior& prior, const double* count, int K, Stream& stream,
               double* matrix) {
  if (prior.equal_errors) {
    double right = 0;
    for (int k = 0; k < K; ++k) right += count[k * K + k];
    const double all = std::accumulate(count, count + static_cast<std::size_t>(K) * K, 0.0);
    const double both[2] = {prior.rows[0] + right, prior.rows[1] + all - right};
    double drawn[2];
    dirichlet(stream, both, 2, drawn);
    set_equal_errors(drawn[0], K, matrix);
    return;
  }
  std::vector<double> parameter(K);
  for (int k = 0; k < K; ++k) {
    for (int l = 0; l < K; ++l) parameter[l] = prior.rows[k * K + l] + count[k * K + l];
    dirichlet(stream, parameter.data(), K, matrix + k * K);
  }
}

void start_matrices(const PosteriorPrior& prior, int K, Stream& stream,
                    std::vector<double>& matrices) {
  const std::vector<double> none(static_cast<std::size_t>(K) * K, 0.0);
  MatrixPrior around{std::vector<double>(none.size(), 20 * 0.3 / (K - 1))};
  for (int k = 0; k < K; ++k) around.rows[k * K + k] = 20 * 0.7;
  for (std::size_t m = 0; m < prior.matrix.size(); ++m) {
    double* matrix = &matrices[m * none.size()];
    const std::vector<double>& fixed = prior.matrix[m].fixed;
    if (!fixed.empty()) {
      std::copy(fixed.begin(), fixed.end(), matrix);
      continue;
    }
    const MatrixPrior& law = prior.matrix[m].equal_errors ? MatrixPrior{{14, 6}, true} : around;
    do {
      draw_rows(law, none.data(), K, stream, matrix);
    } while (!dominates(matrix, K));
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
