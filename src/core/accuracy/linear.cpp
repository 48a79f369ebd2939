#include "linear.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <limits>
#include <numeric>

#include "../model/curvature.hpp"
#include "../model/likelihood.hpp"
#include "../model/pooled.hpp"

namespace fallible {

namespace {

constexpr double spacing = 1e-4;           // of differences; parameters are logits and the like
constexpr double flat = 1e-8;              // curvature, relative to the steepest
constexpr std::size_t most_numbers = 1e7;  // held at a time

// Cases with an answer: how many there are, and the sum of its probabilities.
struct Right {
  double cases = 0, sum = 0;
};

// A system with the raters; rows are those of latent_rows(), or fewer where raters are alike.
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
    const int size = model_.size();
    const auto at_top = model_.posterior(x_);
    const Right now = right(at_top);
    if (now.cases == 0) return std::numeric_limits<double>::quiet_NaN();
    const double cases = now.cases + 2 * before_, value = (now.sum + before_) / cases;
    std::vector<int> each(size);
    std::iota(each.begin(), each.end(), 0);
    const Eigen::MatrixXd curvature = -smoothed_hessian(model_.layout(), x_, each, size);
    const auto share = [&](const Eigen::VectorXd& at) -> Eigen::VectorXd {
      return Eigen::VectorXd::Constant(1, right(model_.posterior(at)).sum / cases);
    };
    const Eigen::VectorXd slope = central_slopes(share, x_, spacing).row(0);
    const Eigen::VectorXd by_row = Likelihood(model_.layout()).scores(x_) * solve(curvature, slope);
    for_each_pattern([&](int p, int row, int answer) {
      (*influence)[p] = by_row[row];
      if (answer < 1) return;
      (*influence)[p] += (at_top[row * rows_.categories + answer - 1] - value) / cases;
    });
    return value;
  }

 private:
  static LatentRows rows_of(const Ratings& ratings, const EstimatorOptions& options, int system) {
    LatentRows rows = latent_rows(ratings.patterns, ratings.weight, system, ratings.known);
    const bool alike = !options.model.by_rater && ratings.known.matrix.empty();
    return alike ? regardless_of_rater(rows).rows : rows;
  }

  static LatentPrior prior_of(const Ratings& ratings, const EstimatorOptions& options,
                              const LatentRows& rows) {
    if (!options.prior.pooled) return options.prior;
    const LatentRows raters = latent_rows(ratings.patterns, ratings.weight, -1, ratings.known);
    return given_centre(options.prior, fit_pooled(raters, {}), rows);
  }

  // What does not matter is not moved.
  static Eigen::VectorXd solve(const Eigen::MatrixXd& curvature, const Eigen::VectorXd& slope) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> parts((curvature + curvature.transpose()) /
                                                               2);
    const Eigen::VectorXd& values = parts.eigenvalues();
    Eigen::VectorXd along = parts.eigenvectors().transpose() * slope;
    for (int i = 0; i < along.size(); ++i) {
      along[i] = values[i] > flat * values.maxCoeff() ? along[i] / values[i] : 0;
    }
    return parts.eigenvectors() * along;
  }

  template <class Visit>
  void for_each_pattern(const Visit& visit) const {
    const PatternView& patterns = ratings_.patterns;
    for (int p = 0; p < patterns.patterns; ++p) {
      const int row = rows_.of_pattern[p];
      if (row < 0) continue;
      const bool judged = is_judged(patterns, ratings_.known.truth, p);
      visit(p, row, judged ? patterns.answer_of(p, system_) : 0);
    }
  }

  Right right(const std::vector<double>& posterior) const {
    Right out;
    for_each_pattern([&](int p, int row, int answer) {
      if (answer < 1) return;
      out.cases += ratings_.weight[p];
      out.sum += ratings_.weight[p] * posterior[row * rows_.categories + answer - 1];
    });
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
    for_each_item(replicates, draws.threads, quiet, [&](std::size_t r) {
      Stream stream(draws.seed, draws.first + r);
      const auto drawn = resampler.draw(stream);
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
