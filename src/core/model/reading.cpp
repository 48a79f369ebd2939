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
    matrix = OrdinalLaw(x_.data() + layout_.ordinal_of(judge), N).matrix();
  }
  double out = 0;
  for (int k = 0; k < N; ++k) {
    out += base_rates_[k] *
           (matrix.empty() ? logistic(x_[layout_.accuracy_at(judge, k)]) : row_of(matrix, k, N)[k]);
  }
  return out;
}

double ParameterReader::dispersion(bool of_system) const {
  const int at = layout_.dispersion_at(of_system ? layout_.rows.raters : 0);
  return at < 0 ? 1 : std::exp(x_[at]);
}

double ParameterReader::shift(bool of_system) const {
  const int at = layout_.shift_at(of_system ? layout_.rows.raters : 0);
  if (at < 0) return layout_.strata > 1 ? layout_.fixed_values.shift.value_or(0) : 0;
  // Shifts above 1 have the same effect as 1: in at most one of the three strata, the probability
  // of a right answer is not 0 or 1.
  return std::min(std::fabs(x_[at]), 1.0);
}

// Accuracy of the raters if it is one parameter for all of them. If all raters have known matrices,
// the mean of their accuracies.
double ParameterReader::accuracy_of_raters() const {
  double total = 0;
  for (int u = 0; u < layout_.rows.raters; ++u) {
    if (!layout_.has_known_matrix(u)) return accuracy(u);
    total += accuracy(u);
  }
  return total / layout_.rows.raters;
}

void NaturalParameters::add(const char* name, int owner, double estimate, int number) {
  term.push_back(name);
  of.push_back(owner);
  part.push_back(number);
  value.push_back(estimate);
}

// Adds the slopes of all raters first, and then all thresholds. Raters with a known matrix are
// skipped. If raters have equal parameters, adds one entry for all of them.
void ParameterReader::add_ordinal(NaturalParameters& to) const {
  const int raters = layout_.rows.raters, N = layout_.categories;
  std::vector<OrdinalLaw> laws;
  std::vector<int> owner;
  for (int u = 0; u < raters && (layout_.model.by_rater || laws.empty()); ++u) {
    if (layout_.has_known_matrix(u)) continue;
    laws.emplace_back(x_.data() + layout_.ordinal_of(u), N);
    owner.push_back(layout_.model.by_rater ? u + 1 : 0);
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
  const Eigen::MatrixXd raw = layout_.rows.populations.report * logits;
  for (int k = 1; k < N; ++k) {
    for (int j = 0; j < size; ++j) {
      to.add("base_rate_coefficient", k + 1, raw(j, k) - raw(j, 0), j + 1);
    }
  }
}

NaturalParameters ParameterReader::naturals() const {
  const int raters = layout_.rows.raters;
  NaturalParameters out;
  for (int u = 0; layout_.model.by_rater && u < raters; ++u) {
    out.add("rater_accuracy", u + 1, accuracy(u));
  }
  if (!layout_.model.by_rater) out.add("rater_accuracy", 0, accuracy_of_raters());
  if (layout_.rows.joined()) out.add("system_accuracy", 0, accuracy(raters));
  if (layout_.ordinal_at >= 0) add_ordinal(out);
  if (layout_.levels_at >= 0) add_levels(out);
  for (int k = 0; k < layout_.categories; ++k) out.add("base_rate", k + 1, base_rates_[k]);
  if (layout_.coefficients() > 1) add_coefficients(out);
  for (int i = 0; layout_.dispersions_at >= 0 && i < layout_.judge_kinds; ++i) {
    out.add("dispersion", 0, dispersion(i > 0));
  }
  for (int i = 0; layout_.shifts_at >= 0 && i < layout_.judge_kinds; ++i) {
    out.add("difficulty", 0, shift(i > 0));
  }
  return out;
}

}  // namespace fallible
