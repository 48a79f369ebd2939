# Methods of the generics say_sentences() and describe_methods(), which may_say() calls. The first
# methods are for comparisons of systems and of groups.

say_sentences.system_comparison <- function(x) { # nolint: object_name, object_length.
  followers <- x$options$followers
  table <- without_followers(put_better_first(tidy(x)), followers)
  system1 <- table$system1
  system2 <- table$system2
  is_first_better <- is_surely_better(x, table) %in% TRUE
  is_undecided <- !is_first_better & !is_surely_better(x, table, "system2") %in% TRUE
  conf_level <- x$options$conf_level
  # put_better_first() has swapped pairs, so that `system1` has the higher estimate in each row.
  is_tie <- are_tied(table$estimate) %in% TRUE
  difference_words <- if (is.null(x$options$metric)) {
    sprintf(
      ifelse(is_tie, "%s and %s are estimated to be equally accurate, with a difference of %s%s",
        "%s is estimated to be more accurate than %s by %s%s"),
      system1, system2, format_percentage_points(table$estimate),
      format_interval_with_title(table, conf_level, format_points)
    )
  } else {
    sprintf(
      "the %1$s of %2$s minus the %1$s of %3$s is estimated at %4$s%5$s", x$options$metric_words,
      system1, system2, estimate_words(table, conf_level, format_decimals),
      ifelse(is_undecided, "",
        paste0("; ", ifelse(is_first_better, system1, system2), " is better"))
    )
  }
  unknown_order_words <- fill_template(
    "; ratings do not show which of the two is better: the model favours %s, counts of votes favour
    %s or neither", system1, system2
  )
  # For each system, a sentence on the main limitation of its estimate, or an empty string.
  reservations <- x$options$reservations
  sentences <- ifelse(
    is.na(table$estimate),
    sprintf("These data do not show whether %s or %s is better.", system1, system2),
    sprintf(
      "On the same %s %s, %s%s%s.%s", format_n_cases(table$n), x$options$judges, difference_words,
      ifelse(is_undecided & !is.na(table$conf.low), undecided_text, ""),
      ifelse(table$order_known %in% FALSE & !is_tie, unknown_order_words, ""),
      # Reservations that are not empty are equal. pmax() returns one if either system has it.
      pmax(reservations[system1], reservations[system2])
    )
  )
  pair_labels <- pair_names(table)
  # Sentences contain the title of a metric (`metric_words`), not its short label (`metric`).
  titled_comparison <- x
  titled_comparison$options["metric"] <- x$options["metric_words"]
  sentence_table(
    pair_labels,
    c(sentences, if (!is.na(glance(x)$best))
      paste0(comparison_line(titled_comparison, glance(x)), ".", max(reservations))),
    c(
      sprintf("%s is better than %s.", system1, system2)[is_undecided],
      sprintf("%s and %s are equally good.", system1, system2)[is_undecided],
      if (nrow(table) > 1L && !x$options$simultaneous) "All of these intervals hold at once.",
      "The system with the best number is as good on other cases."
    ),
    rep(pair_labels[is_undecided], 2L)
  )
}

undecided_text <- "; the interval contains 0, so it remains open which is better"

format_percentage_points <- function(share) {
  sub("^(-?1 percentage point)s", "\\1", paste(format_points(share), "percentage points"))
}

say_sentences.group_comparison <- function(x) { # nolint: object_name.
  table <- tidy(x)
  is_undecided <- !(table$conf.low > 0 | table$conf.high < 0) %in% TRUE
  compares_pass_rates <- is_pass_rate(x$estimates[[1L]])
  claims <- sprintf("%s %s %s often in %s than in %s", table$system,
    if (compares_pass_rates) "passes" else "is right",
    ifelse(table$estimate < 0 & !is.na(table$estimate), "less", "more"), table$group1, table$group2)
  supported_sentences <- ifelse(
    is.na(table$conf.low),
    sprintf("These data do not show whether %s: %s.", claims, table$reason),
    sprintf(
      "On %s, the %s of %s in %s minus that in %s is estimated at %s%s%s.", format_n_cases(table$n),
      if (compares_pass_rates) "pass rate" else "accuracy",
      table$system, table$group1, table$group2,
      format_percentage_points(table$estimate),
      format_interval_with_title(table, x$options$conf_level, format_points),
      ifelse(is_undecided, undecided_text, paste0("; ", claims))
    )
  )
  sentence_table(table$system, supported_sentences, c(
    paste0(claims, ".")[is_undecided],
    sprintf("%s and %s are equally good.", table$group1, table$group2)[is_undecided],
    "Raters agree with the systems more often in one group, so the systems are better there."
  ), rep(table$system[is_undecided], 2L))
}

