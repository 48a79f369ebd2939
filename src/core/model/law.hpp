// Probabilities of answers and classes, computed from the parameters of a latent class model.
#pragma once

#include <optional>
#include <vector>

#include "layout.hpp"
#include "ordinal.hpp"

namespace fallible {

// Probabilities of a right answer in three equally frequent strata: difficult, medium and easy
// cases. They are p - d, p and p + d, clipped to [0, 1], where d is `shift` and p is such that
// their mean is `accuracy`. Also contains the derivatives with respect to accuracy and shift.
struct Strata {
  double p[3], by_accuracy[3], by_shift[3];

  Strata(double accuracy, double shift);
};

// Share of each error among the errors of its row: truths x ratings, diagonal 0. Shares are
// proportional to exp(-log_dispersion |k - l|), where exp(log_dispersion) is the dispersion that
// users see. If `log_dispersion` is 0, all errors have equal shares.
Table<double> shares_by_distance(int categories, double log_dispersion);

// Probabilities of answers given the class, and of the classes. A class is a true category within a
// stratum of difficulty: class = stratum * categories + category. In `probability`, the values of
// all classes for one judge and answer are consecutive, because they are used together.
struct AnswerLaw {
  int categories = 0;
  // Number of answer codes: categories without confidence first, then with each level.
  int answer_codes = 0;
  int classes = 0;
  std::vector<double> weight;       // probabilities of the classes: populations x classes
  std::vector<double> probability;  // probabilities of the answers: judges x answer codes x classes

  // Position in `probability` of a judge's rating given the first class.
  std::size_t place(int judge, int rating) const {
    return (static_cast<std::size_t>(judge) * answer_codes + rating) * classes;
  }
  // Probabilities of all answers of a judge: classes x answer codes.
  Eigen::Map<const Eigen::MatrixXd> answer_probabilities(int judge) const {
    return {&probability[place(judge, 0)], classes, answer_codes};
  }
  // Probabilities of the classes in the first population. Without covariates it is the only one.
  Eigen::Map<const Eigen::VectorXd> weights() const { return {weight.data(), classes}; }
  double answer_probability(int judge, int rating, int in_class) const {
    return probability[place(judge, rating) + in_class];
  }
};

// Probabilities, and quantities from which derivatives with respect to the parameters are computed.
class Law : public AnswerLaw {
 public:
  Law(const Layout& layout, const Eigen::VectorXd& x);

  std::vector<double> base_rates;  // averaged over the cases of all populations
  std::vector<double> rates;       // base rates: populations x categories
  Table<double> accuracy;          // probability of a right answer: judges x truths
  std::vector<Strata> strata;  // accuracies in the strata: judges x truths; empty without strata
  // One per group of judges with equal parameters; only for ordinal errors.
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
  // Sets the probabilities of answers with a confidence level, from those without one.
  void set_levels(int judge);
  void set_judge(const Layout& layout, const Eigen::VectorXd& x, double shift, int judge,
                 ConstSquare share);

  Squares error_share_;  // shares of wrong answers: judges x truths x ratings
};

}  // namespace fallible
