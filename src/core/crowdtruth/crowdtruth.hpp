// CrowdTruth: units, workers and annotations are measured by the disagreement between answers with
// several labels. The first version is in crowdtruth.cpp, the later one in version2.cpp.
#pragma once

#include <cstddef>
#include <vector>

#include "../base/host.hpp"
#include "../base/rows.hpp"
#include "crowdtruth.hpp"

namespace fallible {

// Row j is judgement j, of unit[j] by worker[j], and contains its labels, ascending; none if the
// answer is empty. Numbers start at 0. Judgements are ordered by unit.
struct Judgements : Ragged {
  int units = 0;
  int workers = 0;
  int labels = 0;
  std::vector<int> unit, worker, label;
  Ragged of_unit;               // judgements of each unit
  Ragged of_worker;             // positions in `worker_row`
  std::vector<int> worker_row;  // judgements, ordered by worker

  int size() const { return static_cast<int>(unit.size()); }
  int answers(int j) const { return places(j).size(); }
};

// Input: one entry per label given, numbered from 1 and sorted by unit, worker and label. An empty
// answer is one entry with label 0.
Judgements make_judgements(const int* unit, const int* worker, const int* label,
                           std::size_t entries, int units, int workers, int labels);

// Labels of each unit, ascending, with the number of workers who gave them.
struct Votes : Ragged {
  std::vector<int> label, votes;
};
Votes count_votes(const Judgements& x);

// Undefined values in the following results are NaN.

// Cosine between a unit's votes and each label, for each entry of the votes.
std::vector<double> unit_annotation_scores(const Votes& votes);

struct WorkerScores {
  std::vector<double> unit_disagreement;     // mean 1 - cosine with the votes of the others
  std::vector<double> worker_disagreement;   // 1 - mean kappa with the others
  std::vector<double> overlap_disagreement;  // 1 - mean share of labels that others gave too
  std::vector<double> annotations_per_unit;
  std::vector<int> compared;  // units with a defined unit_disagreement
};
WorkerScores worker_scores(const Judgements& x, const Host& host);

// Causal power of annotation i for annotation j over the units, labels x labels by columns.
std::vector<double> annotation_similarity(const Votes& votes, int labels);

// Lower bound of denominators and of annotation quality.
constexpr double quality_floor = 1e-8;

struct QualityOptions {
  bool open = false;         // open tasks have no annotation quality: it stays 1
  double tolerance = 0.001;  // stop if every quality changes by less in a step
  int max_steps = 1000;
};

// Units and workers without judgements are NaN. A quality is floored if its denominator, or the
// quality itself, is below the floor.
struct Quality {
  std::vector<double> unit;             // UQS
  std::vector<double> worker_worker;    // WWA
  std::vector<double> worker_unit;      // WUA
  std::vector<double> worker;           // WQS, their product
  std::vector<double> annotation;       // AQS
  std::vector<double> unit_annotation;  // UAS, for each entry of the votes
  std::vector<char> unit_floored, worker_floored, annotation_floored;
  // Largest change in each step, of units, workers and annotations.
  std::vector<double> unit_change, worker_change, annotation_change;
  bool converged = false;
};

// The host's tick gets the number of steps done.
Quality crowd_quality(const Judgements& x, const QualityOptions& options, const Host& host);

}  // namespace fallible
