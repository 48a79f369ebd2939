// One-coin models whose judges have error rows of their own around the errors of the base; so
// concentrated, one of so many that share the prior.
#ifndef FALLIBLE_CORE_ACCURACY_MEMBER_OWN_ERRORS_HPP
#define FALLIBLE_CORE_ACCURACY_MEMBER_OWN_ERRORS_HPP

#include <algorithm>
#include <cmath>

#include "../model/variational.hpp"
#include "member_one_coin.hpp"

namespace fallible {

class OwnErrorRows : public Member {
 public:
  OwnErrorRows(const OneCoinSettings& settings, double concentration, int variants)
      : Member({settings.by_rater ? "rater" : "common", "own", settings.shift, concentration},
               OneCoin::log_prior(settings) - std::log(static_cast<double>(variants))),
        settings_(settings) {}

  std::unique_ptr<Member> clone() const override { return std::make_unique<OwnErrorRows>(*this); }

  void fit(const Joined& data, const Member* base, const Member* start, double matters) override {
    const auto& under = dynamic_cast<const OneCoin&>(*base);
    climb(data, under, start, matters);
    if (!under.rough() || fit_.hopeless) return;
    const auto polished = under.refit(data, nullptr);
    climb(data, dynamic_cast<const OneCoin&>(*polished), start, matters);
    if (polished->ruled_out()) rule_out();
  }

  std::vector<double> posterior(const Joined& data) const override {
    const Held held{settings_.shift, &fit_.log_error};
    return LatentClass(data.rows(), OneCoin::model(settings_), data.prior(), held)
        .posterior(fit_.x);
  }

 private:
  // Starts from the ratings that other rows rest on, and from the parameters of the base.
  void climb(const Joined& data, const OneCoin& under, const Member* start, double matters) {
    std::vector<double> counts;
    if (start) counts = dynamic_cast<const OwnErrorRows&>(*start).fit_.counts;
    const double more = under.result().log_evidence - under.log_posterior();
    fit_ = fit_own_errors(data.rows(), OneCoin::model(settings_), data.prior(), settings_.shift,
                          under.x(), result_.label.concentration, std::move(counts),
                          matters - result_.log_prior - more);
    result_.log_evidence = fit_.bound + more;
    result_.rater_accuracy = under.result().rater_accuracy;
    const auto truth = posterior(data);
    result_.estimate = data.mean_posterior(truth);
    result_.std_error = std::max(under.result().std_error, data.conditional_error(truth));
  }

  OneCoinSettings settings_;
  OwnErrors fit_;
};

}  // namespace fallible

#endif
