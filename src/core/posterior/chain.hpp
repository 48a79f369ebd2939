// Base class of the samplers: state of a Markov chain, and the draws that are kept.
#pragma once

#include <algorithm>

#include "../base/matrix.hpp"
#include "gibbs.hpp"

namespace fallible {

// True if each answer is more probable when it is right than under any other truth. `matrix`:
// truths x answers.
inline bool dominates(ConstSquare matrix) {
  for (int l = 0; l < matrix.size(); ++l) {
    for (int k = 0; k < matrix.size(); ++k) {
      if (k != l && matrix[k][l] >= matrix[l][l]) return false;
    }
  }
  return true;
}

// True if two classes have exchanged their names, that is, if the average rater would be right more
// often with the names exchanged back. `mean_matrix`: confusion matrix of the average rater.
inline bool has_switched(const double* base_rates, ConstSquare mean_matrix) {
  const auto joint = [&](int k, int l) { return base_rates[k] * mean_matrix[k][l]; };
  for (int k = 0; k < mean_matrix.size(); ++k) {
    for (int l = 0; l < k; ++l) {
      if (joint(k, l) + joint(l, k) > joint(k, k) + joint(l, l)) return true;
    }
  }
  return false;
}

// State of a chain. Derived classes implement one iteration (sweep()).
class Chain {
 public:
  Chain(const PosteriorRows& rows, const PosteriorPrior& prior, const ChainOptions& options,
        int number)
      : rows_(rows),
        prior_(prior),
        options_(options),
        stream_(options.seed, static_cast<std::uint64_t>(number)),
        K_(rows.categories),
        base_rates_(static_cast<std::size_t>(rows.populations) * K_, 1.0 / K_),
        judge_matrices_(prior.matrix_priors.size(), K_),
        system_matrices_(prior.system_priors.size(), K_) {}
  virtual ~Chain() = default;

  // Runs all iterations, and returns the kept draws.
  PosteriorChain run() {
    PosteriorChain chain;
    chain.probability.assign(class_position(rows_.size(), 0), 0.0);
    const int sweeps = options_.warmup + options_.kept * options_.thin;
    for (int iteration = 1; iteration <= sweeps; ++iteration) {
      const int after_warmup = iteration - options_.warmup;
      sweep(after_warmup > 0 && after_warmup % options_.thin == 0 ? &chain : nullptr);
      Watch::check();
    }
    chain.stuck_share =
        n_stuck_ / (sweeps * std::max(1.0, static_cast<double>(prior_.matrix_priors.size())));
    return chain;
  }

 protected:
  // Runs one iteration of the chain, which draws all parameters. Appends the draw to `kept`, unless
  // `kept` is null.
  virtual void sweep(PosteriorChain* kept) = 0;

  // Position of the element for class k in an array of rows x classes. `row` may also be the index
  // of a population or of a pair of judges, in arrays of populations or pairs x classes.
  std::size_t class_position(int row, int k) const {
    return static_cast<std::size_t>(row) * K_ + k;
  }

  // Confusion matrix of the average rater: the mean of the raters' matrices. The result contains
  // one matrix.
  Squares mean_matrix() const {
    Squares mean(1, K_);
    for (int j = 0; j < prior_.raters; ++j) {
      double* cell = mean[0].begin();
      for (const double p : judge_matrices_[prior_.matrix_of[j]]) *cell++ += p / prior_.raters;
    }
    return mean;
  }

  // Calls visit(system, answer) for each system that answered the cases of this row.
  template <class Visit>
  void for_each_answer(int row, const Visit& visit) const {
    for (int s = 0; s < rows_.systems; ++s) {
      const int answer = row_of(rows_.answer, row, rows_.systems)[s];
      if (answer >= 0) visit(s, answer);
    }
  }

  void store_parameters(PosteriorChain& chain) const {
    for (const std::vector<double>* parameters :
         {&base_rates_, &judge_matrices_.values(), &system_matrices_.values()}) {
      chain.draws.insert(chain.draws.end(), parameters->begin(), parameters->end());
    }
    chain.n_switched += has_switched(base_rates_.data(), mean_matrix()[0]);
  }

  const PosteriorRows& rows_;
  const PosteriorPrior& prior_;
  const ChainOptions& options_;
  Stream stream_;
  int K_;
  std::vector<double> base_rates_;  // populations x classes
  // Confusion matrices of judges (raters and systems that affect the posterior), and of the other
  // systems.
  Squares judge_matrices_, system_matrices_;
  // Number of times that a matrix kept its old value in a sweep, because no draw satisfied the
  // condition `prior_.order`.
  double n_stuck_ = 0;
};

}  // namespace fallible
