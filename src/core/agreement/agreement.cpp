#include "agreement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "../base/special.hpp"
#include "kernels.hpp"

namespace fallible {

namespace {

using Answer = std::pair<int, int>;  // judge and category, both from 0

std::vector<Answer> selected_answers(const PatternView& x, int pattern,
                                     const Selection& selection) {
  std::vector<Answer> answers;
  for (const int position : x.positions(pattern)) {
    const int judge = selection.rater[x.rater[position] - 1];
    if (judge >= 1)
      answers.emplace_back(judge - 1, selection.category[x.category[position] - 1] - 1);
  }
  for (int s = 0; s < x.systems; ++s) {
    const int judge = selection.system[s], answer = x.answer_of(pattern, s);
    if (judge >= 1 && answer >= 1)
      answers.emplace_back(judge - 1, selection.category[answer - 1] - 1);
  }
  std::sort(answers.begin(), answers.end());
  return answers;
}

int count_judges(const std::vector<Answer>& sorted) {
  int n_judges = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    n_judges += i == 0 || sorted[i].first != sorted[i - 1].first;
  }
  return n_judges;
}

// Replaces the judges of a case by the numbers 0, 1, ... (slots), in the order of the categories of
// their answers. Cases with the same number of answers in each category then become equal.
void replace_judges_by_slots(std::vector<Answer>& answers) {
  std::sort(answers.begin(), answers.end(),
            [](const Answer& a, const Answer& b) { return a.second < b.second; });
  for (std::size_t i = 0; i < answers.size(); ++i) answers[i].first = static_cast<int>(i);
}

}  // namespace

RatedRows select_rows(const PatternView& patterns, const std::vector<double>& weight,
                      const Selection& selection) {
  const RowGroups groups(patterns.patterns, [&](int p, std::vector<int>& key) {
    auto answers = selected_answers(patterns, p, selection);
    const int judges = count_judges(answers);
    if (judges < selection.least_judges) return false;
    if (selection.exchangeable && judges == static_cast<int>(answers.size())) {
      replace_judges_by_slots(answers);
    }
    for (const auto& answer : answers) {
      key.push_back(answer.first);
      key.push_back(answer.second);
    }
    return true;
  });
  RatedRows rows;
  rows.judges = selection.judges;
  rows.categories = selection.categories;
  rows.add_groups(groups, 0, weight);
  return rows;
}

const char* name(Undefined reason) {
  static const char* const names[] = {"",           "no_pairs",   "certain", "unused",
                                      "zero_cells", "no_entropy", "unshared"};
  return names[static_cast<int>(reason)];
}

double Kernel::null_error(const std::vector<double>&) const { return not_a_number; }

std::unique_ptr<Kernel> make_kernel(const RatedRows& rows, const KernelOptions& options) {
  for (const auto* table :
       {&count_kernels(), &alpha_kernels(), &rater_kernels(), &table_kernels()}) {
    for (const auto& kernel : *table) {
      if (kernel.name == options.name) return kernel.make(rows, options);
    }
  }
  throw std::invalid_argument("no agreement measure is called " + options.name);
}

std::vector<double> jackknife_influence(const Kernel& kernel, const std::vector<double>& weight,
                                        const Host& host) {
  std::vector<double> influence = kernel.estimates_without_case(weight, host);
  double cases = 0, mean_estimate = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] == 0) continue;
    if (std::isnan(influence[i])) return {};
    cases += weight[i];
    mean_estimate += weight[i] * influence[i];
  }
  mean_estimate /= cases;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    influence[i] = weight[i] == 0 ? 0 : (cases - 1) / cases * (mean_estimate - influence[i]);
  }
  return influence;
}

std::vector<double> bootstrap_kernel(const RatedRows& rows, const Kernel& kernel,
                                     const BootstrapOptions& options, const Host& host) {
  const Resampler resampler(rows.weight, {}, {});
  std::vector<double> estimates(options.replicates);
  for_each_replicate(resampler, options, host, [&](std::size_t r, const auto& drawn) {
    estimates[r] = kernel.estimate(drawn).value;
  });
  return estimates;
}

}  // namespace fallible
