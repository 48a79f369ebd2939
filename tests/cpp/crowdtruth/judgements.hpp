// Tables of judgements that the tests of CrowdTruth use.
#ifndef FALLIBLE_TESTS_JUDGEMENTS_HPP
#define FALLIBLE_TESTS_JUDGEMENTS_HPP

#include <cstdint>
#include <vector>

#include "core/base/random.hpp"
#include "core/crowdtruth/crowdtruth.hpp"

// One row per label given: numbers of unit, worker and label. Label 0 is an empty answer.
struct Rows {
  std::vector<int> unit, worker, label;
  void add(int u, int i, int a) {
    unit.push_back(u);
    worker.push_back(i);
    label.push_back(a);
  }
  fallible::Judgements judgements(int units, int workers, int labels) const {
    return fallible::make_judgements(unit.data(), worker.data(), label.data(), unit.size(), units,
                                     workers, labels);
  }
};

// Each worker judges each unit with probability `judged`.
inline Rows random_rows(int units, int workers, int labels, std::uint64_t seed,
                        double judged = 0.5) {
  fallible::Stream stream(seed, 0);
  Rows out;
  for (int u = 1; u <= units; ++u) {
    for (int i = 1; i <= workers; ++i) {
      if (stream.uniform() < 1 - judged) continue;
      bool any = false;
      for (int a = 1; a <= labels; ++a) {
        if (stream.uniform() < 0.3) {
          out.add(u, i, a);
          any = true;
        }
      }
      if (!any) out.add(u, i, 0);
    }
  }
  return out;
}

#endif
