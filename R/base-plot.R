# Functions used by all plots. A plot is drawn from the tables of a result, such as tidy(x), and not
# from other fields of the result.

# Colours of all plots. `main` is the colour of estimates, `accent` of reference values and flagged
# rows, and `muted` of less important values. `low` and `high` are the ends of the colour scale of
# heat maps.
plot_colours <- list(
  main = "#1F5C99", accent = "#D1495B", muted = "#8A8F98", low = "#E6DFCF", high = "#1F5C99"
)

# Returns a plot component that is added with `+`. The component wraps titles and captions, so that
# they fit in a plot that is 5.5 inches wide. If `themed` is TRUE, it also adds a theme.
fallible_look <- function(themed = TRUE) structure(list(themed = themed), class = "fallible_look")

# Returns the components that all plots have: titles, names of axes (none by default), wrapped texts
# and the theme.
plot_titles <- function(title, subtitle = NULL, x = NULL, y = NULL, ...) {
  list(ggplot2::labs(title = title, subtitle = subtitle, x = x, y = y, ...), fallible_look())
}

#' @rawNamespace S3method(ggplot2::ggplot_add,fallible_look)
ggplot_add.fallible_look <- function(object, plot, ...) { # nolint: object_name.
  wrap_widths <- c(title = 50L, subtitle = 66L, caption = 78L)
  for (text in intersect(names(wrap_widths), names(plot$labels))) {
    plot$labels[[text]] <- wrap_text(plot$labels[[text]], wrap_widths[[text]])
  }
  if (!object$themed) return(plot)
  # If the user called ggplot2::theme_set(), the plot has the user's theme. Otherwise it has the
  # theme of this package, in which the names of the vertical axis are smaller if there are many.
  theme <- ggplot2::theme_get()
  if (identical(theme, ggplot2::theme_grey())) theme <- ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(
      panel.grid.minor = ggplot2::element_blank(),
      plot.title = ggplot2::element_text(face = "bold"),
      plot.title.position = "plot",
      plot.subtitle = ggplot2::element_text(colour = "grey35"),
      strip.text = ggplot2::element_text(hjust = 0, face = "bold"),
      strip.clip = "off",
      axis.text.y = ggplot2::element_text(
        size = text_size(nlevels(plot$data[[rlang::as_label(plot$mapping$y)]]))
      ),
      plot.margin = ggplot2::margin(5.5, 16, 5.5, 5.5) # space for half a label of the x axis
    )
  plot + theme + ggplot2::theme(
    legend.position = "bottom", panel.spacing.x = ggplot2::unit(22, "pt") # for numbers of axes
  )
}

# Breaks each paragraph of a string into lines of at most `width` characters.
wrap_text <- function(text, width) {
  if (!is.character(text)) return(text)
  paste(strwrap(strsplit(text, "\n", fixed = TRUE)[[1L]], width), collapse = "\n")
}

# Starts a plot of a table. `...`: names of the columns for x and y and, as named arguments, for
# other aesthetics, such as start_plot(table, "n", "estimate", colour = "system").
start_plot <- function(table, ...) ggplot2::ggplot(table, aes_columns(...))

# Creates the aesthetics of a layer from names of columns. `...`: see start_plot().
aes_columns <- function(...) inject(ggplot2::aes(!!!rlang::data_syms(c(...))))

# Raises an error if all values to draw are NA.
# * what: subject and verb for the message, such as "The bounds are".
# * reason: why the values are NA.
check_drawn <- function(value, what, reason) {
  abort_argument_if(all(is.na(value)), "object", "There is nothing to draw.",
    i = sprintf("%s {.code NA}: %s.", what, escape_braces(reason[[1L]])))
}

#' Plots of results
#'
#' `autoplot()` creates a ggplot of a result, to which themes, scales and titles can be added, as in
#' `autoplot(x) + theme_bw()`. It is the generic [ggplot2::autoplot()] and needs package
#' \pkg{ggplot2}. `plot()` draws the same plot. Its arguments `title` and `subtitle`, two strings,
#' replace the titles.
#' @param object A result of this package that has a plot, such as [ratings()],
#'   [estimate_accuracy()] or [agreement()].
#' @param ... Arguments of the method for the class of `object`; most methods have `type`, a string:
#'   the kind of plot. See the pages below.
#' @return `autoplot()`: an object of class `ggplot`. `plot()`: the same object, invisibly. A result
#'   without a plot raises an error of class `fallible_error_argument`. If \pkg{ggplot2} is not
#'   installed, the error has class `fallible_error_package`.
#' @seealso [autoplot.ratings()], [autoplot.agreement()], [autoplot.accuracy_estimate()],
#'   [autoplot.draws_fit()], [autoplot.crowdtruth()], [autoplot.data_check()]; for other results,
#'   the pages of their tables, such as [tidy.rater_fit].
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' # A plot of the ratings with another title
#' autoplot(x) + ggplot2::labs(title = "Answers of raters")
#' @export
autoplot <- function(object, ...) {
  check_call(dots = NULL)
  check_installed("ggplot2", "to draw")
  ggplot2::autoplot(object, ...)
}

