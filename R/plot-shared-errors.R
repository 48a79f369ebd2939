#' @rdname tidy.shared_errors
#' @param object A [shared_errors()] result.
#' @return `autoplot()`: a ggplot, the correlations of being right as a heat map; without known
#'   truth, the range of each pair.
#' @rawNamespace S3method(ggplot2::autoplot,shared_errors)
autoplot.shared_errors <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  if (all(is.na(tidy(object)$estimate))) return(plot_open_ranges(object))
  heat_map(
    both_ways(tidy(object)), object$judges, "Shared errors",
    paste0("Correlation of being right, where truth is known\n", format(object)),
    sorted = TRUE, scale = share_scale("correlation", negative = TRUE, low = "white")
  )
}

plot_open_ranges <- function(object) {
  table <- tidy(object)
  seen <- utils::head(drop_missing(table, "lowest"), most_pairs)
  seen$pair <- from_top(paste(seen$rater1, "-", seen$rater2))
  picture(seen, y = "pair") +
    ggplot2::geom_vline(xintercept = 0, colour = "grey35") +
    range_lines() +
    ggplot2::scale_x_continuous(limits = c(-1, 1)) +
    titled(
      "Shared errors that the ratings allow",
      paste("No truth is known; accuracies within", limits_in_words(object$options$limits)),
      "correlation of being right",
      caption = if (nrow(seen) < nrow(table)) {
        paste(nrow(table) - nrow(seen), "further pairs are not shown")
      }
    )
}
