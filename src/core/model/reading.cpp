#include "reading.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"
#include "ordinal.hpp"

namespace fallible {

ParameterReader::ParameterReader(const Layout& layout, const Eigen::VectorXd& x)
    : layout_(layout), x_(x), base_rates_(layout.categories, 0.0) {
  const int N = layout.categories;
  for (int g = 0; g < layout.populations(); ++g) {
    std::vector<double> rate(N, 0.0);
    for (int j = 0; j < layout.coefficients(); ++j) {
      const double value = layout.rows.populations.value(g, j);
      for (int k = 0; k < N - 1; ++k) rate[k] += value * x[layout.rate_at(j, k)];
    }
    softmax(rate.begin(), rate.end());
    for (int k = 0; k < N; ++k) base_rates_[k] += layout.share[g] * rate[k];
    rates_.insert(rates_.end(), rate.begin(), rate.end());
  }
}

double ParameterReader::accuracy(int judge) const {
  const int N = layout_.categories;
  // Confusion matrix, for judges whose accuracy is not a parameter; otherwise empty.
  std::vector<double> matrix;
  if (layout_.has_known_matrix(judge)) {
    matrix = layout_.rows.matrix[judge];
  } else if (layout_.ordinal_at >= 0) {
    matrix = OrdinalLaw(x_.data() + layout_.first_ordinal_at(judge), N).matrix();
  }
  double mean = 0;
  for (int k = 0; k < N; ++k) {
    mean += base_rates_[k] * (matrix.empty() ? logistic(x_[layout_.accuracy_at(judge, k)])
                                             : row_of(matrix, k, N)[k]);
  }
  return mean;
}

double ParameterReader::dispersion(bool is_system) const {
  const int parameter = layout_.dispersion_at(is_system ? layout_.rows.raters : 0);
  return parameter < 0 ? 1 : std::exp(x_[parameter]);
}

double ParameterReader::shift(bool is_system) const {
  const int parameter = layout_.shift_at(is_system ? layout_.rows.raters : 0);
  if (parameter < 0) return layout_.strata > 1 ? layout_.fixed_values.shift.value_or(0) : 0;
  // Shifts above 1 have the same effect as 1: the probability of a right answer is 0 in the
  // difficult stratum and 1 in the easy stratum.
  return std::min(std::fabs(x_[parameter]), 1.0);
}

// Returns the accuracy of the raters, for models in which all raters have the same accuracy
// parameter. If all raters have known matrices, returns the mean of their accuracies.
double ParameterReader::accuracy_of_raters() const {
  double total = 0;
  for (int u = 0; u < layout_.rows.raters; ++u) {
    if (!layout_.has_known_matrix(u)) return accuracy(u);
    total += accuracy(u);
  }
  return total / layout_.rows.raters;
}

void NaturalParameters::add(const char* name, int quantity_owner, double estimate,
                            int quantity_number) {
  term.push_back(name);
  owner.push_back(quantity_owner);
  number.push_back(quantity_number);
  value.push_back(estimate);
}

// Appends the slopes of all raters to `to`, and then all thresholds. Raters with a known matrix are
// skipped. If raters have equal parameters, appends one entry for all of them.
void ParameterReader::add_ordinal(NaturalParameters& to) const {
  const int raters = layout_.rows.raters, N = layout_.categories;
  std::vector<OrdinalLaw> laws;
  std::vector<int> owner;
  for (int u = 0; u < raters && (layout_.model.separate_raters || laws.empty()); ++u) {
    if (layout_.has_known_matrix(u)) continue;
    laws.emplace_back(x_.data() + layout_.first_ordinal_at(u), N);
    owner.push_back(layout_.model.separate_raters ? u + 1 : 0);
  }
  for (std::size_t i = 0; i < laws.size(); ++i) to.add("slope", owner[i], laws[i].slope());
  for (int t = 0; t < N - 1; ++t) {
    for (std::size_t i = 0; i < laws.size(); ++i) {
      to.add("threshold", owner[i], laws[i].thresholds()[t], t + 1);
    }
  }
}

void ParameterReader::add_levels(NaturalParameters& to) const {
  const LevelLaw law(x_.data() + layout_.levels_at, layout_.rows.levels);
  for (const bool right : {true, false}) {
    for (int l = 0; l < layout_.rows.levels; ++l) {
      to.add(right ? "confidence_right" : "confidence_wrong", 0, law.probability(right, l), l + 1);
    }
  }
}

void ParameterReader::add_coefficients(NaturalParameters& to) const {
  const int N = layout_.categories, size = layout_.coefficients();
  // Logits of all categories: coefficients x categories. Those of the last category are 0, because
  // it has no parameters.
  Eigen::MatrixXd logits = Eigen::MatrixXd::Zero(size, N);
  for (int j = 0; j < size; ++j) {
    for (int k = 0; k < N - 1; ++k) logits(j, k) = x_[layout_.rate_at(j, k)];
  }
  const Eigen::MatrixXd unscaled = layout_.rows.populations.report * logits;
  for (int k = 1; k < N; ++k) {
    for (int j = 0; j < size; ++j) {
      to.add("base_rate_coefficient", k + 1, unscaled(j, k) - unscaled(j, 0), j + 1);
    }
  }
}

NaturalParameters ParameterReader::naturals() const {
  const int raters = layout_.rows.raters;
  NaturalParameters parameters;
  for (int u = 0; layout_.model.separate_raters && u < raters; ++u) {
    parameters.add("rater_accuracy", u + 1, accuracy(u));
  }
  if (!layout_.model.separate_raters) parameters.add("rater_accuracy", 0, accuracy_of_raters());
  if (layout_.rows.joined()) parameters.add("system_accuracy", 0, accuracy(raters));
  if (layout_.ordinal_at >= 0) add_ordinal(parameters);
  if (layout_.levels_at >= 0) add_levels(parameters);
  for (int k = 0; k < layout_.categories; ++k) parameters.add("base_rate", k + 1, base_rates_[k]);
  if (layout_.coefficients() > 1) add_coefficients(parameters);
  for (int i = 0; layout_.dispersions_at >= 0 && i < layout_.judge_types; ++i) {
    parameters.add("dispersion", 0, dispersion(i > 0));
  }
  for (int i = 0; layout_.shifts_at >= 0 && i < layout_.judge_types; ++i) {
    parameters.add("difficulty", 0, shift(i > 0));
  }
  return parameters;
}

}  // namespace fallible
