// Panels of raters and systems, drawn from confusion matrices that keep the K-properties or break
// them: Lehner (2015), "Performance and robustness".
#pragma once

#include <vector>

#include "../base/random.hpp"

namespace fallible {

// What step 5 holds fixed: the accuracy over base rates, or the accuracy of each category.
enum class Normalise { expected, row };

struct ConfusionOptions {
  double dispersion = 1;   // AD: an error is so many times likelier than one a step further
  double error_range = 0;  // PER: each error probability is multiplied by Uniform(1 -+ PER)
  Normalise normalise = Normalise::expected;
};

// Row by row, true category first. `factor` has one multiplier per entry (step 4; those of the
// diagonal are not used); `accuracy` is clamped to [0, 1].
std::vector<double> confusion_matrix(double accuracy, const std::vector<double>& base_rates,
                                     const ConfusionOptions& options,
                                     const std::vector<double>& factor);

// Multipliers of step 4 for so many categories; all one where there is no error range.
std::vector<double> error_factors(int categories, double error_range, Stream& stream);

// Share of correct answers where categories have these base rates.
double expected_accuracy(const std::vector<double>& confusion,
                         const std::vector<double>& base_rates);

enum class BaseRateLaw { fixed, uniform, dirichlet };

// Cases whose raters (and systems, if they share it) are so much less or more accurate.
struct Stratum {
  double shift;   // PDA, added to accuracies
  double weight;  // probability
};

// A rater or a system that repeats another's answer with some probability. Those who copy do so in
// the order of the list: who copies a copier gets what it copied.
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
  bool strata_drawn = true;     // or of exactly their share of the cases
  bool strata_redraw = true;    // step 4 anew for each stratum
  bool system_strata = true;    // are systems subject to difficulty
  bool system_errors = true;    // and to dispersion and error range
  std::vector<double> missing;  // probability that a rating is missing, by rater; empty is none
  std::vector<Copying> copying;
  // Matrices that take the place of generated ones: raters, then systems; empty is generated. One
  // for all strata, or one after another for each.
  std::vector<std::vector<double>> custom;
  // By judge, or empty: the correlation of what decides an answer with the effect of the case, and
  // what accuracy gains from the first case of a panel to the last.
  std::vector<double> loading;
  std::vector<double> drift;
  std::size_t hidden = 0;  // the last systems: others copy them, but no panel shows them

  std::size_t shown() const { return systems.size() - hidden; }
};

// What one replicate draws before any case: base rates and a matrix per judge and stratum.
struct Truths {
  std::vector<double> base_rates;
  std::vector<std::vector<double>> matrix;  // judges x strata; judges are raters, then systems
  std::vector<double> expected;             // accuracy of each system shown, copying included
};

Truths draw_truths(const Design& design, Stream& stream);

// Draws one case after another.
class CaseSampler {
 public:
  // `cases` matters only where strata have exactly their share of the cases, and for drift.
  CaseSampler(const Design& design, const Truths& truths, std::size_t cases);

  void next(Stream& stream);

  // Of the case drawn last; all from 1, and 0 is a missing rating.
  int stratum() const { return static_cast<int>(stratum_) + 1; }
  int truth() const { return static_cast<int>(truth_) + 1; }
  const std::vector<int>& answers() const { return answers_; }  // raters, then systems

 private:
  std::size_t answer(std::size_t judge, Stream& stream) const;

  const Design& design_;
  std::size_t cases_, drawn_ = 0, stratum_ = 0, truth_ = 0;
  bool shared_, thinned_;  // is there an effect of cases, and are ratings missing?
  double effect_ = 0;      // of the case drawn last, standard normal
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
