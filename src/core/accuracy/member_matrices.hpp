// The most flexible models in method average: hierarchical Dawid-Skene models. Each judge has a
// separate confusion matrix, or all raters have one matrix and the system has another matrix. The
// matrices have a Dirichlet prior, whose mean is the matrix of a one-coin model (the base).
#pragma once

#include <algorithm>

#include "../model/variational.hpp"
#include "member_one_coin.hpp"

namespace fallible {

// Concentration of the Dirichlet prior. Larger values move matrices closer to their prior means.
constexpr double matrix_concentration = 4;

class Matrices : public Member {
 public:
  // `base`: a one-coin model without strata; it has one accuracy per rater if the matrices differ
  // between raters.
  Matrices(const OneCoin* base, bool ordered)
      : Member({base->result().label.accuracy, "matrix", 0, matrix_concentration}, 0),
        base_(base),
        separate_raters_(base->settings().separate_raters),
        ordered_(ordered) {}

  const OneCoin* base() const override { return base_; }

  // Fits the model. Its evidence is the evidence of the base plus a difference of two variational
  // bounds: the bound with separate matrices minus the bound in the limit in which each matrix is
  // equal to its prior mean. In this limit the model is the base, for which a better approximation
  // of the evidence is available.
  void fit(const JointData& data, double) override {
    const LatentRows& rows = separate_raters_ ? data.rows() : data.exchangeable().rows;
    std::vector<std::vector<double>> matrix_starts{posterior_},
        one_coin_starts{one_coin_posterior_};
    if (posterior_.empty()) {
      matrix_starts = one_coin_starts = {one_coin_posterior(rows, false), posterior_by_rater(data)};
      // If a system gives the same answer to nearly all cases, one-coin models may find a wrong
      // maximum, at which nearly all of these answers are right. A start from the raters' posterior
      // avoids this maximum.
      if (!data.rater_posterior().empty()) {
        matrix_starts.push_back(separate_raters_
                                    ? data.rater_posterior()
                                    : data.exchangeable().merge(data.rater_posterior()));
      }
    }
    DawidSkene matrices = fit_best(rows, matrix_starts, matrix_concentration);
    DawidSkene one_coin = fit_best(rows, one_coin_starts, equal_matrices);
    const MemberResult& base_member = base_->result();
    result_.log_evidence = base_member.log_evidence + (matrices.bound - one_coin.bound);
    result_.rater_accuracy = 0;
    for (int u = 0; u < rows.raters; ++u) {
      result_.rater_accuracy += matrices.accuracy[u] / rows.raters;
    }
    posterior_ = std::move(matrices.posterior);
    one_coin_posterior_ = std::move(one_coin.posterior);
    const std::vector<double> truth_posterior = posterior(data);
    result_.estimate = data.mean_posterior(truth_posterior);
    result_.std_error = std::max(base_member.std_error, data.conditional_error(truth_posterior));
  }

  std::unique_ptr<Member> refit(const JointData& data, const OneCoin* base) const override {
    auto refitted = std::make_unique<Matrices>(*this);
    refitted->base_ = base;
    refitted->fit(data, no_weight_limit);
    return refitted;
  }

  std::vector<double> posterior(const JointData& data) const override {
    return separate_raters_ ? posterior_ : data.exchangeable().copy_to_rows(posterior_);
  }
  bool is_in_first_round() const override { return true; }

 private:
  DawidSkene fit_best(const LatentRows& rows, const std::vector<std::vector<double>>& starts,
                      double concentration) const {
    VariationalOptions options;
    options.ordered = ordered_;
    options.concentration = concentration;
    DawidSkene best;
    for (const auto& start : starts) {
      DawidSkene candidate = fit_dawid_skene(rows, LatentPrior(), start, options);
      if (candidate.bound > best.bound) best = std::move(candidate);
    }
    return best;
  }

  // Posterior of a one-coin model with an accuracy per judge, as a start. This model is the base if
  // categories have no order and matrices differ between raters.
  std::vector<double> posterior_by_rater(const JointData& data) const {
    if (!separate_raters_) return one_coin_posterior(data.exchangeable().rows, true);
    return ordered_ ? one_coin_posterior(data.rows(), true) : base_->posterior(data);
  }

  const OneCoin* base_;
  bool separate_raters_, ordered_;
  // Posteriors of the truth in the fitted rows: rows x categories. `posterior_` is from the model
  // with separate matrices, `one_coin_posterior_` from the model in which each matrix is equal to
  // its prior mean. If `separate_raters_` is false, raters are merged in the fitted rows.
  std::vector<double> posterior_, one_coin_posterior_;
};

}  // namespace fallible
