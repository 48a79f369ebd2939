// Shared errors of pairs of judges, and the alternative annotator test: functions that R calls.
#include "core/agreement/shared.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

// Compares all pairs of judges that have common cases. `cells`: a list of pattern (from 1), truth
// (0 if unknown) and weight, one entry per group of cases. Returns a list of columns with one entry
// per pair. Judges are numbered from 1, raters before systems.
// [[Rcpp::export(rng = false)]]
List core_shared_pairs(List patterns, List cells, Function tick) {
  using Pair = SharedPair;
  const IntegerVector pattern = cells["pattern"], truth = cells["truth"];
  const NumericVector weight = cells["weight"];
  std::vector<Cell> cell_list;
  for (R_xlen_t i = 0; i < pattern.size(); ++i) {
    cell_list.push_back({pattern[i] - 1, truth[i], weight[i]});
  }
  const auto pairs = glue::interruptible(
      [&] { return shared_pairs(glue::view(patterns), cell_list, glue::host(tick)); });
  return List::create(_["one"] = glue::from_one(glue::column(pairs, &Pair::first)),
                      _["two"] = glue::from_one(glue::column(pairs, &Pair::second)),
                      _["n"] = glue::column(pairs, &Pair::n),
                      _["agreeing"] = glue::column(pairs, &Pair::agreeing),
                      _["known"] = glue::column(pairs, &Pair::known),
                      _["both_right"] = glue::column(pairs, &Pair::both_right),
                      _["one_right"] = glue::column(pairs, &Pair::first_right),
                      _["two_right"] = glue::column(pairs, &Pair::second_right),
                      _["both_wrong"] = glue::column(pairs, &Pair::both_wrong),
                      _["coinciding"] = glue::column(pairs, &Pair::coinciding),
                      _["expected"] = glue::column(pairs, &Pair::expected),
                      _["surplus"] = glue::column(pairs, &Pair::surplus));
}

// Compares the answer of `system` (from 1) with each rating. Returns 1 if the answer is closer than
// the rating to the other ratings of the case, -1 if the answer is less close, and 0 if neither is
// true. `closeness`: closeness of each pair of categories, categories x categories.
// [[Rcpp::export(rng = false)]]
IntegerVector core_nearer_answers(List patterns, int system, NumericMatrix closeness) {
  return wrap(glue::interruptible(
      [&] { return nearer_answers(glue::view(patterns), system - 1, closeness.begin()); }));
}
