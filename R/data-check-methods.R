# Questions that the ratings can answer, and the printed form of checks and questions.

answer_texts <- c(
  yes = "Yes", assumption = "Under an assumption", gold = "Only with gold cases", no = "No"
)

# Returns a table of typical questions about ratings `x`, a row per question. Column `answer` shows
# whether the ratings can answer the question: "yes", "assumption" (only under an assumption),
# "gold" (only with cases of known truth) or "no". `agreement_statistics`: see data_check().
list_questions <- function(x, agreement_statistics) {
  has_one_rater <- n_raters(x) < 2L
  accuracy_answer <- if (has_one_rater) {
    c("gold", one_rater_text)
  } else if (is.na(agreement_statistics$kappa)) {
    c("no", "Agreement needs at least two categories, and a case with two ratings.")
  } else if (agreement_statistics$at_chance && !agreement_statistics$unequal) {
    c("no", "Raters agree no better than by chance.")
  } else if (agreement_statistics$unequal) {
    c("assumption", as_sentence(reason_needs_unequal_raters))
  } else if (agreement_statistics$kappa <= 0) {
    c("gold", paste0("Raters ", agreement_by_chance_words, "."))
  } else if (any(leading_categories(x)$chance)) {
    c("gold", as_sentence(may_be_chance_text))
  } else {
    c("assumption", "If raters err independently.")
  }
  # Returns a vector for a question about systems: the answer and its reason, which are given as
  # `...`. If there are no systems, the answer is "no", and a third element is a code of the reason.
  answer_on_systems <- function(...) {
    if (n_systems(x) > 0L) c(...) else c("no", "There are no systems.", "no_systems")
  }
  alt_test_obstacle <- tryCatch(
    check_alt_ratings(drop_constant_systems(check_several_raters(merge_reruns(x)))),
    fallible_error = message_in_one_line, fallible_warning_assumption = message_in_one_line
  )
  answers_by_question <- list(
    "How far do raters agree?" = if (is.na(agreement_statistics$share))
      c("no", "No case has two ratings.") else c("yes", "See `agreement()`."),
    "How accurate are the raters?" = accuracy_answer,
    "How accurate are the systems?" = answer_on_systems(accuracy_answer),
    "Which system is better?" = if (n_systems(x) > 1L) {
      if (has_one_rater) accuracy_answer else
        c("assumption", "If systems share errors with the raters equally.")
    } else {
      answer_on_systems("no", one_line("There is one system. To compare it in groups of cases, use
        `by` of `estimate_accuracy()`, and `compare_systems()`."))
    },
    "Can a model replace a rater?" = if (is.null(alt_test_obstacle)) {
      c("yes", "See `alt_test()`.")
    } else {
      answer_on_systems("no", alt_test_obstacle)
    },
    "Do systems err where the raters err?" = answer_on_systems("gold", "See `plan_gold()`."),
    "Are all raters wrong in the same way?" = c("gold", "Ratings cannot show it.")
  )
  pick_elements <- function(i) unname(map_chr(answers_by_question, `[`, i)) # NA without a code
  columns_tibble(
    question = names(answers_by_question), answer = pick_elements(1L), reason = pick_elements(2L),
    why = pick_elements(3L)
  )
}

# Creates the result of data_check(). `checks`: a table with a row per check. `questions`: a result
# of list_questions(). `totals`: one-row summary of the ratings, from glance().
new_data_check <- function(checks, questions, totals) {
  status_line <- toString(map_chr(c("problem", "doubt"), function(status) {
    check_names <- checks$check[checks$status == status]
    paste0(
      count_noun(length(check_names), status),
      if (!is_empty(check_names)) sprintf(" (%s)", toString(check_names))
    )
  }))
  shown_checks <- replace_na(checks, "")
  passed_checks <- shown_checks[checks$status == "ok", ]
  new_result("data_check",
    tables = list(checks = checks, questions = questions),
    facts = c(
      list(
        problems = sum(checks$status == "problem"), doubts = sum(checks$status == "doubt"),
        checks = nrow(checks)
      ),
      totals[c("cases", "raters", "systems", "categories")]
    ),
    line = status_line, caption = paste("What these ratings can show:", status_line),
    head = status_line,
    shown = view(shown_checks, most = 0L),
    notes = c(
      note(trimws(c(
        lines_of_checks(shown_checks[checks$status != "ok", ]),
        if (nrow(passed_checks) > 0L) paste("In order:", paste(
          ifelse(passed_checks$found == "none", paste("no", passed_checks$check),
            passed_checks$found), collapse = "; "
        )), "", heading_of_questions
      )), "heading"),
      unique(sprintf(
        "  %s %s. %s",
        ifelse(is.na(questions$why), questions$question, "Questions on systems:"),
        answer_texts[questions$answer], questions$reason
      ))
    ),
    more = "tidy(what = \"questions\"), check_k_properties(), plot()"
  )
}

heading_of_questions <- "Questions that these ratings can answer"

lines_of_checks <- function(failed) {
  paste0(
    c(doubt = "? ", problem = "! ")[failed$status], failed$check, ": ", failed$found, ". ",
    failed$advice, recycle0 = TRUE
  )
}

# Returns the printed text on failed checks for data checks of several variables. `parts`: a list
# with the data check of each variable.
notes_of_checks <- function(parts) {
  lines <- lapply(unclass(parts), function(part) {
    lines_of_checks(part$checks[part$checks$status != "ok", ])
  })
  note(c(merge_part_notes(lines), "", heading_of_questions), "heading")
}

# Returns sentences about problems of the fitted ratings, which printed estimates show. `is_gold`:
# are all estimates computed from gold cases? If TRUE, systems are not checked.
panel_problems <- function(fit, is_gold) {
  x <- fit$x
  agreement_statistics <- list(
    share = fit$agreement, kappa = kappa_of_agreement(x, fit$agreement),
    at_chance = fit$identified != "yes"
  )
  checks <- rbind(
    if (!agreement_statistics$at_chance) finding_on_agreement(agreement_statistics, x),
    finding_on_constant_raters(x), finding_on_duplicates(x), if (!is_gold) finding_on_systems(x)
  )
  # Besides problems, one doubt is shown: near-perfect agreement of raters whose kind the user did
  # not declare.
  is_nearly_copied <- checks$check == "duplicates" & checks$status == "doubt" &
    panel_kind(x) == "undeclared"
  shown_checks <- checks[checks$status == "problem" | is_nearly_copied, ]
  findings <- ifelse(shown_checks$check == "agreement", "", paste0(shown_checks$found, ". "))
  paste0(findings, shown_checks$advice, recycle0 = TRUE)
}

# ---- Systems whose answers seem to be made from the ratings --------------------------------------

follower_prefix <- "Nearly always a consensus label, also where such labels are doubtful: "

follower_advice <- one_line("If these answers were made or learnt from these ratings, the ratings
  cannot show their accuracy; cases of known truth can.")

note_of_followers <- function(followers) {
  if (!is_empty(followers)) paste0(follower_prefix, shorten(followers), ". ", follower_advice)
}

# Replaces estimates and limits of intervals by NA in the rows of systems in `followers`, and in
# rows of pairs with such a system. Sentences and decisions therefore do not use these numbers.
# `table`: a row per system or pair of systems. `followers`: a result of find_followers().
without_followers <- function(table, followers) {
  name_columns <- table[startsWith(names(table), "system")]
  has_follower <- Reduce(`|`, lapply(name_columns, `%in%`, followers))
  table[has_follower, c("estimate", limit_columns)] <- NA
  names_of_followers <- map_chr(which(has_follower), function(row) {
    shorten(intersect(unlist(name_columns[row, ]), followers))
  })
  table$reason[has_follower] <-
    sprintf("answers of %s seem to be made or learnt from these ratings", names_of_followers)
  table
}

# Returns the names of systems whose answers seem to be made from the ratings, for example by
# majority vote. Answers are compared with three sets of labels: the most frequent category, the
# labels of dawid_skene(), and those of ground_truth(x).
consensus_systems <- function(x) {
  x <- with_votes(x)
  counts <- pattern_counts(x)
  has_disagreement <- row_maximum(counts) < rowSums(counts)
  answers <- pattern_answers(x)
  share_among_ratings <- apply(answers, 2L, function(answer) {
    compared_patterns <- which(answer > 0L & rowSums(counts) > 1)
    mean(counts[cbind(compared_patterns, answer[compared_patterns])] > 0)
  })
  # For speed, labels are computed only if some system nearly always gives a category that at least
  # one rater of the case chose.
  if (!any(share_among_ratings > 0.9, na.rm = TRUE)) return(character())
  labels <- without_warnings(average_labels(x))
  posterior <- if (has_counts(x)) labels$posterior else
    fit_around_centre(FALSE, x, nothing_known, NULL)[[1L]]$posterior
  weights <- weights_of_labels(x)
  is_follower_by_label_set <- lapply(list(
    counts, posterior,
    pick_rows(finish_labels(set_average_defaults(labels))$posterior, matching_patterns(labels$x, x))
  ), function(scores) {
    label <- max.col(scores, "first")
    probability <- posterior[cbind(seq_along(label), label)]
    # The check uses cases in which raters disagree and the label is doubtful.
    is_doubtful <- probability < 0.9 & label == max.col(scores, "last") & has_disagreement
    apply(answers, 2L, function(answer) {
      weights <- weights * (is_doubtful & answer > 0L)
      n <- sum(weights)
      n_equal <- sum(weights[answer == label])
      # Does the system agree with the labels more often than the labels are right? With independent
      # errors, this happens only by chance.
      isTRUE(n >= 20 && n_equal >= 0.99 * n &&
        binomial_upper_tail(n_equal, n, sum(weights * probability) / n) < 0.01)
    })
  })
  x$systems[Reduce(`|`, is_follower_by_label_set)]
}

#' Plot of a data check
#'
#' Draws one row per check: a point whose colour and shape show the status (`"ok"`, `"doubt"` or
#' `"problem"`), and the finding in words.
#'
#' @param object A [data_check()] result.
#' @param ... For `plot()`: the strings `title` and `subtitle`, which replace the title of the plot
#'   and add a line below it. Not used by `autoplot()`.
#' @inherit autoplot.ratings return
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(data_check(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)))
#' @method autoplot data_check
#' @rawNamespace S3method(ggplot2::autoplot,data_check)
autoplot.data_check <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  check_table <- tidy(object)
  check_table$check <- factor(check_table$check, rev(check_table$check))
  check_table$status <- factor(check_table$status, c("ok", "doubt", "problem"))
  check_table$found <- map_chr(check_table$found, wrap_text, 60L)
  start_plot(check_table, y = "check") +
    ggplot2::geom_point(
      ggplot2::aes(0, colour = .data$status, shape = .data$status), size = 4, show.legend = TRUE
    ) +
    ggplot2::geom_text(
      ggplot2::aes(0.04, label = .data$found), hjust = 0, size = 3.2, lineheight = 0.9
    ) +
    colour_scale(c("main", "muted", "accent"), drop = FALSE) +
    shape_scale(c(16, 17, 15), drop = FALSE) +
    ggplot2::scale_x_continuous(limits = c(-0.05, 1.3), breaks = NULL) +
    plot_titles("What these ratings can show", colour = NULL, shape = NULL) +
    ggplot2::theme(panel.grid = ggplot2::element_blank())
}
