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

// Data of a posterior: distinct rows of (judge, category), with whole numbers as weights. Also
// contains the answers of systems that are not judges. They do not affect the raters' posterior.
struct PosteriorRows : RatedRows {
  int populations = 1;
  int systems = 0;
  std::vector<int> known;       // known true category of each row, from 0; -1 if unknown
  std::vector<int> population;  // population of each row, from 0
  std::vector<int> answer;  // answers of systems: rows x systems, row by row; from 0, -1 if missing
};

// Makes rows from patterns. `truth`: known category of each pattern (from 1; below 1 if unknown),
// or empty. `population`: population of each pattern (from 0), or empty. `joined`: true if systems
// are judges, numbered after the raters; otherwise their answers are stored separately. The order
// of the rows does not depend on the order of cases.
PosteriorRows posterior_rows(const PatternView& patterns, const std::vector<double>& weight,
                             const std::vector<int>& truth, const std::vector<int>& population,
                             bool joined);

// The confusion matrices that must dominate, so that classes keep their names: no matrix, only the
// mean matrix of the raters (with a pooled prior: the mean rows of the centre), or each matrix. A
// matrix dominates if each answer is most probable when it is right.
enum class ClassOrder { none, mean, each };

// Model of the dependence of errors given the truth, see dependent.hpp.
enum class Dependence { none, easy, pairs };

struct MatrixPrior {
  // Dirichlet parameters of the rows: truths x answers, row by row. If `equal_errors` is true, two
  // Beta parameters instead, for right and for wrong answers.
  std::vector<double> rows;
  bool equal_errors = false;
  std::vector<double> fixed = {};  // a known matrix (then nothing is drawn), or empty
};

struct PosteriorPrior {
  std::vector<int> matrix_of;  // index of each judge's matrix, from 0; judges may share one
  std::vector<MatrixPrior> matrix;
  // Dirichlet parameters of the base rates of each population.
  std::vector<std::vector<double>> base_rates;
  std::vector<MatrixPrior> system;  // priors for systems that are not judges.
  // True if the rows of all unknown matrices are Dirichlet(nu_k * mu_k) around a centre, whose
  // parameters nu and mu are also drawn.
  bool pooled = false;
  ClassOrder order = ClassOrder::mean;
  int raters = 0;  // number of raters; the average rater is the mean of their matrices
  Dependence dependence = Dependence::none;
  // Pairs of judges with dependent errors; a judge is in at most one.
  std::vector<std::pair<int, int>> pairs;
};

struct ChainOptions {
  int chains = 4;
  // Of each chain: number of draws that are kept, of iterations before the first of them, and of
  // iterations per kept draw.
  int kept = 1000;
  int warmup = 1000;
  int thin = 1;
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
  std::vector<double> right;           // kept draws x systems: accuracy in the cases of the data
  std::vector<double> log_likelihood;  // kept draws x rows, if requested: log likelihood of a case
  // Rows x classes: posterior probabilities, summed over kept draws.
  std::vector<double> probability;
  int switched = 0;  // number of kept draws in which two classes have exchanged names
  // Share of the draws of matrices that failed because of `order`; the old matrix was kept.
  double stuck = 0;
};

// Sets a confusion matrix with `right` on the diagonal and equal probabilities of all errors.
void set_equal_errors(double right, Square matrix);

// Draws a confusion matrix from its conditional distribution. `count`: numbers of answers in the
// drawn classes, truths x answers.
void draw_rows(const MatrixPrior& prior, ConstSquare count, Stream& stream, Square matrix);

// Share of right answers in a table of counts: truths x answers.
double share_right(ConstSquare count);

// Draws starting matrices, which differ between chains. Diagonals are around .7, and all matrices
// dominate: chains that start with other names of the classes would only find the same posterior
// with exchanged names.
void start_matrices(const PosteriorPrior& prior, int K, Stream& stream, Squares& matrices);

// Number of parameters of a draw, see PosteriorChain::draws.
int posterior_parameters(const PosteriorRows& rows, const PosteriorPrior& prior);

// Runs the chains. Draws are the same for any number of threads. The host receives the number of
// finished chains.
std::vector<PosteriorChain> draw_posterior(const PosteriorRows& rows, const PosteriorPrior& prior,
                                           const ChainOptions& options, const Host& host);

}  // namespace fallible
