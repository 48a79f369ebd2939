#' @rdname confusion_matrix
#' @param object A `confusion_matrix`.
#' @return `autoplot()`: a ggplot, the matrix as a heat map.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(confusion_matrix(LETTERS[1:5], accuracy = 0.6, difficulty = -0.2, dispersion = 2))
#' @rawNamespace S3method(ggplot2::autoplot,confusion_matrix)
autoplot.confusion_matrix <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  labels <- rownames(object)
  cells <- data.frame(
    judge1 = rep(labels, each = length(labels)), judge2 = rep(labels, length(labels)),
    value = as.vector(object)
  )
  heat_map(cells, labels) +
    share_scale(name = "probability", breaks = c(0, 0.5, 1)) +
    ggplot2::labs(title = "Confusion matrix", x = "category given", y = "true category")
}
