# Common parts of all plots. Plots read tables (tidy(), ...), never the fields of an object.

# Colours: main for measured values, accent for references, and a scale from low to high.
plot_colours <- c(
  main = "#1F5C99", accent = "#D1495B", muted = "#8A8F98", low = "#E6DFCF", high = "#1F5C99"
)

# Look of all plots: the user's theme, if one was set, otherwise that of this package. Wraps texts
# to the width of a plot of seven inches; if `themed` is FALSE, it does only that.
fallible_look <- function(themed = TRUE) structure(list(themed = themed), class = "fallible_look")

# Titles, names of axes (none by default), and the look.
titled <- function(title, subtitle = NULL, x = NULL, y = NULL, ...) {
  list(ggplot2::labs(title = title, subtitle = subtitle, x = x, y = y, ...), fallible_look())
}

#' @rawNamespace S3method(ggplot2::ggplot_add,fallible_look)
ggplot_add.fallible_look <- function(object, plot, ...) { # nolint: object_name.
  width <- c(title = 62L, subtitle = 88L, caption = 100L)
  for (text in intersect(names(width), names(plot$labels))) {
    plot$labels[[text]] <- wrap_text(plot$labels[[text]], width[[text]])
  }
  if (object$themed) plot + look() else plot
}

wrap_text <- function(text, width) {
  if (!is.character(text)) return(text)
  lines <- strsplit(text, "\n", fixed = TRUE)[[1L]]
  paste(unlist(lapply(lines, strwrap, width = width)), collapse = "\n")
}

look <- function() {
  if (!identical(ggplot2::theme_get(), ggplot2::theme_grey())) {
    return(ggplot2::theme_get() + ggplot2::theme(legend.position = "bottom"))
  }
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(
      panel.grid.minor = ggplot2::element_blank(),
      plot.title = ggplot2::element_text(face = "bold"),
      plot.title.position = "plot",
      plot.subtitle = ggplot2::element_text(colour = "grey35"),
      strip.text = ggplot2::element_text(hjust = 0, face = "bold"),
      legend.position = "bottom"
    )
}

# A plot of a table, and the aesthetics of a layer: columns for x, y and others by name.
picture <- function(table, ...) ggplot2::ggplot(table, mapped(...))

mapped <- function(...) inject(ggplot2::aes(!!!rlang::data_syms(c(...))))

# Fails if there is no number to draw; `what` names the NA, and `reason` explains it.
check_drawn <- function(value, what, reason) {
  abort_argument_if(all(is.na(value)), "object", "There is nothing to draw.",
    i = paste0(what, " {.code NA}: ", verbatim(reason[[1L]]), "."))
}

#' Plots of results
#'
#' Draws a ggplot of a result. `autoplot()` is [ggplot2::autoplot()] and needs package
#' \pkg{ggplot2}. Themes, scales and titles of ggplot2 can be added, as in
#' `autoplot(x) + theme_bw()`. `plot()` draws the same plot immediately, has arguments `title` and
#' `subtitle`, and returns the plot invisibly. A theme that was set by [ggplot2::theme_set()] is
#' kept.
#'
#' @param object Any result that has a plot, such as [ratings()], [estimate_accuracy()] or
#'   [agreement()].
#' @param ... Depends on the class; usually `type`, the kind of plot.
#' @return A `ggplot`.
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' autoplot(x) + ggplot2::labs(title = "Answers of raters")
#' @export
autoplot <- function(object, ...) {
  check_given()
  check_installed("ggplot2", "to draw")
  ggplot2::autoplot(object, ...)
}

#' @rawNamespace S3method(ggplot2::autoplot,fallible_result)
autoplot.fallible_result <- function(object, ...) { # nolint: object_name.
  abort_argument("object", "A result of class {.cls {class(object)[[1L]]}} has no picture.",
    i = "See {.fun tidy}.")
}

# If ggplot2 is installed, its generic is exported, so that no function is masked if both packages
# are attached. It is loaded when it is first needed.
.onLoad <- function(libname, pkgname) { # nolint: object_name.
  if (nzchar(system.file(package = "ggplot2"))) {
    delayedAssign("autoplot", ggplot2::autoplot, assign.env = topenv())
  }
}

