// All scores of CrowdTruth against their definitions, computed with plain loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

#include "core/base/special.hpp"
#include "core/crowdtruth/crowdtruth.hpp"
#include "judgements.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// labels[u][i]: labels that worker i gave to unit u. judged[u][i]: true if worker i judged unit u.
struct Table {
  std::vector<std::vector<std::set<int>>> labels;
  std::vector<std::vector<bool>> judged;
  int units, workers, n_labels;

  Table(const Rows& rows, int units_, int workers_, int n)
      : labels(units_, std::vector<std::set<int>>(workers_)),
        judged(units_, std::vector<bool>(workers_)),
        units(units_),
        workers(workers_),
        n_labels(n) {
    for (std::size_t e = 0; e < rows.unit.size(); ++e) {
      judged[rows.unit[e] - 1][rows.worker[e] - 1] = true;
      if (rows.label[e] > 0) labels[rows.unit[e] - 1][rows.worker[e] - 1].insert(rows.label[e] - 1);
    }
  }

  bool gave(int u, int i, int a) const { return labels[u][i].count(a) > 0; }

  int votes(int u, int a) const {
    int out = 0;
    for (int i = 0; i < workers; ++i) out += gave(u, i, a);
    return out;
  }
};

void check_equal(double found, double expected) {
  if (std::isnan(expected)) {
    CHECK(std::isnan(found));
  } else {
    CHECK(found == Approx(expected).epsilon(1e-11).scale(1e-3));
  }
}

// Weighted mean of the values that are not NaN.
struct WeightedMean {
  double sum = 0, weight = 0;
  void add(double x, double w) {
    if (std::isnan(x)) return;
    sum += w * x;
    weight += w;
  }
  double value() const { return weight > 0 ? sum / weight : not_a_number; }
};

double floored_ratio(double above, double below) { return above / std::max(below, quality_floor); }

// The qualities after one step of version 2.0, from the qualities `q` before it.
struct Step {
  std::vector<double> unit, worker_worker, worker_unit, worker, annotation;
  std::vector<char> unit_floored, worker_floored, annotation_floored;

  Step(const Table& t, const Quality& q) {
    for (int u = 0; u < t.units; ++u) step_unit(t, q, u);
    for (int i = 0; i < t.workers; ++i) step_worker(t, q, i);
    for (int a = 0; a < t.n_labels; ++a) step_annotation(t, q, a);
  }

 private:
  static double cosine(const Table& t, const Quality& q, int u, int i, int k) {
    double dot = 0, first = 0, second = 0;
    for (int a = 0; a < t.n_labels; ++a) {
      dot += q.annotation[a] * t.gave(u, i, a) * t.gave(u, k, a);
      first += q.annotation[a] * t.gave(u, i, a);
      second += q.annotation[a] * t.gave(u, k, a);
    }
    return dot > 0 ? dot / std::sqrt(first * second) : 0;
  }

  void step_unit(const Table& t, const Quality& q, int u) {
    double above = 0, below = 0;
    bool any = false;
    for (int i = 0; i < t.workers; ++i) {
      any = any || t.judged[u][i];
      for (int k = i + 1; k < t.workers; ++k) {
        if (!t.judged[u][i] || !t.judged[u][k]) continue;
        above += q.worker[i] * q.worker[k] * cosine(t, q, u, i, k);
        below += q.worker[i] * q.worker[k];
      }
    }
    unit.push_back(any ? floored_ratio(above, below) : not_a_number);
    unit_floored.push_back(any && below < quality_floor);
  }

