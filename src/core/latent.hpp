// Latent class models of raters: what is true is the class, and each K-property that does not hold
// is a step along an axis (see the vignette on going beyond the paper).
#ifndef FALLIBLE_CORE_LATENT_HPP
#define FALLIBLE_CORE_LATENT_HPP

#include <Eigen/Core>
#include <vector>

#include "latent_rows.hpp"

namespace fallible {

enum class Errors { uniform, distance, free };

struct LatentModel {
  bool by_rater = false;           // accuracy: of each rater, or common
  Errors errors = Errors::uniform;
  bool strata = false;             // difficulty: accuracies fall and rise by a shift, or are fixed
  bool own = false;                // does a joined system have dispersion and shift of its own
};

struct PairFrequencies;

// All weak, and all on what a user would recognise; `none` is plain maximum likelihood.
struct LatentPrior {
  bool none = false;
  double base_rates = 1;        // Dirichlet
  double correct = 3;           // Beta of the raters' mean accuracy, the centre of their logits
  double wrong = 2;
  double spread = 0.6;          // standard deviation of the raters' logits around it
  double dispersion = 0.7;      // standard deviation of log dispersion
  double difficulty = 0.2;      // standard deviation of the half-normal shift
  double errors = 0.5;          // standard deviation of free log error rates
};

// What has a value from outside and is no parameter.
struct Held {
  double shift = -1;  // the model's shift, if it has strata; below 0 it is a parameter
  // Log probabilities of the ratings given that they are wrong, units x truths x ratings, in the
  // place of any model of errors; they need not sum to one. Somebody else's memory.
  const std::vector<double>* log_error = nullptr;
};

// How units answer in each class (category within stratum), and how frequent classes are.
struct AnswerLaw {
  int categories = 0;
  int classes = 0;
  std::vector<double> weight;
  std::vector<double> probability;  // units x ratings x classes

  double of(int unit, int rating, int in_class) const {
    return probability[(static_cast<std::size_t>(unit) * categories + rating) * classes + in_class];
  }
};

// Probabilities of a correct answer in the strata when their mean is `accuracy` and they are
// clamp(p - d), clamp(p), clamp(p + d) for some p; with their derivatives.
struct Strata {
  double p[3], by_accuracy[3], by_shift[3];

  Strata(double accuracy, double shift);
};

// A model for certain data: the meaning of the entries of a vector of parameters. Accuracies and
// base rates are logits, dispersions logarithms; shifts are themselves.
class LatentClass {
 public:
  LatentClass(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
              const Held& held = Held());

  const LatentRows& rows() const { return rows_; }
  const LatentPrior& prior() const { return prior_; }
  int size() const { return size_; }
  // What a pass over the data costs: ratings times classes.
  double work() const { return static_cast<double>(rows_.unit.size()) * S_ * N_; }
  // Places of parameters; -1 where the model has none. Known units have none.
  int mean_at() const { return mean_at_; }
  int accuracy_at(int unit, int truth) const;
  int dispersion_at(int unit) const;
  // Free parameters, which is fewer: error rates are normalised.
  int free_parameters() const;
  // Place of the logit of a joined system's accuracy; -1 where accuracy is not one parameter.
  int system_at() const;

  Eigen::VectorXd start() const;
  // That and others: where difficulty matters there can be more than one top.
  std::vector<Eigen::VectorXd> starts() const;

  // The log posterior density but for a constant, and its gradient unless null. `log_likelihood`
  // too may be null.
  double evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient,
                  double* log_likelihood = nullptr) const;
  // The constant that makes a normalised density of the prior.
  double log_prior_constant() const;

  // Second derivatives of that density.
  Eigen::MatrixXd curvature(const Eigen::VectorXd& x) const;

