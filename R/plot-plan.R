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
  curve <- tidy(object, what = "curve")
  answer <- tidy(object)
  curve$value <- curve[[type]]
  curve$error <- curve[[paste0(type, "_mcse")]]
  answer$value <- answer[[type]]
  curve <- curve[!is.na(curve$value), ]
  of_raters <- function(x) factor(x$raters, levels = sort(unique(answer$raters)))
  curve$group <- of_raters(curve)
  answer$group <- of_raters(answer)
  settings <- glance(object)
  shares <- type == "probability"
  target <- if (shares) settings$conf_level else settings$margin
  several <- nlevels(curve$group) > 1L
  ggplot2::ggplot(curve, ggplot2::aes(.data$cases, .data$value, colour = .data$group)) +
    ggplot2::geom_hline(
      yintercept = target, linetype = "dashed", colour = plot_colours[["muted"]]
    ) +
    (if (!settings$approximate) {
      ggplot2::geom_ribbon(
        ggplot2::aes(
          ymin = pmax(.data$value - 2 * .data$error, 0),
          ymax = pmin(.data$value + 2 * .data$error, 1), fill = .data$group
        ),
        alpha = 0.18, colour = NA
      )
    }) +
    ggplot2::geom_line(ggplot2::aes(linetype = .data$group)) +
    (if (!settings$approximate) ggplot2::geom_point(size = 1.6)) +
    ggplot2::geom_segment(
      data = answer[!is.na(answer$cases), ],
      ggplot2::aes(xend = .data$cases, yend = if (shares) 0 else Inf),
      linetype = "13", show.legend = FALSE
    ) +
    ggplot2::scale_x_log10(labels = number_labels) +
    (if (shares) {
      ggplot2::scale_y_continuous(limits = c(min(0.5, curve$value), 1), oob = keep_values)
    } else {
      ggplot2::scale_y_continuous(limits = c(0, NA))
    }) +
    category_scale(levels(curve$group), name = "raters", aesthetics = c("colour", "fill")) +
    ggplot2::scale_linetype_manual(
      values = rep_len(plot_lines, nlevels(curve$group)), name = "raters",
      guide = if (several) "legend" else "none"
    ) +
    titled(
      if (shares) {
        paste("Probability of an estimate within", format(settings$margin), "of the truth")
      } else {
        paste("Margin that is kept with probability", format(settings$conf_level))
      },
      plan_subtitle(settings), "cases", if (shares) "probability" else "margin"
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
    "; ",
    if (settings$approximate) "approximation" else paste(number(settings$runs), "panels a point")
  )
}

number_labels <- function(x) trimws(number(x))

# Bands that leave the limits are cut by the panel, not dropped.
keep_values <- function(x, range) x
