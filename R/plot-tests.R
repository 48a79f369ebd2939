# Raters in the plane of sensitivity and specificity.

plot_tests <- function(fit) {
  check_tested_fit(fit)
  table <- tests_in_plane(fit)
  if (length(fit$x$categories) == 2L) {
    table <- table[table$category == fit$x$categories[[2L]], ]
  }
  ggplot2::ggplot(table, ggplot2::aes(.data$other, .data$sensitivity)) +
    ggplot2::geom_abline(linetype = "dashed", colour = plot_colours[["muted"]]) +
    ggplot2::geom_segment(
      ggplot2::aes(
        x = .data$raw_other, y = .data$raw_sensitivity, xend = .data$other,
        yend = .data$sensitivity
      ),
      colour = plot_colours[["muted"]], na.rm = TRUE
    ) +
    ggplot2::geom_point(colour = plot_colours[["main"]], size = 2.2, na.rm = TRUE) +
    ggplot2::facet_wrap(ggplot2::vars(.data$category)) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
    titled(NULL, NULL, "1 - specificity", "sensitivity")
}

# A row per rater and category, of the fit and of ratings alone.
tests_in_plane <- function(fit) {
  n <- length(fit$x$categories)
  alone <- own_matrices(fit$x, fit$posterior)
  at <- expand.grid(category = seq_len(n), rater = seq_along(fit$x$raters))
  of <- function(matrices) {
    t(mapply( # nolint: undesirable_function_linter.
      function(j, k) against_the_rest(matrices, fit$base_rates, j, k), at$rater, at$category
    ))
  }
  here <- of(fit$matrices)
  raw <- of(alone)
  data.frame(
    rater = fit$x$raters[at$rater],
    category = factor(fit$x$categories[at$category], fit$x$categories),
    other = 1 - here[, 2L], sensitivity = here[, 1L],
    raw_other = 1 - raw[, 2L], raw_sensitivity = raw[, 1L]
  )
}
