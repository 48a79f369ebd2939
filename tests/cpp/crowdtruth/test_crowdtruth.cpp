#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "core/crowdtruth/crowdtruth.hpp"
#include "judgements.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

double cosine(const Judgements& x, int a, int b, const std::vector<double>& q) {
  double dot = 0, first = 0, second = 0;
  for (int i = x.start[a]; i < x.start[a + 1]; ++i) {
    first += q[x.label[i]];
    for (int j = x.start[b]; j < x.start[b + 1]; ++j) {
      if (x.label[i] == x.label[j]) dot += q[x.label[i]];
    }
  }
  for (int j = x.start[b]; j < x.start[b + 1]; ++j) second += q[x.label[j]];
  return dot / std::max(std::sqrt(first * second), quality_floor);
}

}  // namespace

TEST_CASE("judgements are stored by unit and by worker") {
  Rows rows;
  rows.add(1, 1, 1);
  rows.add(1, 1, 3);
  rows.add(1, 2, 0);
  rows.add(3, 1, 2);
  const Judgements x = rows.judgements(3, 2, 3);
  CHECK(x.size() == 3);
  CHECK(x.n_labels(0) == 2);
  CHECK(x.n_labels(1) == 0);
  CHECK(x.unit_judgements.start == std::vector<int>{0, 2, 2, 3});
  CHECK(x.worker_positions.start == std::vector<int>{0, 2, 3});
  CHECK(x.worker_judgements == std::vector<int>{0, 2, 1});
  const Votes votes = count_votes(x);
  CHECK(votes.start == std::vector<int>{0, 2, 2, 3});
  CHECK(votes.label == std::vector<int>{0, 2, 1});
  CHECK(votes.votes == std::vector<int>{1, 1, 1});
}

