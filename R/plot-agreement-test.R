#' @rdname agreement_tests
#' @param object A [compare_agreement()] result.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @return `autoplot()`: a ggplot; of a test, estimates beside the value that was tested; of a
#'   comparison, differences with their intervals beside zero.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(test)
#' @rawNamespace S3method(ggplot2::autoplot,agreement_test)
autoplot.agreement_test <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  abort_argument_if(is.null(schema_of(object)), "object",
    "must have all columns that it was given at first.")
  about <- attr(object, "about")
  seen <- known_measures(plain_data_frame(object), "object")
  seen$title <- from_top(measure_titles(seen$measure, about$scale_name)[seen$measure])
  if (has_columns(seen, "estimate1")) return(plot_panel_differences(seen, about$conf_level))
  null <- about$null
  seen$label <- paste("p", sub("^(?=[0-9])", "= ", show_p(seen$p.value), perl = TRUE))
  picture(seen, "estimate", "title") +
    line_at(null) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = null, yend = .data$title), colour = plot_colours[["muted"]]
    ) +
    main_points(3) +
    ggplot2::geom_text(mapped(label = "label"), vjust = -1.1, size = 3.3, na.rm = TRUE) +
    ggplot2::scale_x_continuous(limits = range(0, 1, null, seen$estimate)) +
    roomy_rows() +
    titled(schema_of(object)$caption, "Dashed: the value that is tested", "agreement")
}

plot_panel_differences <- function(seen, level) {
  picture(seen, "estimate", "title") +
    line_at(0) +
    interval_layers() +
    roomy_rows() +
    titled(
      "Differences of agreement on the same cases",
      with_intervals(seen, level, "The first panel less the second, with"),
      "difference of agreement"
    )
}
