#include "check_k.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "../base/rows.hpp"
#include "../base/special.hpp"

namespace fallible {

double PairAgreement::excess() const {
  const double share = expected / cases;
  const double sd = std::sqrt(cases * share * (1 - share));
  return sd > 0 ? (observed - expected) / sd : 0;
}

double DisagreeingPairs::distance() const {
  double sum = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const double deviation = observed[i] - expected[i];
    if (expected[i] > 0) sum += deviation * deviation / expected[i];
  }
  return sum;
}

double lowest_base_rate(const LatentRows& rows) {
  const int N = rows.categories;
  std::vector<double> share(N, 0.0);
  double pairs = 0, agreeing = 0, ratings = 0;
  for (int i = 0; i < rows.size(); ++i) {
    const double w = rows.weight[i];
    for (const int a : rows.positions(i)) {
      if (rows.judge[a] >= rows.raters) continue;
      share[rows.category[a]] += w;
      ratings += w;
      for (int b = rows.start[i]; b < a; ++b) {
        if (rows.judge[b] == rows.judge[a]) continue;
        pairs += w;
        if (rows.category[b] == rows.category[a]) agreeing += w;
      }
    }
  }
  const double squared_excess = ((N - 1) * agreeing / pairs - (N - 1.0) / N) / N;
  if (!(squared_excess > 1e-9)) return -std::numeric_limits<double>::infinity();
  const double accuracy = 1.0 / N + std::sqrt(squared_excess);
  const double lowest_share = *std::min_element(share.begin(), share.end()) / ratings;
  return ((N - 1) * lowest_share - 1 + accuracy) / (N * accuracy - 1);
}

DisagreeingPairs disagreeing_pairs(const LatentRows& rows, const AnswerLaw& law) {
  const int N = law.categories;
  Eigen::MatrixXd observed = Eigen::MatrixXd::Zero(N, N), expected = observed;
  // Consecutive rows with the same raters form a run. `current_raters`: raters of the current run.
  // `cases`: total weight of its rows.
  std::vector<int> current_raters;
  double cases = 0;
  // Adds the expected numbers of pairs of answers in the current run to `expected`. Counts all
  // pairs of answers, and subtracts the pairs of answers by the same rater.
  const auto add_expected_pairs = [&]() {
    if (current_raters.size() < 2) return;
    Eigen::MatrixXd answers = Eigen::MatrixXd::Zero(law.classes, N), within_judge = expected * 0;
    for_each_run(0, static_cast<int>(current_raters.size()), current_raters, [&](int i, int j) {
      const Eigen::MatrixXd answers_of_judge =
          static_cast<double>(j - i) * law.answer_probabilities(current_raters[i]).leftCols(N);
      answers += answers_of_judge;
      within_judge +=
          answers_of_judge.transpose() * law.class_probabilities().asDiagonal() * answers_of_judge;
    });
    expected += cases * (answers.transpose() * law.class_probabilities().asDiagonal() * answers -
                         within_judge);
  };
  std::vector<int> raters;
  for (int i = 0; i < rows.size(); ++i) {
    raters.clear();
    for (const int a : rows.positions(i)) {
      if (rows.judge[a] >= rows.raters) continue;
      raters.push_back(rows.judge[a]);
      for (int b = rows.start[i]; b < a; ++b) {
        if (rows.judge[b] == rows.judge[a]) continue;
        const auto pair = std::minmax(rows.category[a], rows.category[b]);
        observed(pair.first, pair.second) += rows.weight[i];
      }
    }
    if (raters != current_raters) {
      add_expected_pairs();
      current_raters = raters;
      cases = 0;
    }
    cases += rows.weight[i];
  }
  add_expected_pairs();
  DisagreeingPairs disagreeing;
  double observed_sum = 0, expected_sum = 0;
  for (int k = 0; k < N; ++k) {
    for (int l = k + 1; l < N; ++l) {
      observed_sum += disagreeing.observed.emplace_back(observed(k, l));
      expected_sum += disagreeing.expected.emplace_back(expected(k, l));
    }
  }
  for (double& value : disagreeing.expected)
    value *= expected_sum > 0 ? observed_sum / expected_sum : 0;
  return disagreeing;
}

