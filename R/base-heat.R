# Heat maps, with a tile per pair of judges or categories.

# Creates a heat map with a tile per pair of judges (raters or systems) or of categories.
# * cells: table with columns judge1 (column of the plot), judge2 (row), value, and optionally
#   label (text of the tile; by default, the text is the value).
# * columns, rows: names of the judges or categories in the columns and rows of the plot, in order.
# * ...: titles, see plot_titles().
# * systems: names of systems. Facets separate systems from raters.
# * sorted: if TRUE and if there are more than 12 columns, raters are before systems, and both are
#   sorted by the mean value of their tiles, highest first.
# * facets: names of columns of `cells`. There is a map for each combination of their values.
# * numbers: if TRUE, tiles have text.
# * top: if TRUE, the names of columns are above the plot.
heat_map <- function(cells, columns, ..., rows = columns, systems = NULL, sorted = FALSE,
                     facets = NULL, numbers = n_tiles_across <= 12L, scale = share_scale(),
                     top = FALSE, row_labels = short_names) {
  facet_dims <- ggplot2::wrap_dims(max(1L, number_distinct_rows(cells[facets])))
  n_tiles_across <- length(columns) * facet_dims[[2L]]
  if (sorted && length(columns) > 12L) {
    judge1 <- as.character(cells$judge1)
    is_off_diagonal <- judge1 != cells$judge2
    column_means <-
      tapply(cells$value[is_off_diagonal], judge1[is_off_diagonal], mean, na.rm = TRUE)
    columns <- columns[order(columns %in% systems, -column_means[columns])]
  }
  n_tiles_down <- length(rows) * facet_dims[[1L]]
  max_tiles <- max(n_tiles_across, n_tiles_down)
  has_both_roles <- !is_empty(systems) && length(systems) < length(columns)
  if (has_both_roles) {
    cells[c("role1", "role2")] <- lapply(cells[c("judge1", "judge2")], function(judge) {
      factor(judge %in% systems, c(FALSE, TRUE), c("raters", "systems"))
    })
  }
  cells$judge1 <- factor(cells$judge1, columns)
  cells$judge2 <- factor(cells$judge2, rev(rows))
  if (!has_columns(cells, "label")) {
    cells$label <- ifelse(is.na(cells$value), "", format_decimals(cells$value, 2L))
  }
  # Column `ink` is the colour of the text in a tile: pale grey if the value is zero or NA, white on
  # dark tiles, and dark grey on other tiles.
  magnitude <- replace(abs(cells$value), is.na(cells$value), 0)
  cells$ink <- c("grey75", "grey20", "white")[1L + (magnitude > 0) + (magnitude > 0.55)]
  start_plot(cells, "judge1", "judge2", fill = "value") +
    ggplot2::geom_tile(colour = "white", linewidth = if (numbers || max_tiles <= 12L) 0.6 else 0) +
    (if (numbers) {
      ggplot2::geom_text(
        aes_columns(label = "label", colour = "ink"), size = if (max_tiles > 7L) 2.4 else 3.2
      )
    }) +
    (if (has_both_roles) ggplot2::facet_grid(role2 ~ role1, scales = "free", space = "free")) +
    ggplot2::scale_colour_identity() +
    ggplot2::scale_x_discrete(
      labels = short_names, expand = c(0, 0), position = if (top) "top" else "bottom"
    ) +
    ggplot2::scale_y_discrete(labels = row_labels, expand = c(0, 0)) +
    scale +
    plot_titles(...) +
    heat_theme(rep(short_names(columns), facet_dims[[2L]]), n_tiles_down) +
    wrapped_facets(facets)
}

# Returns a fill scale from 0 to 1, or from -1 to 1 if `negative` is TRUE.
share_scale <- function(name = "probability", negative = FALSE, low = plot_colours$low) {
  ggplot2::scale_fill_gradientn(
    colours = c(if (negative) plot_colours$accent, low, plot_colours$high),
    limits = c(-negative, 1), breaks = c(-1, -0.5, 0, 0.5, 1), na.value = "white", name = name
  )
}

# Returns the cells of a symmetric heat map. `pairs`: table with a row per pair of raters. Each pair
# becomes two cells.
symmetric_cells <- function(pairs) {
  data.frame(
    judge1 = c(pairs$rater1, pairs$rater2), judge2 = c(pairs$rater2, pairs$rater1),
    value = rep(pairs$estimate, 2L)
  )
}

# Converts a matrix with names of rows and columns to the table of cells of a heat map.
matrix_cells <- function(matrix) {
  data.frame(
    judge1 = colnames(matrix)[col(matrix)], judge2 = rownames(matrix)[row(matrix)],
    value = as.vector(matrix)
  )
}

# Returns the size in points of the names of `n` rows or columns of a plot. Up to 28 names do not
# overlap in a plot of 5 x 4 inches. More names need a larger plot, in which they are readable.
text_size <- function(n) min(8.8, max(5, 140 / n))

# Returns the theme of a heat map. The more names an axis has, the smaller they are. Names of
# columns are rotated if they would overlap. `names`: names of columns. `rows`: number of rows.
heat_theme <- function(names, rows) {
  angle <- if (length(names) > 16L) 90 else if (sum(nchar(names)) > 45L) 45
  ggplot2::theme(
    panel.grid = ggplot2::element_blank(),
    axis.text.y = ggplot2::element_text(size = text_size(rows)),
    axis.text.x = if (!is.null(angle)) ggplot2::element_text(
      size = text_size(length(names)), angle = angle, hjust = 1,
      vjust = if (angle == 90) 0.5 else 1
    ),
    strip.text.x = ggplot2::element_text(hjust = 0.5), strip.clip = "off",
    plot.margin = ggplot2::margin(5.5, 20, 5.5, 5.5),
    panel.spacing.x = ggplot2::unit(5.5, "pt"),
    strip.text.y = ggplot2::element_blank()
  )
}
