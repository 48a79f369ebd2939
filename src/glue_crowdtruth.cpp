// CrowdTruth: judgements come as a list of unit, worker and label (0: an empty answer), sorted,
// with the numbers of units, workers and labels.
#include "core/crowdtruth/crowdtruth.hpp"

#include "core/crowdtruth/version2.hpp"
#include "glue.h"

namespace {

fallible::Judgements judgements(const Rcpp::List& x) {
  const Rcpp::IntegerVector unit = x["unit"], worker = x["worker"], label = x["label"];
  return fallible::make_judgements(unit.begin(), worker.begin(), label.begin(),
                                   static_cast<std::size_t>(unit.size()), x["units"], x["workers"],
                                   x["labels"]);
}

// Units and labels from 1, as in R.
Rcpp::List votes_list(const fallible::Votes& votes) {
  Rcpp::IntegerVector unit(votes.label.size()), label(votes.label.size());
  for (int u = 0; u < votes.rows(); ++u) {
    for (const int e : votes.places(u)) {
      unit[e] = u + 1;
      label[e] = votes.label[e] + 1;
    }
  }
  return Rcpp::List::create(Rcpp::Named("unit") = unit, Rcpp::Named("label") = label,
                            Rcpp::Named("votes") = votes.votes);
}

Rcpp::LogicalVector flags(const std::vector<char>& x) { return {x.begin(), x.end()}; }

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_crowd_units(Rcpp::List x) {
  const auto votes = fallible::count_votes(judgements(x));
  Rcpp::List out = votes_list(votes);
  out["score"] = fallible::unit_annotation_scores(votes);
  const int labels = x["labels"];
  out["similarity"] = glue::square(fallible::annotation_similarity(votes, labels), labels);
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_crowd_workers(Rcpp::List x, Rcpp::Function tick) {
  const auto data = judgements(x);
  const auto scores =
      glue::interruptible([&] { return fallible::worker_scores(data, glue::host(tick)); });
  return Rcpp::List::create(
      Rcpp::Named("unit_disagreement") = scores.unit_disagreement,
      Rcpp::Named("worker_disagreement") = scores.worker_disagreement,
      Rcpp::Named("overlap_disagreement") = scores.overlap_disagreement,
      Rcpp::Named("annotations_per_unit") = scores.annotations_per_unit,
      Rcpp::Named("compared") = scores.compared);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_crowd_quality(Rcpp::List x, Rcpp::List options, Rcpp::Function tick) {
  const auto data = judgements(x);
  fallible::QualityOptions chosen;
  chosen.open = options["open"];
  chosen.tolerance = options["tolerance"];
  chosen.max_steps = options["max_steps"];
  const auto quality = glue::interruptible(
      [&] { return fallible::crowd_quality(data, chosen, glue::host(tick)); });
  return Rcpp::List::create(
      Rcpp::Named("uqs") = quality.unit, Rcpp::Named("wwa") = quality.worker_worker,
      Rcpp::Named("wua") = quality.worker_unit, Rcpp::Named("wqs") = quality.worker,
      Rcpp::Named("aqs") = quality.annotation, Rcpp::Named("uas") = quality.unit_annotation,
      Rcpp::Named("unit_floored") = flags(quality.unit_floored),
      Rcpp::Named("worker_floored") = flags(quality.worker_floored),
      Rcpp::Named("annotation_floored") = flags(quality.annotation_floored),
      Rcpp::Named("unit_change") = quality.unit_change,
      Rcpp::Named("worker_change") = quality.worker_change,
      Rcpp::Named("annotation_change") = quality.annotation_change,
      Rcpp::Named("converged") = quality.converged);
}
