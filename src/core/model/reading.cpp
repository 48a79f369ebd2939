#include "reading.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

Reading::Reading(const Layout& layout, const Eigen::VectorXd& x)
    : layout_(layout), x_(x), base_rates_(x.data(), x.data() + layout.categories - 1) {
  base_rates_.push_back(0);
  const double most = *std::max_element(base_rates_.begin(), base_rates_.end());
  double total = 0;
  for (double& rate : base_rates_) total += rate = std::exp(rate - most);
  for (double& rate : base_rates_) rate /= total;
}

double Reading::accuracy(int judge) const {
  const int N = layout_.categories;
  double out = 0;
  for (int k = 0; k < N; ++k) {
    out += base_rates_[k] * (layout_.is_known(judge) ? layout_.rows.matrix[judge][k * N + k]
                                                     : logistic(x_[layout_.accuracy_at(judge, k)]));
  }
  return out;
}

double Reading::dispersion(bool of_system) const {
  const int at = layout_.dispersion_at(of_system ? layout_.rows.raters : 0);
  return at < 0 ? 1 : std::exp(x_[at]);
}

double Reading::shift(bool of_system) const {
  const int at = layout_.shift_at(of_system ? layout_.rows.raters : 0);
  if (at < 0) return layout_.strata > 1 ? layout_.held.shift : 0;
  // Beyond one nothing changes any more: everybody is wrong on hard cases and right on easy ones.
  return std::min(std::fabs(x_[at]), 1.0);
}

// That of all who are not known; or else the mean of those who are.
double Reading::common_accuracy() const {
  double total = 0;
  for (int u = 0; u < layout_.rows.raters; ++u) {
    if (!layout_.is_known(u)) return accuracy(u);
    total += accuracy(u);
  }
  return total / layout_.rows.raters;
}

void Naturals::add(const char* what, int whose, double is) {
  term.push_back(what);
  of.push_back(whose);
  value.push_back(is);
}

Naturals Reading::naturals() const {
  const int raters = layout_.rows.raters;
  Naturals out;
  for (int u = 0; layout_.model.by_rater && u < raters; ++u) {
    out.add("rater_accuracy", u + 1, accuracy(u));
  }
  if (!layout_.model.by_rater) out.add("rater_accuracy", 0, common_accuracy());
  if (layout_.rows.joined()) out.add("system_accuracy", 0, accuracy(raters));
  for (int k = 0; k < layout_.categories; ++k) out.add("base_rate", k + 1, base_rates_[k]);
  for (int i = 0; layout_.dispersions_at >= 0 && i < layout_.kinds; ++i) {
    out.add("dispersion", 0, dispersion(i > 0));
  }
  for (int i = 0; layout_.shifts_at >= 0 && i < layout_.kinds; ++i) {
    out.add("difficulty", 0, shift(i > 0));
  }
  return out;
}

}  // namespace fallible
