# Sentences about comparisons of systems and of groups, see may_say().

say_sentences.system_comparison <- function(x) { # nolint: object_name, object_length.
  table <- better_first(tidy(x))
  system1 <- table$system1
  system2 <- table$system2
  first <- surely_better(x, table) %in% TRUE
  second <- surely_better(x, table, "system2") %in% TRUE
  open <- !first & !second
  level <- x$options$conf_level
  # The first of each pair has the higher accuracy.
  claimed <- if (is.null(x$options$metric)) {
    sprintf(
      "%s %s more accurate than %s by %s%s", system1, ifelse(first, "is", "looks"), system2,
      points_words(table$estimate), interval_words(table, level, points)
    )
  } else {
    sprintf(
      "the %s of %s less that of %s is estimated at %s%s", compared_metric(x), system1, system2,
      estimate_words(table, level, decimals),
      ifelse(open, "", paste0("; ", ifelse(first, system1, system2), " is the better one"))
    )
  }
  unknown <- fill(
    "; ratings do not show which of the two is better: by the model %s, by counting votes %s or
    both", system1, system2
  )
  sentences <- ifelse(
    is.na(table$estimate),
    sprintf("These data do not say whether %s or %s is better.", system1, system2),
    sprintf(
      "On the same %s, %s%s%s.", cases_words(table$n), claimed,
      ifelse(open & !is.na(table$conf.low), order_is_open, ""),
      ifelse(table$order_known %in% FALSE, unknown, "")
    )
  )
  pair <- paste(system1, "-", system2)
  best <- if (!is.na(glance(x)$best)) paste0(format(x), ".")
  of_all <- c(
    if (nrow(table) > 1L && !x$options$simultaneous) "All of these intervals hold at once.",
    "The system with the best number is as good on other cases."
  )
  sentence_table(
    c(pair, rep(NA, length(best))), c(sentences, best),
    c(
      sprintf("%s is better than %s.", system1, system2)[open],
      sprintf("%s and %s are equally good.", system1, system2)[open], of_all
    ),
    c(pair[open], pair[open], rep(NA, length(of_all)))
  )
}

order_is_open <- "; the interval includes no difference, so which is better remains open"

# Percentage points, without the sign of a zero.
points <- function(share) decimals(round(100 * share) + 0, 0L)

points_words <- function(share) {
  sub("^(-?1 percentage point)s", "\\1", paste(points(share), "percentage points"))
}

say_sentences.group_comparison <- function(x) { # nolint: object_name.
  table <- better_first(tidy(x))
  first <- x$estimates[[1L]]
  open <- !(table$conf.low > 0) %in% TRUE
  verb <- if (is_pass_rate(first)) "passes" else "is right"
  more <- paste(table$system, verb, "more often in", table$group1, "than in", table$group2)
  may <- ifelse(
    is.na(table$conf.low),
    sprintf("These data do not show whether %s: %s.", more, table$reason),
    sprintf(
      "On %s, %s, by %s%s%s.", cases_words(table$n), more, points_words(table$estimate),
      interval_words(table, x$options$conf_level, points), ifelse(open, order_is_open, "")
    )
  )
  not <- c(
    paste0(more, ".")[open],
    sprintf("%s and %s are equally good.", table$group1, table$group2)[open],
    "The ratings differ between groups by as much as the answers do."
  )
  sentence_table(table$system, may, not, c(rep(table$system[open], 2L), NA))
}

say_methods.group_comparison <- function(x) { # nolint: object_name.
  paired <- only_if(!is.null(x$estimates[[1L]]$options$given_cluster),
    ", with the correlation of errors over clusters that groups have in common")
  paste(say_methods(x$estimates[[1L]]), fill(
    "Each group was estimated by itself. Intervals of differences were constructed from the
    intervals of both groups (Zou and Donner 2008)%s%s.", paired,
    only_if(x$options$simultaneous, "; they cover all differences at once (Bonferroni)")
  ))
}

say_methods.system_comparison <- function(x) { # nolint: object_name.
  options <- x$options
  table <- x$differences
  gold <- x$gold
  variation <- only_if(is.null(gold), fill(
    ", which vary as in %s bootstrap samples of %s (Efron and Tibshirani 1993)%s",
    number(options$replicates), if (is.null(options$clusters)) "cases" else "clusters",
    only_if(options$robust, fill(
      "; added to this is an allowance for errors that systems share with raters, which is the more
      alike for two systems the more often they give the same answer"
    ))
  ))
  fill(
    "%s were compared by %s on the same %s%s, with the method \"%s\" of the R package fallible: the
    agreement of fallible raters shows their accuracy, and so that of systems (Lehner 2015).%s%s",
    count_noun(nrow(x$accuracy), "system"), compared_metric(x), count_noun(table$n[[1L]], "case"),
    only_if(x$left_out > 0, fill(
      " (%s that not all of them answered were left out)", number(x$left_out)
    )),
    options$method,
    only_if(!is.null(gold), fill(
      " Differences were measured on %s with known truth and corrected by what ratings predict of
      the others (prediction-powered inference, Angelopoulos et al. 2023).",
      count_noun(gold$cases, "gold case")
    )),
    only_if(!all(is.na(table$conf.low)), fill(
      " %ss and probabilities of ranks are of the errors of all systems together%s; %s",
      interval_title(options$conf_level), variation,
      if (nrow(table) < 2L) "there is one difference." else if (options$simultaneous)
        "intervals cover all differences at once." else "each interval is for its pair alone."
    ))
  )
}