# Draws the plot of autoplot(), with new titles if they are given, and returns it.
draw <- function(x, ..., title = NULL, subtitle = NULL) {
  titles <- drop_null(list(title = title, subtitle = subtitle))
  picture <- autoplot(x, ...) + do.call(ggplot2::labs, titles) + fallible_look(FALSE)
  print(picture)
  invisible(picture)
}

# Colours of Okabe and Ito (2008), three of them a little darker. Any two colours differ by at least
# 20 in CIE Lab, also for readers who do not see red or green (Machado et al., 2009).
okabe_ito <- c(
  "#0072B2", "#DA9700", "#008B65", "#CC79A7", "#56B4E9", "#C15500", "#F0E442", "#000000"
)

# From the ninth category on, colours are paler shades, which also need labels.
category_colours <- function(categories) {
  n <- length(categories)
  shades <- ceiling(n / length(okabe_ito))
  paler <- function(colour) {
    grDevices::colorRampPalette(c(colour, "white"))(2L * shades)[seq_len(shades)]
  }
  setNames(t(vapply(okabe_ito, paler, character(shades)))[seq_len(n)], categories)
}

# Colour of readable text on tiles of a colour.
ink_on <- function(colours) {
  light <- colSums(grDevices::col2rgb(colours) * c(0.299, 0.587, 0.114))
  ifelse(light > 110, "black", "white")
}

# Probabilities on axes and next to points, as whole percents.
in_percent <- function(x) ifelse(is.na(x), NA, paste0(round(100 * x), "%"))

in_digits <- function(x) format(x, trim = TRUE, drop0trailing = TRUE)

# Lines from column `low` to column `high`, by row. They have the main colour, unless colour is an
# aesthetic. A thick line is a range without a preferred value.
interval_lines <- function(low = "conf.low", high = "conf.high", main = TRUE, linewidth = 1.1,
                           alpha = 0.45, ends = c("xmin", "xmax"), ...) {
  colour <- if (main) list(colour = plot_colours[["main"]])
  inject(ggplot2::geom_linerange(
    mapped(setNames(c(low, high), ends)), linewidth = linewidth, alpha = alpha,
    na.rm = TRUE, ..., !!!colour
  ))
}

upright_lines <- function(...) interval_lines(..., ends = c("ymin", "ymax"))

range_lines <- function() interval_lines("lowest", "highest", linewidth = 3.2, alpha = NA)

main_points <- function(size = 2.6, ...) {
  ggplot2::geom_point(colour = plot_colours[["main"]], size = size, ...)
}

line_at <- function(x, colour = "accent", linetype = "dashed", ...) {
  ggplot2::geom_vline(xintercept = x, colour = plot_colours[[colour]], linetype = linetype, ...)
}

# The line on which both axes have equal values.
diagonal <- function(colour = "muted", linetype = "solid") {
  ggplot2::geom_abline(colour = plot_colours[[colour]], linetype = linetype)
}

zero_line <- function() ggplot2::geom_vline(xintercept = 0, colour = "grey35")

# Keeps the order of categories or systems, on an axis from the top.
in_order <- function(x) factor(x, unique(x))

from_top <- function(x) factor(x, rev(unique(x)))

# A scale of colours, given by their names in `plot_colours`, in order or by value.
colour_scale <- function(colours, ...) {
  ggplot2::scale_colour_manual(values = setNames(plot_colours[colours], names(colours)), ...)
}

# Flagged rows have the accent colour.
flag_colours <- function() colour_scale(c(`FALSE` = "main", `TRUE` = "accent"), guide = "none")

# Shares of at least 30 points of a percent, so that small differences do not look large.
share_axis <- function(...) {
  ggplot2::scale_x_continuous(
    limits = no_narrower, breaks = share_breaks, labels = in_percent, ...
  )
}

# Widens a narrow axis, so that a small range does not look like a large effect.
no_narrower <- function(limits, least = 0.3) {
  if (is.null(limits) || !all(is.finite(limits))) limits <- 0:1 # without data
  limits <- limits + c(-1, 1) * max(0, least - diff(limits)) / 2
  limits + max(0, -limits[[1L]]) - max(0, limits[[2L]] - 1)
}

