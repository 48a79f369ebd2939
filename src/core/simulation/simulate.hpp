// Panels of raters and systems, drawn from confusion matrices that satisfy or violate the
// K-properties: Lehner (2015), "Performance and robustness".
#pragma once

#include <vector>

#include "../base/random.hpp"

namespace fallible {

// Quantity that step 5 holds fixed: the accuracy over base rates, or the accuracy of each category.
enum class Normalise { expected, row };

struct ConfusionOptions {
  double dispersion = 1;   // AD: factor by which an error is more probable than one a step further
  double error_range = 0;  // PER: error probabilities are multiplied by Uniform(1 -+ PER)
  Normalise normalise = Normalise::expected;
};

// Matrix by rows, true categories in rows. `factor` has a multiplier per entry (step 4; not used on
// the diagonal). `accuracy` is truncated to [0, 1].
std::vector<double> confusion_matrix(double accuracy, const std::vector<double>& base_rates,
                                     const ConfusionOptions& options,
                                     const std::vector<double>& factor);

// Multipliers of step 4, categories x categories; all 1 without an error range.
std::vector<double> error_factors(int categories, double error_range, Stream& stream);

// Expected share of correct answers for these base rates.
double expected_accuracy(const std::vector<double>& confusion,
                         const std::vector<double>& base_rates);

enum class BaseRateLaw { fixed, uniform, dirichlet };

// Cases on which raters (and systems, if `system_strata`) are more or less accurate.
struct Stratum {
  double shift;   // PDA, added to accuracies
  double weight;  // probability
};

// A rater or a system that repeats another's answer with some probability. Copying is done in the
// order of the list: a judge who copies a copier gets the copied answer.
struct Copying {
  int from;
  int to;
  double probability;
};

struct Design {
  int categories = 0;
  BaseRateLaw law = BaseRateLaw::uniform;
  std::vector<double> base_rates;  // if fixed
  double concentration = 1;        // if Dirichlet
  std::vector<double> raters;      // initial probability of a correct answer (IPC)
  std::vector<double> systems;
  ConfusionOptions confusion;
  std::vector<Stratum> strata{{0, 1}};
  bool strata_drawn = true;     // drawn, or with exact shares of the cases?
  bool strata_redraw = true;    // draw the factors of step 4 for each stratum
  bool system_strata = true;    // do strata apply to systems?
  bool system_errors = true;    // do dispersion and error range apply to them?
  std::vector<double> missing;  // probability of a missing rating, by rater; empty for none
  std::vector<Copying> copying;
  // User-defined matrices: raters, then systems; empty if generated. One for all strata, or one
  // after another for each stratum.
  std::vector<std::vector<double>> custom;
  // By judge, or empty. `loading`: correlation between the latent variable of an answer and the
  // effect of the case. `drift`: change of accuracy from the first case of a panel to the last.
  std::vector<double> loading;
  std::vector<double> drift;
  std::size_t hidden = 0;  // number of last systems that are only copied from, not part of panels

  std::size_t shown() const { return systems.size() - hidden; }
};

// Draws of a replicate that precede its cases: base rates, and a matrix per judge and stratum.
struct Truths {
  std::vector<double> base_rates;
  std::vector<std::vector<double>> matrix;  // judges x strata; judges are raters, then systems
  std::vector<double> expected;             // accuracy of each system shown, copying included
};

Truths draw_truths(const Design& design, Stream& stream);

// Draws one case after another.
class CaseSampler {
 public:
  // `cases` is used for strata with exact shares of the cases, and for drift.
  CaseSampler(const Design& design, const Truths& truths, std::size_t cases);

  void next(Stream& stream);

  // Values of the last case, from 1; 0 is a missing rating.
  int stratum() const { return static_cast<int>(stratum_) + 1; }
  int truth() const { return static_cast<int>(truth_) + 1; }
  const std::vector<int>& answers() const { return answers_; }  // raters, then systems

 private:
  std::size_t answer(std::size_t judge, Stream& stream) const;

  const Design& design_;
  std::size_t cases_, drawn_ = 0, stratum_ = 0, truth_ = 0;
  bool shared_, thinned_;  // is there an effect of cases, and are ratings missing?
  double effect_ = 0;      // of the last case, standard normal
  std::vector<int> answers_;
  std::vector<double> strata_, categories_, rows_;  // cumulative; rows of all matrices
  std::vector<std::size_t> ends_;                   // of strata with their exact share
};

struct Panel {
  std::vector<int> truth;                 // categories from 1
  std::vector<int> stratum;               // from 1
  std::vector<std::vector<int>> answers;  // a column per judge shown, from 1; 0 is missing
};

Panel draw_panel(const Design& design, const Truths& truths, std::size_t cases, Stream& stream);

}  // namespace fallible