  void step_worker(const Table& t, const Quality& q, int i) {
    double above = 0, below = 0, with_unit = 0, units = 0;
    bool any = false;
    for (int u = 0; u < t.units; ++u) {
      if (!t.judged[u][i]) continue;
      any = true;
      double dot = 0, squared = 0, own = 0;
      for (int a = 0; a < t.n_labels; ++a) {
        double rest = 0;
        for (int k = 0; k < t.workers; ++k) {
          if (k != i && t.gave(u, k, a)) rest += q.worker[k];
        }
        squared += q.annotation[a] * rest * rest;
        if (t.gave(u, i, a)) {
          dot += q.annotation[a] * rest;
          own += q.annotation[a];
        }
      }
      with_unit += q.unit[u] * floored_ratio(dot, std::sqrt(own * squared));
      units += q.unit[u];
      for (int k = 0; k < t.workers; ++k) {
        if (k == i || !t.judged[u][k]) continue;
        above += q.unit[u] * q.worker[k] * cosine(t, q, u, i, k);
        below += q.unit[u] * q.worker[k];
      }
    }
    worker_worker.push_back(any ? floored_ratio(above, below) : not_a_number);
    worker_unit.push_back(any ? floored_ratio(with_unit, units) : not_a_number);
    worker.push_back(worker_worker.back() * worker_unit.back());
    worker_floored.push_back(any && (below < quality_floor || units < quality_floor));
  }

  void step_annotation(const Table& t, const Quality& q, int a) {
    double above = 0, below = 0;
    for (int k = 0; k < t.workers; ++k) {
      for (int i = 0; i < t.workers; ++i) {
        double judged = 0, given = 0;
        for (int u = 0; u < t.units; ++u) {
          if (i == k || !t.gave(u, k, a) || !t.judged[u][i]) continue;
          judged += q.unit[u];
          if (t.gave(u, i, a)) given += q.unit[u];
        }
        if (judged == 0) continue;
        above += q.worker[i] * q.worker[k] * given / judged;
        below += q.worker[i] * q.worker[k];
      }
    }
    const double quality = floored_ratio(above, below);
    annotation.push_back(std::max(quality, quality_floor));
    annotation_floored.push_back(below < quality_floor || quality < quality_floor);
  }
};

void check_all(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) check_equal(found[i], expected[i]);
}

double change(const std::vector<double>& a, const std::vector<double>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isnan(a[i] - b[i])) out = std::max(out, std::fabs(a[i] - b[i]));
  }
  return out;
}

// Kappa of two workers by its definition: a table of all cells, which are pairs of a unit that both
// judged and a label.
double kappa(const Table& t, int i, int k, double& common) {
  double both = 0, first = 0, second = 0, none = 0;
  common = 0;
  for (int u = 0; u < t.units; ++u) {
    if (!t.judged[u][i] || !t.judged[u][k]) continue;
    ++common;
    for (int a = 0; a < t.n_labels; ++a) {
      const bool x = t.gave(u, i, a), y = t.gave(u, k, a);
      both += x && y;
      first += x && !y;
      second += !x && y;
      none += !x && !y;
    }
  }
  const double n = both + first + second + none;
  if (none == n || both == n) return not_a_number;
  const double p = (both + first) / n, q = (both + second) / n;
  const double chance = p * q + (1 - p) * (1 - q);
  return ((both + none) / n - chance) / (1 - chance);
}

struct Setting {
  int units, workers, labels;
  double judged;
};
const Setting settings[] = {
    {6, 7, 4, 0.5}, {9, 5, 3, 0.3}, {11, 4, 2, 0.6}, {5, 6, 1, 0.7}, {3, 9, 5, 0.2}};

}  // namespace

