#' @rdname tidy.case_plan
#' @param type `"probability"`: that an estimate is within the margin, against the number of cases;
#'   `"half_width"`: the margin that is kept with probability `conf_level`. The target is
#'   grey and dashed. Bands are two Monte Carlo standard errors either way.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(plan)
#' plot(plan, type = "half_width")
#' @rawNamespace S3method(ggplot2::autoplot,case_plan)
autoplot.case_plan <- function(object, type = c("probability", "half_width"), # nolint: object_name.
                               ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  if (has_columns(object$answer, "measure")) return(plot_agreement_plan(object))
  shares <- type == "probability"
  raters <- sort(unique(tidy(object)$raters))
  points <- function(table) {
    value <- table[[type]]
    reach <- 2 * table[[paste0(type, "_mcse")]]
    data.frame(
      n = table$cases, value = value, group = factor(table$raters, raters),
      low = pmax(value - reach, 0), high = pmin(value + reach, 1)
    )
  }
  curve <- points(tidy(object, "curve"))
  curve <- drop_missing(curve, "value")
  settings <- glance(object)
  plan_picture(
    curve, if (shares) settings$conf_level else settings$half_width, "raters",
    below = ggplot2::geom_ribbon(
      mapped(ymin = "low", ymax = "high", fill = "group"), alpha = 0.18, colour = NA
    ),
    limits = if (shares) c(min(0.5, curve$value), 1) else c(0, NA)
  ) +
    ggplot2::geom_point(size = 1.6) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = .data$n, yend = if (shares) 0 else Inf), points(tidy(object)),
      na.rm = TRUE, linetype = "13", show.legend = FALSE
    ) +
    category_scale(levels(curve$group), name = "raters", aesthetics = c("colour", "fill")) +
    titled(
      if (shares) {
        paste("Probability of an estimate within", format(settings$half_width), "of the truth")
      } else {
        paste("Margin that is kept with probability", format(settings$conf_level))
      },
      plan_subtitle(settings), "cases", if (shares) "probability" else "margin"
    )
}

plot_agreement_plan <- function(object) {
  curve <- tidy(object, "curve")
  points <- data.frame(n = curve$cases, value = curve$half_width, group = factor(1L))
  plan_picture(points, object$settings$half_width) +
    ggplot2::geom_point(size = 1.6, show.legend = FALSE) +
    category_scale("1") +
    titled("Half-width of intervals", schema_of(object)$line, "cases", "half-width")
}

# What all plans draw: `value` against the number `n` of cases, for each `group`, and the target.
plan_picture <- function(curve, target, name = NULL, below = NULL, limits = c(0, NA)) {
  groups <- nlevels(curve$group)
  picture(curve, "n", "value", colour = "group") +
    ggplot2::geom_hline(
      yintercept = target, linetype = "dashed", colour = plot_colours[["muted"]]
    ) +
    below +
    ggplot2::geom_line(mapped(linetype = "group")) +
    ggplot2::scale_x_log10(labels = function(x) trimws(number(x))) +
    # Bands that leave the limits are cut by the panel, not dropped.
    ggplot2::scale_y_continuous(limits = limits, oob = function(x, range) x) +
    # So that curves are told apart without colours, too.
    ggplot2::scale_linetype_manual(
      values = rep_len(c("solid", "42", "12", "6212"), groups), name = name,
      guide = if (groups > 1L) "legend" else "none"
    )
}

plan_subtitle <- function(settings) {
  paste0(
    if (!is.na(settings$chance_kappa)) {
      paste0(
        "Rater accuracy ", decimals(settings$rater_accuracy, 2L), " (chance kappa ",
        decimals(settings$chance_kappa, 2L), "), "
      )
    },
    count_noun(settings$categories, "category", "categories"),
    "; ", number(settings$runs), " panels a point"
  )
}

#' @rdname tidy.gold_plan
#' @param object A [plan_gold()] result.
#' @return `autoplot()`: a ggplot of the half-width of intervals against the number of gold cases:
#'   gold alone, corrected by ratings, and combined with what ratings alone say. The half-width that
#'   is wanted is grey and dashed.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(plan)
#' @rawNamespace S3method(ggplot2::autoplot,gold_plan)
autoplot.gold_plan <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  kinds <- unique(tidy(object)$interval)
  points <- function(table) {
    data.frame(
      n = table$gold, value = table$half_width, group = factor(table$interval, kinds),
      system = table$system
    )
  }
  plan_picture(points(tidy(object, "curve")), glance(object)$half_width) +
    ggplot2::geom_point(data = points(tidy(object)), na.rm = TRUE, size = 2) +
    ggplot2::facet_wrap("system") +
    ggplot2::scale_colour_manual(
      values = stats::setNames(
        plot_colours[c("muted", "accent", "main")], c("gold alone", "corrected", "combined")
      ), name = NULL
    ) +
    titled("Half-width of intervals", schema_of(object)$caption, "gold cases", "half-width")
}
