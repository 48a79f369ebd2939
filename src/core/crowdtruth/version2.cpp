#include <algorithm>
#include <cmath>

#include "../base/special.hpp"
#include "crowdtruth.hpp"

namespace fallible {

namespace {

// Quotient a / b, with b at least `quality_floor`.
double ratio(double a, double b) { return a / std::max(b, quality_floor); }

// Workers who gave each label to a unit. Row v contains the workers of entry v of the votes, which
// is a label of a unit.
struct LabelGivers : Ragged {
  std::vector<int> worker;
  std::vector<int> vote;  // for each label given: its entry of the votes
};

LabelGivers find_label_givers(const Judgements& x, const Votes& votes) {
  LabelGivers out{Ragged(votes.votes), {}, {}};
  out.vote.resize(x.label.size());
  out.worker.resize(x.label.size());
  std::vector<int> vote_of_label(x.labels);
  std::vector<int> next = out.start;
  for (int u = 0; u < x.units; ++u) {
    for (const int e : votes.positions(u)) vote_of_label[votes.label[e]] = e;
    for (const int j : x.of_unit.positions(u)) {
      for (const int e : x.positions(j)) {
        out.vote[e] = vote_of_label[x.label[e]];
        out.worker[next[out.vote[e]]++] = x.worker[j];
      }
    }
  }
  return out;
}

// The iteration. All qualities of a step are computed from the qualities of the previous step, and
// start at 1.
class Iteration {
 public:
  Iteration(const Judgements& x, const QualityOptions& options)
      : x_(x), options_(options), votes_(count_votes(x)), givers_(find_label_givers(x, votes_)) {
    current.unit.assign(x.units, 1.0);
    current.worker.assign(x.workers, 1.0);
    current.annotation.assign(x.labels, 1.0);
    for (int u = 0; u < x.units; ++u) {
      if (x.of_unit.positions(u).size() == 0) current.unit[u] = not_a_number;
    }
    for (int i = 0; i < x.workers; ++i) {
      if (x.of_worker.positions(i).size() == 0) current.worker[i] = not_a_number;
    }
    current.unit_floored.assign(x.units, false);
    current.worker_floored.assign(x.workers, false);
    current.annotation_floored.assign(x.labels, false);
    by_label_.resize(x.labels);
    length_.resize(x.size());
    before_cosine_.resize(x.label.size());
    before_vote_.resize(x.label.size());
    cosine_sum_.resize(x.labels);
    vote_sum_.resize(x.labels);
    judged_weight_.resize(x.workers);
    given_weight_.resize(x.workers);
    judgement_.resize(x.label.size());
    for (const int j : x.worker_row) {
      for (const int e : x.positions(j)) {
        by_label_[x.label[e]].push_back(e);
        judgement_[e] = j;
      }
    }
  }

  void step(const Host& host) {
    const std::vector<double> unit = current.unit, worker = current.worker,
                              annotation = current.annotation;
    measure_units_and_workers(unit, worker, annotation);
    if (!options_.open) measure_annotations(unit, worker, host);
    current.unit_change.push_back(largest_change(unit, current.unit));
    current.worker_change.push_back(largest_change(worker, current.worker));
    current.annotation_change.push_back(largest_change(annotation, current.annotation));
    current.converged = std::max({current.unit_change.back(), current.worker_change.back(),
                                  current.annotation_change.back()}) < options_.tolerance;
  }

  // Computes the unit-annotation scores from the current worker qualities.
  void score_unit_annotations() {
    current.unit_annotation.resize(votes_.label.size());
    for (int u = 0; u < x_.units; ++u) {
      double total = 0;
      for (const int j : x_.of_unit.positions(u)) {
        total += current.worker[x_.worker[j]];
      }
      for (const int e : votes_.positions(u)) {
        double sum = 0;
        for (const int g : givers_.positions(e)) {
          sum += current.worker[givers_.worker[g]];
        }
        current.unit_annotation[e] = ratio(sum, total);
      }
    }
  }

