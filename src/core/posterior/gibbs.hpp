// Draws from the posterior of a latent class model by Gibbs sampling. Draws the classes of all
// cases of a row together, then base rates and confusion matrices given the classes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "../base/host.hpp"
#include "../base/random.hpp"
#include "../base/square.hpp"
#include "../ratings/patterns.hpp"
#include "../ratings/rated_rows.hpp"

namespace fallible {

// Data of a posterior: distinct rows of (judge, category) with whole weights, and the answers of
// systems that are not judges of the rows.
struct PosteriorRows : RatedRows {
  int populations = 1;
  int systems = 0;
  std::vector<int> known;       // true category of the row's cases, -1 if unknown
  std::vector<int> population;  // from 0
  std::vector<int> answer;      // rows x systems, row by row; -1 for none
};

// `truth`: category of each pattern (from 1; below 1 is unknown), or empty. `population`:
// population of each pattern (from 0), or empty. If `joined`, systems are judges that follow the
// raters; otherwise their answers are stored separately. The order of rows does not depend on the
// order of cases.
PosteriorRows posterior_rows(const PatternView& patterns, const std::vector<double>& weight,
                             const std::vector<int>& truth, const std::vector<int>& population,
                             bool joined);

// A matrix dominates if each answer is more probable under its truth than under any other.
enum class ClassOrder { none, mean, each };  // which matrices: none, the average rater's, all

// Dependence of errors given the truth; see dependent.hpp.
enum class Dependence { none, easy, pairs };

struct MatrixPrior {
  // Dirichlet parameters, truths x answers, row by row. With equal errors: two parameters, for
  // right and wrong.
  std::vector<double> rows;
  bool equal_errors = false;
  std::vector<double> fixed = {};  // a known matrix, or empty
};

struct PosteriorPrior {
  std::vector<int> matrix_of;  // matrix of each judge
  std::vector<MatrixPrior> matrix;
  std::vector<std::vector<double>> base_rates;  // Dirichlet parameters of each population
  std::vector<MatrixPrior> system;              // of systems that are not judges
  // Rows of all matrices that are not fixed are Dirichlet(nu_k mu_k). The centre mu is drawn, too.
  bool pooled = false;
  ClassOrder order = ClassOrder::mean;
  int raters = 0;  // number of judges in the mean of the average rater
  Dependence dependence = Dependence::none;
  std::vector<std::pair<int, int>> pairs;  // pairs of judges; a judge is in one pair at most
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

// Results of one chain.
struct PosteriorChain {
  // kept x parameters, draw by draw: base rates (population by population), matrices (truths x
  // answers, row by row), matrices of systems, then nu and mu of a pooled prior, or the parameters
  // of dependence.
  std::vector<double> draws;
  std::vector<double> right;           // kept x systems: accuracy in these cases
  std::vector<double> log_likelihood;  // kept x rows, if requested
  std::vector<double> probability;     // rows x classes, summed over kept draws
  int switched = 0;                    // kept draws with exchanged names
  double stuck = 0;                    // share of matrices that kept their value
};

// Fills a matrix with probability `right` on the diagonal and equal errors.
void set_equal_errors(double right, Square matrix);

// Draws a matrix given counts, truths x answers.
void draw_rows(const MatrixPrior& prior, ConstSquare count, Stream& stream, Square matrix);

double share_right(ConstSquare count);

// Starting matrices, which differ between chains. They dominate, with diagonals around .7. Other
// starts would only find other names of the classes.
void start_matrices(const PosteriorPrior& prior, int K, Stream& stream, Squares& matrices);

int posterior_parameters(const PosteriorRows& rows, const PosteriorPrior& prior);

// Draws are the same for any number of threads. The items of the host are chains.
std::vector<PosteriorChain> draw_posterior(const PosteriorRows& rows, const PosteriorPrior& prior,
                                           const ChainOptions& options, const Host& host);

}  // namespace fallible
