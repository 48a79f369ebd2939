// Simulated panels of raters and systems. Answers are drawn from confusion matrices that satisfy or
// violate the K-properties, the assumptions of the K-model (Lehner, 2015, section "Performance and
// robustness"). AD, PER, PDA and IPC are the names of parameters in this paper.
#pragma once

#include <vector>

#include "../base/random.hpp"

namespace fallible {

// How the rows of a confusion matrix are normalised (step 5 of Lehner's procedure).
//   expected: the mean accuracy, weighted by base rates, becomes the requested accuracy.
//   row: the accuracy of each category becomes the requested accuracy.
enum class Normalise { expected, row };

// Properties of generated confusion matrices.
struct ConfusionOptions {
  // AD of Lehner (2015): probability of an error, divided by the probability of an error one
  // category further from the truth.
  double dispersion = 1;
  // PER of Lehner (2015): error probabilities are multiplied by uniform random numbers from
  // 1 - error_range to 1 + error_range.
  double error_range = 0;
  Normalise normalise = Normalise::expected;
};

// Makes a confusion matrix: truths x answers, row by row. `accuracy`: accuracy of the judge,
// clipped to [0, 1]. `factor`: multiplier of each entry (step 4 of Lehner's procedure); the
// diagonal is not used.
std::vector<double> confusion_matrix(double accuracy, const std::vector<double>& base_rates,
                                     const ConfusionOptions& options,
                                     const std::vector<double>& factor);

// Draws the argument `factor` of confusion_matrix(): categories x categories, all 1 if
// `error_range` is 0.
std::vector<double> error_factors(int categories, double error_range, Stream& stream);

// Returns the expected share of right answers for these base rates.
double expected_accuracy(const std::vector<double>& confusion,
                         const std::vector<double>& base_rates);

// Distribution of the base rates.
//   fixed: base rates are not drawn but given by the user.
//   uniform: uniform random numbers, divided by their sum.
//   dirichlet: symmetric Dirichlet distribution.
enum class BaseRateLaw { fixed, uniform, dirichlet };

// Cases in which raters (and systems, if Design::system_strata is true) are more or less accurate
// than on average.
struct Stratum {
  double shift;   // PDA: added to the accuracies of judges
  double weight;  // share of the cases
};

// Judge `to` copies the answer of judge `from` with this probability. Judges are raters, followed
// by systems, from 0. Judges copy in the order of Design::copying: if `from` has copied before,
// `to` gets the copied answer.
struct Copying {
  int from;
  int to;
  double probability;
};

// Design of simulated panels.
struct Design {
  int categories = 0;  // number of categories
  BaseRateLaw law = BaseRateLaw::uniform;
  std::vector<double> base_rates;  // used if the law is `fixed`
  double concentration = 1;        // parameter of the symmetric Dirichlet law of base rates
  std::vector<double> raters;      // IPC: accuracy of each rater before strata, drift and copying
  std::vector<double> systems;
  ConfusionOptions confusion;
  std::vector<Stratum> strata{{0, 1}};
  bool strata_drawn = true;   // true: strata of cases are random; false: exact shares of the cases
  bool strata_redraw = true;  // true: each stratum has separate multipliers of step 4
  bool system_strata = true;  // true: strata also change the accuracy of systems
  bool system_errors = true;  // true: dispersion and error range also apply to systems
  std::vector<double> missing;  // probability that a rating is missing, of each rater; or empty
  std::vector<Copying> copying;
  // User-defined confusion matrices of judges: raters, then systems. An entry contains one matrix
  // for all strata, or one per stratum, row by row. It is empty if the matrix is generated.
  std::vector<std::vector<double>> custom;
  // Loading of each judge, or empty: correlation between the normal variable that determines the
  // judge's answer and a normal variable that is common to all judges of a case. Judges with
  // loadings of the same sign tend to be wrong in the same cases.
  std::vector<double> loading;
  // Drift of each judge, or empty: change of the accuracy from first to last case of a panel.
  std::vector<double> drift;
  // Number of systems at the end of `systems` that judges may copy but that are not part of panels.
  std::size_t hidden = 0;

  std::size_t visible_systems() const { return systems.size() - hidden; }
};

// Parameters of a panel, which are drawn before its cases: base rates, and a confusion matrix per
// judge and stratum.
struct PanelParameters {
  std::vector<double> base_rates;
  std::vector<std::vector<double>> matrix;  // judges x strata; judges are raters, then systems
  // Expected accuracy of each system in the panel, including the effect of copying.
  std::vector<double> expected_accuracy;
};

// Draws base rates and confusion matrices of a panel.
PanelParameters draw_panel_parameters(const Design& design, Stream& stream);

// Draws the cases of a panel, one after the other.
class CaseSampler {
 public:
  // `cases`: number of cases of the panel. It is needed for strata with exact shares and for drift.
  CaseSampler(const Design& design, const PanelParameters& parameters, std::size_t cases);

  // Draws the next case.
  void next(Stream& stream);

  // Stratum, true category and answers of the last drawn case. All numbers start at 1; answer 0 is
  // a missing rating.
  int stratum() const { return static_cast<int>(stratum_) + 1; }
  int truth() const { return static_cast<int>(truth_) + 1; }
  const std::vector<int>& answers() const { return answers_; }  // raters, then systems

 private:
  // Draws and returns the answer of a judge to the current case, from 0.
  std::size_t answer(std::size_t judge, Stream& stream) const;

  const Design& design_;
  std::size_t n_cases_, n_drawn_ = 0, stratum_ = 0, truth_ = 0;
  bool has_loadings_, has_missing_;  // true if judges have loadings; true if ratings may be missing
  double effect_ = 0;  // effect of the last case, drawn from N(0, 1), with which loadings correlate
  std::vector<int> answers_;
  // Cumulative probabilities of strata, of true categories, and of answers (judges x strata x
  // truths x answers).
  std::vector<double> cumulative_strata_, cumulative_rates_, cumulative_rows_;
  // Index of the first case after each stratum, if shares are exact.
  std::vector<std::size_t> stratum_ends_;
};

// Simulated panel.
struct Panel {
  std::vector<int> truth;    // true category of each case, from 1
  std::vector<int> stratum;  // stratum of each case, from 1
  // Category numbers, from 1; 0 if missing. One column per rater, then one per system in the panel.
  std::vector<std::vector<int>> answers;
};

// Draws all cases of a panel.
Panel draw_panel(const Design& design, const PanelParameters& parameters, std::size_t cases,
                 Stream& stream);

}  // namespace fallible
