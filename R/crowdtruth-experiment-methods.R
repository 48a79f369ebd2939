# What the CrowdTruth experiment prints and gives as tables.

#' @export
tidy.crowdtruth_experiment <- function(x, what = c("tests", "arms", "workers", "improvements"),
                                       ...) {
  check_dots_empty(...)
  what <- check_choice(what, c("tests", "arms", "workers", "improvements"), "what")
  if (what == "arms") experiment_arms(x) else x[[what]]
}

experiment_arms <- function(x) {
  rows <- Map(function(arm, flags, name) {
    workers <- flags$workers
    spread <- stats::sd(workers$score[!is.na(workers$known)], na.rm = TRUE)
    ends <- c(
      suppressWarnings(min(workers$score[workers$known %in% TRUE], na.rm = TRUE)),
      suppressWarnings(max(workers$score[workers$known %in% FALSE], na.rm = TRUE))
    )
    c(
      list(arm = name, units = nrow(arm$units), annotations = nrow(arm$annotations)),
      as.list(glance(flags)), list(gap = (ends[[1L]] - ends[[2L]]) / spread)
    )
  }, x$arms, x$flags, names(x$arms))
  tibble::as_tibble(stack_tables(rows))
}

#' @export
glance.crowdtruth_experiment <- function(x, ...) {
  check_dots_empty(...)
  each <- experiment_arms(x)
  first <- which.max(each$accuracy)[1L]
  tibble::tibble(
    version = x$arms$none$options$version, arms = nrow(each), workers = each$workers[[1L]],
    known = each$known[[1L]], low = each$low[[1L]], left_out = length(x$left_out),
    folds = x$flags$none$folds, best = each$arm[first], accuracy = each$accuracy[first]
  )
}

#' @export
format.crowdtruth_experiment <- function(x, ...) {
  told <- glance(x)
  paste0(
    caption_of(x), if (!is.na(told$best)) {
      paste0("; told apart best in arm ", told$best, ", accuracy ", decimals(told$accuracy, 2L))
    }
  )
}

#' @export
caption_of.crowdtruth_experiment <- function(x) { # nolint: object_name, object_length.
  told <- glance(x)
  paste0(
    "version ", told$version, ": ", count_noun(told$known, "known worker"), ", ", told$low,
    " of low quality",
    if (told$left_out > 0L) paste0("; ", told$left_out, " more did too few units")
  )
}

#' @export
shown_table.crowdtruth_experiment <- function(x) { # nolint: object_name, object_length.
  round_columns(experiment_arms(x)[c(
    "arm", "units", "annotations", "accuracy", "precision", "recall", "auc", "separation", "gap"
  )])
}

#' @export
notes_of.crowdtruth_experiment <- function(x) { # nolint: object_name, object_length.
  last <- function(arm) utils::tail(x$arms[[arm]]$history, 1L)
  c(last("annotations"), last("units"))
}

#' @export
print.crowdtruth_experiment <- function(x, ...) {
  cat_lines(paste0("<crowdtruth_experiment> ", caption_of(x)), notes_of(x))
  print_table(
    paste0("Left-out workers told apart (", x$flags$none$folds, " folds)"), shown_table(x)
  )
  tests <- x$tests
  print_table("Improvement of workers' metrics, paired by worker", data.frame(
    arms = paste(tests$arm, "-", tests$against), metric = tests$metric,
    improved = paste(tests$improved, "of", tests$n), mean = decimals(tests$estimate, 4L),
    p.t = format_p(tests$p.value), p.wilcoxon = format_p(tests$p.wilcoxon)
  ), most = 20L)
  cat_lines("", "Next: tidy(), glance(), plot(type = \"improvement\" or \"space\").")
  invisible(x)
}

format_p <- function(p) {
  out <- sub("^0", "", decimals(p, 4L))
  replace(out, which(p < 1e-4), "<.0001")
}