std::vector<PairAgreement> pair_agreement(const LatentRows& rows, const AnswerLaw& law,
                                          double least_cases) {
  const int n_judges = rows.judges;
  Eigen::MatrixXd cases = Eigen::MatrixXd::Zero(n_judges, n_judges), agreeing = cases;
  for (int i = 0; i < rows.size(); ++i) {
    for (const int a : rows.positions(i)) {
      // Answers of a row are sorted by judge, so each pair of judges is visited once.
      for (int b = rows.start[i]; b < a; ++b) {
        cases(rows.judge[b], rows.judge[a]) += rows.weight[i];
        if (rows.category[a] == rows.category[b]) {
          agreeing(rows.judge[b], rows.judge[a]) += rows.weight[i];
        }
      }
    }
  }
  std::vector<PairAgreement> agreements;
  for (int u = 0; u < n_judges; ++u) {
    for (int v = u + 1; v < n_judges; ++v) {
      if (cases(u, v) < least_cases) continue;
      const auto joint = law.answer_probabilities(u)
                             .cwiseProduct(law.answer_probabilities(v))
                             .leftCols(law.categories);
      const double share = law.class_probabilities().dot(joint.rowwise().sum());
      agreements.push_back({u, v, cases(u, v), agreeing(u, v), cases(u, v) * share});
    }
  }
  return agreements;
}

RowSampler::RowSampler(const LatentRows& rows, const AnswerLaw& law)
    : raters_(rows.raters), judges_(rows.judges), law_(law) {
  RowSet sets;
  std::vector<double> cases;
  std::vector<int> set_of_row(rows.size());
  for (int i = 0; i < rows.size(); ++i) {
    const int* first = rows.judge.data() + rows.start[i];
    set_of_row[i] = sets.insert(first, rows.positions(i).size());
    cases.resize(sets.size(), 0.0);
    cases[set_of_row[i]] += rows.weight[i];
  }
  for (int i = 0; i < sets.size(); ++i) {
    Panel panel{{sets.row(i), sets.row(i) + sets.length(i)}, std::llround(cases[i]), {}};
    double combinations = 1;
    for (std::size_t j = 0; j < panel.judges.size(); ++j) combinations *= law_.categories;
    if (combinations <= cases[i]) {
      panel.combination_probabilities =
          combination_probabilities(panel.judges, static_cast<std::size_t>(combinations));
    }
    panels_.push_back(std::move(panel));
  }
  const int N = law_.categories;
  cumulative_ = Table<double>(judges_ * law_.classes, N);
  for (int u = 0; u < judges_; ++u) {
    for (int c = 0; c < law_.classes; ++c) {
      double total = 0;
      for (int l = 0; l < N; ++l) {
        total += law_.answer_probability(u, l, c);
        cumulative_[u * law_.classes + c][l] = total;
      }
    }
  }
}

// Probability of each of the `number` possible combinations of answers by these judges. The code of
// a combination has one digit per judge in base `categories`; the first judge has the lowest digit.
std::vector<double> RowSampler::combination_probabilities(const std::vector<int>& judges,
                                                          std::size_t number) const {
  std::vector<double> combination_probability(number, 0.0);
  for (int c = 0; c < law_.classes; ++c) {
    for (std::size_t combination = 0; combination < number; ++combination) {
      double product = law_.class_probability[c];
      std::size_t remaining = combination;
      for (const int judge : judges) {
        product *= law_.answer_probability(judge, static_cast<int>(remaining % law_.categories), c);
        remaining /= law_.categories;
      }
      combination_probability[combination] += product;
    }
  }
  return combination_probability;
}

