// CrowdTruth 2.0: the qualities of units, workers and annotations weigh each other.
#pragma once

#include <cstddef>
#include <vector>

#include "crowdtruth.hpp"

namespace fallible {

// No denominator and no annotation quality is below this.
constexpr double quality_floor = 1e-8;

struct QualityOptions {
  bool open = false;         // open tasks have no annotation quality: it stays 1
  double tolerance = 0.001;  // stop when no quality changes by so much in a step
  int max_steps = 1000;
};

// Units and workers without judgements, and what follows from them, are NaN. A floored quality is
// one whose denominator, or itself, fell below the floor.
struct Quality {
  std::vector<double> unit;             // UQS
  std::vector<double> worker_worker;    // WWA
  std::vector<double> worker_unit;      // WUA
  std::vector<double> worker;           // WQS, their product
  std::vector<double> annotation;       // AQS
  std::vector<double> unit_annotation;  // UAS, for each entry of the votes
  std::vector<char> unit_floored, worker_floored, annotation_floored;
  // The largest change in each step, of units, workers and annotations.
  std::vector<double> unit_change, worker_change, annotation_change;
  bool converged = false;
};

// The host's tick gets the number of steps done.
Quality crowd_quality(const Judgements& x, const QualityOptions& options, const Host& host);

}  // namespace fallible
