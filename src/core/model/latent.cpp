#include "latent.hpp"

#include <algorithm>

#include "latent_pairs.hpp"
#include "reading.hpp"

namespace fallible {

double LatentClass::evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient,
                             double* log_likelihood, CompleteCurvature* curvature) const {
  const Law law(*this, x);
  Counts counts(*this);
  const double out = expect(law, gradient ? &counts : nullptr);
  if (gradient) {
    gradient->setZero(size);
    add_gradient(*this, x, law, counts, *gradient);
  }
  if (log_likelihood) *log_likelihood = out;
  if (curvature) *curvature = CompleteCurvature(*this, x, law, counts);
  return out + log_prior(*this, x, gradient);
}

double LatentClass::expect(const Law& law, Counts* counts) const {
  return expect(law, counts, [](int, const double*) {});
}

std::vector<double> LatentClass::posterior(const Eigen::VectorXd& x) const {
  const std::size_t N = categories;
  std::vector<double> out(rows.size() * N, 0.0);
  const auto add = [&](int row, const double* of) {
    for (std::size_t c = 0; c < N * strata; ++c) out[row * N + c % N] += of[c];
  };
  expect(Law(*this, x), nullptr, add, true);
  return out;
}

std::vector<double> LatentClass::expected_ratings(const Eigen::VectorXd& x) const {
  Counts counts(*this);
  expect(Law(*this, x), &counts);
  return counts.by_truth(*this);
}

Eigen::MatrixXd LatentClass::scores(const Eigen::VectorXd& x) const {
  const Law law(*this, x);
  const Score score(*this, x, law);
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows.size(), size);
  const auto add = [&](int i, const double* posterior) {
    for (int c = 0; c < law.classes; ++c) {
      const double p = posterior[c];
      for (int k = 0; k < categories - 1; ++k) {
        out(i, k) += p * ((c % categories == k) - law.base_rates[k]);
      }
      for (const int at : rows.places(i)) {
        score.rating(rows.judge[at], rows.category[at], c,
                     [&](int parameter, double slope) { out(i, parameter) += p * slope; });
      }
    }
  };
  expect(law, nullptr, add, true);
  return out;
}

double LatentClass::accuracy(const Eigen::VectorXd& x, int judge, Eigen::VectorXd* slope) const {
  const double out = Reading(*this, x).accuracy(judge);
  if (!slope) return out;
  slope->setZero(size);
  const Law law(*this, x);
  const Score score(*this, x, law);
  for (int c = 0; c < law.classes; ++c) {
    const int k = c % categories;
    const double right = law.weight[c] * law.of(judge, k, c);
    score.rating(judge, k, c, [&](int at, double of) { (*slope)[at] += right * of; });
    if (k == categories - 1) continue;
    (*slope)[k] += law.weight[c] * (law.accuracy[judge * categories + k] - out);
  }
  return out;
}

OptimiserOptions coarse_options() {
  OptimiserOptions out;
  out.iterations = 300;
  out.gradient_tolerance = 1e-3;
  out.value_tolerance = 1e-9;
  return out;
}

LatentFit fit_latent(const LatentClass& model, const Eigen::VectorXd& start,
                     const OptimiserOptions& options, Fitting fitting) {
  const bool by_pairs = fitting == Fitting::pairs;
  const PairFrequencies pairs = by_pairs ? pair_frequencies(model) : PairFrequencies();
  CompleteCurvature seen;  // where the objective was evaluated last
  const Metric metric = [&seen](const Eigen::VectorXd& gradient) { return seen.solve(gradient); };
  const auto objective = [&](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
    return by_pairs ? Closeness(model, pairs).evaluate(x, gradient)
                    : model.evaluate(x, gradient, nullptr, &seen);
  };
  const auto climb = [&](const Eigen::VectorXd& from) {
    LatentFit out{maximise(objective, from, options, by_pairs ? nullptr : metric)};
    if (by_pairs) {
      model.evaluate(out.x, nullptr, &out.log_likelihood);
    } else {
      out.log_likelihood = out.value - log_prior(model, out.x, nullptr);
    }
    return out;
  };
  if (start.size() > 0) return climb(start);
  std::vector<LatentFit> found;
  for (const Eigen::VectorXd& from : model.starts()) found.push_back(climb(from));
  return *std::max_element(found.begin(), found.end(), [](const LatentFit& a, const LatentFit& b) {
    return a.value < b.value;
  });
}

}  // namespace fallible
