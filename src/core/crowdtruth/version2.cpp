#include <algorithm>
#include <cmath>

#include "../base/special.hpp"
#include "crowdtruth.hpp"

namespace fallible {

namespace {

// Quotient a / b, with b at least `quality_floor`.
double floored_ratio(double a, double b) { return a / std::max(b, quality_floor); }

// Workers who gave each label to a unit. Each entry of Votes is one label of one unit. Row v
// contains the workers who gave the label of entry v to its unit.
struct LabelGivers : Ragged {
  std::vector<int> worker;
  std::vector<int> vote;  // for each label given: its entry of Votes
};

LabelGivers find_label_givers(const Judgements& x, const Votes& votes) {
  LabelGivers givers{Ragged(votes.votes), {}, {}};
  givers.vote.resize(x.label.size());
  givers.worker.resize(x.label.size());
  std::vector<int> vote_of_label(x.labels);
  std::vector<int> next = givers.start;
  for (int u = 0; u < x.units; ++u) {
    for (const int e : votes.positions(u)) vote_of_label[votes.label[e]] = e;
    for (const int j : x.unit_judgements.positions(u)) {
      for (const int e : x.positions(j)) {
        givers.vote[e] = vote_of_label[x.label[e]];
        givers.worker[next[givers.vote[e]]++] = x.worker[j];
      }
    }
  }
  return givers;
}

// The iteration that computes the scores. All qualities start at 1. In each step, all qualities are
// computed from the qualities of the previous step.
class Iteration {
 public:
  Iteration(const Judgements& x, const QualityOptions& options)
      : x_(x), options_(options), votes_(count_votes(x)), givers_(find_label_givers(x, votes_)) {
    scores.unit.assign(x.units, 1.0);
    scores.worker.assign(x.workers, 1.0);
    scores.annotation.assign(x.labels, 1.0);
    for (int u = 0; u < x.units; ++u) {
      if (x.unit_judgements.positions(u).size() == 0) scores.unit[u] = not_a_number;
    }
    for (int i = 0; i < x.workers; ++i) {
      if (x.worker_positions.positions(i).size() == 0) scores.worker[i] = not_a_number;
    }
    scores.unit_floored.assign(x.units, false);
    scores.worker_floored.assign(x.workers, false);
    scores.annotation_floored.assign(x.labels, false);
    label_entries_.resize(x.labels);
    length_.resize(x.size());
    before_cosine_.resize(x.label.size());
    before_vote_.resize(x.label.size());
    cosine_sum_.resize(x.labels);
    vote_sum_.resize(x.labels);
    judged_weight_.resize(x.workers);
    given_weight_.resize(x.workers);
    judgement_.resize(x.label.size());
    for (const int j : x.worker_judgements) {
      for (const int e : x.positions(j)) {
        label_entries_[x.label[e]].push_back(e);
        judgement_[e] = j;
      }
    }
  }

  void step(const Host& host) {
    const std::vector<double> unit = scores.unit, worker = scores.worker,
                              annotation = scores.annotation;
    update_units_and_workers(unit, worker, annotation);
    if (!options_.open) update_annotations(unit, worker, host);
    scores.unit_change.push_back(largest_change(unit, scores.unit));
    scores.worker_change.push_back(largest_change(worker, scores.worker));
    scores.annotation_change.push_back(largest_change(annotation, scores.annotation));
    scores.converged = std::max({scores.unit_change.back(), scores.worker_change.back(),
                                 scores.annotation_change.back()}) < options_.tolerance;
  }

  // Computes the unit-annotation scores from the current worker qualities.
  void score_unit_annotations() {
    scores.unit_annotation.resize(votes_.label.size());
    for (int u = 0; u < x_.units; ++u) {
      double total = 0;
      for (const int j : x_.unit_judgements.positions(u)) {
        total += scores.worker[x_.worker[j]];
      }
      for (const int e : votes_.positions(u)) {
        double sum = 0;
        for (const int g : givers_.positions(e)) {
          sum += scores.worker[givers_.worker[g]];
        }
        scores.unit_annotation[e] = floored_ratio(sum, total);
      }
    }
  }

  Quality scores;

 private:
  const Judgements& x_;
  const QualityOptions& options_;
  const Votes votes_;
  const LabelGivers givers_;
  // For each label, its positions in `x_.label`, the list of all labels given. Sorted by worker.
  std::vector<std::vector<int>> label_entries_;
  std::vector<int> judgement_;  // judgement of each label given
  std::vector<double> length_;  // length of each answer's vector, weighted by annotation qualities.
  // `cosine_sum_`, `vote_sum_`: running sums over the workers of a unit, one per label.
  // `before_cosine_`, `before_vote_`: values of these sums before a worker was added, one for each
  // label that the worker gave to the unit.
  std::vector<double> before_cosine_, before_vote_, cosine_sum_, vote_sum_;
  std::vector<double> judged_weight_, given_weight_;

