#include "algebraic.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"
#include "../ratings/tallies.hpp"

namespace fallible {

// With N categories, agreement of at most 1/N plus this amount counts as agreement by chance.
constexpr double chance_tolerance = 1e-9;
// A base rate counts as zero if its absolute value is at most this. Rounding errors are of this
// size.
constexpr double zero_tolerance = 1e-12;

const char* name(Identified identified) {
  static const char* const names[] = {"yes", "no_pairs", "chance"};
  return names[static_cast<int>(identified)];
}

KFit fit_algebraic(const Tallies& tallies, const std::vector<double>& weight) {
  const int N = tallies.categories;
  KFit fit;
  fit.base_rates.assign(N, not_a_number);
  double pairs = 0, agreeing = 0, ratings = 0;
  std::vector<double> share(N, 0.0);
  for (int i = 0; i < tallies.size(); ++i) {
    const double w = weight[i];
    if (w == 0) continue;
    pairs += w * tallies.pairs[i];
    agreeing += w * tallies.agreeing[i];
    ratings += w * tallies.ratings[i];
    for (const int c : tallies.positions(i)) {
      share[tallies.category[c]] += w * tallies.count[c];
    }
  }
  if (!(pairs > 0)) {
    fit.identified = Identified::no_pairs;
    fit.agreement = fit.kappa = fit.rater_accuracy = not_a_number;
    return fit;
  }
  fit.agreement = agreeing / pairs;
  fit.kappa = chance_corrected(fit.agreement, 1.0 / N);
  if (fit.agreement - 1.0 / N <= chance_tolerance) {
    fit.identified = Identified::chance;
    fit.rater_accuracy = 1.0 / N;
    return fit;
  }
  // Equation 2 of Lehner (2015): rater accuracy `Pc` from the agreement of pairs.
  const double Pc =
      agreeing == pairs ? 1.0 : 1.0 / N + std::sqrt(((N - 1) * fit.agreement - (N - 1.0) / N) / N);
  fit.rater_accuracy = Pc;
  // Equation 5 of Lehner (2015): base rates from rater accuracy and the share of each category in
  // the ratings. Negative values are set to zero, and the rates are rescaled to sum to 1.
  double total = 0;
  for (int k = 0; k < N; ++k) {
    const double rate = ((N - 1) * share[k] / ratings - 1 + Pc) / (N * Pc - 1);
    if (rate < -zero_tolerance) ++fit.n_negative;
    fit.base_rates[k] = rate <= zero_tolerance ? 0 : rate;
    total += fit.base_rates[k];
  }
  for (double& rate : fit.base_rates) rate /= total;
  return fit;
}

Eigen::MatrixXd covariance(const Tallies& tallies, const KFit& fit) {
  const int N = tallies.categories;
  Eigen::MatrixXd covariance_matrix = Eigen::MatrixXd::Constant(N + 1, N + 1, not_a_number);
  if (fit.identified != Identified::yes || fit.rater_accuracy == 1) return covariance_matrix;

  // Three quantities of a case:
  //   u: number of agreeing pairs minus `fit.agreement` times the number of pairs.
  //   c: number of ratings of each category.
  //   r: number of ratings.
  // A variable named by two of these letters is the sum of their products over all cases. For
  // example, `ur` is the sum of u * r. Cases are weighted.
  double cases = 0, pairs = 0, uu = 0, ur = 0, rr = 0, ratings = 0;
  Eigen::VectorXd uc = Eigen::VectorXd::Zero(N), rc = uc, share = uc;
  Eigen::MatrixXd cc = Eigen::MatrixXd::Zero(N, N);
  for (int i = 0; i < tallies.size(); ++i) {
    const double w = tallies.weight[i];
    if (w == 0 || tallies.ratings[i] == 0) continue;
    const double r = tallies.ratings[i];
    const double u = tallies.agreeing[i] - fit.agreement * tallies.pairs[i];
    cases += w;
    pairs += w * tallies.pairs[i];
    ratings += w * r;
    uu += w * u * u;
    ur += w * u * r;
    rr += w * r * r;
    for (const int a : tallies.positions(i)) {
      const int k = tallies.category[a];
      const double c = w * tallies.count[a];
      share[k] += c;
      uc[k] += c * u;
      rc[k] += c * r;
      for (const int b : tallies.positions(i)) {
        cc(k, tallies.category[b]) += c * tallies.count[b];
      }
    }
  }
  if (cases <= 1) return covariance_matrix;
  share /= ratings;

  // Covariance matrix of the agreement (first row and column) and the category shares, from the
  // variation between cases.
  Eigen::MatrixXd observed(N + 1, N + 1);
  observed(0, 0) = uu / (pairs * pairs);
  observed.col(0).tail(N) = (uc - ur * share) / (pairs * ratings);
  observed.row(0).tail(N) = observed.col(0).tail(N).transpose();
  observed.bottomRightCorner(N, N) =
      (cc - rc * share.transpose() - share * rc.transpose() + rr * share * share.transpose()) /
      (ratings * ratings);
  observed *= cases / (cases - 1);

  // Derivatives of rater accuracy (equation 2) and of base rates (equation 5) with respect to the
  // agreement and the category shares.
  const double Pc = fit.rater_accuracy;
  const double slope = (N - 1.0) / (2 * N * (Pc - 1.0 / N));
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(N + 1, N + 1);
  jacobian(0, 0) = slope;
  for (int k = 0; k < N; ++k) {
    jacobian(k + 1, 0) = slope * (1 - N * fit.base_rates[k]) / (N * Pc - 1);
    jacobian(k + 1, k + 1) = (N - 1) / (N * Pc - 1);
  }
  covariance_matrix = jacobian * observed * jacobian.transpose();
  // A base rate of zero was clipped. The derivative does not exist there, so the delta method gives
  // no standard errors of the base rates.
  if (*std::min_element(fit.base_rates.begin(), fit.base_rates.end()) == 0) {
    covariance_matrix.bottomRows(N).setConstant(not_a_number);
    covariance_matrix.rightCols(N).setConstant(not_a_number);
  }
  return covariance_matrix;
}

Posterior::Posterior(const Tallies& tallies, const KFit& fit)
    : tallies_(tallies), fit_(fit), power_{1.0} {
  const double Pc = fit.rater_accuracy;
  const double odds_against = (1 - Pc) / ((tallies.categories - 1) * Pc);
  const auto most_ratings = std::max_element(tallies.ratings.begin(), tallies.ratings.end());
  for (int d = 1; d <= *most_ratings; ++d) power_.push_back(power_.back() * odds_against);
}

void Posterior::operator()(int tally, double* probability) const {
  const int N = tallies_.categories;
  const int begin = tallies_.start[tally];
  const int end = tallies_.start[tally + 1];
  // Highest number of ratings of one category, among categories with a positive base rate. All
  // likelihoods are divided by the likelihood of a category with this number of ratings. The
  // highest likelihood is then 1, so the sum cannot underflow to 0.
  int highest_count = 0;
  for (int c = begin; c < end; ++c) {
    if (fit_.base_rates[tallies_.category[c]] > 0)
      highest_count = std::max(highest_count, tallies_.count[c]);
  }
  double total = 0;
  for (int k = 0, c = begin; k < N; ++k) {
    const bool is_rated = c < end && tallies_.category[c] == k;
    const int count = is_rated ? tallies_.count[c++] : 0;
    const double rate = fit_.base_rates[k];
    probability[k] = rate > 0 ? rate * power_[highest_count - count] : 0;
    total += probability[k];
  }
  for (int k = 0; k < N; ++k) probability[k] /= total;
}

}  // namespace fallible