# At most three numbers, so that labels do not overlap.
share_breaks <- function(limits) {
  at <- pretty(limits, 3L)
  at[at >= limits[[1L]] & at <= limits[[2L]]]
}

# A panel for each value of a column, if there are several.
facet_by <- function(table, column) {
  if (length(unique(table[[column]])) > 1L) ggplot2::facet_wrap(column, labeller = wrapped())
}

room_between <- function(points) ggplot2::theme(panel.spacing.x = ggplot2::unit(points, "pt"))

# Text about intervals, if there are any.
interval_subtitle <- function(table, level, words = "Estimates with") {
  if (!all(is.na(table$conf.low))) paste0(words, " ", interval_title(level), "s")
}

lacking_words <- function(table) {
  lacking <- sum(is.na(table$estimate))
  if (lacking > 0L) paste(count_noun(lacking, "estimate"), "missing")
}

not_identified <- function(systems) {
  if (length(systems) > 0L) paste("Not identified for", shorten(systems, most = 4L))
}

# Number of drawn objects out of `all`, if not all are drawn, and `how` they were chosen.
choice_subtitle <- function(shown, all, noun, how) {
  if (shown < all) paste0(count_noun(shown, noun), " of ", number(all), ", ", how)
}

# Estimates as points with their numbers above them, formatted by `words`, and intervals if there
# are any.
interval_layers <- function(words = function(x) decimals(x, 2L)) {
  list(
    interval_lines(),
    main_points(3),
    # The label has a background, because the line of a comparison may pass behind it.
    inject(ggplot2::geom_label(
      ggplot2::aes(label = words(.data$estimate)), vjust = -0.6, size = 3.3,
      colour = plot_colours[["main"]], label.padding = ggplot2::unit(1.5, "pt"), !!!no_border()
    ))
  )
}

# Width of a label's border; the argument is called `label.size` up to ggplot2 3.5.
no_border <- function() {
  argument <- if ("linewidth" %in% ggplot2::GeomLabel$aesthetics()) "linewidth" else "label.size"
  setNames(list(0), argument)
}

# Rows with space for numbers above them.
roomy_rows <- function(add = c(0.6, 0.9), ...) {
  ggplot2::scale_y_discrete(expand = ggplot2::expansion(add = add), ...)
}

# Wraps long names of panels.
wrapped <- function() ggplot2::label_wrap_gen(width = 18, multi_line = TRUE)

# Legends of categories, with the number of columns that fit into the width.
category_legend <- function(categories) {
  ggplot2::guide_legend(ncol = max(1L, min(8L, 70L %/% (max(nchar(categories)) + 4L))))
}

# Colours of lines and points, by category.
category_scale <- function(categories, ...) {
  ggplot2::scale_colour_manual(
    values = category_colours(categories),
    guide = if (length(categories) > 1L) "legend" else "none", ...
  )
}

# The layer needs `show.legend = TRUE`: since 3.5, ggplot2 draws no key for a category without data.
category_fill <- function(categories) {
  ggplot2::scale_fill_manual(
    values = category_colours(categories), limits = categories, name = NULL,
    guide = category_legend(categories)
  )
}

# At most `most` of 1 ... n, evenly spaced.
spread <- function(n, most) {
  if (n <= most) seq_len(n) else unique(round(seq(1, n, length.out = most)))
}

# Breaks for numbers of cases or units: whole numbers, if there are any.
size_breaks <- function(limits) {
  at <- pretty(limits, 3)
  whole <- at[at == round(at) & at > 0]
  if (length(whole) > 0L) whole else at
}

# Heat maps: a tile per pair of judges or categories.

