// Converts the parameters of a latent class model (logits, logarithms) to the quantities that users
// read (accuracies, base rates, ...), here called natural parameters.
#pragma once

#include <string>
#include <vector>

#include "layout.hpp"

namespace fallible {

// The quantities that users read (natural parameters). Each vector has one entry per quantity.
struct NaturalParameters {
  // Name of the quantity: "rater_accuracy", "system_accuracy", "slope", "threshold",
  // "confidence_right", "confidence_wrong", "base_rate", "base_rate_coefficient" (for the logit of
  // a category relative to the first category), "dispersion" or "difficulty". The last two have a
  // second entry if the system has separate values.
  std::vector<std::string> term;
  std::vector<int> owner;   // rater or category of the quantity, from 1; 0 if it is common to all
  std::vector<int> number;  // index of the threshold, level or coefficient, from 1; otherwise 0
  std::vector<double> value;

  // Appends one quantity.
  void add(const char* name, int quantity_owner, double estimate, int quantity_number = 0);
};

// Reads natural parameters from the parameter vector `x`. Keeps references to both arguments of the
// constructor.
class ParameterReader {
 public:
  ParameterReader(const Layout& layout, const Eigen::VectorXd& x);

  // Base rates averaged over all cases, one per category.
  const std::vector<double>& base_rates() const { return base_rates_; }
  // Base rates of each population of cases: populations x categories, row by row.
  const std::vector<double>& population_rates() const { return rates_; }
  // Accuracy of a judge, averaged over true categories and strata.
  double accuracy(int judge) const;
  // Dispersion of errors (1 if it is not a parameter) and shift between strata (0 without strata).
  // `is_system`: true for the values of the system, false for the values of the raters.
  double dispersion(bool is_system) const;
  double shift(bool is_system) const;
  NaturalParameters naturals() const;

 private:
  double accuracy_of_raters() const;
  void add_ordinal(NaturalParameters& to) const;
  void add_levels(NaturalParameters& to) const;
  void add_coefficients(NaturalParameters& to) const;

  const Layout& layout_;
  const Eigen::VectorXd& x_;
  std::vector<double> rates_, base_rates_;
};

}  // namespace fallible