#' @rawNamespace
#' S3method(ggplot2::autoplot,fallible_result)
#' S3method(ggplot2::autoplot,disputed_cases,autoplot.fallible_result)
#' S3method(ggplot2::autoplot,report_sentences,autoplot.fallible_result)
#' S3method(plot,disputed_cases,plot.fallible_result)
#' S3method(plot,report_sentences,plot.fallible_result)
autoplot.fallible_result <- function(object, ...) { # nolint: object_name.
  abort_argument("object", "A result of class {.cls {class(object)[[1L]]}} has no plot.",
    i = if (inherits(object, "fallible_result")) "See its tables with {.fun tidy}.")
}

# If ggplot2 is installed, this package exports autoplot() of ggplot2, because a second generic with
# this name would mask the first. ggplot2 is loaded only when autoplot() is first used.
.onLoad <- function(libname, pkgname) { # nolint: object_name.
  if (nzchar(system.file(package = "ggplot2"))) {
    delayedAssign("autoplot", ggplot2::autoplot, assign.env = topenv())
  }
}

# Draws the plot of autoplot() and returns it invisibly. `title` and `subtitle` replace its titles.
draw <- function(x, ..., title = NULL, subtitle = NULL) {
  titles <- do.call(ggplot2::labs, drop_null(list(title = title, subtitle = subtitle)))
  print(autoplot(x, ...) + titles + fallible_look(FALSE))
}

# The colours of Okabe and Ito (2008), three of them a little darker. Any two colours have a
# distance of at least 20 in CIE Lab, also for readers who do not see red or green (Machado et al.,
# 2009).
okabe_ito <- c(
  "#0072B2", "#DA9700", "#008B65", "#CC79A7", "#56B4E9", "#C15500", "#F0E442", "#000000"
)

# Returns a colour for each category, with the categories as names. From the ninth category on,
# colours are paler shades of the first eight. Colours of ordered categories are a sequence from
# dark to light.
category_colours <- function(categories, ordered = FALSE) {
  if (ordered) return(setNames(grDevices::hcl.colors(length(categories)), categories))
  shades <- seq_len(ceiling(length(categories) / length(okabe_ito)))
  colours <- stack_rows(okabe_ito, function(colour) {
    grDevices::colorRampPalette(c(colour, "white"))(2L * length(shades))[shades]
  })
  setNames(colours[seq_along(categories)], categories)
}

# Formats probabilities as percentages without decimals, for axes and labels of points.
format_axis_percent <- function(x) ifelse(is.na(x), NA, whole_percent(x))

# Formats numbers for axes without trailing zeros.
format_axis_numbers <- function(numbers) format(numbers, trim = TRUE, drop0trailing = TRUE)

# Creates a layer with a horizontal line per row of the table, from column `low` to column `high`.
# * main: do lines have the main colour? FALSE if colour is an aesthetic.
# * ends: the two aesthetics for the ends of the lines.
interval_lines <- function(low = "conf.low", high = "conf.high", main = TRUE, linewidth = 1.1,
                           alpha = 0.45, ends = c("xmin", "xmax"), ...) {
  inject(ggplot2::geom_linerange(
    aes_columns(setNames(c(low, high), ends)), linewidth = linewidth, alpha = alpha,
    na.rm = TRUE, ..., !!!(if (main) list(colour = plot_colours$main))
  ))
}

# Creates the same layer as interval_lines(), but with vertical lines.
vertical_interval_lines <- function(...) interval_lines(..., ends = c("ymin", "ymax"))

# Draws thick lines for ranges such as bounds, in which all values are equally plausible.
range_lines <- function() interval_lines("lowest", "highest", linewidth = 3.2, alpha = NA)

main_points <- function(size = 2.6, ...) {
  ggplot2::geom_point(colour = plot_colours$main, size = size, ...)
}

