# Metrics of answers with several labels. Each label is a problem of its own, is it in the answer or
# not, and all of them are judged by the same raters. So cases times labels are the cases of one
# model of raters, in which base rates differ between labels and raters' matrices do not. A system
# is another one for each label, with errors of its own in each, so that all that is known of
# estimates of systems holds of labels.

# Metrics of whole answers: of each case, the posterior mean.
label_records <- by_id(list(
  new_metric(
    "subset_accuracy", "All labels right", "Zhu and others (2005), SIGIR 28, 274-281", NULL, "set",
    needs = "labels"
  ),
  new_metric(
    "jaccard", "Jaccard index of labels", "Godbole and Sarawagi (2004), PAKDD, 22-30", NULL, "set",
    needs = "labels"
  )
))

default_label_metrics <- c("accuracy", "precision", "recall", "f_meas", names(label_records))

#' Metrics of answers with several labels
#'
#' [estimate_metrics()] of answers that hold any number of labels, per label and over labels, of
#' systems whose correct answers are not known.
#'
#' Each label is a binary problem: is it in the answer? Raters have one skill for all labels:
#' a probability to see a label that is there, and one to see a label that is not; base rates differ
#' between labels. So rare labels borrow from frequent ones, and two raters are enough where base
#' rates differ (Hui and Walter, 1980). Where raters know some labels better than others, look at
#' these by themselves, with [single_label()].
#'
#' Under method `"joint"` a system errs by itself, in each label as it will; under `"shared"` it
#' errs where the raters err. Given the answers to a case, its labels count as independent:
#' `subset_accuracy` is the probability that all are right, `jaccard` the mean of the labels that
#' answer and truth share over those that either has, 1 where both have none. Intervals are
#' percentiles of a bootstrap of cases, whose labels stay together; sampling error only.
#'
#' @inheritParams metric_estimate
#' @param x [ratings()] with `repeats = "labels"`, and no weights.
#' @param metrics Names of [system_metrics] of the joint table, and `"subset_accuracy"` and
#'   `"jaccard"`; `NULL` for the usual ones.
#' @param average How metrics of labels are averaged, any of `"macro"`, `"macro_weighted"` (by how
#'   frequent labels are) and `"micro"` (of counts summed over labels); `NULL` for no averages.
#' @param systems Which raters of `x` are the systems, by name; `NULL` for those that `x` has as
#'   systems, which give one label each.
#' @param method `"joint"` or `"shared"`.
#' @param interval `"bootstrap"` or `"none"`.
#' @param conf_level Probability with which intervals are meant to cover, in (0, 1).
#' @param resampling A list: `replicates`, the number of bootstrap replicates, by default 200.
#' @param ... Not used.
#' @return An [estimate_metrics()] result, in whose tables `category` is the label. `augment()` has
#'   a row per case, label, system and truth.
#' @family estimation
#' @examples
#' set.seed(1)
#' true <- matrix(runif(200) < c(0.5, 0.2), 2) # labels x cases
#' say <- function(right) true == (runif(200) < right)
#' answers <- expand.grid(case = 1:100, rater = c("ann", "bob", "cid", "model"))
#' answers$labels <- unlist(lapply(c(0.9, 0.8, 0.85, 0.9), function(right) {
#'   apply(say(right), 2, function(has) c("angry", "sad")[has], simplify = FALSE)
#' }), recursive = FALSE)
#' x <- ratings(answers, case = case, rater = rater, rating = labels, repeats = "labels")
#' estimate_metrics(x, systems = "model", resampling = list(replicates = 50))
#' @name label_metrics
#' @export
estimate_metrics.ratings_labels <- function(x, # nolint: object_name, object_length.
                                            metrics = NULL, average = c("macro", "micro"), beta = 1,
                                            systems = NULL,
                                            method = c("joint", "shared"),
                                            interval = c("bootstrap", "none"),
                                            conf_level = default_conf_level(),
                                            resampling = list(), ...) {
  check_dots_empty(...)
  options <- list(
    method = check_choice(method), interval = check_choice(interval),
    conf_level = check_level(conf_level), grouped = FALSE
  )
  replicates <- check_resampling(resampling, known = "replicates")$replicates %||% 200L
  plan <- label_plan(metrics, average, beta, x)
  panel <- label_panel(x, systems)
  model <- rater_model("rater", "free", base_rates = if (panel$labels > 1L) ~label else ~1)
  estimate <- estimate_accuracy(
    panel$x, options$method, model, interval = "none", resampling = list(
      cluster = panel$cluster, replicates = check_count(replicates, "replicates", min = 2L)
    )
  )
  estimate$options[c("interval", "conf_level")] <- options[c("interval", "conf_level")]
  estimate$options["cluster"] <- list(NULL) # whole cases, to whoever asks
  show_metrics(
    label_table(estimate, plan, panel), list(estimate), plan,
    c(options, list(systems = panel$systems)), panel
  )
}

