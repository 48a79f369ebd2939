#include "average.hpp"

#include "average_joint.hpp"

namespace fallible {

namespace {

double shared_accuracy(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const LatentRows& raters, const std::vector<double>& posterior) {
  double right = 0, cases = 0;
  for (int p = 0; p < patterns.patterns; ++p) {
    const int answer = patterns.answer_of(p, system), row = raters.of_pattern[p];
    if (answer < 1 || row < 0) continue;
    cases += weight[p];
    right += weight[p] * posterior[static_cast<std::size_t>(row) * raters.categories + answer - 1];
  }
  return right / cases;
}

}  // namespace

std::vector<double> shared_posterior(const LatentRows& raters) {
  const auto start = one_coin_posterior(raters, false);
  VariationalOptions options;
  options.concentration = no_own_matrices;
  const DawidSkene one_coin = fit_dawid_skene(raters, LatentPrior(), start, options);
  options.concentration = own_matrices;
  const DawidSkene own = fit_dawid_skene(raters, LatentPrior(), start, options);
  const auto weights = weigh({one_coin.bound, own.bound});
  std::vector<double> out;
  add_scaled(one_coin.posterior, weights[0], out);
  add_scaled(own.posterior, weights[1], out);
  return out;
}

Average::Average(const PatternView& patterns, const std::vector<double>& weight,
                 const std::vector<int>& known, int threads, const Host& host)
    : patterns_(patterns), known_(known) {
  const LatentRows raters = latent_rows(patterns, weight, -1, Known{known, {}});
  const auto shared = shared_posterior(raters);
  for (int s = 0; s < patterns.systems; ++s) joint_.emplace_back(patterns, weight, known, s);
  const std::size_t chains = patterns.categories > 2 ? 4 : 2, fits = joint_.size() * chains;
  for_each_item(fits, threads, host,
                [&](std::size_t i) { joint_[i / chains].fit_chain(static_cast<int>(i % chains)); });
  Host rest;
  rest.tick = [&](std::size_t done) { return host.tick(fits + done); };
  result_.resize(joint_.size());
  for_each_item(joint_.size(), threads, rest, [&](std::size_t s) {
    joint_[s].fit_matrices();
    result_[s] = joint_[s].average(
        shared_accuracy(patterns, weight, static_cast<int>(s), raters, shared));
  });
}

Average::~Average() = default;

std::vector<double> Average::with_weights(const std::vector<double>& weight) const {
  std::vector<double> out;
  for (const JointAverage& joint : joint_) {
    JointAverage again = joint.with_weights(weight);
    if (!again.empty()) again.refit();
    out.push_back(again.average(0).estimate);
  }
  return out;
}

std::vector<double> bootstrap_average(const Average& average, const PatternView& patterns,
                                      const std::vector<double>& weight,
                                      const BootstrapOptions& options, const Host& host) {
  return bootstrap_patterns(
      patterns, average.known_truth(), weight, patterns.systems,
      [&](const std::vector<double>& w) { return average.with_weights(w); }, options, host);
}

}  // namespace fallible