LatentRows RowSampler::draw(Stream& stream) const {
  const int N = law_.categories;
  const auto draw_index = [&stream](const double* cumulative, int n) {
    const double level = stream.uniform() * cumulative[n - 1];
    int i = 0;
    while (i < n - 1 && level >= cumulative[i]) ++i;
    return i;
  };
  std::vector<double> cumulative_weight;
  double total = 0;
  for (const double weight : law_.class_probability) cumulative_weight.push_back(total += weight);

  LatentRows drawn_rows;
  drawn_rows.categories = N;
  drawn_rows.raters = raters_;
  drawn_rows.judges = judges_;
  RowSet rows;
  std::vector<double> weight, count;
  std::vector<int> key;
  for (const Panel& panel : panels_) {
    const std::size_t length = panel.judges.size();
    key.resize(2 * length);
    for (std::size_t j = 0; j < length; ++j) key[2 * j] = panel.judges[j];
    if (!panel.combination_probabilities.empty()) {
      multinomial(stream, panel.cases, panel.combination_probabilities, count);
      // Visits combinations in lexicographic order: the answer of the last judge changes fastest.
      // Consecutive rows then share long prefixes, which are computed only once when the drawn data
      // are fitted (class Pass).
      for (std::size_t j = 0; j < length; ++j) key[2 * j + 1] = 0;
      for (std::size_t i = 0, combination = 0; i < count.size(); ++i) {
        if (count[combination] != 0) {
          drawn_rows.add_row(key.data(), key.data() + key.size());
          drawn_rows.weight.push_back(count[combination]);
        }
        // Moves to the next combination, like an odometer. `place_value`: place value of a digit.
        std::size_t place_value = count.size() / N;
        for (std::size_t j = length; j-- > 0; place_value /= N) {
          combination += place_value;
          if (++key[2 * j + 1] < N) break;
          combination -= place_value * N;
          key[2 * j + 1] = 0;
        }
      }
      continue;
    }
    for (std::int64_t i = 0; i < panel.cases; ++i) {
      const int c = draw_index(cumulative_weight.data(), law_.classes);
      for (std::size_t j = 0; j < length; ++j) {
        key[2 * j + 1] = draw_index(cumulative_[panel.judges[j] * law_.classes + c], N);
      }
      const std::size_t row = rows.insert(key.data(), key.size());
      weight.resize(rows.size(), 0.0);
      ++weight[row];
    }
  }
  for (const int i : rows.sorted()) {
    drawn_rows.add_row(rows.row(i), rows.row(i) + rows.length(i));
    drawn_rows.weight.push_back(weight[i]);
  }
  drawn_rows.known_truth.assign(drawn_rows.size(), -1);
  drawn_rows.find_prefixes();
  return drawn_rows;
}

void KTester::fit(const LatentRows& rows) {
  observed_ = compare(rows, this);
  sampler_.emplace(rows, law_);
}

KStatistics KTester::replicate(Stream& stream) const {
  return compare(sampler_->draw(stream), nullptr);
}

namespace {

// Returns starting values for a fit of `layout`. They are computed from parameters `x` of
// `simpler`, a simpler model or the same model. If the shift between strata of difficulty is near
// zero, it is set to 0.1, because the derivative at zero is zero.
Eigen::VectorXd start_from(const Layout& layout, const Layout& simpler, const Eigen::VectorXd& x) {
  Eigen::VectorXd start = layout.start_from(simpler, x);
  if (layout.shifts_at >= 0 && std::fabs(start[layout.shifts_at]) < 1e-3)
    start[layout.shifts_at] = 0.1;
  return start;
}

}  // namespace

KStatistics KTester::compare(const LatentRows& rows, KTester* fitted) const {
  KStatistics statistics{not_a_number, not_a_number, not_a_number, not_a_number};
  const LatentClass null(rows, test_.null, prior_);
  const LatentFit fit =
      fitted ? fit_latent(null, OptimiserOptions()) : null_newton_.fit(null, null_start_);
  const Law law(null.layout, fit.x);
  if (fitted) {
    fitted->null_start_ = start_from(null.layout, null.layout, fit.x);
    fitted->null_newton_ = SimplifiedNewton(null, fit.x);
    fitted->law_ = law;
    fitted->converged_ = fit.converged;
  }
  if (test_.alternative) {
    const LatentClass alternative(rows, *test_.alternative, prior_);
    Eigen::VectorXd start = start_from(alternative.layout, null.layout, fit.x);
    const LatentFit alternative_fit = fitted ? fit_latent(alternative, start, OptimiserOptions())
                                             : alternative_newton_.fit(alternative, start);
    statistics.ratio = 2 * (alternative_fit.log_likelihood - fit.log_likelihood);
    if (fitted) {
      // Replicates are drawn from the null model. If it has no strata, the shift between strata is
      // 0 in replicates, so the Hessian of the alternative model is computed at 0.
      if (null.layout.shifts_at < 0 && alternative.layout.shifts_at >= 0) {
        start[alternative.layout.shifts_at] = 0;
      }
      fitted->alternative_newton_ = SimplifiedNewton(alternative, start);
      fitted->converged_ = fit.converged && alternative_fit.converged;
      fitted->degrees_of_freedom_ =
          alternative.layout.free_parameters() - null.layout.free_parameters();
    }
  }
  if (test_.uses_pairs) {
    statistics.pairs = disagreeing_pairs(rows, law).distance();
    statistics.lowest_rate = lowest_base_rate(rows);
  }
  if (test_.uses_residual) {
    for (const PairAgreement& pair : pair_agreement(rows, law, least_common_cases)) {
      if (!(statistics.residual >= pair.excess())) statistics.residual = pair.excess();
    }
  }
  return statistics;
}

