# What errors in common with the raters would make of an estimate: type "sensitivity" of autoplot()
# for estimates of accuracy.

plot_sensitivity <- function(object) {
  table <- tidy(object)
  drawn <- !is.na(table$shared) & !is.na(table$independent) & !is.na(table$estimate)
  if (!any(drawn)) {
    no_sensitivity(object)
  }
  # Best first.
  systems <- table$system[drawn][order(-table$estimate[drawn])]
  of_systems <- function(rows) {
    rows <- rows[rows$system %in% systems, ]
    rows$system <- factor(rows$system, levels = systems)
    rows
  }
  marks <- of_systems(sensitivity_marks(object))
  ggplot2::ggplot(of_systems(sensitivity_ends(object)), ggplot2::aes(.data$common, .data$value)) +
    sensitivity_layers(marks, object, of_systems(table)) +
    panels_of(marks, "system") +
    ggplot2::scale_x_continuous(
      limits = c(0, 1), breaks = c(0, 0.5, 1), labels = in_percent,
      expand = ggplot2::expansion(add = 0.05)
    ) +
    ggplot2::scale_y_continuous(labels = in_percent, limits = no_narrower) +
    titled(
      "Accuracy by how many errors are shared with the raters",
      sensitivity_subtitle(object, marks), "assumed share of shared errors", "accuracy",
      caption = if (length(systems) < nrow(table)) {
        paste("Not identified for", shorten(setdiff(table$system, systems), most = 4L))
      }
    ) +
    room_between(18)
}

# A range of few points of a percent should not look like a fall.
no_narrower <- function(limits, least = 0.3) {
  lacking <- max(0, least - diff(limits)) / 2
  limits <- limits + c(-1, 1) * lacking
  limits + max(0, -limits[[1L]]) - max(0, limits[[2L]] - 1)
}

sensitivity_layers <- function(marks, object, table) {
  list(
    if (!all(is.na(sensitivity_ends(object)$low))) ggplot2::geom_ribbon(
      ggplot2::aes(ymin = .data$low, ymax = .data$high), fill = plot_colours[["low"]], alpha = 0.6
    ),
    ggplot2::geom_line(colour = plot_colours[["muted"]], linewidth = 0.8),
    # What known cases measure holds whatever share is assumed.
    if (!is.null(object$gold)) ggplot2::geom_rect(
      ggplot2::aes(xmin = 0, xmax = 1, ymin = .data$conf.low, ymax = .data$conf.high),
      data = table, fill = plot_colours[["accent"]], alpha = 0.15, inherit.aes = FALSE,
      na.rm = TRUE
    ),
    if (!on_the_line(object)) ggplot2::geom_hline(
      ggplot2::aes(yintercept = .data$estimate), data = table, linetype = "dashed",
      colour = plot_colours[["accent"]]
    ),
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = .data$low, ymax = .data$high), data = marks,
      colour = plot_colours[["main"]], linewidth = 1.1, alpha = 0.6, na.rm = TRUE
    ),
    ggplot2::geom_point(
      ggplot2::aes(colour = .data$mark, shape = .data$mark), data = marks, size = 3
    ),
    ggplot2::scale_colour_manual(
      values = c(
        none = plot_colours[["muted"]], typical = plot_colours[["main"]],
        all = plot_colours[["muted"]], stated = plot_colours[["accent"]]
      ), name = "common"
    ),
    ggplot2::scale_shape_manual(
      values = c(none = 16, typical = 18, all = 15, stated = 17), name = "common"
    )
  )
}

# Is the estimate between the ends of the range, with errors in common as somebody assumes?
on_the_line <- function(object) {
  table <- object$table
  is.null(object$gold) &&
    (!is.null(common_of(object$options)) || all(table$estimate == table$shared, na.rm = TRUE))
}

# Two rows per system, with the interval that a stated share has: sampling error alone.
sensitivity_ends <- function(object) {
  table <- tidy(object)
  margin <- normal_quantile(object$options$conf_level) * object$details$sampling
  if (!on_the_line(object) || !has_interval(object)) margin <- margin * NA
  value <- c(table$independent, table$shared)
  data.frame(
    system = rep(table$system, 2L), common = rep(c(0, 1), each = nrow(table)), value = value,
    low = pmax(0, value - margin), high = pmin(1, value + margin)
  )
}

# The named shares, and that of the estimate if it is another. What is typical has the interval that
# allows for more or less than that.
sensitivity_marks <- function(object) {
  table <- tidy(object)
  share <- object$details$common
  stated <- is.numeric(common_of(object$options))
  common <- list(none = 0, typical = object$typical, all = 1, stated = if (stated) share)
  marks <- do.call(rbind, Map(function(mark, c) {
    data.frame(
      system = table$system, mark = mark, common = c,
      value = table$independent - c * (table$independent - table$shared),
      low = NA_real_, high = NA_real_
    )
  }, names(common)[lengths(common) > 0L], common[lengths(common) > 0L]))
  marks$mark <- factor(marks$mark, levels = names(common))
  own <- marks$mark == mark_of(object)
  marks$low[own] <- table$conf.low
  marks$high[own] <- table$conf.high
  marks[!is.na(marks$value), ]
}

# Which mark the estimate is.
mark_of <- function(object) {
  common <- common_of(object$options)
  if (!is.null(object$gold)) {
    ""
  } else if (is.numeric(common)) {
    "stated"
  } else {
    common %||% (if (on_the_line(object)) "all" else "")
  }
}

sensitivity_subtitle <- function(object, marks) {
  level <- format(100 * object$options$conf_level)
  paste0(
    "From independent errors (0%) to fully shared errors (100%); ratings cannot show which",
    if (!is.null(object$gold)) {
      paste0("\nDashed, with its ", level, "% interval: what known cases measure")
    } else if (!on_the_line(object)) {
      paste0("\nDashed: the ", method_of(object)$words)
    },
    if (!all(is.na(marks$low))) paste0("\nBar: ", level, "% interval of the estimate"),
    if (!all(is.na(sensitivity_ends(object)$low))) "; band: sampling error alone"
  )
}

no_sensitivity <- function(object) {
  reason <- tidy(object)$reason[[1L]]
  abort_argument("object", "There is no range of dependence to draw.",
    i = if (all(is.na(tidy(object)$estimate)) && !is.na(reason)) paste0("The estimate is
        {.code NA}: ", verbatim(reason), ".") else "Method {.val {object$options$method}} has one
        with {.code interval = \"robust\"}; methods {.val average}, {.val joint} and {.val shared}
        always have.")
}
