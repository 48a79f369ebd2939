# What questions the ratings answer, and how checks and questions are shown.

# What people ask of ratings: answered by them ("yes"), if something is assumed ("assumption"), only
# with cases of known truth ("gold"), or not at all ("no").
list_questions <- function(x, agreed) {
  silent <- is.na(agreed$kappa) || agreed$at_chance && !agreed$unequal
  only_gold <- !silent && agreed$kappa <= 0 && !agreed$unequal
  unless <- function(answer) if (silent) "no" else if (only_gold) "gold" else answer
  lack <- if (silent) {
    "They agree no better than by chance."
  } else if (only_gold) {
    paste0("They ", chance_beyond_shares, ".")
  } else if (agreed$unequal) {
    sentence(need_unequal)
  }
  has_systems <- length(x$systems) > 0L
  none <- "There are no systems."
  question <- function(question, answer, reason) {
    columns_tibble(question = question, answer = answer, reason = reason)
  }
  rbind(
    question("How far do raters agree?", "yes", "See `agreement()`."),
    question(
      "How accurate are the raters?", unless("assumption"), lack %||% "If they err independently."
    ),
    question(
      "How accurate are the systems?",
      if (has_systems) unless("assumption") else "no",
      if (!has_systems) none else lack %||% "If they err independently."
    ),
    question(
      "Which system is better?", if (length(x$systems) < 2L) "no" else "assumption",
      if (length(x$systems) < 2L) "There are fewer than two systems." else
        "If they share errors equally."
    ),
    question(
      "Can a model replace a rater?", if (has_systems) "yes" else "no",
      if (has_systems) "See `alt_test()`." else none
    ),
    question(
      "Do systems err where the raters err?", if (has_systems) "gold" else "no",
      if (has_systems) "See `plan_gold()`." else none
    ),
    question(
      "Are all raters wrong in the same way?", "gold",
      "Ratings cannot show it."
    )
  )
}

#' @rdname data_check
#' @param what Which table: of `"checks"` or of `"questions"`.
#' @export
tidy.data_check <- function(x, what = c("checks", "questions"), ...) {
  check_dots_empty(...)
  x[[check_choice(what)]]
}

#' @rdname data_check
#' @export
glance.data_check <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    problems = sum(x$checks$status == "problem"), doubts = sum(x$checks$status == "doubt"),
    checks = nrow(x$checks), cases = x$facts$cases, raters = x$facts$raters,
    systems = x$facts$systems, categories = x$facts$categories
  )
}

#' @rdname data_check
#' @export
format.data_check <- function(x, ...) {
  of <- function(status) x$checks$check[x$checks$status == status]
  paste0(
    count_noun(length(of("problem")), "problem"),
    if (length(of("problem")) > 0L) paste0(" (", toString(of("problem")), ")"), ", ",
    count_noun(length(of("doubt")), "doubt"),
    if (length(of("doubt")) > 0L) paste0(" (", toString(of("doubt")), ")")
  )
}

#' @export
shown_table.data_check <- function(x) { # nolint: object_name.
  as.data.frame(x)[c("check", "status", "found")]
}

#' @export
caption_of.data_check <- function(x) { # nolint: object_name.
  paste("What these ratings can show:", format(x))
}

#' @export
notes_of.data_check <- function(x) { # nolint: object_name.
  advice <- x$checks[!is.na(x$checks$advice), ]
  words <- c(yes = "yes", assumption = "under an assumption", gold = "only with gold cases",
    no = "no")
  c(
    paste0(advice$check, ": ", advice$advice, recycle0 = TRUE),
    paste0(x$questions$question, " ", words[x$questions$answer], ". ", x$questions$reason)
  )
}

#' @export
print.data_check <- function(x, ...) {
  cat_lines(paste0("<data_check> ", format(x)), "")
  fine <- x$checks$status == "ok"
  weak <- x$checks[!fine, ]
  label <- paste(ifelse(weak$status == "doubt", "?", "!"), weak$check, recycle0 = TRUE)
  words <- paste0(weak$found, ". ", ifelse(is.na(weak$advice), "", weak$advice), recycle0 = TRUE)
  if (any(fine)) {
    label <- c(label, "  in order")
    found <- x$checks$found[fine]
    words <- c(words, paste(
      ifelse(found == "none", paste("no", x$checks$check[fine]), found), collapse = "; "
    ))
  }
  label <- format(label)
  for (i in seq_along(label)) cat_hanging(label[[i]], words[[i]])
  words <- c(yes = "yes", assumption = "if assumed", gold = "with gold", no = "no")
  cat("\n")
  cat_lines("Questions that these ratings can answer")
  for (i in seq_len(nrow(x$questions))) {
    cat_hanging(
      format(words[[x$questions$answer[[i]]]], width = 10L),
      paste(x$questions$question[[i]], x$questions$reason[[i]])
    )
  }
  cat_lines("", "More: tidy(what = \"questions\"), check_k_properties(), plot().")
  invisible(x)
}

# Words with a label at their left.
cat_hanging <- function(label, words) {
  indent <- nchar(label) + 2L
  lines <- strwrap(words, max(getOption("width") - indent, 20L))
  cat(paste0(c(label, rep(strrep(" ", indent - 2L), length(lines) - 1L)), "  ", lines), sep = "\n")
}

#' Picture of a data check
#'
#' A row per check, in the colour of its status, with what was found.
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
  check_ggplot2()
  check_dots_empty(...)
  table <- tidy(object)
  table$check <- factor(table$check, rev(table$check))
  table$status <- factor(table$status, c("ok", "doubt", "problem"))
  table$found <- vapply(table$found, function(words) {
    paste(strwrap(words, 60L), collapse = "\n")
  }, "")
  ggplot2::ggplot(table, ggplot2::aes(y = .data$check)) +
    ggplot2::geom_point(
      ggplot2::aes(0, colour = .data$status, shape = .data$status), size = 4
    ) +
    ggplot2::geom_text(
      ggplot2::aes(0.04, label = .data$found), hjust = 0, size = 3.2, lineheight = 0.9
    ) +
    ggplot2::scale_colour_manual(
      values = unname(plot_colours[c("main", "muted", "accent")]), drop = FALSE
    ) +
    ggplot2::scale_shape_manual(values = c(16, 17, 15), drop = FALSE) +
    ggplot2::scale_x_continuous(limits = c(-0.05, 1.3), breaks = NULL) +
    ggplot2::labs(
      title = "What these ratings can show", x = NULL, y = NULL, colour = NULL, shape = NULL
    ) +
    theme_fallible() +
    ggplot2::theme(panel.grid = ggplot2::element_blank())
}
