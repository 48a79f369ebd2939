// Gibbs sampler for latent class models. Alternates between two draws: the classes of all cases
// given the parameters, and base rates and confusion matrices given the classes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "../base/host.hpp"
#include "../base/matrix.hpp"
#include "../base/random.hpp"
#include "../ratings/patterns.hpp"
#include "../ratings/rated_rows.hpp"

namespace fallible {

// Data of a posterior: distinct rows of answers. The weight of a row is its number of cases, a
// whole number. The judges are the raters and the systems that are treated like raters. All other
// systems do not affect the posterior; `systems` is their number, and `answer` contains their
// answers.
struct PosteriorRows : RatedRows {
  int populations = 1;
  int systems = 0;
  std::vector<int> truth;       // known true category of each row, from 0; -1 if unknown
  std::vector<int> population;  // population of each row, from 0
  std::vector<int> answer;  // answers of systems: rows x systems, row by row; from 0, -1 if missing
};

// Makes rows from patterns. `truth`: known category of each pattern (from 1; below 1 if unknown),
// or empty. `population`: population of each pattern (from 0), or empty. `joined`: true if systems
// are treated like raters; they are then numbered after the raters. Otherwise their answers are
// stored separately. The order of the rows does not depend on the order of cases.
PosteriorRows posterior_rows(const PatternView& patterns, const std::vector<double>& weight,
                             const std::vector<int>& truth, const std::vector<int>& population,
                             bool joined);

// Condition on confusion matrices that keeps the names of classes fixed. A matrix dominates if each
// answer is more probable when it is right than when it is wrong (dominates() in chain.hpp).
//   none: no condition.
//   mean: the mean matrix of the raters must dominate. With a pooled prior, the matrix of the
//     centre's mean rows must dominate instead.
//   each: the matrix of each judge must dominate.
enum class ClassOrder { none, mean, each };

// Model of the dependence of errors given the truth, see dependent.hpp.
enum class Dependence { none, easy, pairs };

// Prior of a confusion matrix.
struct MatrixPrior {
  // Dirichlet parameters of the rows: truths x answers, row by row. If `equal_errors` is true, the
  // vector contains two Beta parameters instead, for right and for wrong answers.
  std::vector<double> rows;
  bool equal_errors = false;
  // The confusion matrix itself, row by row, if it is known and must not be drawn; otherwise empty.
  std::vector<double> fixed = {};
};

struct PosteriorPrior {
  std::vector<int> matrix_of;  // index of each judge's matrix, from 0; judges may share one
  std::vector<MatrixPrior> matrix_priors;  // prior of each matrix
  // Dirichlet parameters of the base rates of each population.
  std::vector<std::vector<double>> base_rates;
  std::vector<MatrixPrior> system_priors;  // for systems that do not affect the posterior
  // True for a hierarchical prior: row k of each unknown matrix is drawn from Dirichlet(nu_k *
  // mu_k). The common parameters nu and mu, called the centre, are drawn, too (centre_draws.hpp).
  bool pooled = false;
  ClassOrder order = ClassOrder::mean;
  // Number of raters; judges with higher numbers are systems.
  int raters = 0;
  Dependence dependence = Dependence::none;
  // Pairs of judges with dependent errors; a judge is in at most one pair.
  std::vector<std::pair<int, int>> pairs;
};

struct ChainOptions {
  int chains = 4;     // number of chains
  int kept = 1000;    // number of draws that are kept from each chain
  int warmup = 1000;  // number of iterations before the first kept draw
  int thin = 1;       // number of iterations per kept draw
  int threads = 1;
  std::uint64_t seed = 0;
  bool log_likelihood = false;  // true to store PosteriorChain::log_likelihood
};

// Draws of one chain, and sums over its draws.
struct PosteriorChain {
  // Kept draws x parameters, one draw after the other. Parameters: base rates (population by
  // population), confusion matrices (truths x answers, row by row), matrices of systems, then nu
  // and mu if the prior is pooled, or the parameters of dependence.
  std::vector<double> draws;
  std::vector<double> accuracy;        // kept draws x systems: share of right answers in the data
  std::vector<double> log_likelihood;  // kept draws x rows, if requested: log likelihood of a case
  // Rows x classes: posterior probabilities, summed over kept draws.
  std::vector<double> probability;
  int n_switched = 0;  // number of kept draws in which two classes have exchanged names
  // Share of the draws of matrices in which no candidate satisfied `PosteriorPrior::order`. The
  // matrix then kept its old value.
  double stuck_share = 0;
};

// Writes a confusion matrix to `matrix`. The probability of the right answer is `right`; all errors
// have equal probabilities.
void set_equal_errors(double right, Square matrix);

// Draws a confusion matrix from its distribution given the classes of all cases, and writes it to
// `matrix`. `count`: number of answers, drawn classes x answers.
void draw_confusion_matrix(const MatrixPrior& prior, ConstSquare count, Stream& stream,
                           Square matrix);

// Share of right answers in a table of counts: truths x answers.
double share_right(ConstSquare count);

// Draws starting matrices, which differ between chains. Known matrices are copied. The other
// matrices have diagonals around .7, and each diagonal entry is the largest of its column. Classes
// therefore have the same names in all chains.
void draw_start_matrices(const PosteriorPrior& prior, int K, Stream& stream, Squares& matrices);

// Returns the number of parameters of a draw, see PosteriorChain::draws.
int posterior_parameters(const PosteriorRows& rows, const PosteriorPrior& prior);

// Runs the chains and returns their draws, which are the same for any number of threads. Reports
// the number of finished chains to `host`.
std::vector<PosteriorChain> draw_posterior(const PosteriorRows& rows, const PosteriorPrior& prior,
                                           const ChainOptions& options, const Host& host);

}  // namespace fallible
