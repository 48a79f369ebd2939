// CrowdTruth: functions that R calls. Their argument `x` is a list. Its vectors unit, worker and
// label have one entry per label that a worker gave, sorted by unit, worker and label. Numbers
// start at 1; label 0 is an empty answer. Its fields units, workers and labels are the numbers of
// units, of workers and of different labels.
#include "core/crowdtruth/crowdtruth.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace {

Judgements judgements(const List& x) {
  const IntegerVector unit = x["unit"], worker = x["worker"], label = x["label"];
  return make_judgements(unit.begin(), worker.begin(), label.begin(),
                         static_cast<std::size_t>(unit.size()), x["units"], x["workers"],
                         x["labels"]);
}

// Converts the votes to a list with one entry per unit and label. Units and labels are numbered
// from 1, as in R.
List votes_list(const Votes& votes) {
  IntegerVector unit(votes.label.size()), label(votes.label.size());
  for (int u = 0; u < votes.rows(); ++u) {
    for (const int e : votes.positions(u)) {
      unit[e] = u + 1;
      label[e] = votes.label[e] + 1;
    }
  }
  return List::create(_["unit"] = unit, _["label"] = label, _["votes"] = votes.votes);
}

LogicalVector flags(const std::vector<char>& x) { return {x.begin(), x.end()}; }

}  // namespace

// Returns the votes and the unit-annotation score, one entry per unit and label, and the similarity
// of labels (labels x labels).
// [[Rcpp::export(rng = false)]]
List core_crowd_units(List x) {
  const auto votes = count_votes(judgements(x));
  List result = votes_list(votes);
  result["score"] = unit_annotation_scores(votes);
  const int labels = x["labels"];
  result["similarity"] = glue::square(annotation_similarity(votes, labels), labels);
  return result;
}

// Returns the scores of CrowdTruth version 1 (struct WorkerScores), one entry per worker. `tick`
// receives the number of workers done.
// [[Rcpp::export(rng = false)]]
List core_crowd_workers(List x, Function tick) {
  const auto data = judgements(x);
  const auto scores = glue::interruptible([&] { return worker_scores(data, glue::host(tick)); });
  return List::create(_["unit_disagreement"] = scores.unit_disagreement,
                      _["worker_disagreement"] = scores.worker_disagreement,
                      _["overlap_disagreement"] = scores.overlap_disagreement,
                      _["annotations_per_unit"] = scores.annotations_per_unit,
                      _["compared"] = scores.compared);
}

// Returns the quality scores of version 2.0 (struct Quality).
// [[Rcpp::export(rng = false)]]
List core_crowd_quality(List x, List options, Function tick) {
  const auto data = judgements(x);
  QualityOptions quality_options;
  quality_options.open = options["open"];
  quality_options.tolerance = options["tolerance"];
  quality_options.max_steps = options["max_steps"];
  const auto quality =
      glue::interruptible([&] { return crowd_quality(data, quality_options, glue::host(tick)); });
  return List::create(
      _["uqs"] = quality.unit, _["wwa"] = quality.worker_worker, _["wua"] = quality.worker_unit,
      _["wqs"] = quality.worker, _["aqs"] = quality.annotation, _["uas"] = quality.unit_annotation,
      _["unit_floored"] = flags(quality.unit_floored),
      _["worker_floored"] = flags(quality.worker_floored),
      _["annotation_floored"] = flags(quality.annotation_floored),
      _["unit_change"] = quality.unit_change, _["worker_change"] = quality.worker_change,
      _["annotation_change"] = quality.annotation_change, _["converged"] = quality.converged);
}