# Returns the methods paragraph of the first group or variable. The paragraphs of the others differ
# only in their numbers.
describe_methods.result_parts <- function(x) { # nolint: object_name.
  paragraph <- describe_methods(x[[1L]])
  first_sentence <- paste0(names(x)[[1L]], " (same methods for the others): ", paragraph[[1L]])
  replace(paragraph, 1L, first_sentence)
}

describe_methods.group_comparison <- function(x) { # nolint: object_name, object_length.
  paste(describe_methods.result_parts(x$estimates), fill_template(
    "Each group was estimated separately. Intervals of differences were constructed from the
    intervals of both groups (Zou and Donner 2008)%s%s.",
    words_if(!is.null(x$estimates[[1L]]$options$given_cluster),
      ", with the correlation of errors over the clusters that occur in both groups"),
    words_if(x$options$simultaneous, "; they cover all differences at once (Bonferroni)")
  ))
}

describe_methods.system_comparison <- function(x) { # nolint: object_name, object_length.
  options <- x$options
  table <- x$differences
  gold <- x$gold
  fill_template(
    "%s were compared by %s on the same %s%s, with %s.%s%s",
    count_noun(nrow(x$accuracy), "system"), compared_metric(x), count_noun(table$n[[1L]], "case"),
    words_if(x$left_out > 0,
      " (%s that not all systems answered were left out)", number(x$left_out)
    ),
    if (options$method %in% names(accuracy_methods)) sprintf(one_line("the method \"%s\" of the R
      package fallible: it estimates the accuracy of fallible raters from their agreement, and then
      the accuracy of systems (Lehner 2015)"), options$method) else
      "a user-defined function of the ratings, to be described here, and the R package fallible",
    words_if(!is.null(gold),
      " Differences were measured on %s with known truth and combined with predictions from ratings
      of the other cases (prediction-powered inference, Angelopoulos et al. 2023).",
      count_noun(gold$cases, "gold case")
    ),
    words_if(any_known(table$conf.low),
      " %ss and probabilities of ranks use the joint distribution of the errors of all
      systems%s; %s",
      interval_title(options$conf_level),
      words_if(is.null(gold),
        ", estimated from %s bootstrap samples of %s (Efron and Tibshirani 1993)%s",
        number(options$replicates), if (is.null(options$clusters)) "cases" else "clusters",
        words_if(options$robust, one_line(
          "; intervals also allow for errors that systems share with raters, and assume that these
          errors are more similar for systems that more often give the same answer"
        ))
      ),
      if (nrow(table) < 2L) "there is one difference." else if (options$simultaneous)
        "intervals cover all differences at once." else "each interval covers only its difference."
    )
  )
}

# ---- Alternative annotator test -----------------------------------------------------------------

say_sentences.alt_test <- function(x) { # nolint: object_name.
  table <- x$systems
  options <- x$options
  has_passed <- table$passed %in% TRUE
  supported_sentences <- ifelse(
    is.na(table$passed),
    sprintf("These ratings do not show whether %s can replace a rater: %s.", table$system,
      table$reason),
    sprintf(
      one_line("On %s, %s wins against %.0f of %s (score %s, epsilon %s), so it %s the alternative
        annotator test."),
      format_n_cases(table$cases), table$system, table$winning_rate * table$raters,
      map_chr(table$raters, count_noun, "rater"), options$score, format(options$epsilon),
      ifelse(has_passed, "passes", "does not pass")
    )
  )
  sentence_table(table$system, supported_sentences, c(
    sprintf(ifelse(has_passed, "%s is right as often as the raters.",
      "%s is worse than the raters."),
      table$system),
    if (any(has_passed)) "A system that passes can replace all raters.",
    if (nrow(table) > 1L) "The system with the highest winning rate is the most accurate.",
    "The same holds for other raters, or for other cases."
  ), table$system)
}

describe_methods.alt_test <- function(x) { # nolint: object_name.
  options <- x$options
  fill_template(
    "Whether a system can replace a rater was tested with the R package fallible by the alternative
    annotator test (Calderon et al. 2025). Each of %s in turn was compared with the system by %s, on
    cases with at least %s; raters with fewer than %s were left out. One-sided t-tests examined
    whether the lead of the rater is below epsilon = %s, with a false discovery rate of %s
    (Benjamini and Yekutieli 2001). A system passes if it wins against at least half of the
    raters.",
    count_noun(glance(x)$raters, "rater"),
    if (options$score == "accuracy") "the share of the other raters with the same answer" else
      "the root mean squared difference from the answers of the other raters",
    count_noun(options$min_raters, "rating"), format_n_cases(options$min_cases),
    format(options$epsilon), format(options$q)
  )
}

# Returns sentences about the sensitivities and base rates of a Bayesian fit. With two categories,
# they are only about the positive category, and also contain specificities. If the chains have not
# converged, no estimate is supported.
say_sentences.draws_fit <- function(x) { # nolint: object_name.
  categories <- x$x$categories
  is_binary <- length(categories) == 2L
  shown_categories <- if (is_binary) categories[[2L]] else categories
  accuracies <- test_accuracy(x)
  accuracies <- accuracies[
    accuracies$category %in% shown_categories & !is.na(accuracies$rater) &
      accuracies$measure %in% c("sensitivity", if (is_binary) "specificity"),
  ]
  term_table <- tidy(x)
  base_rates <- term_table[
    startsWith(term_table$term, "base_rate") & term_table$truth %in% shown_categories,
  ]
  common_columns <- c("rater", "estimate", limit_columns)
  table <- rbind(accuracies[common_columns], base_rates[common_columns])
  quantity_words <- c(
    paste0("the ", accuracies$measure, " of ", accuracies$rater,
      " for ", accuracies$category),
    paste0("the base rate of ", base_rates$truth,
      format_unless_missing(base_rates$population, " in %s"))
  )
  # Base rates are estimated from the cases of their population, sensitivities from all cases.
  populations <- population_labels(x$populations)
  population_cases <- tapply(pattern_weights(x$x), x$task$population, sum)
  n_cases <- c(rep(sum(population_cases), nrow(accuracies)),
    population_cases[match(base_rates$population, populations, 1L)])
  estimate_sentences <- fill_template(
    "%s, %s is estimated at %s.",
    describe_basis(list(fit = x), n_cases), quantity_words,
    sub("\\((.*%)", "(posterior median; \\1 credible", # nolint: nonportable_path.
      estimate_words(table, level_of(x), format_decimals))
  )
  assumption_sentence <- sprintf(
    "All of these estimates assume that raters err independently, given the latent class%s.",
    # " with the dependent pair a and b" becomes ", except for the dependent pair a and b".
    sub("^ with", ", except for", format_dependence(x$model) %||% "")
  )
  chains_have_mixed <- is_sufficient_mixing(worst_mixing(x))
  prior_driven_terms <- term_table$term[compare_with_prior(x)$mostly_prior]
  sentence_table(
    table$rater[chains_have_mixed],
    if (chains_have_mixed) c(estimate_sentences, assumption_sentence) else
      "The chains have not mixed, so the draws support no estimate.",
    c(
      if (!chains_have_mixed) estimate_sentences,
      if (!is_empty(prior_driven_terms)) sprintf(
        "The ratings, and not the priors, determine %s.", join_words(prior_driven_terms)
      ),
      if (count_known_truths(list(fit = x)) == 0) "Raters were compared with a gold standard.",
      "The latent class is the condition that a reference test defines.",
      if (dependence_type(x$model) == "none") "Raters err independently, given the latent class.",
      "Predictive values are the same where categories are more or less frequent."
    )
  )
}

say_sentences.fit_check <- function(x) say_sentences(x$fit) # nolint: object_name.

#' @export
describe_methods.fit_check <- function(x) { # nolint: object_name.
  describe_draws_fit(x$fit, x$sensitivity)
}

#' @export
describe_methods.draws_fit <- function(x) describe_draws_fit(x) # nolint: object_name.

# Returns the methods paragraph of a Bayesian fit. It contains the items that the reporting standard
# for Bayesian latent class models (STARD-BLCM) requires. `shifts`: a table of check_fit() with the
# shifts of posterior means under other priors; NULL if no other priors were tried.
describe_draws_fit <- function(x, shifts = NULL) {
  fit_summary <- glance(x)
  prior_comparison <- compare_with_prior(x)
  prior_driven_terms <- x$terms$term[prior_comparison$mostly_prior]
  conflicting_terms <- x$terms$term[which(prior_comparison$conflict)]
  sampling_settings <- x$sampling
  populations <- rownames(x$prior$base_rates)
  population_cases <- tapply(pattern_weights(x$x), x$task$population, sum)
  n_missing <- sum(population_cases) - ratings_of_raters(x$x)
  shift_sentence <- if (NROW(shifts) == 0L) {
    "Sensitivity to the priors was not examined; see check_fit()."
  } else {
    shifts <- shifts[order(-abs(shifts$shift)), ]
    shifts <- shifts[!duplicated(shifts$prior), ]
    fill_template(
      "The largest shift of a posterior mean, in posterior standard deviations, was %s.",
      paste(format_decimals(shifts$shift, 2L), "of", shifts$term, "with the prior",
        dQuote(shifts$prior, FALSE), collapse = " and ")
    )
  }
  fill_template(
    "The accuracy of %s was estimated without a gold standard from %s%s by a Bayesian latent class
    model (Dawid and Skene 1979; Joseph et al. 1995), the %s%s. The target condition is the
    latent class; it need not be the condition that a reference test defines. Given the latent
    class, errors were assumed to be %s, which ratings cannot confirm (Albert and Dodd 2004).
    Priors, reported as STARD-BLCM asks (Kostoulas et al. 2017): %s. The posterior was drawn by the
    R package fallible: %d chains of %s draws each after %s warm-up sweeps%s; Rhat was at most %s
    and effective sample sizes at least %s (Vehtari et al. 2021). Estimates are posterior medians;
    %ss are between quantiles of the draws. %s%s%s",
    join_words(x$x$raters), count_noun(sum(population_cases), "case"),
    words_if(any(n_missing > 0), " (without a result: %s)",
      shorten(paste(x$x$raters, format_unpadded(n_missing))[n_missing > 0])),
    format(if (is.null(populations)) x$model else replace(x$model, "base_rates", list(NULL))),
    words_if(!is.null(populations), ", with separate base rates in %s (Hui and Walter 1980)",
      join_words(sprintf("%s (%s)", populations, format_n_cases(population_cases)))),
    switch(dependence_type(x$model), none = "independent",
      pairs = "dependent as this model specifies (Dendukuri and Joseph 2001)",
      easy = "dependent as this model specifies"),
    prior_sentence(x), sampling_settings$chains, number(sampling_settings$kept),
    number(sampling_settings$warmup),
    words_if(sampling_settings$thin > 1L,
      ", with one of every %d sweeps kept", sampling_settings$thin),
    format_decimals(fit_summary$worst_rhat), number(round(fit_summary$worst_ess)),
    interval_title(level_of(x)),
    words_if(!is_empty(prior_driven_terms),
      "Estimates that depend mostly on their priors: %s. ", join_words(prior_driven_terms)),
    words_if(!is_empty(conflicting_terms),
      "The ratings contradict the priors of %s. ", join_words(conflicting_terms)),
    shift_sentence
  )
}

# Returns the priors in words, such as "base rates Beta(1, 1); stool specificity Beta(71, 4)". At
# most eight raters are listed.
prior_sentence <- function(fit) {
  base_rate_priors <- fit$prior$text$base_rates
  populations <- names2(base_rate_priors)
  rater_priors <- fit$prior$text$raters
  is_binary <- n_categories(fit$x) == 2L
  prior_words <- map_chr(rater_priors, function(prior) {
    if (length(prior) == 1L) return(prior)
    if (is_binary) toString(paste(c("specificity", "sensitivity"), prior)) else
      paste("rows", toString(prior))
  })
  rater_words <- if (n_distinct(rater_priors) == 1L && length(rater_priors) > 2L)
    paste("all raters", prior_words[[1L]]) else paste(names(rater_priors), prior_words)
  n_unlisted <- length(rater_words) - 8L
  paste(c(
    paste0("base rates", ifelse(populations == "", "", " of "), populations, " ", base_rate_priors),
    if (is_binary) paste("positive category", fit$x$categories[[2L]]),
    head(rater_words, 8L), if (n_unlisted > 0L) sprintf("and %s more raters", n_unlisted),
    switch(dependence_type(fit$model), easy = "easy cases uniform, up to the lowest accuracy",
      pairs = paste(toString(Filter(is_dependence_term, fit$terms$term)), "uniform")),
    if (fit$prior$order != "none") fill_template("truncated so that, for %s, each category is more
      probable as an answer if it is true than if it is not",
      if (fit$prior$order == "each") "each rater" else "the mean of all raters")
  ), collapse = "; ")
}

# ---- Results in documents: methods of flextable::as_flextable() and report::report() ------------

#' Tables for Word and PowerPoint, and sentences for reports
#'
#' Methods for two generics of other packages, which have to be loaded first: `library(flextable)`,
#' `library(report)`. `as_flextable(x)` converts a result to a table for Word, PowerPoint or a web
#' page. `report(x)` writes the sentences that a result supports, and a paragraph on the method.
#'
#' `as_flextable()` accepts every result of this package, also tables of [test_accuracy()],
#' [disputed_cases()] and [may_say()]. `report()` accepts results of
#' [estimate_accuracy()], [compare_systems()], [estimate_metrics()], [agreement()] and [alt_test()].
#' The methods have no other arguments than `x`.
#'
#' @name as_flextable
#' @return `as_flextable()`: an object of class `flextable`. It has the columns that `print()`
#'   shows, all rows (at most 1000), a title (except tables of sentences, cases and tests), and the
#'   notes as a footer. `report()`: a string of class `report_text`, which package \pkg{report}
#'   defines. It contains the supported sentences and the paragraph of [may_say()].
#' @family systems
#' @examplesIf requireNamespace("flextable", quietly = TRUE)
#' library(flextable)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' # A table of estimated accuracies
#' as_flextable(estimate_accuracy(x, interval = "none"))
#' @rawNamespace S3method(flextable::as_flextable,fallible_result,flextable_result)
#' @rawNamespace S3method(flextable::as_flextable,test_accuracy,flextable_result)
#' @rawNamespace S3method(flextable::as_flextable,disputed_cases,flextable_result)
#' @rawNamespace S3method(flextable::as_flextable,report_sentences,flextable_result)
#' @rawNamespace S3method(report::report,accuracy_estimate,report_result)
#' @rawNamespace S3method(report::report,system_comparison,report_result)
#' @rawNamespace S3method(report::report,metric_estimate,report_result)
#' @rawNamespace S3method(report::report,agreement,report_result)
#' @rawNamespace S3method(report::report,alt_test,report_result)
NULL

flextable_result <- function(x, ...) {
  check_installed("flextable", "to make tables for documents")
  result_data <- as.data.frame(x)
  if (nrow(result_data) > 0L) result_data <- drop_empty_columns(result_data)
  table <- flextable::flextable(shown_table(x) %||% format_view(view(result_data)))
  table <- flextable::set_caption(table, schema_of(x)$caption)
  notes <- document_notes(x)
  if (!is_empty(notes)) table <- flextable::add_footer_lines(table, notes)
  flextable::autofit(table)
}

report_result <- function(x, ...) {
  sentences <- may_say(x)
  report_text <-
    paste(c(sentences$sentence[sentences$may], may_say(x, "methods")), collapse = "\n\n")
  structure(report_text, class = c("report_text", "character"))
}
