#include "latent_sample.hpp"

#include <algorithm>
#include <cmath>

#include "../base/rows.hpp"

namespace fallible {

RowSampler::RowSampler(const LatentRows& rows, const AnswerLaw& law)
    : raters_(rows.raters), judges_(rows.judges), law_(law) {
  RowSet sets;
  std::vector<double> cases;
  std::vector<int> number(rows.size());
  for (int i = 0; i < rows.size(); ++i) {
    const int* first = rows.judge.data() + rows.start[i];
    number[i] = sets.insert(first, rows.places(i).size());
    cases.resize(sets.size(), 0.0);
    cases[number[i]] += rows.weight[i];
  }
  for (int i = 0; i < sets.size(); ++i) {
    Panel panel{{sets.row(i), sets.row(i) + sets.length(i)}, std::llround(cases[i]), {}};
    double number_of_ways = 1;
    for (std::size_t j = 0; j < panel.judges.size(); ++j) number_of_ways *= law_.categories;
    if (number_of_ways <= cases[i]) {
      panel.ways = ways(panel.judges, static_cast<std::size_t>(number_of_ways));
    }
    panels_.push_back(std::move(panel));
  }
  const int N = law_.categories;
  cumulative_.resize(static_cast<std::size_t>(judges_) * law_.classes * N);
  for (int u = 0; u < judges_; ++u) {
    for (int c = 0; c < law_.classes; ++c) {
      double total = 0;
      for (int l = 0; l < N; ++l) {
        total += law_.of(u, l, c);
        cumulative_[(static_cast<std::size_t>(u) * law_.classes + c) * N + l] = total;
      }
    }
  }
}

// The answer of the first judge changes fastest.
std::vector<double> RowSampler::ways(const std::vector<int>& judges, std::size_t number) const {
  std::vector<double> out(number, 0.0);
  for (int c = 0; c < law_.classes; ++c) {
    for (std::size_t way = 0; way < number; ++way) {
      double product = law_.weight[c];
      std::size_t rest = way;
      for (const int judge : judges) {
        product *= law_.of(judge, static_cast<int>(rest % law_.categories), c);
        rest /= law_.categories;
      }
      out[way] += product;
    }
  }
  return out;
}

LatentRows RowSampler::draw(Stream& stream) const {
  const int N = law_.categories;
  const auto pick = [&stream](const double* cumulative, int n) {
    const double at = stream.uniform() * cumulative[n - 1];
    int i = 0;
    while (i < n - 1 && at >= cumulative[i]) ++i;
    return i;
  };
  std::vector<double> classes;
  double total = 0;
  for (const double weight : law_.weight) classes.push_back(total += weight);

  RowSet rows;
  std::vector<double> weight, count;
  std::vector<int> key;
  const auto add = [&](double cases) {
    const std::size_t i = rows.insert(key.data(), key.size());
    weight.resize(rows.size(), 0.0);
    weight[i] += cases;
  };
  for (const Panel& panel : panels_) {
    const std::size_t length = panel.judges.size();
    key.resize(2 * length);
    for (std::size_t j = 0; j < length; ++j) key[2 * j] = panel.judges[j];
    if (!panel.ways.empty()) {
      multinomial(stream, panel.cases, panel.ways, count);
      for (std::size_t way = 0; way < count.size(); ++way) {
        if (count[way] == 0) continue;
        std::size_t rest = way;
        for (std::size_t j = 0; j < length; ++j, rest /= N) {
          key[2 * j + 1] = static_cast<int>(rest % N);
        }
        add(count[way]);
      }
      continue;
    }
    for (std::int64_t i = 0; i < panel.cases; ++i) {
      const int c = pick(classes.data(), law_.classes);
      for (std::size_t j = 0; j < length; ++j) {
        const std::size_t at = static_cast<std::size_t>(panel.judges[j]) * law_.classes + c;
        key[2 * j + 1] = pick(&cumulative_[at * N], N);
      }
      add(1);
    }
  }

  LatentRows out;
  out.categories = N;
  out.raters = raters_;
  out.judges = judges_;
  for (int i = 0; i < rows.size(); ++i) {
    out.add_row(rows.row(i), rows.row(i) + rows.length(i));
  }
  out.known.assign(rows.size(), -1);
  out.weight = std::move(weight);
  return out;
}

}  // namespace fallible