# As metric_plan(), with labels in the place of categories; `of_label` is the plan of one label.
label_plan <- function(metrics, average, beta, x) {
  one <- settle_metrics(
    metrics %||% default_label_metrics, average, beta, NULL, 10L,
    list(categories = c("yes", "no"), ordered = FALSE), need = c("table", "labels")
  )
  by_label <- lapply(one$records, function(record) {
    if (record$needs == "table") replace(record, "form", "category") else record
  })
  plan <- metric_plan(by_label, x$categories, one$averages, one$settings)
  plan$records <- one$records
  plan$of_label <- metric_plan(
    Filter(function(record) record$needs == "table", one$records), one$categories, NULL,
    one$settings
  )
  c(plan, whole = "Whole answers")
}

# Cases times labels as ratings "yes" and "no" (`x`), with a system per system and label that has
# answered its own label only; `cluster`, the case of each; `given`, cases x labels of each system,
# NA without an answer.
label_panel <- function(x, systems) {
  check_label_panel(x, systems)
  systems <- systems %||% x$systems
  n <- nrow(x)
  labels <- seq_along(x$categories)
  has <- answers_by_rater(x)
  given <- lapply(stats::setNames(nm = systems), function(system) {
    if (system %in% x$raters) return(has[[system]])
    answer <- case_answers(x)[, match(system, x$systems)]
    replace(outer(answer, labels, `==`), answer == 0L, NA)
  })
  words <- function(has) ifelse(as.vector(has), "yes", "no")
  raters <- setdiff(x$raters, systems)
  columns <- paste0("r", seq_along(raters))
  groups <- x$rater_groups[match(raters, x$raters)]
  if (!is.null(groups)) names(groups) <- columns
  own <- unlist(lapply(given, function(of) {
    lapply(labels, function(l) words(replace(of, col(of) != l, NA)))
  }), recursive = FALSE, use.names = FALSE)
  names(own) <- paste0("s", seq_along(own))
  stacked <- ratings(
    tibble::as_tibble(c(
      stats::setNames(lapply(has[raters], words), columns),
      list(label = factor(rep(x$categories, each = n), x$categories)), own
    )),
    raters = tidyselect::all_of(columns), systems = names(own), covariates = "label",
    categories = c("yes", "no"), rater_groups = groups
  )
  if (is.null(groups)) stacked$raters <- raters
  stacked$systems <- paste0(rep(systems, each = length(labels)), ": ", x$categories)
  list(
    x = stacked, systems = systems, labels = length(labels), cases = x$cases, given = given,
    cluster = rep(seq_len(n), length(labels))
  )
}

check_label_panel <- function(x, systems) {
  check_single_answers(x, "x", "Metrics of labels need one answer of each rater on a case.")
  abort_argument_if(!is.null(x$weights), "x", "Metrics of labels need cases without weights.")
  check_system_names(systems, c(x$raters, x$systems))
  abort_if(length(systems %||% x$systems) == 0L, "system", "There is no system.",
    i = "Name in {.arg systems} the raters of {.arg x} that are systems.", system = character())
  abort_argument_if(length(setdiff(x$raters, systems)) < 2L, "systems",
    "At least two raters must be left that are not systems.")
}

# Of each rater: cases x labels, is the label in the answer, NA without an answer.
answers_by_rater <- function(x) {
  entries <- judgements(x)
  lapply(stats::setNames(seq_along(x$raters), x$raters), function(r) {
    at <- entries$worker == r
    has <- matrix(NA, nrow(x), n_categories(x))
    has[entries$unit[at], ] <- FALSE
    given <- at & entries$label > 0L
    has[cbind(entries$unit[given], entries$label[given])] <- TRUE
    has
  })
}

# ---- Values -------------------------------------------------------------------------------------

label_table <- function(estimate, plan, panel) {
  lost <- is.na(estimate$table$estimate)
  beliefs <- function(s) if (!lost[[s]]) estimate$posterior[[s]]
  seen <- seen_patterns(estimate$fit)
  values <- panel_values(beliefs, rep(1, length(panel$cases)), plan, panel, seen)
  drawn <- has_interval(estimate) && !all(lost)
  replicates <- if (drawn) label_replicates(estimate, plan, panel, seen)
  at <- match(plan$rows$category, plan$categories)
  tables <- lapply(seq_along(panel$systems), function(s) {
    of <- estimate$table[(s - 1L) * panel$labels + seq_len(panel$labels), ]
    first <- of$reason[!is.na(of$reason) | is.na(of$estimate)][1L]
    reason <- ifelse(is.na(at), first, of$reason[at])
    reason <- ifelse(is.na(reason), undefined_reason(plan), reason)
    reason[!is.na(values[[s]])] <- NA_character_
    n <- ifelse(is.na(at), max(of$n), of$n[at])
    found <- metric_rows(estimate, plan, panel$systems[[s]], values[[s]], n, reason)
    if (!drawn) return(found)
    with_percentiles(found, plan, replicates[[s]], estimate$options$conf_level)
  })
  stack_rows(tables)
}

