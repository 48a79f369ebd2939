// The most flexible members, hierarchical Dawid-Skene models: each judge has a separate confusion
// matrix, or all raters have one matrix and the system another. The matrices have a Dirichlet
// prior, whose mean is the matrix of a one-coin model (the base).
#pragma once

#include <algorithm>

#include "../model/variational.hpp"
#include "member_one_coin.hpp"

namespace fallible {

// Concentration of the Dirichlet prior: larger values make matrices more similar.
constexpr double matrix_concentration = 4;

class Matrices : public Member {
 public:
  // `base`: a one-coin model without strata; it has one accuracy per rater if the matrices differ
  // between raters.
  Matrices(const OneCoin* base, bool ordered)
      : Member({base->result().label.accuracy, "matrix", 0, matrix_concentration}, 0),
        base_(base),
        by_rater_(base->settings().by_rater),
        ordered_(ordered) {}

  const OneCoin* base() const override { return base_; }

  // Fits the model. Its evidence is the evidence of the base plus a difference of two variational
  // bounds: the bound with separate matrices minus the bound in the limit of equal matrices. In
  // this limit the model is the base, for which a better approximation of the evidence is
  // available.
  void fit(const JointData& data, double) override {
    const LatentRows& rows = by_rater_ ? data.rows() : data.exchangeable().rows;
    std::vector<std::vector<double>> matrix_starts{posterior_}, one_coin_starts{one_coin_};
    if (posterior_.empty()) {
      matrix_starts = one_coin_starts = {one_coin_posterior(rows, false), posterior_by_rater(data)};
      // One-coin models find a wrong maximum if a system nearly always gives one answer: nearly all
      // cases have this category. A start from the raters' posterior avoids this maximum.
      if (!data.rater_posterior().empty()) {
        matrix_starts.push_back(by_rater_ ? data.rater_posterior()
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
    one_coin_ = std::move(one_coin.posterior);
    const std::vector<double> truth = posterior(data);
    result_.estimate = data.mean_posterior(truth);
    result_.std_error = std::max(base_member.std_error, data.conditional_error(truth));
  }

  std::unique_ptr<Member> refit(const JointData& data, const OneCoin* base) const override {
    auto out = std::make_unique<Matrices>(*this);
    out->base_ = base;
    out->fit(data, no_weight_limit);
    return out;
  }

  std::vector<double> posterior(const JointData& data) const override {
    return by_rater_ ? posterior_ : data.exchangeable().by_row(posterior_);
  }
  bool is_leader() const override { return true; }

 private:
  DawidSkene fit_best(const LatentRows& rows, const std::vector<std::vector<double>>& starts,
                      double concentration) const {
    VariationalOptions options;
    options.ordered = ordered_;
    options.concentration = concentration;
    DawidSkene out;
    for (const auto& start : starts) {
      DawidSkene candidate = fit_dawid_skene(rows, LatentPrior(), start, options);
      if (candidate.bound > out.bound) out = std::move(candidate);
    }
    return out;
  }

  // Posterior of a one-coin model with an accuracy per judge, as a start. This model is the base if
  // categories have no order and matrices differ between raters.
  std::vector<double> posterior_by_rater(const JointData& data) const {
    if (!by_rater_) return one_coin_posterior(data.exchangeable().rows, true);
    return ordered_ ? one_coin_posterior(data.rows(), true) : base_->posterior(data);
  }

  const OneCoin* base_;
  bool by_rater_, ordered_;
  // Posteriors of the truth in the fitted rows: with separate matrices, and with all matrices equal
  // to those of the base. Unless `by_rater_`, raters are merged in these rows.
  std::vector<double> posterior_, one_coin_;
};

}  // namespace fallible