# Draws a vertical line at a reference value `x`. `colour`: a name in `plot_colours`.
line_at <- function(x, colour = "accent", linetype = "dashed", ...) {
  ggplot2::geom_vline(xintercept = x, colour = plot_colours[[colour]], linetype = linetype, ...)
}

# Draws the line on which both axes have equal values.
diagonal_line <- function(colour = "muted", linetype = "solid") {
  ggplot2::geom_abline(colour = plot_colours[[colour]], linetype = linetype)
}

# Draws vertical lines at the values in column `at` of a table, which may have a column for facets.
lines_at <- function(table) {
  ggplot2::geom_vline(
    aes_columns(xintercept = "at"), table, linetype = "dashed", colour = plot_colours$muted
  )
}

zero_line <- function() ggplot2::geom_vline(xintercept = 0, colour = "grey35")

# Converts a vector to a factor. The levels are in order of appearance.
factor_in_order <- function(x) factor(x, unique(x))
# Converts a vector to a factor. The levels are in reverse order of appearance, so that the first
# value is at the top of a vertical axis.
factor_from_top <- function(x) factor(x, rev(unique(x)))

# Returns a scale that gives each value of the aesthetic "colour" a colour. `colours`: names in
# `plot_colours`, in the order of the values, or named by the values.
colour_scale <- function(colours, ...) {
  values <- setNames(unlist(plot_colours[colours]), names(colours))
  ggplot2::scale_colour_manual(values = values, ...)
}

shape_scale <- function(values, ...) ggplot2::scale_shape_manual(values = values, ...)

# Returns coordinates with the same limits and the same scale on both axes.
square_panel <- function(limits = 0:1) {
  ggplot2::coord_equal(xlim = limits, ylim = limits, clip = "off")
}

# Returns a colour scale for a column `flagged`. Rows with TRUE have the accent colour.
flag_scale <- function() colour_scale(c(`FALSE` = "main", `TRUE` = "accent"), guide = "none")

# Returns an axis of shares in percent that is at least 30 percentage points wide, so that small
# differences do not look large. `scale`: scale of the x axis or of the y axis.
share_axis <- function(limits = widen_limits, scale = ggplot2::scale_x_continuous, ...) {
  scale(
    limits = limits, breaks = share_breaks, labels = format_axis_percent,
    # Labels that would overlap are left out.
    guide = ggplot2::guide_axis(check.overlap = TRUE), ...
  )
}

# Widens the limits of an axis of shares to `min_width`, within [0, 1].
widen_limits <- function(limits, min_width = 0.3) {
  if (is.null(limits) || !all(is.finite(limits))) limits <- 0:1 # without data
  limits <- limits + c(-1, 1) * max(0, min_width - diff(limits)) / 2
  limits + max(0, -limits[[1L]]) - max(0, limits[[2L]] - 1)
}

# Returns the breaks of an axis of shares: about three numbers whose labels do not overlap.
share_breaks <- function(limits) {
  for (n in 3:4) {
    breaks <- pretty(limits, n)
    breaks <- breaks[breaks >= limits[[1L]] & breaks <= limits[[2L]]]
    if (length(breaks) >= 3L) return(breaks)
  }
  breaks
}

# Returns facets with titles on several lines, because names may be long. Returns NULL without
# columns.
wrapped_facets <- function(columns, ...) {
  if (!is_empty(columns)) ggplot2::facet_wrap(columns, ..., labeller = wrap_labeller())
}

# Returns facets, one for each value of a column. Returns NULL if all rows have the same value.
facet_by <- function(table, column) if (n_distinct(table[[column]]) > 1L) wrapped_facets(column)

# Returns a subtitle such as "Estimates with 90% intervals"; NULL if no row of the table has an
# interval.
interval_subtitle <- function(table, level, words = "Estimates with") {
  if (any_known(table$conf.low)) sprintf("%s %ss", words, interval_title(level))
}

# Returns a caption such as "2 estimates missing"; NULL if no estimate is NA.
missing_caption <- function(table) {
  n_missing <- sum(is.na(table$estimate))
  if (n_missing > 0L) paste(count_noun(n_missing, "estimate"), "missing")
}

# Returns a caption that names `systems` whose estimates are not identified; NULL if there are none.
not_identified_caption <- function(systems) {
  words_with_labels("Not identified for", systems, most = 4L)
}

