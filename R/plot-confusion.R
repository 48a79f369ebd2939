#' @rdname confusion_matrix
#' @param object A `confusion_matrix`.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @return `autoplot()`: a ggplot, the matrix as a heat map.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(confusion_matrix(LETTERS[1:5], accuracy = 0.6, difficulty = -0.2, dispersion = 2))
#' @rawNamespace S3method(ggplot2::autoplot,confusion_matrix)
autoplot.confusion_matrix <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  heat_map(
    matrix_cells(unclass(object)), rownames(object), "Confusion matrix", x = "category given",
    y = "true category"
  )
}
