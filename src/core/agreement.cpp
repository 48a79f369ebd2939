#include "agreement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "agreement_kernels.hpp"
#include "random.hpp"
#include "rows.hpp"

namespace fallible {

namespace {

using Answer = std::pair<int, int>;  // unit and category

std::vector<Answer> answers_of(const PatternView& x, int p, const Selection& selection) {
  std::vector<Answer> out;
  for (int r = x.start[p]; r < x.start[p + 1]; ++r) {
    const int unit = selection.rater[x.rater[r] - 1];
    if (unit >= 1) out.emplace_back(unit - 1, selection.category[x.category[r] - 1] - 1);
  }
  for (int s = 0; s < x.systems; ++s) {
    const int unit = selection.system[s], answer = x.answer_of(p, s);
    if (unit >= 1 && answer >= 1) out.emplace_back(unit - 1, selection.category[answer - 1] - 1);
  }
  std::sort(out.begin(), out.end());
  return out;
}

int count_units(const std::vector<Answer>& sorted) {
  int out = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    out += i == 0 || sorted[i].first != sorted[i - 1].first;
  }
  return out;
}

// Units become slots, in the order of their categories.
void forget_units(std::vector<Answer>& answers) {
  std::sort(answers.begin(), answers.end(),
            [](const Answer& a, const Answer& b) { return a.second < b.second; });
  for (std::size_t i = 0; i < answers.size(); ++i) answers[i].first = static_cast<int>(i);
}

}  // namespace

RatedRows select_rows(const PatternView& patterns, const std::vector<double>& weight,
                      const Selection& selection) {
  RowSet keys;
  std::vector<int> found(patterns.patterns, -1), key;
  for (int p = 0; p < patterns.patterns; ++p) {
    auto answers = answers_of(patterns, p, selection);
    const int units = count_units(answers);
    if (units < selection.least) continue;
    if (selection.exchangeable && units == static_cast<int>(answers.size())) {
      forget_units(answers);
    }
    key.clear();
    for (const auto& answer : answers) {
      key.push_back(answer.first);
      key.push_back(answer.second);
    }
    found[p] = keys.insert(key.data(), key.size());
  }
  const std::vector<int> order = keys.sorted();
  std::vector<int> rank(keys.size());

  RatedRows out;
  out.units = selection.units;
  out.categories = selection.categories;
  out.weight.assign(keys.size(), 0.0);
  for (int i = 0; i < keys.size(); ++i) {
    rank[order[i]] = i;
    const int* row = keys.row(order[i]);
    for (std::size_t a = 0; a < keys.length(order[i]); a += 2) {
      out.unit.push_back(row[a]);
      out.category.push_back(row[a + 1]);
    }
    out.start.push_back(static_cast<int>(out.unit.size()));
  }
  for (int& row : found) {
    if (row >= 0) row = rank[row];
  }
  for (int p = 0; p < patterns.patterns; ++p) {
    if (found[p] >= 0) out.weight[found[p]] += weight[p];
  }
  out.of_pattern = std::move(found);
  return out;
}

const char* name(Undefined why) {
  switch (why) {
    case Undefined::no_pairs:
      return "no_pairs";
    case Undefined::certain:
      return "certain";
    case Undefined::unused:
      return "unused";
    case Undefined::zero_cells:
      return "zero_cells";
    case Undefined::no_entropy:
      return "no_entropy";
    case Undefined::unshared:
      return "unshared";
    default:
      return "";
  }
}

double Kernel::null_error(const std::vector<double>&) const { return undefined_value; }

std::unique_ptr<Kernel> make_kernel(const RatedRows& rows, const KernelOptions& options) {
  for (const auto maker :
       {make_count_kernel, make_alpha_kernel, make_rater_kernel, make_table_kernel}) {
    if (auto kernel = maker(rows, options)) return kernel;
  }
  throw std::invalid_argument("no agreement measure is called " + options.name);
}

std::vector<double> jackknife_influence(const Kernel& kernel, const std::vector<double>& weight,
                                        const Host& host) {
  std::vector<double> out = kernel.without_one(weight, host);
  double cases = 0, mean = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] == 0) continue;
    if (std::isnan(out[i])) return {};
    cases += weight[i];
    mean += weight[i] * out[i];
  }
  mean /= cases;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    out[i] = weight[i] == 0 ? 0 : (cases - 1) / cases * (mean - out[i]);
  }
  return out;
}

void resample(std::uint64_t seed, std::uint64_t replicate, const std::vector<double>& weight,
              std::vector<double>& count) {
  Stream stream(seed, replicate);
  const double cases = std::accumulate(weight.begin(), weight.end(), 0.0);
  multinomial(stream, std::llround(cases), weight, count);
}

std::vector<double> bootstrap_kernel(const RatedRows& rows, const Kernel& kernel,
                                     const ResampleOptions& options, const Host& host) {
  std::vector<double> out(options.replicates);
  for_each_item(out.size(), options.threads, host, [&](std::size_t r) {
    std::vector<double> count;
    resample(options.seed, r, rows.weight, count);
    out[r] = kernel.estimate(count).value;
  });
  return out;
}

}  // namespace fallible