# Returns a subtitle such as "20 cases of 1,000, evenly spaced"; NULL if all objects are drawn.
# * n_drawn, n_all: numbers of drawn objects and of all objects.
# * noun: what the objects are.
# * how: how the drawn objects were chosen.
choice_subtitle <- function(n_drawn, n_all, noun, how = "evenly spaced") {
  if (n_drawn < n_all) sprintf("%s of %s, %s", count_noun(n_drawn, noun), number(n_all), how)
}

# Returns layers with estimates as points, their intervals, and their values as text above the
# points. If there are more than 15 points, there is no text. `words`: a function that formats the
# values.
interval_layers <- function(words = function(x) format_decimals(x, 2L)) {
  # The argument of geom_label() for the border is `label.size` up to ggplot2 3.5.
  border_width_name <-
    if ("linewidth" %in% ggplot2::GeomLabel$aesthetics()) "linewidth" else "label.size"
  list(
    interval_lines(),
    # Labels have a background, so that a reference line may pass behind them.
    inject(ggplot2::geom_label(
      ggplot2::aes(label = words(.data$estimate)), function(table) table[nrow(table) <= 15L, ],
      vjust = -0.6, size = 3.3, colour = plot_colours$main,
      label.padding = ggplot2::unit(1.5, "pt"), na.rm = TRUE, !!!setNames(0, border_width_name)
    )),
    main_points(3, na.rm = TRUE)
  )
}

# Returns a vertical axis of names with space above the first and below the last row. `add`: space
# at the bottom and at the top, in rows.
row_axis_with_space <- function(add = c(0.6, 0.9), ...) {
  ggplot2::scale_y_discrete(expand = ggplot2::expansion(add = add), ...)
}

# Returns a labeller of facets that wraps long names. The more facets, the shorter are the lines.
# Titles with several words are only wrapped. Names with very long words are also shortened if there
# are many, because they would need many lines. Lines of titles have room for "Krippendorff's".
wrap_labeller <- function() {
  ggplot2::as_labeller(function(names) {
    has_long_names <- any(grepl("[^ ]{31}|.{61}", names))
    if (has_long_names) names <- shorten_many(names)
    n_columns <- ggplot2::wrap_dims(n_distinct(names))[[2L]]
    break_names(names, max(if (!has_long_names) 14L, 52L %/% n_columns))
  })
}

# Shortens names if there are more than six. Drops attributes of the names, because ggplot2 merges
# only legends whose labels are identical.
shorten_many <- function(names) {
  if (n_distinct(names) > 6L) short_names(names) else as.character(names)
}

# Breaks names into lines of at most `width` characters, at spaces and after punctuation. Longer
# words are broken anywhere.
break_names <- function(names, width = 15L) {
  break_pattern <- "(?<=[-_/:,])|(?<=[.])(?![.])|(?=[ \n]|$)"
  line_pattern <- sprintf("(.{1,%s}(?:%s)|.{%s}) ?", width, break_pattern, width)
  gsub("\n(?=\n|$)", "", gsub(line_pattern, "\\1\n", names, perl = TRUE), perl = TRUE)
}

# Returns a legend of categories, or "none" for a single category. The number of columns depends on
# the longest name, so that the legend is not wider than the plot.
category_legend <- function(categories) {
  if (length(categories) < 2L) return("none")
  ggplot2::guide_legend(ncol = max(1L, min(8L, 56L %/% (max(nchar(categories)) + 4L))))
}

# Returns a colour scale of lines and points, with a colour for each category.
category_scale <- function(categories, ...) {
  ggplot2::scale_colour_manual(
    values = category_colours(categories), labels = shorten_many,
    guide = category_legend(shorten_many(categories)), ...
  )
}

# Returns a fill scale of tiles and bars, with a colour for each category. The layer needs
# `show.legend = TRUE`; otherwise ggplot2 3.5 and later draw no legend key for a category without
# data.
category_fill <- function(categories, ordered = FALSE) {
  ggplot2::scale_fill_manual(
    values = category_colours(categories, ordered), limits = categories, name = NULL,
    guide = category_legend(categories)
  )
}

# Returns at most `most` whole numbers from 1 to n, evenly spaced. They are indices of objects to
# draw.
evenly_spaced_indices <- function(n, most) {
  if (n <= most) seq_len(n) else unique(round(seq(1, n, length.out = most)))
}

# Returns the breaks of a legend for numbers of cases or units. They are positive whole numbers if
# possible.
size_breaks <- function(limits) {
  breaks <- pretty(limits, 3)
  whole_numbers <- breaks[breaks == round(breaks) & breaks > 0]
  if (!is_empty(whole_numbers)) whole_numbers else breaks
}