  // What a vector of parameters says.
  std::vector<double> base_rates(const Eigen::VectorXd& x) const;
  // Confusion matrix of a unit, row by row, the mean over strata.
  std::vector<double> confusion(const Eigen::VectorXd& x, int unit) const;
  // Over base rates and strata.
  double accuracy(const Eigen::VectorXd& x, int unit) const;
  double dispersion(const Eigen::VectorXd& x, bool of_system) const;
  double shift(const Eigen::VectorXd& x, bool of_system) const;
  // Probabilities of all answers.
  AnswerLaw law(const Eigen::VectorXd& x) const;
  // Parameters at which this model says what a fit of a simpler one to the same units says, a step
  // away where a parameter would not leave zero by itself.
  Eigen::VectorXd start_from(const LatentClass& simpler, const Eigen::VectorXd& x) const;
  // What is estimated, as a user reads it: accuracy of each group of units (raters, or all of them;
  // then the system), base rates, dispersions, shifts.
  Eigen::VectorXd naturals(const Eigen::VectorXd& x) const;
  // Rows x categories, row by row: probabilities of the categories.
  std::vector<double> posterior(const Eigen::VectorXd& x) const;
  // Expected numbers of each rating of each unit when each category is true, units x ratings x
  // truths.
  std::vector<double> expected_ratings(const Eigen::VectorXd& x) const;
  // Rows x parameters: gradients of the log likelihood of a case.
  Eigen::MatrixXd scores(const Eigen::VectorXd& x) const;

  // Closeness of the probabilities of pairs of ratings to their relative frequencies: minus the sum
  // of squared differences, times a constant; see latent_pairs.hpp.
  double closeness(const Eigen::VectorXd& x, const PairFrequencies& pairs,
                   Eigen::VectorXd* gradient) const;
  // Cells of pairs x parameters: slopes of their probabilities, which go to `expected` unless null.
  Eigen::MatrixXd pair_slopes(const Eigen::VectorXd& x, const PairFrequencies& pairs,
                              Eigen::VectorXd* expected = nullptr) const;

 private:
  // What a pass over the data needs. All classes of a unit's rating lie side by side: the log
  // probability of rating l by unit u in class (stratum s, truth k) is
  // log_probability[(u * N + l) * S * N + s * N + k].
  struct Tables {
    std::vector<double> log_class;  // of classes: base rates and strata
    std::vector<double> log_probability;
    std::vector<double> of_class, probability;  // their exponentials
    std::vector<double> accuracy;  // units x truths
    std::vector<Strata> strata;    // units x truths, if there are any
    std::vector<double> error;     // units x truths x ratings: shares of the errors
  };
  Tables tables(const Eigen::VectorXd& x) const;
  void fill_known(int unit, Tables& out) const;
  void error_rates(const Eigen::VectorXd& x, int unit, double* error, double* log_error) const;
  // One row: log likelihood and the posterior of the classes (category within stratum).
  double expect(const Tables& tables, int row, double* posterior) const;
  double expect_by_logs(const Tables& tables, int row, double* posterior) const;
  void add_gradient(const Eigen::VectorXd& x, const Tables& tables,
                    const std::vector<double>& counts, const std::vector<double>& classes,
                    Eigen::VectorXd& gradient) const;
  void count(int row, double weight, const double* posterior, std::vector<double>& counts,
             std::vector<double>& classes) const;
  // Parameters at which such expected counts are most probable, as near as closed forms come.
  Eigen::VectorXd reestimate(const std::vector<double>& counts,
                             const std::vector<double>& classes) const;
  template <class Visit>
  void for_each_cell(const Tables& tables, const PairFrequencies& pairs,
                     const Visit& visit) const;
  double log_prior(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) const;

  int error_at(int unit, int truth, int rating) const;
  int shift_at(int unit) const;
  bool is_system(int unit) const { return unit >= rows_.raters; }

  const LatentRows& rows_;
  LatentModel model_;
  LatentPrior prior_;
  Held held_;
  int N_, S_, U_, groups_, per_group_;
  bool two_kinds_;          // do raters and the system have dispersion and shift each
  std::vector<int> group_;  // of units; -1 where the confusion matrix is known
  int mean_at_, accuracies_at_, errors_at_, dispersions_at_, shifts_at_, size_;
};

}  // namespace fallible

#endif
