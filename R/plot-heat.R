# Heat maps: a tile per pair of judges or categories.

# `pairs` has judge1, judge2 and value. `systems` are set apart from raters, and with many judges
# those who agree most with the others stand first (`sorted`). Tiles take the room that there is.
heat_map <- function(pairs, judges, systems = NULL, sorted = FALSE, numbers = TRUE) {
  few <- length(judges) <= 12L
  if (sorted && !few) judges <- by_mean_value(pairs, judges, systems)
  separate <- length(systems) > 0L && length(systems) < length(judges)
  role <- function(judge) {
    factor(ifelse(judge %in% systems, "systems", "raters"), c("raters", "systems"))
  }
  if (separate) pairs[c("role1", "role2")] <- list(role(pairs$judge1), role(pairs$judge2))
  pairs$judge1 <- factor(pairs$judge1, levels = judges)
  pairs$judge2 <- factor(pairs$judge2, levels = rev(judges))
  ggplot2::ggplot(pairs, ggplot2::aes(.data$judge1, .data$judge2, fill = .data$value)) +
    ggplot2::geom_tile(colour = "white", linewidth = if (few) 0.6 else 0) +
    (if (few && numbers) tile_numbers(length(judges))) +
    (if (separate) {
      ggplot2::facet_grid(role2 ~ role1, scales = "free", space = "free")
    }) +
    ggplot2::scale_x_discrete(labels = short_names, expand = c(0, 0)) +
    ggplot2::scale_y_discrete(labels = short_names, expand = c(0, 0)) +
    ggplot2::scale_colour_manual(values = c("grey20", "white")) +
    theme_fallible() +
    heat_theme(short_names(judges))
}

tile_numbers <- function(judges) {
  ggplot2::geom_text(
    ggplot2::aes(
      label = ifelse(is.na(.data$value), "", decimals(.data$value, 2L)),
      colour = !is.na(.data$value) & abs(.data$value) > 0.55
    ),
    size = if (judges > 8L) 2.4 else 3.2, show.legend = FALSE
  )
}

# Names get smaller with their number, and lean where they would run into each other.
heat_theme <- function(names) {
  size <- min(9, 190 / length(names))
  lean <- sum(nchar(names)) > 45L
  ggplot2::theme(
    panel.grid = ggplot2::element_blank(),
    axis.text.y = ggplot2::element_text(size = size),
    axis.text.x = if (length(names) > 16L) {
      ggplot2::element_text(size = size, angle = 90, vjust = 0.5, hjust = 1)
    } else if (lean) {
      ggplot2::element_text(size = size, angle = 45, vjust = 1, hjust = 1)
    },
    strip.text.x = ggplot2::element_text(hjust = 0.5), strip.clip = "off",
    plot.margin = ggplot2::margin(5.5, 20, 5.5, 5.5),
    strip.text.y = ggplot2::element_blank()
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
