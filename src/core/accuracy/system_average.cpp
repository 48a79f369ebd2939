#include "system_average.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "member_one_coin.hpp"

namespace fallible {

namespace {

constexpr double negligible = 1e-8;  // weight
constexpr double slack = 30;         // of log evidence, for what is not polished
constexpr double matters = 1e-3;     // likewise, for a fit to other cases

double with_prior(double mean, double cases) { return (cases * mean + 1) / (cases + 2); }

std::vector<double> weights_of(const std::vector<const Member*>& members) {
  std::vector<double> log_weight;
  for (const Member* member : members) {
    log_weight.push_back(member->result().log_evidence + member->result().log_prior);
  }
  return weigh(log_weight);
}

}  // namespace

double prior_pull(double independent, double cases) { return (1 - 2 * independent) / cases; }

std::vector<double> weigh(const std::vector<double>& log_evidence) {
  double most = -std::numeric_limits<double>::infinity(), total = 0;
  for (const double x : log_evidence) {
    if (!std::isnan(x)) most = std::max(most, x);
  }
  std::vector<double> out;
  for (const double x : log_evidence) {
    const double w = std::exp(x - most);
    out.push_back(w > negligible ? w : 0);
    total += out.back();
  }
  for (double& w : out) w /= total;
  return out;
}

void add_scaled(const std::vector<double>& x, double scale, std::vector<double>& to) {
  to.resize(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) to[i] += scale * x[i];
}

SystemAverage::SystemAverage(const Ratings& ratings, int system, bool ordered)
    : alone_(system < 0), data_(ratings, system) {
  if (has_cases(data_)) family_ = make_family(data_.rows(), ordered);
}

std::vector<const Member*> SystemAverage::roots() const {
  std::vector<const Member*> out;
  for (const auto& one : family_) {
    if (one->root() == one.get()) out.push_back(one.get());
  }
  return out;
}

void SystemAverage::fit_tree(const Member* root, bool leaders) {
  const double least = leaders ? any_matters : what_matters();
  for (const auto& one : family_) {
    const bool stands = !one->base() || !one->base()->ruled_out();
    if (one->root() == root && one->leads() == leaders && stands) one->fit(data_, least);
  }
}

double SystemAverage::what_matters() const {
  double most = -std::numeric_limits<double>::infinity();
  for (const auto& one : family_) {
    const MemberResult& of = one->result();
    if (one->leads() && !std::isnan(of.log_evidence)) {
      most = std::max(most, of.log_evidence + of.log_prior);
    }
  }
  return most + std::log(negligible) - slack;
}

SystemEstimate SystemAverage::average() {
  SystemEstimate out;
  if (family_.empty()) return out;
  std::vector<const Member*> members;
  for (const auto& one : family_) members.push_back(one.get());
  const auto weights = weights_of(members);
  double simple = 0;
  for (std::size_t i = 0; i < family_.size(); ++i) {
    Member& member = *family_[i];
    member.weigh(weights[i]);
    // What stands on a member that is ruled out has not been fitted.
    if (member.base() && member.base()->ruled_out()) continue;
    out.members.push_back(member.result());
    if (weights[i] == 0) continue;
    add_scaled(member.posterior(data_), weights[i], posterior_);
    if (member.simple()) simple += weights[i];
  }
  const double mean = data_.mean_posterior(posterior_), cases = data_.cases();
  double variance = 0;
  for (const MemberResult& member : out.members) {
    const double off = member.estimate - mean;
    variance += member.weight * (member.std_error * member.std_error + off * off);
  }
  out.independent = with_prior(mean, cases);
  const double alone = out.independent * (1 - out.independent) / (cases + 3);
  out.std_error = std::sqrt(std::max(variance, alone));
  out.rater_error = data_.rater_error(posterior_);
  out.independence_weight = simple;
  return out;
}

SystemEstimate SystemAverage::with_weights(const std::vector<double>& of_patterns) const {
  SystemEstimate out;
  const Joined now = data_.with_weights(of_patterns);
  if (!has_cases(now)) return out;
  std::set<const Member*> wanted;
  for (const auto& one : family_) {
    if (one->result().weight >= matters) wanted.insert({one.get(), one->base()});
  }
  Family again;
  std::vector<const Member*> members;
  std::map<const OneCoin*, const OneCoin*> bases{{nullptr, nullptr}};  // and what they are now
  for (const auto& one : family_) {
    if (wanted.count(one.get()) == 0) continue;
    again.push_back(one->refit(now, bases.at(one->base())));
    members.push_back(again.back().get());
    if (one->as_base()) bases[one->as_base()] = again.back()->as_base();
  }
  const auto weights = weights_of(members);
  std::vector<double> posterior;
  double mean = 0;
  out.independence_weight = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (weights[i] == 0) continue;
    mean += weights[i] * members[i]->result().estimate;
    add_scaled(members[i]->posterior(now), weights[i], posterior);
    if (members[i]->simple()) out.independence_weight += weights[i];
  }
  out.independent = with_prior(mean, now.cases());
  out.rater_error = now.rater_error(posterior);
  return out;
}

}  // namespace fallible
