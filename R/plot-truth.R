#' @rdname tidy.ground_truth
#' @param object A [ground_truth()] result.
#' @param type `"cases"`: one column per case, filled by the probabilities of its categories. Cases
#'   with the same most probable category stand together, those first about which the raters leave
#'   least doubt. `"calibration"`: how often categories are true, against the probabilities that
#'   they were given, where the truth is known.
#' @param max_cases How many cases are drawn at most; of more, an evenly spaced choice.
#' @param truth,bins,conf_level See [calibration()].
#' @return `autoplot()`: a ggplot.
#' @rawNamespace S3method(ggplot2::autoplot,ground_truth)
autoplot.ground_truth <- function(object, type = c("cases", "calibration"), # nolint: object_name.
                                  max_cases = 150L, truth = NULL, bins = 10L,
                                  conf_level = default_conf_level(), ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  max_cases <- check_count(max_cases, "max_cases")
  if (type == "cases") return(plot_truth(object, max_cases))
  plot_calibration(calibration(object, truth, bins, conf_level), conf_level)
}

plot_truth <- function(object, max_cases) {
  probability <- unname(probability_matrix(object, "object"))
  categories <- setdiff(names(object), "case")
  known <- which(!is.na(probability[, 1L]))
  abort_argument_if(length(known) == 0L, "object",
    "There are no probabilities to draw: all of them are {.code NA}.",
    i = "The fit they come from is not identified.")
  probability <- probability[known, , drop = FALSE]
  best <- max.col(probability, ties.method = "first")
  order <- order(best, -probability[cbind(seq_along(best), best)])
  shown <- order[spread(length(order), max_cases)]
  bars <- data.frame(
    column = seq_along(shown), probability = as.vector(probability[shown, ]),
    category = factor(rep(categories, each = length(shown)), categories)
  )
  picture(bars, "column", "probability", fill = "category") +
    ggplot2::geom_col(
      width = if (length(shown) <= 30L) 0.9 else 1,
      position = ggplot2::position_stack(reverse = TRUE)
    ) +
    category_fill(categories) +
    case_axis(object$case[known][shown]) +
    titled(
      "What the raters say about each case",
      choice_subtitle(length(shown), length(known), "case", "evenly spaced"),
      "case, by most probable category", "probability"
    ) +
    ggplot2::theme(panel.grid.major.x = ggplot2::element_blank())
}

plot_calibration <- function(table, conf_level) {
  inside <- table$conf.low <= table$probability & table$probability <= table$conf.high
  table$label <- trimws(number(table$n))
  picture(table, "probability", "share") +
    diagonal("accent", "dashed") +
    upright_lines() +
    main_points() +
    ggplot2::geom_text(
      mapped(y = "conf.high", label = "label"), vjust = -0.6, size = 3,
      colour = plot_colours[["muted"]]
    ) +
    ggplot2::scale_x_continuous(limits = c(0, 1), breaks = seq(0, 1, 0.2)) +
    ggplot2::scale_y_continuous(breaks = seq(0, 1, 0.2)) +
    ggplot2::coord_cartesian(ylim = c(0, 1), clip = "off") +
    titled(
      "Calibration of category probabilities",
      paste0(
        "Shares with ", interval_title(conf_level), "s, counts above; ",
        sum(inside), " of ", count_noun(length(inside), "interval"), " on the line"
      ),
      "posterior probability of a category, mean of a bin", "share in which it is the true one"
    )
}