  Quality current;

 private:
  const Judgements& x_;
  const QualityOptions& options_;
  const Votes votes_;
  const LabelGivers givers_;
  // Positions of each label in the list of labels given, sorted by worker.
  std::vector<std::vector<int>> by_label_;
  std::vector<int> judgement_;  // judgement of each label given
  std::vector<double> length_;  // length of each answer's vector, weighted by annotation qualities.
  // Running sums over the workers of a unit for each label (`cosine_sum_`, `vote_sum_`), and their
  // values before the worker of each label given (`before_cosine_`, `before_vote_`).
  std::vector<double> before_cosine_, before_vote_, cosine_sum_, vote_sum_;
  std::vector<double> judged_weight_, given_weight_;

  // `q`: quality of each annotation. A cosine is the product of two vectors of length 1. Therefore
  // sums of cosines over pairs of workers are products with a sum over workers, which saves a loop.
  // A sum over all other workers is computed as the sum over the workers before plus the sum over
  // the workers after. Subtracting the worker from the total would lose digits.
  void measure_units_and_workers(const std::vector<double>& unit, const std::vector<double>& worker,
                                 const std::vector<double>& q) {
    for (int j = 0; j < x_.size(); ++j) {
      double squared = 0;
      for (const int e : x_.positions(j)) squared += q[x_.label[e]];
      length_[j] = std::sqrt(squared);
    }
    // Sums for one worker, weighted by unit qualities: numerator and denominator of the
    // worker-worker agreement (`cosine`, `weight`) and of the worker-unit agreement (`with_unit`,
    // `units`).
    struct Sums {
      double cosine = 0, weight = 0, with_unit = 0, units = 0;
    };
    std::vector<Sums> sums(x_.workers);
    std::vector<double> earlier_weight;
    for (int u = 0; u < x_.units; ++u) {
      const int first = x_.of_unit.start[u], last = x_.of_unit.start[u + 1];
      if (first == last) continue;
      clear_sums(u);
      earlier_weight.resize(last - first);
      double weight = 0, cosine_pairs = 0, weight_pairs = 0;
      for (int j = first; j < last; ++j) {
        const double worker_quality = worker[x_.worker[j]];
        earlier_weight[j - first] = weight;
        weight_pairs += worker_quality * weight;
        weight += worker_quality;
        double dot = 0;
        for (const int e : x_.positions(j)) {
          const int a = x_.label[e];
          before_cosine_[e] = cosine_sum_[a];
          before_vote_[e] = vote_sum_[a];
          dot += q[a] * cosine_sum_[a];
        }
        if (x_.answers(j) > 0) cosine_pairs += worker_quality * dot / length_[j];
        add_answer(j, worker_quality);
      }
      const std::vector<double> total = votes_of_unit(u);
      current.unit[u] = ratio(cosine_pairs, weight_pairs);
      current.unit_floored[u] = weight_pairs < quality_floor;

      clear_sums(u);
      weight = 0;
      for (int j = last - 1; j >= first; --j) {
        const double worker_quality = worker[x_.worker[j]];
        double cosine = 0, dot = 0, squared = 0;
        int e = x_.start[j];
        for (const int v : votes_.positions(u)) {
          const int a = votes_.label[v];
          const bool has_label = e < x_.start[j + 1] && x_.label[e] == a;
          const double other_votes =
              has_label ? before_vote_[e] + vote_sum_[a] : total[v - votes_.start[u]];
          squared += q[a] * other_votes * other_votes;
          if (has_label) {
            cosine += q[a] * (before_cosine_[e] + cosine_sum_[a]);
            dot += q[a] * other_votes;
            ++e;
          }
        }
        Sums& sum = sums[x_.worker[j]];
        if (x_.answers(j) > 0) sum.cosine += unit[u] * cosine / length_[j];
        sum.weight += unit[u] * (earlier_weight[j - first] + weight);
        sum.with_unit += unit[u] * ratio(dot, length_[j] * std::sqrt(squared));
        sum.units += unit[u];
        weight += worker_quality;
        add_answer(j, worker_quality);
      }
    }
    current.worker_worker.assign(x_.workers, not_a_number);
    current.worker_unit = current.worker_worker;
    for (int i = 0; i < x_.workers; ++i) {
      if (x_.of_worker.positions(i).size() == 0) continue;
      current.worker_worker[i] = ratio(sums[i].cosine, sums[i].weight);
      current.worker_unit[i] = ratio(sums[i].with_unit, sums[i].units);
      current.worker[i] = current.worker_worker[i] * current.worker_unit[i];
      current.worker_floored[i] = sums[i].weight < quality_floor || sums[i].units < quality_floor;
    }
  }

