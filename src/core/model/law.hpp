// Probabilities of answers and classes, computed from the parameters of a latent class model.
#pragma once

#include <optional>
#include <vector>

#include "layout.hpp"
#include "ordinal.hpp"

namespace fallible {

// Probabilities of a right answer in three equally frequent strata: difficult, medium and easy
// cases. They are p - d, p and p + d, clipped to [0, 1]. Here d is the shift, and p is chosen so
// that the mean of the three probabilities is the accuracy. Also contains the derivatives of the
// three probabilities with respect to accuracy and shift.
struct Strata {
  double p[3], accuracy_slope[3], shift_slope[3];

  Strata(double accuracy, double shift);
};

// Returns the share of each error among all errors of its row: truths x ratings, diagonal 0. The
// share of rating l given truth k is proportional to exp(-log_dispersion |k - l|). Users see the
// dispersion exp(log_dispersion). If `log_dispersion` is 0, all errors of a row have equal shares.
Table<double> shares_by_distance(int categories, double log_dispersion);

// Probabilities of answers given the class, and of the classes. A class is a true category within a
// stratum of difficulty: class = stratum * categories + category. In `probability`, the values of
// all classes for one judge and answer are consecutive, because they are used together.
struct AnswerLaw {
  int categories = 0;
  // Number of answer codes. The first codes are categories without a confidence level, followed by
  // the categories with each level.
  int answer_codes = 0;
  int classes = 0;
  std::vector<double> class_probability;  // probabilities of the classes: populations x classes
  std::vector<double> probability;  // probabilities of the answers: judges x answer codes x classes

  // Position in `probability` of the probability of a judge's rating given the first class.
  std::size_t array_position(int judge, int rating) const {
    return (static_cast<std::size_t>(judge) * answer_codes + rating) * classes;
  }
  // Probabilities of all answers of a judge: classes x answer codes.
  Eigen::Map<const Eigen::MatrixXd> answer_probabilities(int judge) const {
    return {&probability[array_position(judge, 0)], classes, answer_codes};
  }
  // Probabilities of the classes in the first population. Without covariates, there is only one
  // population.
  Eigen::Map<const Eigen::VectorXd> class_probabilities() const {
    return {class_probability.data(), classes};
  }
  double answer_probability(int judge, int rating, int in_class) const {
    return probability[array_position(judge, rating) + in_class];
  }
};

// Probabilities for given parameters, and quantities from which derivatives with respect to the
// parameters are computed.
class Law : public AnswerLaw {
 public:
  Law(const Layout& layout, const Eigen::VectorXd& x);

  std::vector<double> base_rates;  // averaged over the cases of all populations
  std::vector<double> rates;       // base rates: populations x categories
  Table<double> accuracy;          // probability of a right answer: judges x truths
  std::vector<Strata> strata;  // accuracies in the strata: judges x truths; empty without strata
  // Ordinal model of each group of judges with equal parameters. Empty if errors are not ordinal.
  std::vector<OrdinalLaw> ordinal;
  std::optional<LevelLaw> levels;

  // Shares of the wrong answers of a judge: truths x ratings, each row has sum 1 and diagonal 0.
  ConstSquare error(int judge) const { return error_share_[judge]; }
  // Confusion matrix of a judge, averaged over strata: truths x ratings, row by row.
  std::vector<double> confusion(int judge) const;

 private:
  // `least`: lower limit of the probabilities.
  void set_from_matrix(const Layout& layout, int judge, const std::vector<double>& matrix,
                       double least);
  // Computes the probabilities of answers with a confidence level from the probabilities of answers
  // without a level.
  void set_levels(int judge);
  void set_judge(const Layout& layout, const Eigen::VectorXd& x, double shift, int judge,
                 ConstSquare share);

  Squares error_share_;  // shares of wrong answers: judges x truths x ratings
};

}  // namespace fallible
