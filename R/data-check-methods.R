# Questions that the ratings can answer, and the printed form of checks and questions.

answer_words <- c(
  yes = "Yes", assumption = "Under an assumption", gold = "Only with gold cases", no = "No"
)

# Returns a table of typical questions. Column `answer` shows whether the ratings answer a question:
# "yes", "assumption" (only under an assumption), "gold" (only with gold cases) or "no".
list_questions <- function(x, agreement_facts) {
  accuracy <- if (is.na(agreement_facts$kappa)) {
    c("no", "Agreement needs at least two categories, and a case with two ratings.")
  } else if (agreement_facts$at_chance && !agreement_facts$unequal) {
    c("no", "Raters agree no better than by chance.")
  } else if (agreement_facts$unequal) {
    c("assumption", as_sentence(need_unequal))
  } else if (agreement_facts$kappa <= 0) {
    c("gold", paste0("Raters ", agreement_by_chance_words, "."))
  } else if (any(leading_categories(x)$chance)) {
    c("gold", "The agreement of raters may be chance.")
  } else {
    c("assumption", "If raters err independently.")
  }
  # Returns `answer` and `reason` of a question about systems. If there are no systems, the answer
  # is "no", and a third element is the code of the reason.
  of_systems <- function(...) {
    if (n_systems(x) > 0L) c(...) else c("no", "There are no systems.", "no_systems")
  }
  test_obstacle <- tryCatch(
    check_alt_ratings(without_constant(merge_reruns(x))), fallible_error = in_one_line
  )
  answers <- list(
    "How far do raters agree?" = if (is.na(agreement_facts$share))
      c("no", "No case has two ratings.") else c("yes", "See `agreement()`."),
    "How accurate are the raters?" = accuracy,
    "How accurate are the systems?" = of_systems(accuracy),
    "Which system is better?" = if (n_systems(x) > 1L) {
      c("assumption", "If systems share errors with the raters equally.")
    } else {
      of_systems("no", paste("There is one system. To compare it in groups of cases, use `by` of",
        "`estimate_accuracy()`, and `compare_systems()`."))
    },
    "Can a model replace a rater?" = if (is.null(test_obstacle)) c("yes", "See `alt_test()`.") else
      of_systems("no", test_obstacle),
    "Do systems err where the raters err?" = of_systems("gold", "See `plan_gold()`."),
    "Are all raters wrong in the same way?" = c("gold", "Ratings cannot show it.")
  )
  part <- function(i) unname(map_chr(answers, `[`, i)) # NA where there is no code
  columns_tibble(question = names(answers), answer = part(1L), reason = part(2L), why = part(3L))
}

# Creates the result of data_check(). It is printed as sentences in the console, and as a table of
# checks in documents (knitr).
new_data_check <- function(checks, questions, facts) {
  line <- toString(map_chr(c("problem", "doubt"), function(status) {
    names <- checks$check[checks$status == status]
    paste0(count_noun(length(names), status), if (length(names) > 0L) paste0(
      " (", toString(names), ")"
    ))
  }))
  shown <- replace(checks, is.na(checks), "")
  passed <- shown[checks$status == "ok", ]
  failed <- shown[checks$status != "ok", ]
  new_result("data_check",
    tables = list(checks = checks, questions = questions),
    facts = c(
      list(
        problems = sum(checks$status == "problem"), doubts = sum(checks$status == "doubt"),
        checks = nrow(checks)
      ),
      facts[c("cases", "raters", "systems", "categories")]
    ),
    line = line, caption = paste("What these ratings can show:", line), head = line,
    shown = view(shown, most = 0L),
    notes = c(
      note(trimws(c(
        lines_of_checks(failed),
        if (nrow(passed) > 0L) paste("In order:", paste(
          ifelse(passed$found == "none", paste("no", passed$check), passed$found), collapse = "; "
        )), "", heading_of_questions
      )), "heading"),
      unique(sprintf(
        "  %s %s. %s",
        ifelse(is.na(questions$why), questions$question, "Questions on systems:"),
        answer_words[questions$answer], questions$reason
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

# Notes above the questions of data checks of several variables.
notes_of_checks <- function(parts) {
  lines <- lapply(unclass(parts), function(part) {
    lines_of_checks(part$checks[part$checks$status != "ok", ])
  })
  note(c(merge_part_notes(lines), "", heading_of_questions), "heading")
}

#' Plot of a data check
#'
#' Draws one row per check: a point whose colour and shape show the status, and the finding in
#' words.
#'
#' @param object A [data_check()] result.
#' @param ... For `plot()`: `title` and `subtitle`, see [autoplot()].
#' @inherit autoplot.ratings return
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(data_check(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)))
#' @method autoplot data_check
#' @rawNamespace S3method(ggplot2::autoplot,data_check)
autoplot.data_check <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  table <- tidy(object)
  table$check <- factor(table$check, rev(table$check))
  table$status <- factor(table$status, c("ok", "doubt", "problem"))
  table$found <- map_chr(table$found, wrap_text, 60L)
  picture(table, y = "check") +
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
