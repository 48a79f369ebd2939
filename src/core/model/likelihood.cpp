#include "likelihood.hpp"

#include "passes.hpp"
#include "score.hpp"

namespace fallible {

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
  const auto add = [&](int row, const double* classes) {
    for (std::size_t c = 0; c < N * layout_.strata; ++c) out[row * N + c % N] += classes[c];
  };
  expect(law, nullptr, add, true);
  return out;
}

std::vector<double> Likelihood::expected_ratings(const Eigen::VectorXd& x) const {
  const std::size_t N = layout_.categories, K = layout_.classes(), symbols = layout_.rows.symbols();
  Counts counts(layout_);
  expect(Law(layout_, x), &counts);
  std::vector<double> out(layout_.rows.judges * N * N, 0.0);
  for (std::size_t i = 0; i < counts.ratings.size(); ++i) {
    const std::size_t judge = i / K / symbols, answer = i / K % symbols % N;
    out[(judge * N + answer) * N + i % K % N] += counts.ratings[i];
  }
  return out;
}

Eigen::MatrixXd Likelihood::scores(const Eigen::VectorXd& x) const {
  const Law law(layout_, x);
  const Score score(layout_, x, law);
  const LatentRows& rows = layout_.rows;
  const int N = layout_.categories;
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows.size(), layout_.size);
  const auto add = [&](int i, const double* posterior) {
    for (int c = 0; c < law.classes; ++c) {
      const double p = posterior[c];
      for (int k = 0; k < N - 1; ++k) out(i, k) += p * ((c % N == k) - law.base_rates[k]);
      for (const int at : rows.places(i)) {
        score.rating(rows.judge[at], rows.category[at], c,
                     [&](int parameter, double slope) { out(i, parameter) += p * slope; });
      }
    }
  };
  expect(law, nullptr, add, true);
  return out;
}

}  // namespace fallible
