# Sentences about comparisons of systems and of groups, see may_say().

say_sentences.system_comparison <- function(x) { # nolint: object_name, object_length.
  table <- better_first(tidy(x))
  one <- table$system1
  two <- table$system2
  first <- surely_better(x, table) %in% TRUE
  second <- surely_better(x, table, "system2") %in% TRUE
  open <- !first & !second
  level <- x$options$conf_level
  claimed <- if (is.null(x$options$metric)) {
    # The first of each pair has the higher accuracy.
    points <- function(value) formatC(100 * value, format = "f", digits = 0L)
    ends <- sprintf(
      " (%s %s to %s)", interval_title(level), points(table$conf.low), points(table$conf.high)
    )
    sprintf(
      "%s %s more accurate than %s by %s percentage points%s", one,
      ifelse(first, "is", "looks"), two, points(table$estimate),
      ifelse(is.na(table$conf.low), "", ends)
    )
  } else {
    sprintf(
      "the %s of %s less that of %s is estimated at %s%s", compared_metric(x), one, two,
      estimate_words(table, level, decimals),
      ifelse(open, "", paste0("; ", ifelse(first, one, two), " is the better one"))
    )
  }
  undecided <- "; the interval includes no difference, so which is better remains open"
  unknown <- sprintf(
    paste("; ratings do not show which of the two is better: by the model %s,",
      "by counting votes %s or both"), one, two
  )
  sentences <- ifelse(
    is.na(table$estimate),
    sprintf("These data do not say whether %s or %s is better.", one, two),
    sprintf(
      "On the same %s, %s%s%s.", cases_words(table$n), claimed,
      ifelse(open & !is.na(table$conf.low), undecided, ""),
      ifelse(table$order_known %in% FALSE, unknown, "")
    )
  )
  pair <- paste(one, "-", two)
  best <- if (!is.na(glance(x)$best)) paste0(format(x), ".")
  of_all <- c(
    if (nrow(table) > 1L && !x$options$simultaneous) "All of these intervals hold at once.",
    "The system with the best number is as good on other cases."
  )
  sentence_table(
    c(pair, rep(NA, length(best))), c(sentences, best),
    c(
      sprintf("%s is better than %s.", one, two)[open],
      sprintf("%s and %s are equally good.", one, two)[open], of_all
    ),
    c(pair[open], pair[open], rep(NA, length(of_all)))
  )
}

say_sentences.group_comparison <- function(x) { # nolint: object_name.
  table <- better_first(tidy(x))
  first <- x$estimates[[1L]]
  points <- function(value) format(round(100 * value) + 0)
  open <- !(table$conf.low > 0) %in% TRUE
  verb <- if (is_pass_rate(first)) "passes" else "is right"
  more <- paste(table$system, verb, "more often in", table$group1, "than in", table$group2)
  may <- ifelse(
    is.na(table$conf.low),
    sprintf("These data do not show whether %s: %s.", more, table$reason),
    sprintf("On %s, %s, by %s percentage points (%s %s to %s)%s.", cases_words(table$n),
      more, points(table$estimate), interval_title(x$options$conf_level), points(table$conf.low),
      points(table$conf.high), ifelse(open,
        "; the interval includes no difference, so which is better remains open", ""))
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
