// CrowdTruth, as first published: units, workers and annotations measured by the disagreement
// between answers of several labels. The later version is in crowdtruth2.hpp.
#ifndef FALLIBLE_CORE_CROWDTRUTH_HPP
#define FALLIBLE_CORE_CROWDTRUTH_HPP

#include <cstddef>
#include <vector>

#include "host.hpp"

namespace fallible {

// Answers as compressed rows: judgement j is of unit[j] by worker[j] and holds the labels
// label[start[j]] ... label[start[j + 1] - 1], ascending; none where the answer is empty.
// Everything is numbered from 0. Judgements stand unit by unit.
struct Judgements {
  int units = 0;
  int workers = 0;
  int labels = 0;
  std::vector<int> unit, worker;
  std::vector<int> start{0}, label;
  std::vector<int> unit_start;    // judgements of unit u begin at unit_start[u]
  std::vector<int> worker_start;  // those of worker i are worker_row[worker_start[i]] ...
  std::vector<int> worker_row;

  int size() const { return static_cast<int>(unit.size()); }
  int answers(int j) const { return start[j + 1] - start[j]; }
  int unit_size(int u) const { return unit_start[u + 1] - unit_start[u]; }
  int worker_size(int i) const { return worker_start[i + 1] - worker_start[i]; }
};

// From one entry per label given, all numbered from 1 and sorted by unit, worker and label; an
// empty answer is one entry with label 0.
Judgements make_judgements(const int* unit, const int* worker, const int* label,
                           std::size_t entries, int units, int workers, int labels);

// The labels of each unit, ascending, with the number of workers who gave them.
struct Votes {
  std::vector<int> start{0};  // labels of unit u are entries start[u] ... start[u + 1] - 1
  std::vector<int> label, votes;
};
Votes count_votes(const Judgements& x);

// What follows is NaN where it is undefined.

// Cosine between a unit's votes and each label, for each entry of the votes.
std::vector<double> unit_annotation_scores(const Votes& votes);

struct WorkerScores {
  std::vector<double> unit_disagreement;     // mean 1 - cosine with the votes of the others
  std::vector<double> worker_disagreement;   // 1 - mean kappa with the others
  std::vector<double> overlap_disagreement;  // 1 - mean share of own labels that others gave too
  std::vector<double> annotations_per_unit;
  std::vector<int> compared;  // units on which the first is defined
};
WorkerScores worker_scores(const Judgements& x, const Host& host);

// Causal power of annotation i for annotation j over the units, labels x labels by columns.
std::vector<double> annotation_similarity(const Votes& votes, int labels);

}  // namespace fallible

#endif
