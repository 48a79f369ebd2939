# Describes a picture by lines of text that are the same for every version of ggplot2. They contain
# texts, legends and axes as drawn, scales, and the mapped values of each layer. Deprecated calls
# are errors.
describe_picture <- function(plot) {
  withr::local_options(lifecycle_verbosity = "error")
  withr::local_pdf(NULL)
  built <- ggplot2::ggplot_build(plot)
  parts <- drawn_parts(ggplot2::ggplot_gtable(built))
  named <- c(
    title = "^title", subtitle = "^subtitle", caption = "^caption", x = "^xlab", y = "^ylab",
    panels = "^strip", "x axis" = "^axis-[bt]", "y axis" = "^axis-[lr]"
  )
  texts <- lapply(named, function(name) {
    unique(Filter(nzchar, vapply(parts$grob[grepl(name, parts$name)], text_in, "")))
  })
  texts <- vapply(Filter(length, texts), paste, "", collapse = " | ")
  c(
    paste0(names(texts), ": ", texts),
    unique(vapply(built$layout$panel_params, describe_ranges, "", dense = has_densities(plot))),
    describe_legends(drawn_legends(parts)),
    unlist(lapply(built$plot$scales$scales, describe_scale)),
    unlist(Map(describe_layer, built$plot$layers, built$data))
  )
}

# Parts of a table of grobs, from top to bottom and from left to right: name and grob.
drawn_parts <- function(table) {
  order <- order(table$layout$t, table$layout$l)
  list(name = table$layout$name[order], grob = table$grobs[order])
}

# Grobs that have no parts and draw something.
leaves_of <- function(grob) {
  parts <- if (inherits(grob, "gtable")) drawn_parts(grob)$grob else grob$children
  if (length(parts) > 0L) return(unlist(lapply(parts, leaves_of), FALSE))
  if (!inherits(grob, c("zeroGrob", "null", "gtable", "gTree"))) list(grob)
}

text_in <- function(grob) {
  texts <- as.character(unlist(lapply(leaves_of(grob), `[[`, "label")))
  # In a colour bar, ggplot2 3.4 has the label NA for a break outside the limits.
  toString(gsub("\n", " / ", texts[!is.na(texts)], fixed = TRUE))
}

# One row per label of each legend with keys: legend (its title), label, drawn (true if it has a
# key). A legend with a colour bar has one row. ggplot2::get_guide_data() also lists labels without
# keys.
legends_of <- function(plot) {
  withr::local_pdf(NULL)
  drawn_legends(drawn_parts(ggplot2::ggplotGrob(plot)))
}

drawn_legends <- function(parts) {
  boxes <- parts$grob[startsWith(parts$name, "guide-box")]
  legends <- unlist(lapply(boxes, function(box) Filter(is_table, box$grobs)), FALSE)
  rows <- do.call(rbind, c(list(no_legend), lapply(legends, drawn_legend)))
  rows[order(in_one_order(rows$legend)), ] # their order depends on the version
}

no_legend <- data.frame(legend = character(), label = character(), drawn = logical())

is_table <- function(grob) inherits(grob, "gtable")

drawn_legend <- function(legend) {
  parts <- drawn_parts(legend)
  labels <- vapply(parts$grob[startsWith(parts$name, "label")], text_in, "")
  keys <- startsWith(parts$name, "key-")
  # Each key has a background, and one grob, or one per layer.
  cells <- sub("-[^-]*$", "", parts$name[keys])
  drawn <- tapply(vapply(parts$grob[keys], has_sign, NA), factor(cells, unique(cells)), any)
  if (!any(keys)) drawn <- any(parts$name == "bar")
  data.frame(
    legend = paste(vapply(parts$grob[parts$name == "title"], text_in, ""), collapse = ""),
    label = labels,
    drawn = as.vector(drawn)
  )
}

has_sign <- function(key) {
  !all(startsWith(vapply(leaves_of(key), `[[`, "", "name"), "legend.key"))
}

describe_legends <- function(rows) {
  label <- paste0(rows$label, ifelse(rows$drawn, "", " (no key)"), recycle0 = TRUE)
  lines <- vapply(split(label, in_one_order(rows$legend)), toString, "")
  paste0(trimws(paste("legend", names(lines), recycle0 = TRUE)), ": ", lines, recycle0 = TRUE)
}

# True for pictures with densities. Their heights depend on the version of R.
has_densities <- function(plot) {
  any(vapply(plot$layers, function(layer) {
    inherits(layer$stat, "StatDensity") || inherits(layer$geom, "GeomArea")
  }, NA))
}

describe_ranges <- function(panel, dense) {
  paste0(
    "ranges: x ", numbers_in_words(panel$x$continuous_range),
    if (!dense) paste0(" y ", numbers_in_words(panel$y$continuous_range))
  )
}

# The values of a scale for colours, shapes and similar aesthetics.
describe_scale <- function(scale) {
  name <- scale$aesthetics[[1]]
  if (name %in% c("x", "y") || scale$is_empty()) return()
  limits <- scale$get_limits()
  values <- if (is.numeric(limits)) {
    numbers_in_words(limits)
  } else {
    paste(limits, "is", scale$map(limits), collapse = ", ")
  }
  paste0(name, ": ", values)
}

positions <- c("x", "y", "xmin", "xmax", "ymin", "ymax", "xend", "yend", "xintercept", "yintercept")

# Geom, number of rows, and values of mapped columns and positions.
describe_layer <- function(layer, data) {
  shown <- intersect(union(positions, names(layer$computed_mapping)), names(data))
  values <- vapply(data[setdiff(shown, c("group", "width"))], values_in_words, "")
  paste0(
    class(layer$geom)[[1]], " (", nrow(data), "): ", paste(names(values), values, collapse = "; ")
  )
}

values_in_words <- function(x) {
  if (is.double(x)) return(numbers_in_words(x, with_mean = TRUE))
  counts <- table(in_one_order(gsub("\n", " / ", as.character(x), fixed = TRUE)), useNA = "ifany")
  if (length(counts) > 8L) return(paste(length(counts), "values"))
  paste0(ifelse(counts > 1L, paste(counts, ""), ""), names(counts), collapse = ", ")
}

# The order of strings does not depend on the locale.
in_one_order <- function(x) factor(x, sort(unique(x), method = "radix"))

# Range and mean, with the precision that a reader of the picture sees.
numbers_in_words <- function(x, with_mean = FALSE) {
  x <- x[is.finite(x)]
  if (length(x) == 0L) return("none")
  span <- max(diff(range(x)), max(abs(x)) / 10, 1e-9)
  shown <- function(x) format(round(x, 2 - floor(log10(span))), trim = TRUE)
  extremes <- unique(shown(range(x)))
  mean <- if (with_mean && length(extremes) > 1L) paste0(" (mean ", shown(mean(x)), ")")
  paste0(paste(extremes, collapse = " to "), mean)
}
