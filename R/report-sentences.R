# Sentences about results, and paragraphs on how they came about.

#' Sentences about results
#'
#' What may be said of a result, with its interval and what it rests on, and what may not, though it
#' is often said; and a paragraph on the method, with its references.
#'
#' Of tests without a gold standard that paragraph has what STARD-BLCM asks for (Kostoulas et al.,
#' 2017): the priors (item 14a), what other priors would say (14b), and that the target condition is
#' the latent class.
#'
#' @param x A result of [estimate_accuracy()], [compare_systems()], [estimate_metrics()] or
#'   [agreement()]; for `"methods"` also a [fit_raters()] result with `method = "bayes"`, or a
#'   [check_fit()] of it, which adds what other priors say.
#' @param what `"sentences"` or `"methods"`.
#' @return For `"sentences"`, a tibble with columns `system` (a pair of them, `"a - b"`, where they
#'   are compared; `NA` where a sentence is about all), `may` (may it be said?) and `sentence`. For
#'   `"methods"`, a character vector: the paragraph, and then each of the works that it cites.
#' @family systems
#' @references Kostoulas, P., Nielsen, S. S., Branscum, A. J., Johnson, W. O., Dendukuri, N., Dhand,
#'   N. K., Toft, N. and Gardner, I. A. (2017). STARD-BLCM: Standards for the Reporting of
#'   Diagnostic accuracy studies that use Bayesian Latent Class Models. *Preventive Veterinary
#'   Medicine*, 138, 37-47. \doi{10.1016/j.prevetmed.2017.01.006}
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate <- estimate_accuracy(x, interval = "none")
#' may_say(estimate)
#' writeLines(strwrap(may_say(estimate, "methods")))
#' may_say(agreement(x))$sentence
#' @export
may_say <- function(x, what = c("sentences", "methods")) {
  check_given()
  what <- check_choice(what)
  ok <- c("accuracy_estimate", "system_comparison", "metric_estimate", "agreement")
  if (what == "methods") ok <- c(ok, "draws_fit", "fit_check")
  abort_argument_if(!inherits(x, ok), "x",
    "must be a result of {.fun estimate_accuracy}, {.fun compare_systems}, {.fun estimate_metrics}
        or {.fun agreement}.", not = x)
  if (what == "methods") return(with_references(say_methods(x)))
  said <- say_sentences(x)
  structure(said, class = c("said_sentences", class(said)))
}

#' @export
print.said_sentences <- function(x, ...) {
  cat_lines(
    "You may say:", paste("  *", x$sentence[x$may], recycle0 = TRUE),
    "You may not say:", paste("  *", x$sentence[!x$may], recycle0 = TRUE)
  )
  invisible(x)
}

say_sentences <- function(x) UseMethod("say_sentences")

# A paragraph that cites works by the names of `references`, or whole.
say_methods <- function(x) UseMethod("say_methods")

with_references <- function(words) {
  cited <- vapply(names(references), grepl, NA, x = words, fixed = TRUE)
  c(words, unname(references[cited]))
}

references <- c(
  "Angelopoulos et al. 2023" = "Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. and
    Zrnic, T. (2023). Prediction-powered inference. Science, 382, 669-674.
    doi:10.1126/science.adi6000",
  "Dawid and Skene 1979" = "Dawid, A. P. and Skene, A. M. (1979). Maximum likelihood estimation of
    observer error-rates using the EM algorithm. Applied Statistics, 28(1), 20-28.
    doi:10.2307/2346806",
  "Efron and Tibshirani 1993" = "Efron, B. and Tibshirani, R. J. (1993). An Introduction to the
    Bootstrap. Chapman and Hall.",
  "Gwet 2014" = "Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, 4th edition. Advanced
    Analytics.",
  "Hoeting et al. 1999" = "Hoeting, J. A., Madigan, D., Raftery, A. E. and Volinsky, C. T. (1999).
    Bayesian model averaging: a tutorial. Statistical Science, 14(4), 382-417.
    doi:10.1214/ss/1009212519",
  "Landis and Koch 1977" = "Landis, J. R. and Koch, G. G. (1977). The measurement of observer
    agreement for categorical data. Biometrics, 33(1), 159-174. doi:10.2307/2529310",
  "Lee, Barber and Willett 2023" = "Lee, Y., Barber, R. F. and Willett, R. (2023).
    Distribution-free inference with hierarchical data. arXiv 2306.06342.",
  "Lehner 2015" = "Lehner, P. E. (2015). Estimating the accuracy of automated classification systems
    using only expert ratings that are less accurate than the system. Journal of Modern Applied
    Statistical Methods, 14(1), Article 13. doi:10.22237/jmasm/1430453520"
)
references[] <- gsub("\\s+", " ", references)

# Those of `system` that may be said, and then those that may not.
sentence_table <- function(system, may, not, of = rep(NA, length(not))) {
  columns_tibble(
    system = c(system, of), may = rep(c(TRUE, FALSE), c(length(may), length(not))),
    sentence = c(may, not)
  )
}

# Titles that are no names begin small.
in_sentence <- function(titles) {
  small <- grepl("^[A-Z][a-z-]+( |$)", titles) & !grepl("'", titles, fixed = TRUE)
  ifelse(small, paste0(tolower(substr(titles, 1L, 1L)), substring(titles, 2L)), titles)
}

# ---- Accuracy ------------------------------------------------------------------------------------

say_sentences.accuracy_estimate <- function(x) {
  table <- tidy(x)
  known <- !is.na(table$estimate)
  gold <- cases_of_known_truth(x)
  cases <- nrow(x$fit$x)
  may <- ifelse(
    known,
    paste0(
      on_cases(x, table$n), ", the accuracy of ", table$system, " is estimated at ", format(x), ".",
      ifelse(gold == cases | rests_on_gold(x), "", if (rests_on_machines(x)) {
        " Such raters often err on the same cases; the interval shows how far off others were."
      } else {
        both_ends_words(table)
      })
    ),
    paste0("These ratings do not say how accurate ", table$system, " is.")
  )
  of_each <- paste0(table$system, ifelse(
    known, paste0(" is ", whole_percent(table$estimate), " accurate."),
    " is no better than chance."
  ))
  of_all <- c(
    if (gold < cases) {
      paste0("The systems were validated against the truth", if (gold > 0L) " of all cases", ".")
    },
    if (nrow(table) > 1L) "The system with the highest number is the best one.",
    "The same accuracy holds for other cases."
  )
  sentence_table(table$system, may, c(of_each, of_all), c(table$system, rep(NA, length(of_all))))
}

on_cases <- function(estimate, n) {
  paste0(
    "On ", vapply(n, count_noun, "", "case"), " judged by ",
    raters_in_words(estimate), " ", truth_words(estimate)
  )
}

raters_in_words <- function(estimate) {
  machines <- panel_kind(estimate) == "machines"
  count_noun(glance(estimate)$raters, "rater", if (machines) machines_of(estimate) else "raters")
}

# How many cases of an estimate had a known truth: those that measure, or that a fit was given.
cases_of_known_truth <- function(estimate) {
  if (!is.null(estimate$gold)) return(length(estimate$gold$case))
  fit <- estimate$fit
  sum(known_patterns(fit)[pattern_of_case(fit$x)])
}

truth_words <- function(estimate) {
  gold <- cases_of_known_truth(estimate)
  if (gold == 0L) return("without known truth")
  chosen <- switch(estimate$gold$sample %||% "none",
    random = " (a random sample)", none = "", " (chosen with known probabilities)"
  )
  cases <- nrow(estimate$fit$x)
  if (gold == cases) chosen <- ""
  paste0("with known truth of ", number(gold), " of ", count_noun(cases, "case"), chosen)
}

# Both ends of what the ratings cannot tell, where they are known.
both_ends_words <- function(table) {
  low <- whole_percent(pmin(table$shared, table$independent))
  high <- whole_percent(pmax(table$shared, table$independent))
  ifelse(is.na(table$shared) | is.na(table$independent), "", paste0(
    " Ratings cannot show how many errors it shares with the raters; ",
    ifelse(low == high, paste("however many, the estimate is", low),
      paste("depending on this, the estimate is between", low, "and", high)),
    "."
  ))
}

say_methods.accuracy_estimate <- function(x) {
  ratings <- x$fit$x
  facts <- glance(x)
  paste(c(
    paste0(
      "Accuracy was estimated from ",
      count_noun(sum(pattern_lengths(ratings)[pattern_of_case(ratings)]), "rating"), " of ",
      count_noun(nrow(ratings), "case"), " by ", count_noun(length(ratings$raters), "rater"),
      " in ", count_noun(length(ratings$categories), "category", "categories"), ", ",
      truth_words(x), ", with the R package fallible: the agreement of fallible raters shows ",
      "their accuracy, and so that of systems (Lehner 2015). ", percent(facts$agreement),
      " of pairs of ratings agree."
    ),
    method_of(x)$explain(x), if (has_interval(x)) interval_of(x)$explain(x)
  ), collapse = " ")
}

# ---- Comparisons ---------------------------------------------------------------------------------

say_sentences.system_comparison <- function(x) {
  table <- better_first(tidy(x))
  pair <- paste(table$system1, "-", table$system2)
  first <- surely_better(x, table) %in% TRUE
  second <- surely_better(x, table, "system2") %in% TRUE
  claimed <- if (is.null(x$options$metric)) {
    more_accurate_words(table, first, x$options$conf_level)
  } else {
    paste0(
      "the ", compared_metric(x), " of ", table$system1, " less that of ", table$system2,
      " is estimated at ", estimate_words(table, x$options$conf_level, decimals),
      ifelse(first | second, paste0("; ", ifelse(first, table$system1, table$system2),
        " is the better one"), "")
    )
  }
  undecided <- !first & !second & !is.na(table$conf.low)
  sentences <- paste0(
    "On the same ", vapply(table$n, count_noun, "", "case"), ", ", claimed,
    ifelse(undecided, "; the interval includes no difference, so which is better remains open", ""),
    "."
  )
  unknown <- is.na(table$estimate)
  sentences[unknown] <- paste0(
    "These data do not say whether ", table$system1, " or ", table$system2, " is better."
  )[unknown]
  open <- which(!first & !second)
  of_best <- glance(x)
  of_all <- c(
    if (nrow(table) > 1L && !x$options$simultaneous) "All of these intervals hold at once.",
    "The system with the best number is as good on other cases."
  )
  sentence_table(
    c(pair, if (!is.na(of_best$best)) NA),
    c(sentences, if (!is.na(of_best$best)) paste0(format(x), ".")),
    c(
      paste0(table$system1, " is better than ", table$system2, ".")[open],
      paste0(table$system1, " and ", table$system2, " are equally good.")[open], of_all
    ),
    c(pair[open], pair[open], rep(NA, length(of_all)))
  )
}

# The first of each pair has the higher accuracy.
more_accurate_words <- function(table, sure, level) {
  points <- function(value) formatC(100 * value, format = "f", digits = 0L)
  ends <- paste0(
    " (", interval_title(level), " ", points(table$conf.low), " to ", points(table$conf.high), ")"
  )
  paste0(
    table$system1, ifelse(sure, " is", " looks"), " more accurate than ", table$system2, " by ",
    points(table$estimate), " percentage points", ifelse(is.na(table$conf.low), "", ends)
  )
}

say_methods.system_comparison <- function(x) {
  options <- x$options
  table <- x$differences
  paste(c(
    paste0(
      count_noun(nrow(x$accuracy), "system"), " were compared by ", compared_metric(x), " on the ",
      "same ", count_noun(table$n[[1L]], "case"),
      if (x$left_out > 0) paste0(" (", number(x$left_out), " that not all of them answered were ",
        "left out)"),
      ", with the method \"", options$method, "\" of the R package fallible: the agreement of ",
      "fallible raters shows their accuracy, and so that of systems (Lehner 2015)."
    ),
    if (!is.null(x$gold)) {
      paste0(
        "Differences were measured on ", count_noun(x$gold$cases, "gold case"), " with known ",
        "truth and corrected by what ratings predict of the others (prediction-powered inference, ",
        "Angelopoulos et al. 2023)."
      )
    },
    if (!all(is.na(table$conf.low))) {
      paste0(
        interval_title(options$conf_level), "s and probabilities of ranks are of the errors of ",
        "all systems together", if (is.null(x$gold)) {
          paste0(
            ", which vary as in ", number(options$replicates), " bootstrap samples of ",
            if (is.null(options$clusters)) "cases" else "clusters",
            " (Efron and Tibshirani 1993)", if (options$robust) {
              paste(
                "; added to this is an allowance for errors that systems share with raters, which",
                "is the more alike for two systems the more often they give the same answer"
              )
            }
          )
        }, "; ", if (nrow(table) < 2L) {
          "there is one difference."
        } else if (options$simultaneous) {
          "intervals cover all differences at once."
        } else {
          "each interval is for its pair alone."
        }
      )
    }
  ), collapse = " ")
}

# ---- Metrics -------------------------------------------------------------------------------------

say_sentences.metric_estimate <- function(x) {
  table <- x$table
  one <- x$estimates[[1L]]
  titles <- in_sentence(vapply(x$plan$records, `[[`, "", "title")[table$metric])
  group <- if (x$options$grouped) paste0(" in group ", table$group) else ""
  what <- paste0(
    "the ", titles, ifelse(is.na(table$average), "", paste0(" (", average_words(table$average),
      " average)")),
    ifelse(is.na(table$category), "", paste0(" for ", table$category)), " of ", table$system, group
  )
  may <- ifelse(
    is.na(table$estimate),
    paste0("These ratings do not say what ", what, " is (", table$reason, ")."),
    paste0(
      on_cases(one, table$n), ", ", what, " is estimated at ",
      estimate_words(table, x$options$conf_level, decimals), "."
    )
  )
  not <- c(
    if (cases_of_known_truth(one) < nrow(one$fit$x)) {
      "These metrics were measured against the truth."
    },
    "The same holds where categories are more or less frequent than in these cases.",
    if (!all(is.na(table$category))) {
      "The category with the lowest number is the one that the system knows least."
    }
  )
  sentence_table(table$system, may, not)
}

say_methods.metric_estimate <- function(x) {
  records <- Filter(function(record) record$reference != by_name, x$plan$records)
  field <- function(name) vapply(records, `[[`, "", name)
  paste0(
    say_methods(x$estimates[[1L]]), " Other metrics are those of the expected joint table of ",
    "truth and answer, to which each case counts for every category with its posterior probability",
    if (!all(is.na(x$table$conf.low))) {
      switch(if (accuracy_intervals()[[x$options$interval]]$delta) "delta" else "percentiles",
        delta = "; their intervals are by the delta method",
        percentiles = "; their intervals are percentiles of bootstrap samples"
      )
    },
    ". Definitions are those of R package yardstick",
    if (length(records) > 0L) {
      paste0(" (", paste0(field("title"), ": ", field("reference"), collapse = "; "), ")")
    }, "."
  )
}

# ---- Agreement -----------------------------------------------------------------------------------

say_sentences.agreement <- function(x) {
  about <- attr(x, "about")
  title <- in_sentence(measure_titles(x$measure, about$scale_name)[as.character(x$measure)])
  who <- if (about$pairwise) {
    paste(x$rater1, "and", x$rater2)
  } else {
    count_noun(length(about$judges), "rater")
  }
  may <- paste0(
    "On ", vapply(x$n, count_noun, "", "case"), ", ", title, " of ", who,
    if (about$by_category) paste0(" for ", x$category), " is ",
    estimate_words(x, about$conf_level, function(value) decimals(value, 2L)),
    ifelse(is.na(x$benchmark) | x$benchmark == "poor", "", paste0(
      "; with probability ", format(about$conf_level), " it is \"", x$benchmark, "\" or better"
    )), "."
  )
  best <- which.max(x$estimate)
  not <- c(
    "Raters are right as often as they agree.",
    "Raters who agree are right.",
    "The same holds for other raters, or where categories are more or less frequent.",
    if (sum(!is.na(x$estimate)) > 1L && !about$pairwise && !about$by_category) {
      paste0("Agreement is ", decimals(x$estimate[[best]], 2L), " (the highest of all measures).")
    }
  )
  sentence_table(rep(NA, nrow(x)), may, not)
}

say_methods.agreement <- function(x) {
  about <- attr(x, "about")
  records <- all_measures()[unique(as.character(x$measure))]
  paste0(
    "Agreement of ", count_noun(length(about$judges), "rater"), " on ",
    count_noun(max(0, x$n), "case"), " was measured with the R package fallible by ",
    paste0(
      in_sentence(measure_titles(x$measure, about$scale_name)), " (",
      vapply(records, function(record) record$reference %||% "own measure", ""), ")",
      collapse = "; "
    ), ".",
    if (!all(is.na(x$conf.low))) {
      facts <- glance(x)
      paste0(
        " The ", interval_title(facts$conf_level), "s are ", if (is.na(facts$replicates)) {
          paste(
            "by", if (about$interval == "analytic") "linearisation" else "the jackknife",
            "over cases with Student's t (Gwet 2014)."
          )
        } else {
          paste(
            "percentiles of", number(facts$replicates), "bootstrap samples of cases (Efron and",
            "Tibshirani 1993)."
          )
        }
      )
    },
    if (!all(is.na(x$benchmark))) {
      paste(
        " Words for agreement (Landis and Koch 1977) are the highest that are reached or exceeded",
        "with this probability (Gwet 2014)."
      )
    }
  )
}