  // Computes the qualities of units and workers from the arguments, the qualities of the previous
  // step. A cosine is the product of two scaled answers. Therefore the sum of the cosines with all
  // other workers is one product: the worker's scaled answer times the sum of the other scaled
  // answers.
  void update_units_and_workers(const std::vector<double>& unit, const std::vector<double>& worker,
                                const std::vector<double>& annotation_quality) {
    for (int j = 0; j < x_.size(); ++j) {
      double squared = 0;
      for (const int entry : x_.positions(j)) squared += annotation_quality[x_.label[entry]];
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
      const int first = x_.unit_judgements.start[u], last = x_.unit_judgements.start[u + 1];
      if (first == last) continue;
      clear_sums(u);
      // The sum over other workers is the sum over earlier workers (first loop) plus the sum over
      // later workers (second loop). Subtraction from the total would lose digits.
      earlier_weight.resize(last - first);
      double weight = 0, cosine_pairs = 0, weight_pairs = 0;
      for (int j = first; j < last; ++j) {
        const double worker_quality = worker[x_.worker[j]];
        earlier_weight[j - first] = weight;
        weight_pairs += worker_quality * weight;
        weight += worker_quality;
        double dot = 0;
        for (const int entry : x_.positions(j)) {
          const int label = x_.label[entry];
          before_cosine_[entry] = cosine_sum_[label];
          before_vote_[entry] = vote_sum_[label];
          dot += annotation_quality[label] * cosine_sum_[label];
        }
        if (x_.n_labels(j) > 0) cosine_pairs += worker_quality * dot / length_[j];
        add_answer(j, worker_quality);
      }
      const std::vector<double> total = votes_of_unit(u);
      scores.unit[u] = floored_ratio(cosine_pairs, weight_pairs);
      scores.unit_floored[u] = weight_pairs < quality_floor;

      clear_sums(u);
      weight = 0;
      for (int j = last - 1; j >= first; --j) {
        const double worker_quality = worker[x_.worker[j]];
        double cosine = 0, dot = 0, squared = 0;
        int entry = x_.start[j];
        for (const int vote : votes_.positions(u)) {
          const int label = votes_.label[vote];
          const bool has_label = entry < x_.start[j + 1] && x_.label[entry] == label;
          const double other_votes =
              has_label ? before_vote_[entry] + vote_sum_[label] : total[vote - votes_.start[u]];
          squared += annotation_quality[label] * other_votes * other_votes;
          if (has_label) {
            cosine += annotation_quality[label] * (before_cosine_[entry] + cosine_sum_[label]);
            dot += annotation_quality[label] * other_votes;
            ++entry;
          }
        }
        Sums& sum = sums[x_.worker[j]];
        if (x_.n_labels(j) > 0) sum.cosine += unit[u] * cosine / length_[j];
        sum.weight += unit[u] * (earlier_weight[j - first] + weight);
        sum.with_unit += unit[u] * floored_ratio(dot, length_[j] * std::sqrt(squared));
        sum.units += unit[u];
        weight += worker_quality;
        add_answer(j, worker_quality);
      }
    }
    scores.worker_worker.assign(x_.workers, not_a_number);
    scores.worker_unit = scores.worker_worker;
    for (int i = 0; i < x_.workers; ++i) {
      if (x_.worker_positions.positions(i).size() == 0) continue;
      scores.worker_worker[i] = floored_ratio(sums[i].cosine, sums[i].weight);
      scores.worker_unit[i] = floored_ratio(sums[i].with_unit, sums[i].units);
      scores.worker[i] = scores.worker_worker[i] * scores.worker_unit[i];
      scores.worker_floored[i] = sums[i].weight < quality_floor || sums[i].units < quality_floor;
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
    std::vector<double> label_votes;
    for (const int v : votes_.positions(u)) {
      label_votes.push_back(vote_sum_[votes_.label[v]]);
    }
    return label_votes;
  }

  // Computes the annotation quality of each label a. For each pair of workers k and i, takes the
  // units to which k gave label a and which i judged. Computes the share of these units to which i
  // gave label a, too. The quality is the mean of this share over all pairs. Units are weighted by
  // their quality, pairs by the product of the workers' qualities.
  void update_annotations(const std::vector<double>& unit, const std::vector<double>& worker,
                          const Host& host) {
    std::vector<int> other_workers;
    for_each_item(x_.labels, 1, host, [&](std::size_t a) {
      double numerator = 0, denominator = 0;
      const std::vector<int>& entries = label_entries_[a];
      for (std::size_t e = 0; e < entries.size();) {
        const int k = x_.worker[judgement_[entries[e]]];
        for (; e < entries.size() && x_.worker[judgement_[entries[e]]] == k; ++e) {
          const int u = x_.unit[judgement_[entries[e]]];
          if (!(unit[u] > 0)) continue;
          for (const int j : x_.unit_judgements.positions(u)) {
            // `judged_weight_[i]`: weight of the units to which k gave label a and which i judged.
            const int i = x_.worker[j];
            if (judged_weight_[i] == 0) other_workers.push_back(i);
            judged_weight_[i] += unit[u];
          }
          // `given_weight_[i]`: weight of the units to which both k and i gave label a.
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
      const double quality = floored_ratio(numerator, denominator);
      scores.annotation[a] = std::max(quality, quality_floor);
      scores.annotation_floored[a] = denominator < quality_floor || quality < quality_floor;
    });
  }
};

}  // namespace

Quality crowd_quality(const Judgements& x, const QualityOptions& options, const Host& host) {
  Iteration iteration(x, options);
  for (int step = 0; step < options.max_steps && !iteration.scores.converged; ++step) {
    Host inner;
    inner.tick = [&](std::size_t) { return host.tick(step); };
    iteration.step(inner);
    if (!host.tick(step + 1)) throw Interrupted();
  }
  iteration.score_unit_annotations();
  return iteration.scores;
}

}  // namespace fallible