TEST_CASE("all scores of version 1 equal their definitions") {
  for (const Setting& s : settings) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Rows rows = random_rows(s.units, s.workers, s.labels, seed, s.judged);
      const Table t(rows, s.units, s.workers, s.labels);
      const Judgements x = rows.judgements(s.units, s.workers, s.labels);
      const Votes votes = count_votes(x);
      const auto scores = unit_annotation_scores(votes);
      std::size_t at = 0;
      for (int u = 0; u < t.units; ++u) {
        double squares = 0;
        for (int a = 0; a < t.n_labels; ++a) squares += t.votes(u, a) * t.votes(u, a);
        for (int a = 0; a < t.n_labels; ++a) {
          if (t.votes(u, a) == 0) continue;
          REQUIRE(at < scores.size());
          CHECK(votes.label[at] == a);
          CHECK(votes.votes[at] == t.votes(u, a));
          check_equal(scores[at++], t.votes(u, a) / std::sqrt(squares));
        }
        CHECK(votes.start[u + 1] == static_cast<int>(at));
      }
      const WorkerScores found = worker_scores(x, Host());
      for (int i = 0; i < t.workers; ++i) {
        WeightedMean disagreement, agreement, overlap, annotations;
        int compared = 0;
        for (int u = 0; u < t.units; ++u) {
          if (!t.judged[u][i]) continue;
          double dot = 0, squares = 0;
          for (int a = 0; a < t.n_labels; ++a) {
            const double rest = t.votes(u, a) - t.gave(u, i, a);
            dot += t.gave(u, i, a) * rest;
            squares += rest * rest;
          }
          const double answers = static_cast<double>(t.labels[u][i].size());
          annotations.add(answers, 1);
          if (squares * answers == 0) continue;
          ++compared;
          disagreement.add(1 - dot / std::sqrt(squares * answers), 1);
        }
        for (int k = 0; k < t.workers; ++k) {
          if (k == i) continue;
          double common = 0, mine = 0, shared = 0;
          const double of_pair = kappa(t, i, k, common);
          agreement.add(of_pair, common);
          for (int u = 0; u < t.units; ++u) {
            if (!t.judged[u][i] || !t.judged[u][k]) continue;
            mine += static_cast<double>(t.labels[u][i].size());
            for (const int a : t.labels[u][i]) shared += t.gave(u, k, a);
          }
          overlap.add(mine > 0 ? shared / mine : not_a_number, common);
        }
        CHECK(found.compared[i] == compared);
        check_equal(found.unit_disagreement[i], disagreement.value());
        check_equal(found.worker_disagreement[i], 1 - agreement.value());
        check_equal(found.overlap_disagreement[i], 1 - overlap.value());
        check_equal(found.annotations_per_unit[i], annotations.value());
      }
    }
  }
}

TEST_CASE("causal power equals the formula with shares of units that have both labels") {
  for (const Setting& s : settings) {
    for (std::uint64_t seed = 21; seed <= 30; ++seed) {
      const Rows rows = random_rows(s.units, s.workers, s.labels, seed, s.judged);
      const Table t(rows, s.units, s.workers, s.labels);
      const auto found = annotation_similarity(
          count_votes(rows.judgements(s.units, s.workers, s.labels)), s.labels);
      REQUIRE(found.size() == static_cast<std::size_t>(s.labels * s.labels));
      for (int i = 0; i < s.labels; ++i) {
        for (int j = 0; j < s.labels; ++j) {
          double with = 0, both = 0, without = 0, only = 0;
          for (int u = 0; u < t.units; ++u) {
            const bool first = t.votes(u, i) > 0, second = t.votes(u, j) > 0;
            with += first;
            both += first && second;
            without += !first;
            only += !first && second;
          }
          const bool defined = i != j && with > 0 && without > 0 && only < without;
          const double expected =
              defined ? (both / with - only / without) / (1 - only / without) : not_a_number;
          check_equal(found[j * s.labels + i], expected);
        }
      }
    }
  }
}