# Methods paragraph for a Bayesian fit, with the items of STARD-BLCM.

#' @export
say_methods.fit_check <- function(x) say_draws(x$fit, x) # nolint: object_name.

#' @export
say_methods.draws_fit <- function(x) say_draws(x) # nolint: object_name.

say_draws <- function(fit, checks = NULL) {
  facts <- glance(fit)
  table <- tidy(fit)
  some <- function(names) shorten(names, most = 6L)
  weak <- table$term[table$contraction < least_contraction & !is.na(table$contraction)]
  sampling <- fit$sampling
  populations <- rownames(fit$prior$base_rates)
  fill(
    "The accuracy of %s was estimated without a gold standard from %s by a Bayesian latent class
    model (%s%s). The target condition is the class that they share; it need not be the condition
    that a reference test defines. Given that class their errors were taken to be %s, which ratings
    alone do not show. Priors: %s. The posterior was drawn by the R package fallible, %d chains of
    %s draws each after %s sweeps, one of every %d kept; Rhat was at most %s and effective sample
    sizes at least %s. %s%s",
    some(fit$x$raters), count_noun(sum(weights_of_cases(fit$x)), "case"), format(fit$model),
    only_if(!is.null(populations), paste("; base rates of their own in", some(populations))),
    if (model_is_dependent(fit$model)) "dependent as stated" else "independent",
    prior_sentence(fit), sampling$chains, number(sampling$kept), number(sampling$warmup),
    sampling$thin, decimals(facts$worst_rhat), number(round(facts$worst_ess)),
    only_if(length(weak) > 0L, fill("Mostly by their priors are known: %s. ", some(weak))),
    shift_sentence(checks)
  )
}

prior_sentence <- function(fit) {
  rates <- fit$prior$text$base_rates
  populations <- names2(rates)
  rows <- fit$prior$text$raters
  binary <- n_categories(fit$x) == 2L
  laws <- vapply(rows, function(law) {
    several <- length(law) > 1L
    if (several && binary) law <- paste(c("specificity", "sensitivity"), law)
    paste0(if (several && !binary) "rows ", toString(law))
  }, "")
  same <- length(unique(rows)) == 1L && length(rows) > 2L
  of_raters <- if (same) paste("all raters", laws[[1L]]) else paste(names(rows), laws)
  more <- length(of_raters) - 8L
  paste(c(
    paste0("base rates", ifelse(populations == "", "", " of "), populations, " ", rates),
    head(of_raters, 8L), if (more > 0L) paste("and", more, "more raters")
  ), collapse = "; ")
}

shift_sentence <- function(checks) {
  shifts <- checks$sensitivity
  if (NROW(shifts) == 0L) return("What other priors would say was not examined: see check_fit().")
  worst <- vapply(split(shifts, in_order(shifts$prior)), function(rows) {
    row <- rows[which.max(abs(rows$shift)), ]
    paste(decimals(row$shift, 2L), "of", row$term)
  }, "")
  fill(
    "With other priors (%s) the largest shift of a mean, in posterior standard deviations, was %s.",
    toString(names(worst)), paste(worst, collapse = " and ")
  )
}

# Results in documents: tables of flextable, sentences of easystats.

#' Results as tables of flextable, and as sentences of easystats
#'
#' `flextable::as_flextable()` makes a table for Word, PowerPoint or a web page from any result. The
#' table has the rows that `print()` shows, a title, and the notes as a footer. `report::report()`
#' returns the sentences of [may_say()] that the result supports, and the paragraph on the method.
#'
#' @name as_flextable
#' @return A `flextable`; for `report()`, a `report_text` of the package \pkg{report}.
#' @family systems
#' @examplesIf requireNamespace("flextable", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' flextable::as_flextable(estimate_accuracy(x, interval = "none"))
#' @rawNamespace S3method(flextable::as_flextable,fallible_result,flextable_result)
#' @rawNamespace S3method(report::report,accuracy_estimate,report_result)
#' @rawNamespace S3method(report::report,system_comparison,report_result)
#' @rawNamespace S3method(report::report,metric_estimate,report_result)
#' @rawNamespace S3method(report::report,agreement,report_result)
NULL

flextable_result <- function(x, ...) {
  check_installed("flextable", "to make its tables")
  table <- flextable::flextable(shown_table(x) %||% as.data.frame(x))
  table <- flextable::set_caption(table, schema_of(x)$caption)
  notes <- document_notes(x)
  if (length(notes) > 0L) table <- flextable::add_footer_lines(table, notes)
  flextable::autofit(table)
}

report_result <- function(x, ...) {
  sentences <- may_say(x)
  words <- c(sentences$sentence[sentences$may], may_say(x, "methods"))
  structure(paste(words, collapse = "\n\n"), class = c("report_text", "character"))
}
