#include "likelihood.hpp"

#include "passes.hpp"

namespace fallible {

namespace {

AnswerTables tables_of(const Law& law) {
  return {law.classes, law.weight.data(), law.probability.data(), nullptr, nullptr};
}

}  // namespace

double Likelihood::expect(const Law& law, Counts* counts) const {
  return expect(law, counts, [](int, const double*) {});
}

double Likelihood::evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) const {
  const Law law(layout_, x);
  if (!gradient) return expect(law, nullptr);
  Counts counts(layout_);
  const double out = expect(law, &counts);
  gradient->setZero(layout_.size);
  add_gradient(layout_, x, law, counts, *gradient);
  return out;
}

std::vector<double> Likelihood::posterior(const Eigen::VectorXd& x) const {
  const Law law(layout_, x);
  const std::size_t N = layout_.categories;
  std::vector<double> out(layout_.rows.size() * N, 0.0);
  pass_over(layout_.rows, tables_of(law), nullptr, true, [&](int row, const double* classes) {
    double* to = &out[row * N];
    for (int s = 0; s < layout_.strata; ++s, classes += N) {
      for (std::size_t k = 0; k < N; ++k) to[k] += classes[k];
    }
  });
  return out;
}

std::vector<double> Likelihood::expected_ratings(const Eigen::VectorXd& x) const {
  const std::size_t N = layout_.categories, K = layout_.classes();
  Counts counts(layout_);
  expect(Law(layout_, x), &counts);
  std::vector<double> out(layout_.rows.judges * N * N, 0.0);
  for (std::size_t i = 0; i < counts.ratings.size(); ++i) {
    out[i / K * N + i % K % N] += counts.ratings[i];
  }
  return out;
}

Eigen::MatrixXd Likelihood::scores(const Eigen::VectorXd& x) const {
  const Law law(layout_, x);
  Eigen::MatrixXd out(layout_.rows.size(), layout_.size);
  Eigen::VectorXd gradient(layout_.size);
  std::vector<double> posterior(law.classes);
  Counts counts(layout_);
  for (int i = 0; i < layout_.rows.size(); ++i) {
    steps_done(static_cast<unsigned>(layout_.size));
    counts.clear();
    law.expect(layout_.rows, i, posterior.data());
    counts.add(layout_.rows, i, 1, posterior.data());
    gradient.setZero();
    add_gradient(layout_, x, law, counts, gradient);
    out.row(i) = gradient.transpose();
  }
  return out;
}

}  // namespace fallible