TEST_CASE("each step of version 2.0 equals its definition") {
  int floored = 0;
  for (const Setting& s : settings) {
    for (std::uint64_t seed = 41; seed <= 50; ++seed) {
      const Rows rows = random_rows(s.units, s.workers, s.labels, seed, s.judged);
      const Table t(rows, s.units, s.workers, s.labels);
      const Judgements x = rows.judgements(s.units, s.workers, s.labels);
      QualityOptions options;
      for (options.max_steps = 0; options.max_steps < 4;) {
        const Quality before = crowd_quality(x, options, Host());
        ++options.max_steps;
        const Quality after = crowd_quality(x, options, Host());
        if (before.converged) break;
        const Step step(t, before);
        check_all(after.unit, step.unit);
        check_all(after.worker_worker, step.worker_worker);
        check_all(after.worker_unit, step.worker_unit);
        check_all(after.worker, step.worker);
        check_all(after.annotation, step.annotation);
        CHECK(after.unit_floored == step.unit_floored);
        CHECK(after.worker_floored == step.worker_floored);
        CHECK(after.annotation_floored == step.annotation_floored);
        for (const char x_floored : after.annotation_floored) floored += x_floored;
        CHECK(after.unit_change.back() == change(before.unit, after.unit));
        CHECK(after.worker_change.back() == change(before.worker, after.worker));
        CHECK(after.annotation_change.back() == change(before.annotation, after.annotation));
        const double largest = std::max(
            {after.unit_change.back(), after.worker_change.back(), after.annotation_change.back()});
        CHECK(after.converged == (largest < options.tolerance));
        std::size_t at = 0;
        for (int u = 0; u < t.units; ++u) {
          double all = 0;
          for (int i = 0; i < t.workers; ++i) all += t.judged[u][i] ? after.worker[i] : 0;
          for (int a = 0; a < t.n_labels; ++a) {
            if (t.votes(u, a) == 0) continue;
            double given = 0;
            for (int i = 0; i < t.workers; ++i) given += t.gave(u, i, a) ? after.worker[i] : 0;
            check_equal(after.unit_annotation[at++], floored_ratio(given, all));
          }
        }
        CHECK(at == after.unit_annotation.size());
      }
    }
  }
  CHECK(floored > 0);
}

TEST_CASE("the qualities before the first step are one, or not a number without judgements") {
  Rows rows;
  rows.add(2, 1, 1);
  rows.add(2, 3, 2);
  QualityOptions options;
  options.max_steps = 0;
  const Quality start = crowd_quality(rows.judgements(3, 3, 2), options, Host());
  check_all(start.unit, {not_a_number, 1, not_a_number});
  check_all(start.worker, {1, not_a_number, 1});
  check_all(start.annotation, {1, 1});
  CHECK(start.unit_floored == std::vector<char>(3, false));
  CHECK(start.worker_floored == std::vector<char>(3, false));
  CHECK(start.annotation_floored == std::vector<char>(2, false));
  CHECK(!start.converged);
  check_all(start.unit_annotation, {0.5, 0.5});
}

TEST_CASE("the host is notified of each finished step, and within steps") {
  const Judgements x = random_rows(10, 8, 4, 3).judgements(10, 8, 4);
  Host host;
  std::vector<std::size_t> finished;
  host.tick = [&finished](std::size_t done) {
    finished.push_back(done);
    return true;
  };
  QualityOptions options;
  options.max_steps = 3;
  options.tolerance = 0;
  crowd_quality(x, options, host);
  CHECK(finished == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("the last unit, worker and label are in range, and those after them are not") {
  const auto size = [](int unit, int worker, int label) {
    return make_judgements(&unit, &worker, &label, 1, 3, 3, 3).size();
  };
  CHECK(size(3, 3, 3) == 1);
  CHECK(size(1, 1, 0) == 1);
  CHECK_THROWS_AS(size(4, 3, 3), std::out_of_range);
  CHECK_THROWS_AS(size(3, 4, 3), std::out_of_range);
  CHECK_THROWS_AS(size(3, 3, 4), std::out_of_range);
  CHECK_THROWS_AS(size(0, 1, 1), std::out_of_range);
  CHECK_THROWS_AS(size(1, 0, 1), std::out_of_range);
  CHECK_THROWS_AS(size(1, 1, -1), std::out_of_range);
  const auto entries = [](std::vector<int> unit, std::vector<int> worker, std::vector<int> label) {
    return make_judgements(unit.data(), worker.data(), label.data(), unit.size(), 3, 3, 3).size();
  };
  CHECK(entries({1, 1, 1, 2}, {1, 1, 2, 1}, {2, 3, 1, 0}) == 3);
  CHECK(entries({1, 2, 3}, {3, 2, 1}, {3, 2, 1}) == 3);
  CHECK_THROWS_AS(entries({1, 1}, {1, 1}, {2, 2}), std::invalid_argument);
  CHECK_THROWS_AS(entries({1, 1}, {1, 1}, {3, 2}), std::invalid_argument);
  CHECK_THROWS_AS(entries({2, 1}, {1, 2}, {1, 2}), std::invalid_argument);
}
