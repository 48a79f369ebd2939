// What judges have in common, pair by pair, and who is nearer to the others.
#include "core/agreement/alternative.hpp"
#include "core/agreement/shared.hpp"
#include "glue.h"

namespace {

template <class Value>
std::vector<Value> column(const std::vector<fallible::SharedPair>& pairs,
                          Value fallible::SharedPair::*field) {
  std::vector<Value> out;
  for (const auto& pair : pairs) out.push_back(pair.*field);
  return out;
}

}  // namespace

// `cells`: pattern (from 1), truth (0 is unknown) and weight. A list of columns with an entry per
// pair of judges (from 1; systems come after raters) that share cases.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_shared_pairs(Rcpp::List patterns, Rcpp::List cells, Rcpp::Function tick) {
  using Pair = fallible::SharedPair;
  const Rcpp::IntegerVector pattern = cells["pattern"], truth = cells["truth"];
  const Rcpp::NumericVector weight = cells["weight"];
  std::vector<fallible::Cell> all;
  for (R_xlen_t i = 0; i < pattern.size(); ++i) {
    all.push_back({pattern[i] - 1, truth[i], weight[i]});
  }
  const auto pairs = glue::interruptible(
      [&] { return fallible::shared_pairs(glue::view(patterns), all, glue::host(tick)); });
  return Rcpp::List::create(
      Rcpp::Named("one") = glue::from_one(column(pairs, &Pair::one)),
      Rcpp::Named("two") = glue::from_one(column(pairs, &Pair::two)),
      Rcpp::Named("n") = column(pairs, &Pair::n),
      Rcpp::Named("agreeing") = column(pairs, &Pair::agreeing),
      Rcpp::Named("known") = column(pairs, &Pair::known),
      Rcpp::Named("both_right") = column(pairs, &Pair::both_right),
      Rcpp::Named("one_right") = column(pairs, &Pair::one_right),
      Rcpp::Named("two_right") = column(pairs, &Pair::two_right),
      Rcpp::Named("both_wrong") = column(pairs, &Pair::both_wrong),
      Rcpp::Named("coinciding") = column(pairs, &Pair::coinciding),
      Rcpp::Named("expected") = column(pairs, &Pair::expected),
      Rcpp::Named("surplus") = column(pairs, &Pair::surplus));
}

// `system` from 1; `closeness`: categories x categories. An entry per rating.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_nearer_answers(Rcpp::List patterns, int system,
                                        Rcpp::NumericMatrix closeness) {
  return Rcpp::wrap(glue::interruptible([&] {
    return fallible::nearer_answers(glue::view(patterns), system - 1, closeness.begin());
  }));
}
