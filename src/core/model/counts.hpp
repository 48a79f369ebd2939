// Expected numbers of ratings and cases in each class, and what would follow if classes were seen.
#pragma once

#include <vector>

#include "law.hpp"

namespace fallible {

struct Counts {
  explicit Counts(const Layout& layout);

  std::vector<double> ratings;  // judges x symbols x classes, as in AnswerLaw
  std::vector<double> classes;

  void clear();
  // Numbers of answers with each level of confidence, levels x (wrong, right).
  std::vector<double> levels(const Layout& layout) const;
  // The cases of a row.
  void add(const LatentRows& rows, int row, double weight, const double* posterior);
};

// The gradient of the log likelihood of cases whose classes have been seen. That of the likelihood
// of the ratings alone is the same of expected numbers.
void add_gradient(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                  const Counts& counts, Eigen::VectorXd& gradient);

// Parameters at which such numbers are most probable, as near as closed forms come.
Eigen::VectorXd reestimate(const Layout& layout, const Counts& counts);

}  // namespace fallible
