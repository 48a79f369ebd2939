// The likelihood of a latent class model, and what is expected under its parameters.
#pragma once

#include <vector>

#include "counts.hpp"
#include "passes.hpp"

namespace fallible {

// Refers to the layout.
class Likelihood {
 public:
  explicit Likelihood(const Layout& layout) : layout_(layout) {}

  // The log likelihood, and its gradient unless null.
  double evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) const;
  // The same in one pass over the data, which adds what is expected to `counts` unless null.
  double expect(const Law& law, Counts* counts) const;
  // Likewise; calls visit(row, posterior of the classes) for each row with weight, or for all.
  template <class Visit>
  double expect(const Law& law, Counts* counts, const Visit& visit, bool all = false) const {
    const AnswerTables tables{law.classes, law.weight.data(), law.probability.data()};
    if (!counts) return pass_over(layout_.rows, tables, nullptr, all, visit);
    const AnswerSums sums{counts->classes.data(), counts->ratings.data()};
    return pass_over(layout_.rows, tables, &sums, all, visit);
  }
  // Rows x categories, row by row: probabilities of the categories.
  std::vector<double> posterior(const Eigen::VectorXd& x) const;
  // Expected numbers of each rating of each judge when each category is true, judges x ratings x
  // truths.
  std::vector<double> expected_ratings(const Eigen::VectorXd& x) const;
  // Rows x parameters: gradients of the log likelihood of a case.
  Eigen::MatrixXd scores(const Eigen::VectorXd& x) const;

 private:
  const Layout& layout_;
};

}  // namespace fallible
