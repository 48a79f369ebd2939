#include "crowdtruth.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "../base/matrix.hpp"
#include "../base/special.hpp"

namespace fallible {

Judgements make_judgements(const int* unit, const int* worker, const int* label,
                           std::size_t entries, int units, int workers, int labels) {
  if (entries >= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::length_error("judgements contain more than 2147483646 labels; use fewer units");
  }
  Judgements judgements;
  judgements.units = units;
  judgements.workers = workers;
  judgements.labels = labels;
  std::vector<int> unit_counts(units), worker_counts(workers);
  for (std::size_t e = 0; e < entries; ++e) {
    const int u = unit[e] - 1, i = worker[e] - 1;
    if (u < 0 || u >= units || i < 0 || i >= workers || label[e] < 0 || label[e] > labels) {
      throw std::out_of_range("the number of a unit, a worker or a label does not exist");
    }
    const bool is_same = e > 0 && unit[e] == unit[e - 1] && worker[e] == worker[e - 1];
    const bool is_sorted =
        e == 0 || unit[e] > unit[e - 1] ||
        (unit[e] == unit[e - 1] && (is_same ? label[e] > label[e - 1] : worker[e] > worker[e - 1]));
    if (!is_sorted || (is_same && label[e - 1] == 0)) {
      throw std::invalid_argument(
          "judgements are not sorted by unit, worker and label, or are repeated");
    }
    if (!is_same) {
      if (e > 0) judgements.end_row(judgements.label.size());
      judgements.unit.push_back(u);
      judgements.worker.push_back(i);
      ++unit_counts[u];
      ++worker_counts[i];
    }
    if (label[e] > 0) judgements.label.push_back(label[e] - 1);
  }
  if (entries > 0) judgements.end_row(judgements.label.size());
  judgements.unit_judgements = Ragged(unit_counts);
  judgements.worker_positions = Ragged(worker_counts);
  std::vector<int> next = judgements.worker_positions.start;
  judgements.worker_judgements.resize(judgements.unit.size());
  for (int j = 0; j < judgements.size(); ++j)
    judgements.worker_judgements[next[judgements.worker[j]]++] = j;
  return judgements;
}

Votes count_votes(const Judgements& x) {
  Votes unit_votes;
  std::vector<int> votes(x.labels);
  for (int u = 0; u < x.units; ++u) {
    const std::size_t first_entry = unit_votes.label.size();
    for (const int j : x.unit_judgements.positions(u)) {
      for (const int e : x.positions(j)) {
        if (votes[x.label[e]]++ == 0) unit_votes.label.push_back(x.label[e]);
      }
    }
    std::sort(unit_votes.label.begin() + first_entry, unit_votes.label.end());
    for (std::size_t e = first_entry; e < unit_votes.label.size(); ++e) {
      unit_votes.votes.push_back(votes[unit_votes.label[e]]);
      votes[unit_votes.label[e]] = 0;
    }
    unit_votes.end_row(unit_votes.label.size());
  }
  return unit_votes;
}

namespace {

// Returns the squared length of the vote vector of each unit: the sum of the squared numbers of
// votes.
std::vector<std::int64_t> squared_lengths(const Votes& votes) {
  std::vector<std::int64_t> squared_length(votes.rows());
  for (int u = 0; u < votes.rows(); ++u) {
    for (const int e : votes.positions(u)) {
      squared_length[u] += static_cast<std::int64_t>(votes.votes[e]) * votes.votes[e];
    }
  }
  return squared_length;
}

}  // namespace

std::vector<double> unit_annotation_scores(const Votes& votes) {
  const auto squared_length = squared_lengths(votes);
  std::vector<double> score(votes.label.size());
  for (int u = 0; u < votes.rows(); ++u) {
    const double length = std::sqrt(static_cast<double>(squared_length[u]));
    for (const int e : votes.positions(u)) score[e] = votes.votes[e] / length;
  }
  return score;
}

namespace {

// Number of labels that judgements a and b have in common. Labels are sorted.
int count_shared_labels(const Judgements& x, int a, int b) {
  int n_shared = 0;
  int i = x.start[a], j = x.start[b];
  while (i < x.start[a + 1] && j < x.start[b + 1]) {
    if (x.label[i] == x.label[j]) {
      ++n_shared, ++i, ++j;
    } else if (x.label[i] < x.label[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return n_shared;
}

// Sums over the units that two workers both judged.
struct CommonUnits {
  double units = 0;              // number of these units
  double first = 0, second = 0;  // number of labels that the first and the second worker gave
  double shared = 0;             // number of labels that both workers gave to the same unit
};

// Cohen's kappa of two workers. Each combination of a label and a unit that both workers judged is
// a case. The worker's rating of the case is "yes" if the worker gave the label to the unit,
// otherwise "no".
double cell_kappa(const CommonUnits& pair, int labels) {
  const double cells = pair.units * labels;
  const double first_share = pair.first / cells, second_share = pair.second / cells;
  const double observed = (cells - pair.first - pair.second + 2 * pair.shared) / cells;
  const double expected = first_share * second_share + (1 - first_share) * (1 - second_share);
  const bool is_constant =
      (pair.first == 0 && pair.second == 0) || (pair.first == cells && pair.second == cells);
  return is_constant ? not_a_number : (observed - expected) / (1 - expected);
}

// Weighted mean of numbers; ignores NaN.
class Mean {
 public:
  void add(double x, double weight = 1) {
    if (std::isnan(x)) return;
    sum_ += weight * x;
    weight_ += weight;
  }
  double value() const { return weight_ > 0 ? sum_ / weight_ : not_a_number; }

 private:
  double sum_ = 0, weight_ = 0;
};

}  // namespace

WorkerScores worker_scores(const Judgements& x, const Host& host) {
  const Votes votes = count_votes(x);
  const auto squared_length = squared_lengths(votes);
  // For each judgement: 1 - cosine between its labels and the votes of the other workers on the
  // unit. Votes are integers, so the worker's votes can be subtracted without rounding error.
  std::vector<int> label_votes(x.labels);
  std::vector<double> distance(x.size(), not_a_number);
  for (int u = 0; u < x.units; ++u) {
    for (const int e : votes.positions(u)) {
      label_votes[votes.label[e]] = votes.votes[e];
    }
    for (const int j : x.unit_judgements.positions(u)) {
      std::int64_t others_squared = squared_length[u], dot = 0;
      for (const int e : x.positions(j)) {
        const std::int64_t v = label_votes[x.label[e]];
        others_squared -= 2 * v - 1;
        dot += v - 1;
      }
      const double length = std::sqrt(static_cast<double>(others_squared) * x.n_labels(j));
      if (length > 0) distance[j] = 1 - static_cast<double>(dot) / length;
    }
  }

  WorkerScores scores;
  const std::size_t n = x.workers;
  scores.unit_disagreement.resize(n);
  scores.worker_disagreement.resize(n);
  scores.overlap_disagreement.resize(n);
  scores.annotations_per_unit.resize(n);
  scores.compared.assign(n, 0);
  std::vector<CommonUnits> common_units(n);
  std::vector<int> compared_workers;
  for_each_item(n, 1, host, [&](std::size_t item) {
    const int i = static_cast<int>(item);
    Mean disagreement, kappa, overlap, annotations;
    for (const int r : x.worker_positions.positions(i)) {
      const int judgement = x.worker_judgements[r], u = x.unit[judgement];
      disagreement.add(distance[judgement]);
      annotations.add(x.n_labels(judgement));
      scores.compared[i] += !std::isnan(distance[judgement]);
      for (const int other_judgement : x.unit_judgements.positions(u)) {
        if (other_judgement == judgement) continue;
        CommonUnits& pair = common_units[x.worker[other_judgement]];
        if (pair.units++ == 0) compared_workers.push_back(x.worker[other_judgement]);
        pair.first += x.n_labels(judgement);
        pair.second += x.n_labels(other_judgement);
        pair.shared += count_shared_labels(x, judgement, other_judgement);
      }
    }
    for (const int k : compared_workers) {
      CommonUnits& pair = common_units[k];
      kappa.add(cell_kappa(pair, x.labels), pair.units);
      overlap.add(pair.first > 0 ? pair.shared / pair.first : not_a_number, pair.units);
      pair = CommonUnits();
    }
    compared_workers.clear();
    scores.unit_disagreement[i] = disagreement.value();
    scores.worker_disagreement[i] = 1 - kappa.value();
    scores.overlap_disagreement[i] = 1 - overlap.value();
    scores.annotations_per_unit[i] = annotations.value();
  });
  return scores;
}

std::vector<double> annotation_similarity(const Votes& votes, int labels) {
  const double units = votes.rows();
  // `joint_units`: number of units that have both labels of a pair, labels x labels. The diagonal
  // contains the number of units with each label.
  Table<double> joint_units(labels, labels), similarity(labels, labels, not_a_number);
  for (int u = 0; u < votes.rows(); ++u) {
    for (const int a : votes.positions(u)) {
      for (const int b : votes.positions(u)) {
        ++joint_units[votes.label[b]][votes.label[a]];
      }
    }
  }
  for (int i = 0; i < labels; ++i) {
    const double with_label = joint_units[i][i], without_label = units - with_label;
    for (int j = 0; j < labels; ++j) {
      const double only_other = joint_units[j][j] - joint_units[j][i];
      if (i == j || with_label == 0 || without_label == 0 || only_other == without_label) continue;
      const double p = joint_units[j][i] / with_label, q = only_other / without_label;
      similarity[j][i] = (p - q) / (1 - q);
    }
  }
  return std::move(similarity.values());
}

}  // namespace fallible
