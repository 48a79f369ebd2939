// Natural parameters of a latent class model, in the form that users read.
#pragma once

#include <string>
#include <vector>

#include "layout.hpp"

namespace fallible {

// Estimated quantities, one entry per quantity. Terms: `rater_accuracy`, `system_accuracy`, `slope`
// and `threshold` (of raters), `confidence_right` and `confidence_wrong`, `base_rate`,
// `base_rate_coefficient` (for the logit of a category relative to the first), `dispersion` and
// `difficulty`. The last two are for raters, then for the system if it has separate values.
struct Naturals {
  std::vector<std::string> term;
  std::vector<int> of;    // rater or category, from 1; 0 for a common value
  std::vector<int> part;  // threshold, level or coefficient, from 1; otherwise 0
  std::vector<double> value;

  void add(const char* what, int whose, double is, int which = 0);
};

// Refers to both arguments.
class Reading {
 public:
  Reading(const Layout& layout, const Eigen::VectorXd& x);

  // Means over the cases.
  const std::vector<double>& base_rates() const { return base_rates_; }
  // Populations x categories.
  const std::vector<double>& population_rates() const { return rates_; }
  // Mean accuracy over base rates and strata.
  double accuracy(int judge) const;
  double dispersion(bool of_system) const;
  double shift(bool of_system) const;
  Naturals naturals() const;

 private:
  double common_accuracy() const;
  void add_ordinal(Naturals& to) const;
  void add_levels(Naturals& to) const;
  void add_coefficients(Naturals& to) const;

  const Layout& layout_;
  const Eigen::VectorXd& x_;
  std::vector<double> rates_, base_rates_;
};

}  // namespace fallible
