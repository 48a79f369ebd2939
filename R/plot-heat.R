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