# A vector per system, as rows of the plan; `beliefs` gives the posterior of patterns for each
# system and label, `times` how often each case counts, `seen` the pattern of each case of the
# panel, NA of those that nobody rated.
panel_values <- function(beliefs, times, plan, panel, seen) {
  lapply(seq_along(panel$systems), function(s) {
    given <- panel$given[[s]]
    yes <- vapply(seq_len(panel$labels), function(l) {
      posterior <- beliefs((s - 1L) * panel$labels + l)
      if (is.null(posterior)) return(times * NA)
      posterior[seen[(l - 1L) * length(times) + seq_along(times)], 1L]
    }, times + 0)
    yes <- matrix(yes, length(times))
    each <- values_over_labels(label_counts(yes, given, times), plan)
    unlist(lapply(plan$records, function(record) {
      if (record$needs == "table") return(each[[record$id]])
      stats::weighted.mean(set_scores(record$id, yes, given), times, na.rm = TRUE)
    }), use.names = FALSE)
  })
}

seen_patterns <- function(fit) ifelse(judged_patterns(fit)[fit$x$index], fit$x$index, NA)

# Labels x cells of the joint table of truth and answer, answers within truths.
label_counts <- function(yes, given, times) {
  sum_of <- function(p) colSums(p * times, na.rm = TRUE)
  cbind(sum_of(yes * given), sum_of(yes * !given), sum_of((1 - yes) * given),
    sum_of((1 - yes) * !given))
}

# Of each metric: its averages, then labels.
values_over_labels <- function(counts, plan) {
  value <- function(counts) {
    out <- metric_values(plan$of_label, as_shares(counts, 2L))
    out[, !plan$of_label$rows$category %in% "no", drop = FALSE]
  }
  records <- plan$of_label$records
  if (length(records) == 0L) return(list())
  each <- value(counts)
  micro <- value(matrix(colSums(counts), 1L))
  cases <- matrix(rowSums(counts[, 1:2, drop = FALSE]), 1L)
  out <- lapply(seq_along(records), function(m) {
    one <- matrix(each[, m], 1L)
    c(averages_of(one, micro[, m], cases, plan$averages, records[[m]]$drops), one)
  })
  stats::setNames(out, names(records))
}

# Of each case, the posterior mean of how right the whole answer is; NA without an answer.
set_scores <- function(id, yes, given) {
  if (id == "subset_accuracy") return(exp(rowSums(log(ifelse(given, yes, 1 - yes)))))
  size <- rowSums(given)
  # How many labels are true that the answer has not: its distribution, label by label.
  missed <- cbind(rep(1, nrow(yes)), matrix(0, nrow(yes), ncol(yes)))
  for (l in seq_len(ncol(yes))) {
    p <- ifelse(given[, l], 0, yes[, l])
    missed <- missed * (1 - p) + cbind(0, missed[, -ncol(missed), drop = FALSE]) * p
  }
  share <- rowSums(missed / pmax(outer(size, 0:ncol(yes), `+`), 1))
  ifelse(size == 0, missed[, 1L], rowSums(yes * given) * share)
}

# ---- Bootstrap ----------------------------------------------------------------------------------

# Resamples cases, with all their labels; a matrix per system, replicates x rows of the plan.
label_replicates <- function(estimate, plan, panel, seen) {
  drawn <- new_resampling(rep(1, length(panel$cases)), estimate$options)
  rows <- resampled(resampling = drawn, run = function(times) {
    again <- estimate$fit
    again$x$patterns$weight <- rowsum_codes(
      again$x$index, rep(times, panel$labels) + 0, n_patterns(again$x)
    )
    now <- point_of(make_estimator(again, method_of(estimate), estimate$options))$systems
    panel_values(function(s) now[[s]]$posterior, times, plan, panel, seen)
  })
  lapply(seq_along(panel$systems), function(s) stack_rows(rows, `[[`, s))
}

# Rows of augment(): of each case, label and truth.
augment_labels <- function(x) {
  panel <- x$panel
  estimate <- x$estimates[[1L]]
  tables <- lapply(seq_along(estimate$fit$x$systems), function(s) {
    found <- weighted_answers(estimate, estimate$fit$x$systems[[s]])
    label <- (s - 1L) %% panel$labels + 1L
    found$case <- panel$cases[found$case - (label - 1L) * length(panel$cases)]
    found$system <- panel$systems[[(s - 1L) %/% panel$labels + 1L]]
    tibble::add_column(found, label = x$plan$categories[[label]], .after = "system")
  })
  stack_rows(tables)
}
