// CrowdTruth: quality scores of units, workers and annotations (labels), computed from the
// disagreement between answers that may have several labels. Version 1 is in crowdtruth.cpp,
// version 2.0 in version2.cpp.
#pragma once

#include <cstddef>
#include <vector>

#include "../base/host.hpp"
#include "../base/rows.hpp"

namespace fallible {

// All judgements of a task, sorted by unit. A judgement contains the labels that a worker gave to a
// unit; it contains no label if the answer is empty. All numbers start at 0.
struct Judgements : Ragged {
  // Numbers of units, of workers, and of different labels.
  int units = 0, workers = 0, labels = 0;
  // `unit` and `worker`: unit and worker of each judgement. Row j of `label` contains the labels of
  // judgement j in ascending order.
  std::vector<int> unit, worker, label;
  Ragged unit_judgements;   // judgements of each unit
  Ragged worker_positions;  // positions of each worker's judgements in `worker_judgements`
  std::vector<int> worker_judgements;  // indices of the judgements, sorted by worker

  int size() const { return static_cast<int>(unit.size()); }
  int n_labels(int j) const { return positions(j).size(); }
};

// Makes judgements from a table with one entry per label given. Numbers start at 1, and entries are
// sorted by unit, worker and label. An empty answer is one entry with label 0.
Judgements make_judgements(const int* unit, const int* worker, const int* label,
                           std::size_t entries, int units, int workers, int labels);

// Votes of all units. Row u contains the labels of unit u, in ascending order, and the number of
// workers who gave each label.
struct Votes : Ragged {
  std::vector<int> label, votes;
};
Votes count_votes(const Judgements& x);

// In the results of the following functions, undefined values are NaN.

// Returns the unit-annotation scores, one for each entry of `votes`. The score is the cosine
// between the votes of a unit and the vector of a single label.
std::vector<double> unit_annotation_scores(const Votes& votes);

// Scores of version 1, one per worker.
struct WorkerScores {
  // Mean over units of 1 - cosine between the worker's labels and the votes of the other workers.
  std::vector<double> unit_disagreement;
  std::vector<double> worker_disagreement;  // 1 - mean kappa with other workers
  // 1 - share of the worker's labels that another worker gave too, averaged over other workers.
  std::vector<double> overlap_disagreement;
  std::vector<double> annotations_per_unit;
  std::vector<int> compared;  // number of units that enter `unit_disagreement`
};
WorkerScores worker_scores(const Judgements& x, const Host& host);

// Returns the causal power of label i for label j: labels x labels, column by column. Causal power
// is (p - q) / (1 - q). Here p is the share of units with label j among the units with label i, and
// q is this share among the units without label i.
std::vector<double> annotation_similarity(const Votes& votes, int labels);

// Lower limit of denominators and of the quality of annotations, so that quotients are finite.
constexpr double quality_floor = 1e-8;

// Settings of crowd_quality().
struct QualityOptions {
  bool open = false;         // true for open tasks, in which the quality of all labels stays 1
  double tolerance = 0.001;  // the iteration ends if every quality changes by less
  int max_steps = 1000;
};

// Quality scores of version 2.0. They are NaN for units and workers without judgements. A score is
// marked as floored if its denominator was below `quality_floor` and was replaced by this limit.
// The score of a label is also marked if the score itself was below the limit.
struct Quality {
  std::vector<double> unit;             // UQS: unit quality score
  std::vector<double> worker_worker;    // WWA: worker-worker agreement
  std::vector<double> worker_unit;      // WUA: worker-unit agreement
  std::vector<double> worker;           // WQS: worker quality score, the product of WWA and WUA
  std::vector<double> annotation;       // AQS: annotation quality score, of each label
  std::vector<double> unit_annotation;  // UAS: unit-annotation score, for each entry of the votes
  std::vector<char> unit_floored, worker_floored, annotation_floored;
  // Largest change of a quality in each step of the iteration, for units, workers and annotations.
  std::vector<double> unit_change, worker_change, annotation_change;
  bool converged = false;
};

// Iterates the quality scores until they converge. The host receives the number of finished steps.
Quality crowd_quality(const Judgements& x, const QualityOptions& options, const Host& host);

}  // namespace fallible
