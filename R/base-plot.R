# What all plots share. Plots read tables (tidy(), ...), never the insides of an object.

# One colour for what is measured, one for what it is compared with, and a scale from none to all.
plot_colours <- c(
  main = "#1F5C99", accent = "#D1495B", muted = "#8A8F98", low = "#E6DFCF", high = "#1F5C99"
)

# The look of all pictures: the user's theme, if one was set, otherwise ours; and texts no wider
# than a picture of seven inches.
theme_fallible <- function() structure(list(own = TRUE), class = "fallible_look")

# Titles, names of axes (none, unless given), and the look.
titled <- function(title, subtitle = NULL, x = NULL, y = NULL, ...) {
  list(ggplot2::labs(title = title, subtitle = subtitle, x = x, y = y, ...), theme_fallible())
}

# The texts alone, for labels that come after the theme.
wrapped_texts <- function() structure(list(own = FALSE), class = "fallible_look")

#' @rawNamespace S3method(ggplot2::ggplot_add,fallible_look)
ggplot_add.fallible_look <- function(object, plot, ...) { # nolint: object_name.
  width <- c(title = 62L, subtitle = 88L, caption = 100L)
  for (text in intersect(names(width), names(plot$labels))) {
    plot$labels[[text]] <- wrap_text(plot$labels[[text]], width[[text]])
  }
  if (object$own) plot + look() else plot
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

# A picture of a table, and what a layer shows of it: the columns for x, y and by name.
picture <- function(table, ...) ggplot2::ggplot(table, mapped(...))

mapped <- function(...) rlang::inject(ggplot2::aes(!!!rlang::data_syms(c(...))))

# Is there a number to draw? If not, `what` says what is NA, and `reason` why.
check_drawn <- function(value, what, reason) {
  abort_argument_if(all(is.na(value)), "object", "There is nothing to draw.",
    i = paste0(what, " {.code NA}: ", verbatim(reason[[1L]]), "."))
}

check_ggplot2 <- function() check_installed("ggplot2", "to draw")

#' Pictures of results
#'
#' A ggplot of any result. `autoplot()` is [ggplot2::autoplot()] where that package is installed,
#' and needs it. `autoplot(x) + theme_bw()` changes a picture: themes, scales and titles of ggplot2
#' can be added. `plot()` draws the same at once, takes `title` and `subtitle`, and returns the
#' picture invisibly. A theme that was set by [ggplot2::theme_set()] is kept.
#'
#' @param object Any result that has a picture, such as [ratings()], [estimate_accuracy()] or
#'   [agreement()].
#' @param ... Depends on the class; mostly `type`, which picture.
#' @return A `ggplot`.
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' autoplot(x) + ggplot2::labs(title = "Who said what")
#' @export
autoplot <- function(object, ...) {
  check_given()
  check_ggplot2()
  ggplot2::autoplot(object, ...)
}

# Where ggplot2 is installed its own generic is exported, so that attaching both masks nothing; it
# is loaded when it is first needed.
.onLoad <- function(libname, pkgname) { # nolint: object_name.
  if (nzchar(system.file(package = "ggplot2"))) {
    delayedAssign("autoplot", ggplot2::autoplot, assign.env = topenv())
  }
}

# plot() draws what autoplot() describes, with other titles if some are given, and returns it.
draw <- function(x, ..., title = NULL, subtitle = NULL) {
  check_ggplot2()
  titles <- drop_null(list(title = title, subtitle = subtitle))
  picture <- ggplot2::autoplot(x, ...) + do.call(ggplot2::labs, titles) + wrapped_texts()
  print(picture)
  invisible(picture)
}

# Colours of Okabe and Ito (2008), three of them a little darker, so that any two are 20 apart or
# more in CIE Lab for those who see no red or no green (Machado et al., 2009), too.
okabe_ito <- c(
  "#0072B2", "#DA9700", "#008B65", "#CC79A7", "#56B4E9", "#C15500", "#F0E442", "#000000"
)

# Of more than eight categories the others are paler shades, which need names beside the colour.
category_colours <- function(categories) {
  n <- length(categories)
  shades <- ceiling(n / length(okabe_ito))
  paler <- function(colour) {
    grDevices::colorRampPalette(c(colour, "white"))(2L * shades)[seq_len(shades)]
  }
  colours <- if (shades == 1L) okabe_ito else t(vapply(okabe_ito, paler, character(shades)))
  stats::setNames(as.vector(colours)[seq_len(n)], categories)
}

# What can be read on a tile of a colour.
ink_on <- function(colours) {
  light <- colSums(grDevices::col2rgb(colours) * c(0.299, 0.587, 0.114))
  ifelse(light > 110, "black", "white")
}

# Probabilities on axes and beside points, as whole percents.
in_percent <- function(x) ifelse(is.na(x), NA, paste0(round(100 * x), "%"))

# From `low` to `high`, columns, of each row. In the main colour, unless it tells something; a thick
# line is a range, in which any value is as good as another.
interval_lines <- function(low = "conf.low", high = "conf.high", main = TRUE, linewidth = 1.1,
                           alpha = 0.45, ends = c("xmin", "xmax"), ...) {
  colour <- if (main) list(colour = plot_colours[["main"]])
  rlang::inject(ggplot2::geom_linerange(
    mapped(stats::setNames(c(low, high), ends)), linewidth = linewidth, alpha = alpha,
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

# Where both axes say the same.
diagonal <- function(colour = "muted", linetype = "solid") {
  ggplot2::geom_abline(colour = plot_colours[[colour]], linetype = linetype)
}

# The order in which categories or systems stand, on an axis from the top.
in_order <- function(x) factor(x, unique(x))

from_top <- function(x) factor(x, rev(unique(x)))

# What stands out has another colour.
flag_colours <- function() {
  ggplot2::scale_colour_manual(
    values = c(`FALSE` = plot_colours[["main"]], `TRUE` = plot_colours[["accent"]]), guide = "none"
  )
}

# From 0 to 1, and as far as estimates and intervals go.
estimate_axis <- function(table, ...) {
  ggplot2::scale_x_continuous(
    limits = range(0, 1, table$estimate, table$conf.low, table$conf.high, na.rm = TRUE), ...
  )
}

# A panel for each of several values of a column.
panels_of <- function(table, column) {
  if (length(unique(table[[column]])) > 1L) ggplot2::facet_wrap(column, labeller = wrapped())
}

room_between <- function(points) ggplot2::theme(panel.spacing.x = ggplot2::unit(points, "pt"))

# Below the title of what rests on an estimated truth.
truth_subtitle <- function(table, level) {
  capitalised(paste(c(with_intervals(table, level, "with"), "truth is estimated"), collapse = "; "))
}

# Words before intervals, where there are some.
with_intervals <- function(table, level, words = "Estimates with") {
  if (!all(is.na(table$conf.low))) paste0(words, " ", interval_title(level), "s")
}

lacking_words <- function(table) {
  lacking <- sum(is.na(table$estimate))
  if (lacking > 0L) paste(count_noun(lacking, "estimate"), "missing")
}

not_identified <- function(systems) {
  if (length(systems) > 0L) paste("Not identified for", shorten(systems, most = 4L))
}

# How many of `all` are drawn, where these are not all, and `how` they were chosen.
choice_subtitle <- function(shown, all, noun, how) {
  if (shown < all) paste0(count_noun(shown, noun), " of ", number(all), ", ", how)
}

# Estimates as points with their numbers above them, told by `words`, and intervals where there
# are some.
interval_layers <- function(words = function(x) decimals(x, 2L)) {
  list(
    interval_lines(),
    main_points(3),
    # The label has a ground, since the line of a comparison may pass behind it.
    rlang::inject(ggplot2::geom_label(
      ggplot2::aes(label = words(.data$estimate)), vjust = -0.6, size = 3.3,
      colour = plot_colours[["main"]], label.padding = ggplot2::unit(1.5, "pt"), !!!no_border()
    ))
  )
}

# The width of a label's border. Its name is `label.size` in ggplot2 3.5 and before.
no_border <- function() {
  now <- "linewidth" %in% ggplot2::GeomLabel$aesthetics()
  if (now) list(linewidth = 0) else list(label.size = 0)
}

# Rows with room for numbers above them.
roomy_rows <- function(add = 0.6, ...) {
  ggplot2::scale_y_discrete(expand = ggplot2::expansion(add = add), ...)
}

# Long names of panels on several lines.
wrapped <- function() ggplot2::label_wrap_gen(width = 18, multi_line = TRUE)

# Legends of categories with no more columns than fit beside each other.
category_legend <- function(categories) {
  ggplot2::guide_legend(ncol = max(1L, min(8L, 70L %/% (max(nchar(categories)) + 4L))))
}

# Colours of lines and points, or of what is filled, by category.
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

# Of cases or units: whole numbers, where there are some.
size_breaks <- function(limits) {
  at <- pretty(limits, 3)
  whole <- at[at == round(at) & at > 0]
  if (length(whole) > 0L) whole else at
}

# Heat maps: a tile per pair of judges or categories.

# `cells` has judge1 in columns, judge2 in rows, value, and label where a number says something
# else; `...` are titles. `systems` are set apart from raters, and with many judges those who agree
# most with the others stand first (`sorted`). Tiles take the room that there is.
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
  # White on dark tiles, and hardly seen where there is nothing.
  known <- replace(abs(cells$value), is.na(cells$value), 0)
  cells$ink <- c("grey75", "grey20", "white")[1L + (known > 0) + (known > 0.55)]
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

# Names get smaller with their number, and lean where they would run into each other.
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

# From none to all, or from -1 to 1 where values are `negative`.
share_scale <- function(name = "probability", negative = FALSE, low = plot_colours[["low"]]) {
  ggplot2::scale_fill_gradientn(
    colours = c(if (negative) plot_colours[["accent"]], low, plot_colours[["high"]]),
    limits = c(-negative, 1), breaks = c(-1, 0, 0.5, 1), na.value = "white", name = name
  )
}

# Agreement and correlation have no direction: both halves of the square.
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

# The beginning and the end of long names, since models often differ in their last digits.
short_names <- function(names, width = 16L) {
  names <- as.character(names)
  long <- nchar(names) > width
  end <- nchar(names) - width %/% 2L + 2L
  short <- paste0(substr(names, 1L, width %/% 2L), "\u2026", substring(names, end))
  ifelse(long & !duplicated(short) & !duplicated(short, fromLast = TRUE), short, names)
}

# Raters first, each kind by the mean of its values with the others.
by_mean_value <- function(pairs, judges, systems) {
  other <- pairs[as.character(pairs$judge1) != as.character(pairs$judge2), ]
  means <- tapply(other$value, as.character(other$judge1), mean, na.rm = TRUE)[judges]
  judges[order(judges %in% systems, -means)]
}