  // Sets the running sums of all labels of a unit to zero.
  void clear_sums(int u) {
    for (const int v : votes_.positions(u)) {
      cosine_sum_[votes_.label[v]] = vote_sum_[votes_.label[v]] = 0;
    }
  }

  // Adds judgement j with this weight to the running sums.
  void add_answer(int j, double weight) {
    for (const int e : x_.positions(j)) {
      cosine_sum_[x_.label[e]] += weight / length_[j];
      vote_sum_[x_.label[e]] += weight;
    }
  }

  // Weighted votes of each label of a unit, from the running sums.
  std::vector<double> votes_of_unit(int u) const {
    std::vector<double> out;
    for (const int v : votes_.positions(u)) {
      out.push_back(vote_sum_[votes_.label[v]]);
    }
    return out;
  }

  // Annotation quality of label a. For each worker k who gave the label: among the units with label
  // a from k, weighted by quality, the share in which each other worker i gave the label, too. This
  // share is averaged over pairs of workers, weighted by worker qualities. `judged_weight_`: weight
  // of the units that i judged, `given_weight_`: weight of those with label a from i.
  void measure_annotations(const std::vector<double>& unit, const std::vector<double>& worker,
                           const Host& host) {
    std::vector<int> other_workers;
    for_each_item(x_.labels, 1, host, [&](std::size_t a) {
      double numerator = 0, denominator = 0;
      const std::vector<int>& entries = by_label_[a];
      for (std::size_t e = 0; e < entries.size();) {
        const int k = x_.worker[judgement_[entries[e]]];
        for (; e < entries.size() && x_.worker[judgement_[entries[e]]] == k; ++e) {
          const int u = x_.unit[judgement_[entries[e]]];
          if (!(unit[u] > 0)) continue;
          for (const int j : x_.of_unit.positions(u)) {
            const int i = x_.worker[j];
            if (judged_weight_[i] == 0) other_workers.push_back(i);
            judged_weight_[i] += unit[u];
          }
          const int vote = givers_.vote[entries[e]];
          for (const int g : givers_.positions(vote)) {
            given_weight_[givers_.worker[g]] += unit[u];
          }
        }
        for (const int i : other_workers) {
          if (i != k) {
            const double pair_weight = worker[i] * worker[k];
            numerator += pair_weight * given_weight_[i] / judged_weight_[i];
            denominator += pair_weight;
          }
          judged_weight_[i] = given_weight_[i] = 0;
        }
        other_workers.clear();
      }
      const double quality = ratio(numerator, denominator);
      current.annotation[a] = std::max(quality, quality_floor);
      current.annotation_floored[a] = denominator < quality_floor || quality < quality_floor;
    });
  }
};

}  // namespace

Quality crowd_quality(const Judgements& x, const QualityOptions& options, const Host& host) {
  Iteration iteration(x, options);
  for (int step = 0; step < options.max_steps && !iteration.current.converged; ++step) {
    Host inner;
    inner.tick = [&](std::size_t) { return host.tick(step); };
    iteration.step(inner);
    if (!host.tick(step + 1)) throw Interrupted();
  }
  iteration.score_unit_annotations();
  return iteration.current;
}

}  // namespace fallible
