# What dependence between system and raters can make of an estimate: type "sensitivity" of
# autoplot() for estimates of accuracy.

sensitivity_marks <- c("errs where raters err", "errs on its own", "estimate")

plot_sensitivity <- function(object, call) {
  table <- tidy(object)
  seen <- table[!is.na(table$shared) & !is.na(table$independent) & !is.na(table$estimate), ]
  if (nrow(seen) == 0L) {
    no_sensitivity(object, call)
  }
  seen$system <- factor(seen$system, levels = seen$system[order(seen$estimate)])
  above <- ggplot2::position_nudge(y = 0.13)
  below <- ggplot2::position_nudge(y = -0.13)
  long <- data.frame(
    system = rep(seen$system, 3L), value = c(seen$shared, seen$independent, seen$estimate),
    mark = factor(rep(sensitivity_marks, each = nrow(seen)), levels = sensitivity_marks),
    y = rep(c(0.13, 0.13, -0.13), each = nrow(seen))
  )
  level <- format(100 * object$options$conf_level)
  with_interval <- !all(is.na(seen$conf.low))
  labels <- sensitivity_marks
  if (with_interval) labels[[3L]] <- paste0("estimate with ", level, "% interval")
  ggplot2::ggplot(seen, ggplot2::aes(y = .data$system)) +
    ggplot2::geom_linerange(
      ggplot2::aes(
        xmin = pmin(.data$shared, .data$independent), xmax = pmax(.data$shared, .data$independent)
      ),
      position = above, colour = plot_colours[["low"]], linewidth = 3.2
    ) +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = .data$conf.low, xmax = .data$conf.high), position = below,
      colour = plot_colours[["main"]], linewidth = 1.1, alpha = 0.45, na.rm = TRUE
    ) +
    ggplot2::geom_point(
      ggplot2::aes(.data$value, colour = .data$mark, shape = .data$mark), data = long,
      position = ggplot2::position_nudge(y = long$y), size = 3
    ) +
    ggplot2::scale_colour_manual(
      values = unname(plot_colours[c("accent", "muted", "main")]), labels = labels, name = NULL
    ) +
    ggplot2::scale_shape_manual(values = c(18, 16, 16), labels = labels, name = NULL) +
    ggplot2::scale_x_continuous(
      limits = range(0, 1, seen$conf.low, seen$conf.high, long$value, na.rm = TRUE),
      expand = ggplot2::expansion(add = 0.02)
    ) +
    ggplot2::labs(
      title = "What errors in common with the raters would mean",
      subtitle = paste(
        "Band: accuracy if the system errs wherever raters err, to accuracy if its errors",
        "are its own;\nratings cannot tell where in the band the truth is"
      ),
      caption = if (nrow(seen) < nrow(table)) {
        paste("Not identified for", shorten(setdiff(table$system, seen$system), most = 4L))
      },
      x = "probability of the correct category", y = NULL
    ) +
    theme_fallible()
}

no_sensitivity <- function(object, call) {
  reason <- tidy(object)$reason[[1L]]
  abort_fallible("argument", c(
    "There is no range of dependence to draw.",
    "i" = if (all(is.na(tidy(object)$estimate)) && !is.na(reason)) {
      paste0("The estimate is {.code NA}: ", verbatim(reason), ".")
    } else {
      "Method {.val {object$options$method}} has one with {.code interval = \"robust\"};
       methods {.val average}, {.val joint} and {.val shared} always have."
    }
  ), arg = "object", call = call)
}
