// The probabilities that parameters of a latent class model stand for.
#pragma once

#include <optional>
#include <vector>

#include "layout.hpp"
#include "ordinal.hpp"

namespace fallible {

// Probabilities of a correct answer in the strata when their mean is `accuracy` and they are
// clamp(p - d), clamp(p), clamp(p + d) for some p; with their derivatives.
struct Strata {
  double p[3], by_accuracy[3], by_shift[3];

  Strata(double accuracy, double shift);
};

// Shares of errors, truths x ratings, that fall with the distance of the categories; as they are
// where the dispersion is 0.
std::vector<double> shares_by_distance(int categories, double dispersion);

// How judges answer in each class (category within stratum), and how frequent classes are. All
// classes of a judge's rating lie side by side.
struct AnswerLaw {
  int categories = 0;
  int symbols = 0;  // see RatedRows; the first are answers without a level of confidence
  int classes = 0;
  std::vector<double> weight;       // populations x classes
  std::vector<double> probability;  // judges x symbols x classes

  // Of the first class of a rating.
  std::size_t place(int judge, int rating) const {
    return (static_cast<std::size_t>(judge) * symbols + rating) * classes;
  }
  // Classes x ratings.
  Eigen::Map<const Eigen::MatrixXd> of(int judge) const {
    return {&probability[place(judge, 0)], classes, symbols};
  }
  // Of the first population, which is the only one where there are no covariates.
  Eigen::Map<const Eigen::VectorXd> weights() const { return {weight.data(), classes}; }
  double of(int judge, int rating, int in_class) const {
    return probability[place(judge, rating) + in_class];
  }
};

// With what derivatives need.
class Law : public AnswerLaw {
 public:
  Law(const Layout& layout, const Eigen::VectorXd& x);

  std::vector<double> base_rates;   // means over the cases
  std::vector<double> rates;        // populations x categories
  std::vector<double> accuracy;     // judges x truths
  std::vector<Strata> strata;       // judges x truths, if there are any
  std::vector<OrdinalLaw> ordinal;  // of groups of judges, likewise
  std::optional<LevelLaw> levels;

  // Truths x ratings: shares of a judge's errors.
  const double* error(int judge) const {
    return &error_[static_cast<std::size_t>(judge) * categories * categories];
  }
  // Confusion matrix of a judge, row by row, the mean over strata.
  std::vector<double> confusion(int judge) const;

 private:
  void fill_matrix(const Layout& layout, int judge, const std::vector<double>& matrix,
                   double least);
  void fill_levels(int judge);
  void fill_judge(const Layout& layout, const Eigen::VectorXd& x, double shift, int judge,
                  const double* share);

  std::vector<double> error_;  // judges x truths x ratings
};

}  // namespace fallible
