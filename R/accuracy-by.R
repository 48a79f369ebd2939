# An estimate per group of cases: `by` of estimate_accuracy(). Groups share nothing. In simulation,
# fitting each alone cost at most a few percent of root mean squared error where groups were alike,
# and one fit for all cost up to half where their base rates or raters differed.

estimate_by <- function(x, by, model, fit_method, call, ..., cluster = NULL) {
  by <- check_case_values(by, x, "by", call)
  cluster <- check_case_values(cluster, x, "cluster", call)
  groups <- if (is.factor(by)) levels(droplevels(by)) else as.character(sort(unique(by)))
  by <- as.character(by)
  estimates <- lapply(groups, function(group) {
    own <- which(by == group)
    in_group(group, {
      estimate_accuracy(fit_raters(x[own, ], model, fit_method), ..., cluster = cluster[own])
    })
  })
  structure(stats::setNames(estimates, groups), class = "accuracy_groups")
}

# Says of every warning which group it is about.
in_group <- function(group, code) {
  withCallingHandlers(code, fallible_warning = function(w) {
    w$message <- paste0("In group \"", group, "\": ", w$message)
    warning(w)
    tryInvokeRestart("muffleWarning")
  })
}

bind_groups <- function(x, table) {
  tables <- lapply(names(x), function(group) {
    of <- table(x[[group]])
    tibble::tibble(group = rep(group, nrow(of)), of)
  })
  do.call(rbind, tables)
}

#' Estimates by group
#'
#' What [estimate_accuracy()] gives with `by`: a list with an estimate per group, named after the
#' groups, so that `x[["name"]]` is an estimate like any other, for [compare_systems()],
#' [confusion()] and more.
#'
#' @param x,object An [estimate_accuracy()] result with `by`.
#' @param row.names,optional Not used.
#' @param ... For `plot()`, passed on to `autoplot()`; otherwise not used.
#' @return `tidy()` and `glance()`: the tables of [tidy.accuracy_estimate()], one below another,
#'   with `group` as their first column. `autoplot()`: a ggplot of estimates and intervals.
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3))
#' ward <- rep(c("east", "west"), each = 100)
#' groups <- estimate_accuracy(x, method = "unbinned", by = ward, replicates = 200)
#' groups
#' tidy(groups)
#' groups[["east"]]
#' @name accuracy_groups
#' @export
tidy.accuracy_groups <- function(x, ...) {
  check_dots_empty(...)
  bind_groups(x, tidy)
}

#' @rdname accuracy_groups
#' @export
glance.accuracy_groups <- function(x, ...) {
  check_dots_empty(...)
  bind_groups(x, glance)
}

#' @rdname accuracy_groups
#' @export
as.data.frame.accuracy_groups <- function(x, row.names = NULL, # nolint: object_name.
                                          optional = FALSE, ...) {
  as.data.frame(tidy(x))
}

#' @export
print.accuracy_groups <- function(x, ...) {
  table <- tidy(x)
  first <- x[[1L]]
  cat_lines(paste0(
    "<accuracy_groups> ", count_noun(length(x), "group"), ", ",
    count_noun(length(unique(table$system)), "system"), ", ",
    method_words(first$options$method, first$fit$model)
  ))
  shown <- utils::head(table, 30L)
  out <- data.frame(
    group = shown$group, system = shown$system, accuracy = decimals(shown$estimate)
  )
  if (first$options$interval != "none") {
    out[[paste0(format(100 * first$options$conf_level), "% interval")]] <- ifelse(
      is.na(shown$conf.low), "NA",
      paste0("[", decimals(shown$conf.low), ", ", decimals(shown$conf.high), "]")
    )
  }
  out$cases <- number(shown$n)
  cat("\n")
  print(out, row.names = FALSE)
  if (nrow(table) > 30L) cat("... and", nrow(table) - 30L, "more; see tidy()\n")
  lacking <- table[!is.na(table$reason), ]
  cat_lines(
    "", "Each group is fitted alone: groups share neither raters' accuracy nor base rates.",
    vapply(unique(lacking$reason), function(reason) {
      of <- lacking$reason == reason
      paste0(
        if (startsWith(reason, no_interval)) "No interval for " else "NA for ",
        shorten(paste0(lacking$system[of], " in ", lacking$group[of]), most = 4L), ": ",
        sub(no_interval, "", reason, fixed = TRUE)
      )
    }, "", USE.NAMES = FALSE),
    paste0("More: x[[\"", names(x)[[1L]], "\"]] for a group, tidy(), glance(), plot().")
  )
  invisible(x)
}

#' @rdname accuracy_groups
#' @method autoplot accuracy_groups
#' @rawNamespace S3method(ggplot2::autoplot,accuracy_groups)
autoplot.accuracy_groups <- function(object, ...) { # nolint: object_name.
  check_ggplot2()
  check_dots_empty(...)
  table <- tidy(object)
  table$group <- factor(table$group, levels = rev(names(object)))
  seen <- table[!is.na(table$estimate), ]
  level <- object[[1L]]$options$conf_level
  lacking <- nrow(table) - nrow(seen)
  ggplot2::ggplot(seen, ggplot2::aes(.data$estimate, .data$group)) +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = .data$conf.low, xmax = .data$conf.high),
      colour = plot_colours[["main"]], linewidth = 1.1, alpha = 0.45, na.rm = TRUE
    ) +
    ggplot2::geom_point(colour = plot_colours[["main"]], size = 2.6) +
    (if (length(unique(table$system)) > 1L) {
      ggplot2::facet_wrap(~system, labeller = wrapped())
    }) +
    ggplot2::scale_x_continuous(
      limits = range(0, 1, seen$estimate, seen$conf.low, seen$conf.high, na.rm = TRUE),
      breaks = c(0, 0.5, 1)
    ) +
    ggplot2::scale_y_discrete(drop = FALSE) +
    ggplot2::labs(
      title = "Accuracy of systems by group",
      subtitle = if (!all(is.na(seen$conf.low))) {
        paste0("With ", format(100 * level), "% intervals; each group is fitted alone")
      },
      caption = if (lacking > 0L) paste(count_noun(lacking, "estimate"), "missing"),
      x = "probability of the correct category", y = NULL
    ) +
    theme_fallible() +
    ggplot2::theme(panel.spacing.x = ggplot2::unit(18, "pt"))
}

#' @rdname accuracy_groups
#' @export
plot.accuracy_groups <- function(x, ...) draw(x, ...)
