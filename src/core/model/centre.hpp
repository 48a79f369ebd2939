// What a panel of raters has in common: the centre around which their confusion matrices lie.
#pragma once

#include <vector>

namespace fallible {

// Expected numbers of ratings, as far as the centre is concerned.
struct CentreCounts {
  int judges = 0, categories = 0;
  std::vector<bool> counted;    // judges with ratings whose matrix is not known
  std::vector<bool> used;       // judges x ratings: was it ever given
  std::vector<double> ratings;  // judges x ratings x truths, as Pass sums them

  double at(int judge, int rating, int truth) const {
    return ratings[(static_cast<std::size_t>(judge) * categories + rating) * categories + truth];
  }
};

// Row k of judge j is Dirichlet(c m_jk); the logit of m_jkk is u_k + s_j, the rest of the row is
// shared by w_k. All are estimated, under weak priors (the constants are in centre.cpp).
struct Centre {
  bool one_coin = false;  // one u for all k, all errors equally likely
  int categories = 0;
  double c = 4, tau = 0.6, ups = 0.3, a = 1, ubar = 1;
  std::vector<double> u, s, w;  // per truth, per judge, truths x ratings

  Centre() = default;
  Centre(int judges, int categories, bool one_coin);

  double right(int judge, int truth) const { return right_by(s[judge], truth); }
  double right_by(double skill, int truth) const;
  // m_jkl, of a judge of some skill.
  double mean(double skill, int truth, int rating) const;

  // One round of Newton steps and fixed points for all of it.
  void update(const CentreCounts& n);
  // The skill at which a judge's numbers (ratings x truths) are most probable; all else stays.
  double skill_of(const double* ratings) const;
  // The log of the marginal density of the counts and of the priors, but for a constant.
  double log_density(const CentreCounts& n) const;

  // All of it on the whole real line, for extrapolation.
  void append_to(std::vector<double>& x) const;
  const double* read(const double* x);

 private:
  struct Tables;

  Tables tables(const CentreCounts& n) const;
  void update_concentration(double slope, double bend);
  void update_confusions(const Tables& t);
  void update_recognition(const CentreCounts& n, const Tables& t);
  void update_skills(const CentreCounts& n, const Tables& t);
};

}  // namespace fallible