TEST_CASE("rows out of order or out of range are refused") {
  const auto refuse = [](std::vector<int> unit, std::vector<int> worker, std::vector<int> label) {
    return make_judgements(unit.data(), worker.data(), label.data(), unit.size(), 2, 2, 2);
  };
  CHECK_THROWS_AS(refuse({2, 1}, {1, 1}, {1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(refuse({1, 1}, {2, 1}, {1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(refuse({1, 1}, {1, 1}, {1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(refuse({1, 1}, {1, 1}, {0, 1}), std::invalid_argument);
  CHECK_THROWS_AS(refuse({3}, {1}, {1}), std::out_of_range);
  CHECK_THROWS_AS(refuse({0}, {1}, {1}), std::out_of_range);
  CHECK_THROWS_AS(refuse({1}, {0}, {1}), std::out_of_range);
  CHECK_THROWS_AS(refuse({1}, {1}, {-1}), std::out_of_range);
  CHECK_THROWS_AS(refuse({1}, {3}, {1}), std::out_of_range);
  CHECK_THROWS_AS(refuse({1}, {1}, {3}), std::out_of_range);
}

TEST_CASE("without judgements all measures are empty") {
  const Judgements x = Rows().judgements(2, 2, 2);
  CHECK(x.size() == 0);
  CHECK(unit_annotation_scores(count_votes(x)).empty());
  const WorkerScores workers = worker_scores(x, Host());
  CHECK(std::isnan(workers.unit_disagreement[0]));
  CHECK(std::isnan(workers.annotations_per_unit[1]));
  const Quality quality = crowd_quality(x, QualityOptions(), Host());
  CHECK(std::isnan(quality.unit[0]));
  CHECK(std::isnan(quality.worker[1]));
  CHECK(quality.annotation[0] == quality_floor);
}

TEST_CASE("a worker's votes are subtracted from those of the unit") {
  Rows rows;  // eleven votes for label 1, one for label 2
  for (int i = 1; i <= 11; ++i) rows.add(1, i, 1);
  rows.add(1, 12, 2);
  const Judgements x = rows.judgements(1, 12, 2);
  const auto scores = unit_annotation_scores(count_votes(x));
  CHECK(scores[0] == Approx(11 / std::sqrt(122.0)));
  const WorkerScores workers = worker_scores(x, Host());
  CHECK(workers.unit_disagreement[0] == Approx(1 - 10 / std::sqrt(101.0)));
  CHECK(workers.unit_disagreement[11] == 1);
}

TEST_CASE("causal power is undefined if an annotation is on all units or on no unit") {
  Rows rows;
  rows.add(1, 1, 1);
  rows.add(1, 1, 2);
  rows.add(2, 1, 1);
  const auto similarity = annotation_similarity(count_votes(rows.judgements(2, 1, 3)), 3);
  CHECK(std::isnan(similarity[0]));          // similarity of a label with itself
  CHECK(std::isnan(similarity[1 * 3 + 0]));  // label 1 is on every unit
  CHECK(std::isnan(similarity[0 * 3 + 1]));  // label 1 is on all units without label 2
  CHECK(similarity[2 * 3 + 1] == 0);
  CHECK(std::isnan(similarity[0 * 3 + 2]));
}

TEST_CASE("a step of version 2.0 equals sums over pairs of workers") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Judgements x = random_rows(6, 7, 4, seed).judgements(6, 7, 4);
    QualityOptions options;
    options.max_steps = 2;
    const Quality before = crowd_quality(x, options, Host());
    options.max_steps = 3;
    const Quality after = crowd_quality(x, options, Host());
    if (before.converged) continue;
    for (int u = 0; u < x.units; ++u) {
      double above = 0, below = 0;
      for (int a = x.unit_judgements.start[u]; a < x.unit_judgements.start[u + 1]; ++a) {
        for (int b = a + 1; b < x.unit_judgements.start[u + 1]; ++b) {
          const double both = before.worker[x.worker[a]] * before.worker[x.worker[b]];
          above += both * cosine(x, a, b, before.annotation);
          below += both;
        }
      }
      if (x.unit_judgements.positions(u).size() > 0) {
        CHECK(after.unit[u] == Approx(above / std::max(below, quality_floor)).epsilon(1e-12));
      }
    }
    for (int i = 0; i < x.workers; ++i) {
      double above = 0, below = 0;
      for (const int r : x.worker_positions.positions(i)) {
        const int judgement = x.worker_judgements[r], u = x.unit[judgement];
        for (const int other_judgement : x.unit_judgements.positions(u)) {
          if (other_judgement == judgement) continue;
          const double weight = before.worker[x.worker[other_judgement]] * before.unit[u];
          above += weight * cosine(x, judgement, other_judgement, before.annotation);
          below += weight;
        }
      }
      if (x.worker_positions.positions(i).size() > 0) {
        CHECK(after.worker_worker[i] ==
              Approx(above / std::max(below, quality_floor)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("scores stay between 0 and 1, and the change falls below the tolerance") {
  const Judgements x = random_rows(30, 20, 5, 99).judgements(30, 20, 5);
  QualityOptions options;
  options.tolerance = 1e-10;
  const Quality quality = crowd_quality(x, options, Host());
  CHECK(quality.converged);
  CHECK(quality.unit_change.back() < 1e-10);
  CHECK(quality.worker_change.size() == quality.unit_change.size());
  for (const auto* scores : {&quality.unit, &quality.worker, &quality.worker_worker,
                             &quality.worker_unit, &quality.annotation, &quality.unit_annotation}) {
    for (const double score : *scores) {
      CHECK(score >= 0);
      CHECK(score <= 1 + 1e-12);
    }
  }
}

TEST_CASE("open tasks leave the quality of annotations at one") {
  const Judgements x = random_rows(10, 8, 4, 3).judgements(10, 8, 4);
  QualityOptions options;
  options.open = true;
  CHECK(crowd_quality(x, options, Host()).annotation == std::vector<double>(4, 1.0));
}

TEST_CASE("a host can stop the computation") {
  const Judgements x = random_rows(10, 8, 4, 3).judgements(10, 8, 4);
  Host host;
  std::size_t progress = 0;
  host.tick = [&progress](std::size_t done) { return (progress = done) < 2; };
  CHECK_THROWS_AS(crowd_quality(x, QualityOptions(), host), Interrupted);
  CHECK(progress == 2);
}

TEST_CASE("the number of steps does not exceed its limit") {
  const Judgements x = random_rows(10, 8, 4, 3).judgements(10, 8, 4);
  QualityOptions options;
  options.tolerance = 0;
  const auto steps = [&](int most) {
    options.max_steps = most;
    return crowd_quality(x, options, Host()).unit_change.size();
  };
  CHECK(steps(0) == 0);
  CHECK(steps(3) == 3);
}
