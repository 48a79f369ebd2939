# Questions that the ratings can answer, and the printed form of checks and questions.

answer_words <- c(
  yes = "Yes", assumption = "Under an assumption", gold = "Only with gold cases", no = "No"
)

# Typical questions and whether the ratings answer them: "yes", "assumption" (only under an
# assumption), "gold" (only with gold cases) or "no".
list_questions <- function(x, agreed) {
  silent <- is.na(agreed$kappa) || agreed$at_chance && !agreed$unequal
  only_gold <- !silent && agreed$kappa <= 0 && !agreed$unequal
  accuracy <- if (silent) "no" else if (only_gold) "gold" else "assumption"
  why <- if (silent) {
    "They agree no better than by chance."
  } else if (only_gold) {
    paste0("They ", chance_beyond_shares, ".")
  } else if (agreed$unequal) {
    sentence(need_unequal)
  } else {
    "If they err independently."
  }
  systems <- n_systems(x)
  of_systems <- function(words, otherwise) if (systems > 0L) words else otherwise
  none <- "There are no systems."
  columns_tibble(
    question = c(
      "How far do raters agree?", "How accurate are the raters?", "How accurate are the systems?",
      "Which system is better?", "Can a model replace a rater?",
      "Do systems err where the raters err?", "Are all raters wrong in the same way?"
    ),
    answer = c(
      "yes", accuracy, of_systems(accuracy, "no"), if (systems > 1L) "assumption" else "no",
      of_systems("yes", "no"), of_systems("gold", "no"), "gold"
    ),
    reason = c(
      "See `agreement()`.", why, of_systems(why, none),
      if (systems > 1L) "If they share errors equally." else "There are fewer than two systems.",
      of_systems("See `alt_test()`.", none), of_systems("See `plan_gold()`.", none),
      "Ratings cannot show it."
    )
  )
}

# Documents show the table, the console shows sentences.
new_data_check <- function(checks, questions, facts) {
  line <- toString(vapply(c("problem", "doubt"), function(status) {
    found <- checks$check[checks$status == status]
    names <- if (length(found) > 0L) paste0(" (", toString(found), ")")
    paste0(count_noun(length(found), status), names)
  }, ""))
  shown <- checks
  shown$advice[is.na(checks$advice)] <- ""
  fine <- shown[checks$status == "ok", ]
  weak <- shown[checks$status != "ok", ]
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
        paste0(
          c(doubt = "? ", problem = "! ")[weak$status], weak$check, ": ", weak$found, ". ",
          weak$advice, recycle0 = TRUE
        ),
        if (nrow(fine) > 0L) paste("In order:", paste(
          ifelse(fine$found == "none", paste("no", fine$check), fine$found), collapse = "; "
        )), "", "Questions that these ratings can answer"
      )), "heading"),
      paste0(
        "  ", questions$question, " ", answer_words[questions$answer], ". ", questions$reason
      )
    ),
    more = "tidy(what = \"questions\"), check_k_properties(), plot()"
  )
}

#' Plot of a data check
#'
#' Draws a row per check, with the finding, coloured by status.
#'
#' @param object A [data_check()] result.
#' @param ... For `plot()`, passed on to `autoplot()`.
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
  table$found <- vapply(table$found, wrap_text, "", 60L)
  picture(table, y = "check") +
    ggplot2::geom_point(
      ggplot2::aes(0, colour = .data$status, shape = .data$status), size = 4, show.legend = TRUE
    ) +
    ggplot2::geom_text(
      ggplot2::aes(0.04, label = .data$found), hjust = 0, size = 3.2, lineheight = 0.9
    ) +
    ggplot2::scale_colour_manual(
      values = unname(plot_colours[c("main", "muted", "accent")]), drop = FALSE
    ) +
    ggplot2::scale_shape_manual(values = c(16, 17, 15), drop = FALSE) +
    ggplot2::scale_x_continuous(limits = c(-0.05, 1.3), breaks = NULL) +
    titled("What these ratings can show", colour = NULL, shape = NULL) +
    ggplot2::theme(panel.grid = ggplot2::element_blank())
}
