#include <Eigen/Eigenvalues>
#include <algorithm>

#include "../base/special.hpp"
#include "../model/curvature.hpp"
#include "../model/pooled.hpp"
#include "bootstrap.hpp"

namespace fallible {

namespace {

constexpr double flat = 1e-8;              // curvature, relative to the steepest
constexpr std::size_t most_numbers = 1e7;  // held at a time

// A system with the raters; rows are those of latent_rows(), or fewer where raters are
// exchangeable.
class JointFit {
 public:
  JointFit(const Ratings& ratings, const EstimatorOptions& options, int system)
      : ratings_(ratings),
        before_(options.prior.none ? 0 : 1),
        system_(system),
        rows_(rows_of(ratings, options, system)),
        model_(rows_, options.model, prior_of(ratings, options, rows_)),
        x_(fit_latent(model_, options.optimiser).x) {}

  // The estimate, and for each pattern how far one case more moves it.
  double estimate(std::vector<double>* influence) const {
    const auto at_top = model_.posterior(x_);
    const RightAnswers now(ratings_, ratings_.weight, system_, rows_, at_top);
    if (now.cases == 0) return not_a_number;
    const double cases = now.cases + 2 * before_, value = (now.right + before_) / cases;
    const Eigen::MatrixXd curvature = -log_posterior_hessian(model_, x_, Kinks::smoothed);
    const Eigen::VectorXd by_row = model_.scores(x_) * solve(curvature, slope_of_right() / cases);
    for (std::size_t p = 0; p < rows_.of_pattern.size(); ++p) {
      if (rows_.of_pattern[p] >= 0) (*influence)[p] = by_row[rows_.of_pattern[p]];
    }
    for_each_answer(ratings_, system_, rows_, [&](int p, int row, int answer) {
      (*influence)[p] += (at_top[row * rows_.categories + answer] - value) / cases;
    });
    return value;
  }

 private:
  static LatentRows rows_of(const Ratings& ratings, const EstimatorOptions& options, int system) {
    LatentRows rows = latent_rows(ratings.patterns, ratings.weight, system, ratings.known);
    const bool exchangeable = !options.model.by_rater && ratings.known.matrix.empty();
    return exchangeable ? regardless_of_rater(rows).rows : rows;
  }

  static LatentPrior prior_of(const Ratings& ratings, const EstimatorOptions& options,
                              const LatentRows& rows) {
    if (!options.prior.pooled) return options.prior;
    const LatentRows raters = latent_rows(ratings.patterns, ratings.weight, -1, ratings.known);
    return given_centre(options.prior, fit_pooled(raters, {}), rows);
  }

  // What does not matter is not moved.
  static Eigen::VectorXd solve(const Eigen::MatrixXd& curvature, const Eigen::VectorXd& slope) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> parts(curvature);
    const Eigen::VectorXd& values = parts.eigenvalues();
    Eigen::VectorXd along = parts.eigenvectors().transpose() * slope;
    for (int i = 0; i < along.size(); ++i) {
      along[i] = values[i] > flat * values.maxCoeff() ? along[i] / values[i] : 0;
    }
    return parts.eigenvectors() * along;
  }

  // Of the sum of the probabilities of answers: each class of a row moves as its log probability
  // does, less the mean over classes. Rows have one answer, which is among their ratings.
  Eigen::VectorXd slope_of_right() const {
    std::vector<int> answer(rows_.size(), -1);
    for_each_answer(ratings_, system_, rows_,
                    [&](int, int row, int given) { answer[row] = given; });
    const Law law(model_, x_);
    Counts counts(model_);
    std::vector<double> moved(law.classes);
    model_.expect(law, nullptr, [&](int row, const double* p) {
      if (answer[row] < 0) return;
      const auto is_right = [&](int c) { return c % law.categories == answer[row]; };
      double right = 0;
      for (int c = 0; c < law.classes; ++c) right += is_right(c) ? p[c] : 0;
      for (int c = 0; c < law.classes; ++c) moved[c] = p[c] * (is_right(c) - right);
      counts.add(rows_, row, rows_.weight[row], moved.data());
    });
    Eigen::VectorXd out = Eigen::VectorXd::Zero(model_.size);
    add_gradient(model_, x_, law, counts, out);
    return out;
  }

  const Ratings& ratings_;
  double before_;  // times that the system was right, and wrong
  int system_;
  LatentRows rows_;
  LatentClass model_;
  Eigen::VectorXd x_;
};

}  // namespace

std::vector<double> linear_replicates(const Ratings& ratings, const EstimatorOptions& options,
                                      const BootstrapOptions& draws, const Host& host) {
  const Cells cells = pattern_cells(ratings);
  const Resampler resampler(cells.cases, cells.of_pattern, draws.clusters);
  const std::size_t patterns = ratings.weight.size(), systems = ratings.patterns.systems,
                    replicates = draws.replicates;
  const std::size_t block = std::clamp<std::size_t>(most_numbers / patterns, 1, systems);
  std::vector<double> out(replicates * systems);
  Eigen::MatrixXd influence(patterns, block);
  for (std::size_t first = 0; first < systems; first += block) {
    const std::size_t size = std::min(block, systems - first);
    std::vector<double> value(size);
    const Host here{[&](std::size_t done) { return host.tick(first + done); }};
    for_each_item(size, draws.threads, here, [&](std::size_t i) {
      std::vector<double> of(patterns, 0.0);
      value[i] = JointFit(ratings, options, static_cast<int>(first + i)).estimate(&of);
      influence.col(i) = Eigen::Map<const Eigen::VectorXd>(of.data(), of.size());
    });
    const Host quiet{[&](std::size_t) { return host.tick(first + size); }};
    for_each_replicate(resampler, draws, quiet, [&](std::size_t r, const auto& drawn) {
      Eigen::VectorXd more(patterns);
      for (std::size_t p = 0; p < patterns; ++p) {
        const int cell = cells.of_pattern[p];
        more[p] = drawn[cell] - cells.cases[cell];
      }
      const Eigen::VectorXd moved = influence.leftCols(size).transpose() * more;
      for (std::size_t i = 0; i < size; ++i) {
        out[(first + i) * replicates + r] = value[i] + moved[i];
      }
    });
  }
  return out;
}

}  // namespace fallible
