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

// True if two classes have exchanged their names: more ratings of the average rater would be right
// if they were exchanged back. `mean_matrix`: confusion matrix of the average rater.
inline bool has_switched(const double* base_rates, ConstSquare mean_matrix) {
  const auto joint = [&](int k, int l) { return base_rates[k] * mean_matrix[k][l]; };
  for (int k = 0; k < mean_matrix.size(); ++k) {
    for (int l = 0; l < k; ++l) {
      if (joint(k, l) + joint(l, k) > joint(k, k) + joint(l, l)) return true;
    }
  }
  return false;
}

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
        theta_(prior.matrix.size(), K_),
        system_(prior.system.size(), K_) {}
  virtual ~Chain() = default;

  // Runs all iterations, and returns the kept draws.
  PosteriorChain run() {
    PosteriorChain out;
    out.probability.assign(place(rows_.size(), 0), 0.0);
    const int sweeps = options_.warmup + options_.kept * options_.thin;
    for (int i = 1; i <= sweeps; ++i) {
      const int after_warmup = i - options_.warmup;
      sweep(after_warmup > 0 && after_warmup % options_.thin == 0 ? &out : nullptr);
      Watch::check();
    }
    out.stuck = stuck_ / (sweeps * std::max(1.0, static_cast<double>(prior_.matrix.size())));
    return out;
  }

 protected:
  // One iteration of the chain: draws all parameters. Adds the draw to `kept` unless it is null.
  virtual void sweep(PosteriorChain* kept) = 0;

  // Position of an element in an array of rows, populations or pairs x classes.
  std::size_t place(int row, int k) const { return static_cast<std::size_t>(row) * K_ + k; }

  // Confusion matrix of the average rater: the mean of the raters' matrices. A stack of one matrix.
  Squares mean_matrix() const {
    Squares mean(1, K_);
    for (int j = 0; j < prior_.raters; ++j) {
      double* cell = mean[0].begin();
      for (const double p : theta_[prior_.matrix_of[j]]) *cell++ += p / prior_.raters;
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

  void store_parameters(PosteriorChain& out) const {
    for (const std::vector<double>* values : {&base_rates_, &theta_.values(), &system_.values()}) {
      out.draws.insert(out.draws.end(), values->begin(), values->end());
    }
    out.switched += has_switched(base_rates_.data(), mean_matrix()[0]);
  }

  const PosteriorRows& rows_;
  const PosteriorPrior& prior_;
  const ChainOptions& options_;
  Stream stream_;
  int K_;
  std::vector<double> base_rates_;  // populations x classes
  // Confusion matrices, and confusion matrices of systems that are not judges.
  Squares theta_, system_;
  // Number of times that a matrix kept its old value in a sweep, because no draw satisfied the
  // order of the classes.
  double stuck_ = 0;
};

}  // namespace fallible
