#' @rdname tidy.system_comparison
#' @param object A [compare_systems()] result.
#' @param ... Not used.
#' @param type `"differences"`: the difference of each pair with its interval, which tells the two
#'   apart if it does not reach over zero; of more than 40, the first of those that are printed.
#'   `"ranks"`: the probability of each rank of each system that has ranks.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(comparison)
#' plot(comparison, type = "ranks")
#' @rawNamespace S3method(ggplot2::autoplot,system_comparison)
autoplot.system_comparison <- function(object, # nolint: object_name.
                                       type = c("differences", "ranks"), ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  abort_argument_if(type == "ranks" && nrow(tidy(object, "ranks")) == 0L, "type",
    "There are no ranks of systems that are compared with one reference.",
    i = "Draw {.val differences}, or compare with the {.arg best}.")
  check_drawn(tidy(object)$probability, "The comparison is", tidy(object)$reason)
  if (type == "differences") plot_differences(object) else plot_ranks(object)
}

most_pairs <- 40L # that a picture holds

plot_differences <- function(object) {
  table <- utils::head(shown_pairs(object), most_pairs)
  grouped <- inherits(object, "group_comparison")
  pair <- paste(table[[1L]], "-", table[[2L]])
  table$pair <- from_top(if (grouped) paste(pair, table$system) else pair)
  decided <- !is.na(table$conf.low) & (table$conf.low > 0 | table$conf.high < 0)
  table$verdict <- ifelse(decided, "different", "undecided")
  hidden <- nrow(tidy(object)) - nrow(table)
  picture(table, "estimate", "pair", colour = "verdict") +
    ggplot2::geom_vline(xintercept = 0, colour = "grey35") +
    interval_lines(main = FALSE) +
    ggplot2::geom_point(size = 2.6) +
    ggplot2::scale_colour_manual(
      values = c(different = plot_colours[["main"]], undecided = plot_colours[["muted"]]),
      name = NULL
    ) +
    titled(
      paste("Differences of", compared_metric(object), if (grouped) "between groups" else
        "on the same cases"),
      paste0(
        interval_title(object$options$conf_level), "s",
        if (object$options$simultaneous) ", all at once" else ", each for its pair alone"
      ),
      paste(compared_metric(object), "of the first less that of the second"),
      caption = if (hidden > 0L) {
        smaller <- if (is.null(object$options$against)) "smaller" else "more"
        paste(number(hidden), smaller, "differences are not shown")
      }
    )
}

plot_ranks <- function(object) {
  ranks <- tidy(object, "ranks")
  best <- object$accuracy$system[order(-object$accuracy$estimate)]
  small <- ranks$probability < 0.005
  heat_map(
    data.frame(
      judge1 = ranks$rank, judge2 = ranks$system, value = ranks$probability,
      label = ifelse(small, "", decimals(ranks$probability, 2L))
    ),
    sort(unique(ranks$rank)), "Ranks of systems", paste("1 is the", best_by(object)),
    rows = intersect(best, ranks$system), top = TRUE
  )
}
