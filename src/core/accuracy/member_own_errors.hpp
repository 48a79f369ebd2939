// One-coin models whose judges have error rows of their own around the errors of the base; so
// concentrated, one of so many that share the prior.
#ifndef FALLIBLE_CORE_ACCURACY_MEMBER_OWN_ERRORS_HPP
#define FALLIBLE_CORE_ACCURACY_MEMBER_OWN_ERRORS_HPP

#include <algorithm>
#include <cmath>

#include "member_one_coin.hpp"
#include "../model/variational.hpp"

namespace fallible {

class OwnErrorRows : public Member {
 public:
  OwnErrorRows(const OneCoinSettings& settings, double concentration, int variants)
      : Member({settings.by_rater ? "rater" : "common", "own", settings.shift, concentration},
               OneCoin::log_prior(settings) - std::log(static_cast<double>(variants))),
        settings_(settings) {}

  std::unique_ptr<Member> clone() const override { return std::make_unique<OwnErrorRows>(*this); }

  // Starts from the ratings that other rows rest on, and from the parameters of the base.
  void fit(const Joined& data, const Member* base, const Member* start) override {
    const auto& under = dynamic_cast<const OneCoin&>(*base);
    std::vector<double> counts;
    if (start) counts = dynamic_cast<const OwnErrorRows&>(*start).fit_.counts;
    fit_ = fit_own_errors(data.rows(), OneCoin::model(settings_), data.prior(), settings_.shift,
                          under.x(), result_.label.concentration, std::move(counts));
    result_.log_evidence = under.result().log_evidence + (fit_.bound - under.log_posterior());
    result_.rater_accuracy = under.result().rater_accuracy;
    const auto truth = posterior(data);
    result_.estimate = data.mean_posterior(truth);
    result_.std_error = std::max(under.result().std_error, data.conditional_error(truth));
  }

  std::vector<double> posterior(const Joined& data) const override {
    const Held held{settings_.shift, &fit_.log_error};
    return LatentClass(data.rows(), OneCoin::model(settings_), data.prior(), held)
        .posterior(fit_.x);
  }

 private:
  OneCoinSettings settings_;
  OwnErrors fit_;
};

}  // namespace fallible

#endif
