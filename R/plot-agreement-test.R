#' Pictures of tests of agreement
#'
#' Of a test, estimates beside the value that was tested; of a comparison, differences with their
#' intervals beside zero.
#'
#' @param object A [compare_agreement()] result.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @inherit autoplot.ratings return
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' plot(compare_agreement(x))
#' @method autoplot agreement_test
#' @rawNamespace S3method(ggplot2::autoplot,agreement_test)
autoplot.agreement_test <- function(object, ...) { # nolint: object_name.
  check_ggplot2()
  check_dots_empty(...)
  seen <- drawn_measures(object, rlang::current_env())
  null <- attr(object, "about")$null
  ggplot2::ggplot(seen, ggplot2::aes(.data$estimate, .data$title)) +
    ggplot2::geom_vline(
      xintercept = null, linetype = "dashed", colour = plot_colours[["accent"]]
    ) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = null, yend = .data$title), colour = plot_colours[["muted"]]
    ) +
    ggplot2::geom_point(colour = plot_colours[["main"]], size = 3) +
    ggplot2::geom_text(
      ggplot2::aes(label = paste("p", sub("^(?=[0-9])", "= ", show_p(.data$p.value), perl = TRUE))),
      vjust = -1.1, size = 3.3, na.rm = TRUE
    ) +
    ggplot2::scale_x_continuous(limits = range(0, 1, null, seen$estimate)) +
    ggplot2::scale_y_discrete(expand = ggplot2::expansion(add = 0.6)) +
    ggplot2::labs(
      title = caption_of(object), subtitle = "Dashed: the value that is tested", x = "agreement",
      y = NULL
    ) +
    theme_fallible()
}

# Rows with an estimate, with the title of their measure, the first on top.
drawn_measures <- function(object, call) {
  if (!is_whole_test(object)) {
    abort_argument("object", "must have all columns that it was given at first.", call = call)
  }
  seen <- plain_data_frame(object[!is.na(object$estimate), ])
  if (nrow(seen) == 0L) {
    abort_argument("object", "All measures are {.code NA}; there is nothing to draw.",
      i = "The column {.code reason} says why.", call = call)
  }
  titles <- measure_titles(seen$measure, attr(object, "about")$scale_name)
  titles <- titles[seen$measure]
  seen$title <- factor(titles, levels = rev(unique(titles)))
  seen
}

#' @rdname autoplot.agreement_test
#' @method autoplot agreement_comparison
#' @rawNamespace S3method(ggplot2::autoplot,agreement_comparison)
autoplot.agreement_comparison <- function(object, ...) { # nolint: object_name.
  check_ggplot2()
  check_dots_empty(...)
  seen <- drawn_measures(object, rlang::current_env())
  ggplot2::ggplot(seen, ggplot2::aes(.data$estimate, .data$title)) +
    ggplot2::geom_vline(xintercept = 0, linetype = "dashed", colour = plot_colours[["accent"]]) +
    interval_layers() +
    ggplot2::scale_y_discrete(expand = ggplot2::expansion(add = 0.6)) +
    ggplot2::labs(
      title = "Differences of agreement on the same cases",
      subtitle = if (!all(is.na(seen$conf.low))) {
        paste("The first panel less the second, with", paste0(
          interval_title(attr(object, "about")$conf_level), "s"
        ))
      },
      x = "difference of agreement", y = NULL
    ) +
    theme_fallible()
}
