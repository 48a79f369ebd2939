// The most flexible member, the hierarchical Dawid-Skene model: each judge has a separate confusion
// matrix. The matrices have a Dirichlet prior, whose mean is the matrix of a one-coin model (the
// base).
#pragma once

#include <algorithm>

#include "../model/variational.hpp"
#include "member_one_coin.hpp"

namespace fallible {

// Concentration of the Dirichlet prior: larger values make matrices more similar.
constexpr double matrix_concentration = 4;

class Matrices : public Member {
 public:
  Matrices(const OneCoin* base, bool ordered)
      : Member({"rater", "matrix", 0, matrix_concentration}, 0), base_(base), ordered_(ordered) {}

  const OneCoin* base() const override { return base_; }

  // Fits the model. Its evidence is the evidence of the base plus a difference of two variational
  // bounds: the bound with separate matrices minus the bound in the limit of equal matrices. In
  // this limit the model is the base, for which a better approximation of the evidence is
  // available.
  void fit(const JointData& data, double) override {
    std::vector<std::vector<double>> matrix_starts{posterior_}, one_coin_starts{one_coin_};
    if (posterior_.empty()) {
      matrix_starts = one_coin_starts = {one_coin_posterior(data.rows(), false), by_rater(data)};
      // One-coin models of a system that nearly always gives one answer find a wrong maximum, at
      // which nearly all cases are of this category. The raters show which cases are not.
      if (!data.rater_posterior().empty()) matrix_starts.push_back(data.rater_posterior());
    }
    DawidSkene matrices = best_of(data, matrix_starts, matrix_concentration);
    DawidSkene one_coin = best_of(data, one_coin_starts, equal_matrices);
    const MemberResult& base_member = base_->result();
    result_.log_evidence = base_member.log_evidence + (matrices.bound - one_coin.bound);
    result_.estimate = data.mean_posterior(matrices.posterior);
    result_.std_error = std::max(base_member.std_error, data.conditional_error(matrices.posterior));
    const int raters = data.rows().raters;
    result_.rater_accuracy = 0;
    for (int u = 0; u < raters; ++u) result_.rater_accuracy += matrices.accuracy[u] / raters;
    posterior_ = std::move(matrices.posterior);
    one_coin_ = std::move(one_coin.posterior);
  }

  std::unique_ptr<Member> refit(const JointData& data, const OneCoin* base) const override {
    auto out = std::make_unique<Matrices>(*this);
    out->base_ = base;
    out->fit(data, no_weight_limit);
    return out;
  }

  std::vector<double> posterior(const JointData&) const override { return posterior_; }
  bool is_leader() const override { return true; }

 private:
  DawidSkene best_of(const JointData& data, const std::vector<std::vector<double>>& starts,
                     double concentration) const {
    VariationalOptions options;
    options.ordered = ordered_;
    options.concentration = concentration;
    DawidSkene out;
    for (const auto& start : starts) {
      DawidSkene candidate = fit_dawid_skene(data.rows(), LatentPrior(), start, options);
      if (candidate.bound > out.bound) out = std::move(candidate);
    }
    return out;
  }

  // Posterior of a one-coin model with an accuracy per rater, as a start. If categories have no
  // order, this model is the base.
  std::vector<double> by_rater(const JointData& data) const {
    return ordered_ ? one_coin_posterior(data.rows(), true) : base_->posterior(data);
  }

  const OneCoin* base_;
  bool ordered_;
  std::vector<double> posterior_;
  // Posterior in the limit in which all matrices are equal to those of the base.
  std::vector<double> one_coin_;
};

}  // namespace fallible
