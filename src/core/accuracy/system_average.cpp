#include "system_average.hpp"

#include <algorithm>
#include <cmath>

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
  if (tells(data_)) family_ = make_family(data_.rows(), ordered);
}

int SystemAverage::root_of(int member) const {
  while (family_[member].after() >= 0) member = family_[member].after();
  return member;
}

std::vector<int> SystemAverage::roots() const {
  std::vector<int> out;
  for (int i = 0; i < static_cast<int>(family_.size()); ++i) {
    if (root_of(i) == i) out.push_back(i);
  }
  return out;
}

void SystemAverage::fit_tree(int root, bool leaders) {
  const double least = leaders ? -std::numeric_limits<double>::infinity() : what_matters();
  for (int i = root; i < static_cast<int>(family_.size()); ++i) {
    const Relative& one = family_[i];
    if (root_of(i) != root || one.member->leads() != leaders) continue;
    if (one.base >= 0 && get(one.base)->ruled_out()) continue;
    one.member->fit(data_, get(one.base), get(one.start), least);
  }
}

double SystemAverage::what_matters() const {
  double most = -std::numeric_limits<double>::infinity();
  for (const Relative& one : family_) {
    const MemberResult& of = one.member->result();
    if (one.member->leads() && !std::isnan(of.log_evidence)) {
      most = std::max(most, of.log_evidence + of.log_prior);
    }
  }
  return most + std::log(negligible) - slack;
}

SystemEstimate SystemAverage::average() {
  SystemEstimate out;
  if (family_.empty()) return out;
  std::vector<const Member*> members;
  for (const Relative& one : family_) members.push_back(one.member.get());
  const auto weights = weights_of(members);
  double simple = 0;
  for (std::size_t i = 0; i < family_.size(); ++i) {
    Member& member = *family_[i].member;
    member.weigh(weights[i]);
    // What stands on a member that is ruled out has not been fitted.
    if (family_[i].base >= 0 && get(family_[i].base)->ruled_out()) continue;
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
  if (!tells(now)) return out;
  std::vector<bool> wanted(family_.size());
  for (std::size_t i = family_.size(); i-- > 0;) {
    if (get(static_cast<int>(i))->result().weight >= matters) wanted[i] = true;
    if (wanted[i] && family_[i].base >= 0) wanted[family_[i].base] = true;
  }
  std::vector<std::unique_ptr<Member>> again(family_.size());
  std::vector<const Member*> members;
  for (std::size_t i = 0; i < family_.size(); ++i) {
    if (!wanted[i]) continue;
    const int base = family_[i].base;
    again[i] = family_[i].member->refit(now, base < 0 ? nullptr : again[base].get());
    members.push_back(again[i].get());
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
