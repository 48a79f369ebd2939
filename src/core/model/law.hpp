// Probabilities computed from the parameters of a latent class model.
#pragma once

#include <optional>
#include <vector>

#include "layout.hpp"
#include "ordinal.hpp"

namespace fallible {

// Probabilities of a correct answer in three strata of difficulty, with mean `accuracy`. They are
// clamp(p - d), clamp(p), clamp(p + d) for some p. Also contains their derivatives.
struct Strata {
  double p[3], by_accuracy[3], by_shift[3];

  Strata(double accuracy, double shift);
};

// Shares of errors (truths x ratings), which decrease with the distance between categories. If the
// dispersion is 0, all errors have equal shares.
std::vector<double> shares_by_distance(int categories, double dispersion);

// Probabilities of the answers of judges in each class (category within stratum), and of the
// classes. The entries for all classes of one judge's rating are contiguous.
struct AnswerLaw {
  int categories = 0;
  int symbols = 0;  // see RatedRows; answers without confidence come first
  int classes = 0;
  std::vector<double> weight;       // populations x classes
  std::vector<double> probability;  // judges x symbols x classes

  // Index of the entry for the first class of a rating.
  std::size_t place(int judge, int rating) const {
    return (static_cast<std::size_t>(judge) * symbols + rating) * classes;
  }
  // Matrix of a judge: classes x ratings.
  Eigen::Map<const Eigen::MatrixXd> of(int judge) const {
    return {&probability[place(judge, 0)], classes, symbols};
  }
  // Class probabilities in the first population, which is the only one without covariates.
  Eigen::Map<const Eigen::VectorXd> weights() const { return {weight.data(), classes}; }
  double of(int judge, int rating, int in_class) const {
    return probability[place(judge, rating) + in_class];
  }
};

// Adds the quantities that derivatives need.
class Law : public AnswerLaw {
 public:
  Law(const Layout& layout, const Eigen::VectorXd& x);

  std::vector<double> base_rates;   // means over the cases
  std::vector<double> rates;        // populations x categories
  std::vector<double> accuracy;     // judges x truths
  std::vector<Strata> strata;       // judges x truths, if there are strata
  std::vector<OrdinalLaw> ordinal;  // one per group of judges, if errors are ordinal
  std::optional<LevelLaw> levels;

  // Shares of a judge's errors: truths x ratings.
  const double* error(int judge) const {
    return &error_[static_cast<std::size_t>(judge) * categories * categories];
  }
  // Confusion matrix of a judge, row by row, averaged over strata.
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