# `cells` has judge1 (columns), judge2 (rows), value, and optionally label, if the text is not the
# value; `...` are titles. `systems` are separated from raters. If `sorted`, and there are many
# judges, those with the highest mean agreement are first. Tiles fill the available space.
heat_map <- function(cells, columns, ..., rows = columns, systems = NULL, sorted = FALSE,
                     numbers = length(columns) <= 12L, scale = share_scale(), top = FALSE,
                     row_labels = short_names) {
  if (sorted && length(columns) > 12L) columns <- by_mean_value(cells, columns, systems)
  longest <- max(length(columns), length(rows))
  separate <- length(systems) > 0L && length(systems) < length(columns)
  if (separate) {
    cells[c("role1", "role2")] <- lapply(cells[c("judge1", "judge2")], function(judge) {
      factor(judge %in% systems, c(FALSE, TRUE), c("raters", "systems"))
    })
  }
  cells$judge1 <- factor(cells$judge1, columns)
  cells$judge2 <- factor(cells$judge2, rev(rows))
  if (!has_columns(cells, "label")) {
    cells$label <- ifelse(is.na(cells$value), "", decimals(cells$value, 2L))
  }
  # White text on dark tiles; pale text on tiles with zero or NA.
  size <- replace(abs(cells$value), is.na(cells$value), 0)
  cells$ink <- c("grey75", "grey20", "white")[1L + (size > 0) + (size > 0.55)]
  picture(cells, "judge1", "judge2", fill = "value") +
    ggplot2::geom_tile(colour = "white", linewidth = if (numbers || longest <= 12L) 0.6 else 0) +
    (if (numbers) {
      ggplot2::geom_text(
        mapped(label = "label", colour = "ink"), size = if (longest > 8L) 2.4 else 3.2
      )
    }) +
    (if (separate) ggplot2::facet_grid(role2 ~ role1, scales = "free", space = "free")) +
    ggplot2::scale_colour_identity() +
    ggplot2::scale_x_discrete(
      labels = short_names, expand = c(0, 0), position = if (top) "top" else "bottom"
    ) +
    ggplot2::scale_y_discrete(labels = row_labels, expand = c(0, 0)) +
    scale +
    titled(...) +
    heat_theme(short_names(columns), length(rows))
}

# Names become smaller with their number, and are rotated if they would overlap.
heat_theme <- function(names, rows) {
  size <- function(n) min(9, 190 / n)
  turned <- function(angle, ...) {
    ggplot2::element_text(size = size(length(names)), angle = angle, hjust = 1, ...)
  }
  ggplot2::theme(
    panel.grid = ggplot2::element_blank(),
    axis.text.y = ggplot2::element_text(size = size(rows)),
    axis.text.x = if (length(names) > 16L) {
      turned(90, vjust = 0.5)
    } else if (sum(nchar(names)) > 45L) {
      turned(45, vjust = 1)
    },
    strip.text.x = ggplot2::element_text(hjust = 0.5), strip.clip = "off",
    plot.margin = ggplot2::margin(5.5, 20, 5.5, 5.5),
    strip.text.y = ggplot2::element_blank()
  )
}

# Scale from 0 to 1, or from -1 to 1 if values may be `negative`.
share_scale <- function(name = "probability", negative = FALSE, low = plot_colours[["low"]]) {
  ggplot2::scale_fill_gradientn(
    colours = c(if (negative) plot_colours[["accent"]], low, plot_colours[["high"]]),
    limits = c(-negative, 1), breaks = c(-1, 0, 0.5, 1), na.value = "white", name = name
  )
}

# Cells for both halves of the square, because agreement and correlation are symmetric.
both_ways <- function(pairs) {
  data.frame(
    judge1 = c(pairs$rater1, pairs$rater2), judge2 = c(pairs$rater2, pairs$rater1),
    value = rep(pairs$estimate, 2L)
  )
}

matrix_cells <- function(matrix) {
  data.frame(
    judge1 = colnames(matrix)[col(matrix)], judge2 = rownames(matrix)[row(matrix)],
    value = as.vector(matrix)
  )
}

# Shortens long names in the middle, because names of models often differ in their last digits.
short_names <- function(names, width = 16L) {
  names <- as.character(names)
  long <- nchar(names) > width
  end <- nchar(names) - width %/% 2L + 2L
  short <- paste0(substr(names, 1L, width %/% 2L), "\u2026", substring(names, end))
  ifelse(long & !duplicated(short) & !duplicated(short, fromLast = TRUE), short, names)
}

# Sorts judges: raters before systems, then by a judge's mean value with all other judges.
by_mean_value <- function(pairs, judges, systems) {
  other <- pairs[as.character(pairs$judge1) != as.character(pairs$judge2), ]
  means <- tapply(other$value, as.character(other$judge1), mean, na.rm = TRUE)[judges]
  judges[order(judges %in% systems, -means)]
}
