// Draws from the posterior of a latent class model by Gibbs sampling: classes of all cases of a row
// at once, then base rates and confusion matrices given these.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "../base/host.hpp"
#include "../base/random.hpp"
#include "../ratings/patterns.hpp"
#include "../ratings/rated_rows.hpp"

namespace fallible {

// What a posterior is drawn from: distinct rows of (judge, category) with whole weights, and what
// systems that take no part in them say.
struct PosteriorRows : RatedRows {
  int populations = 1;
  int systems = 0;
  std::vector<int> known;       // true category of the row's cases, -1 where unknown
  std::vector<int> population;  // from 0
  std::vector<int> answer;      // rows x systems, row by row; -1 where there is none
};

// truth: category of each pattern (from 1; below 1 is unknown), or empty; population: of each
// pattern, from 0, or empty. With `joined` systems are judges behind the raters; otherwise their
// answers stand beside the rows. Rows have an order of their own, so that nothing depends on the
// order of cases.
PosteriorRows posterior_rows(const PatternView& patterns, const std::vector<double>& weight,
                             const std::vector<int>& truth, const std::vector<int>& population,
                             bool joined);

// A matrix dominates if each answer is likelier under its own truth than under any other.
enum class ClassOrder { none, mean, each };  // of no matrix, of that of the average rater, of all

// What errors have in common given the truth; see dependent.hpp.
enum class Dependence { none, easy, pairs };

struct MatrixPrior {
  // Dirichlet parameters, truths x answers, row by row; with equal errors those of right and wrong.
  std::vector<double> rows;
  bool equal_errors = false;
  std::vector<double> fixed = {};  // the matrix itself, where it is known
};

struct PosteriorPrior {
  std::vector<int> matrix_of;  // of each judge, among the matrices
  std::vector<MatrixPrior> matrix;
  std::vector<std::vector<double>> base_rates;  // Dirichlet parameters of each population
  std::vector<MatrixPrior> system;              // of each system that takes no part in the rows
  // Rows of all matrices that are not fixed are around those of a centre of the panel, which is
  // drawn too: Dirichlet(nu_k mu_k).
  bool pooled = false;
  ClassOrder order = ClassOrder::mean;
  int raters = 0;  // how many of the judges the average rater is the average of
  Dependence dependence = Dependence::none;
  std::vector<std::pair<int, int>> pairs;  // of judges, none of them in two
};

struct ChainOptions {
  int chains = 4;
  int kept = 1000;
  int warmup = 1000;
  int thin = 1;
  int threads = 1;
  std::uint64_t seed = 0;
  bool log_likelihood = false;
};

// Of one chain.
struct PosteriorChain {
  // kept x parameters, draw by draw: base rates (population by population), matrices (truths x
  // answers, row by row), those of systems, then nu and mu of a pooled prior, or what raters share.
  std::vector<double> draws;
  std::vector<double> right;           // kept x systems: share of these cases that they get right
  std::vector<double> log_likelihood;  // kept x rows, if asked for
  std::vector<double> probability;     // rows x classes, summed over kept draws
  int switched = 0;                    // kept draws in which classes have changed places
  double stuck = 0;                    // share of matrices that kept their value for the order
};

// Right with probability `right`, and all errors equally likely.
void set_equal_errors(double right, int K, double* matrix);

// A matrix given counts, truths x answers.
void draw_rows(const MatrixPrior& prior, const double* count, int K, Stream& stream,
               double* matrix);

double share_right(const double* count, int K);

// Matrices with diagonals around .7 that dominate, apart in each chain: other starts only find
// other names of the classes.
void start_matrices(const PosteriorPrior& prior, int K, Stream& stream,
                    std::vector<double>& matrices);

int posterior_parameters(const PosteriorRows& rows, const PosteriorPrior& prior);

// The same for any number of threads; items of the host are chains.
std::vector<PosteriorChain> draw_posterior(const PosteriorRows& rows, const PosteriorPrior& prior,
                                           const ChainOptions& options, const Host& host);

}  // namespace fallible