namespace {

// A test may end early only after at least this number of draws that are as extreme as the data or
// more extreme (Besag and Clifford, 1991).
constexpr int least_extreme = 10;
// Differences below this are numerical errors of the statistics.
constexpr double numerical_error = 1e-6;

// Returns for each statistic whether the drawn value is at least as extreme as the observed one.
// True also for statistics that the test does not use (NaN).
std::array<bool, 4> are_as_extreme(const KStatistics& observed, const KStatistics& drawn) {
  const auto low = [](double rate) { return -std::min(rate, 0.0); };
  const auto at_least = [](double x, double limit) { return !(x < limit - numerical_error); };
  return {at_least(drawn.ratio, observed.ratio), at_least(drawn.pairs, observed.pairs),
          at_least(low(drawn.lowest_rate), low(observed.lowest_rate)),
          at_least(drawn.residual, observed.residual)};
}

// Counts, for each statistic, the draws that are at least as extreme as the data. The p-values are
// precise enough when the counts of all statistics have reached `enough`. Later draws are then
// removed. Returns false if any count stays below `enough`.
bool truncate_draws(const KStatistics& observed, int enough, std::vector<KStatistics>& draws) {
  std::array<int, 4> n_extreme{};
  for (std::size_t r = 0; r < draws.size(); ++r) {
    const auto is_extreme = are_as_extreme(observed, draws[r]);
    for (std::size_t i = 0; i < n_extreme.size(); ++i) n_extreme[i] += is_extreme[i];
    if (*std::min_element(n_extreme.begin(), n_extreme.end()) < enough) continue;
    draws.resize(r + 1);
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::vector<KStatistics>> bootstrap_k(const std::vector<KTester>& testers,
                                                  const BootstrapOptions& options, double alpha,
                                                  const Host& host) {
  const std::size_t replicates = options.replicates;
  // With this number of extreme draws, the p-value is above `alpha`, whatever is drawn later.
  const int extreme_limit =
      static_cast<int>(std::floor(alpha * (options.replicates + 1.0) + numerical_error));
  const int enough = std::max(least_extreme, extreme_limit);
  std::vector<std::vector<KStatistics>> draws(testers.size());
  std::vector<std::size_t> open_tests;
  IntervalTimer timer;
  for (std::size_t test = 0; test < testers.size(); ++test) open_tests.push_back(test);
  // Draws come in blocks, which are computed in parallel. Blocks are small at first, because draws
  // after the end of a test are discarded.
  for (std::size_t first = 0, block_size = 0; first < replicates && !open_tests.empty();
       first += block_size) {
    block_size = std::min(std::max<std::size_t>(options.threads, first / 16), replicates - first);
    for (const std::size_t test : open_tests) draws[test].resize(first + block_size);
    const std::size_t items_done = testers.size() * first;
    const Host tick{[&](std::size_t done) { return host.tick(items_done + done); }};
    for_each_item(open_tests.size() * block_size, options.threads, tick, [&](std::size_t item) {
      const std::size_t test = open_tests[item / block_size], r = first + item % block_size;
      Stream stream(options.seed, test * replicates + r);
      draws[test][r] = testers[test].replicate(stream);
    });
    const auto ended = [&](std::size_t test) {
      return truncate_draws(testers[test].observed(), enough, draws[test]);
    };
    open_tests.erase(std::remove_if(open_tests.begin(), open_tests.end(), ended), open_tests.end());
    if (timer.has_elapsed() && !host.tick(testers.size() * (first + block_size))) {
      throw Interrupted();
    }
  }
  return draws;
}

}  // namespace fallible
