#' @export
tidy.rater_prior <- function(x, ...) {
  check_dots_empty(...)
  named <- Map(law_rows, x$raters, names(x$raters))
  others <- if (is.list(x$others)) {
    law_rows(x$others, "others")
  } else {
    # What a right rating has where that does not depend on the number of categories.
    shape <- if (x$others == "vague") plain_parameters("vague", 2L, TRUE) else c(NA, NA)
    list(law_row("others", x$others, others_words[[x$others]], shape))
  }
  rates <- Map(rate_row, x$base_rates, rlang::names2(x$base_rates))
  rows <- c(unlist(unname(named), recursive = FALSE), others, unname(rates))
  tibble::as_tibble(stack_tables(rows))
}

others_words <- c(
  vague = "total 4, 70% right", flat = "Dirichlet(1)", partial = "around the centre of the panel"
)

# `shape`: of a Beta distribution, where there is one.
law_row <- function(rater, part, prior, shape = c(NA_real_, NA_real_)) {
  ends <- stats::qbeta(c(0.05, 0.95), shape[[1L]], shape[[2L]])
  list(
    rater = rater, part = part, prior = prior, mean = shape[[1L]] / sum(shape), lower = ends[[1L]],
    upper = ends[[2L]]
  )
}

law_rows <- function(law, rater) {
  if (!is.null(law$matrix)) {
    labels <- rownames(law$matrix) %||% seq_len(nrow(law$matrix))
    return(lapply(seq_along(labels), function(k) {
      row <- unname(law$matrix[k, ])
      law_row(rater, paste("truth", labels[[k]]), prior_words("Dirichlet", row),
        c(row[[k]], sum(row[-k])))
    }))
  }
  words <- c(sens = "sensitivity", spec = "specificity", right = "right")
  lapply(intersect(names(words), names(law)), function(part) {
    law_row(rater, words[[part]], prior_words("Beta", law[[part]]), law[[part]])
  })
}

rate_row <- function(law, population) {
  part <- if (population == "") "base rates" else paste("base rates of", population)
  if (is.null(law$beta)) {
    law_row(NA_character_, part, prior_words("Dirichlet", law$categories))
  } else {
    law_row(
      NA_character_, paste(part, "(second category)"), prior_words("Beta", law$beta), law$beta
    )
  }
}

#' @export
glance.rater_prior <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    raters = length(x$raters), others = if (is.list(x$others)) "own" else x$others,
    order = x$order, populations = length(x$base_rates)
  )
}

#' @export
format.rater_prior <- function(x, ...) {
  who <- if (length(x$raters) > 0L) paste0(shorten(names(x$raters)), "; ")
  others <- if (is.list(x$others)) "as you say" else x$others
  printable(paste0("Priors: ", who, "others ", others, ", order ", x$order))
}

#' @export
print.rater_prior <- function(x, ...) {
  table <- tidy(x)
  shown <- data.frame(
    rater = ifelse(is.na(table$rater), "", table$rater), table[c("part", "prior")],
    mean = ifelse(is.na(table$mean), "", decimals(table$mean)),
    `90%` = bracketed(table$lower, table$upper, ""), check.names = FALSE
  )
  shown[] <- lapply(shown, printable)
  cat_lines(paste0("<rater_prior> ", format(x)), "")
  print(align_left(shown, 1:3), row.names = FALSE)
  invisible(x)
}

#' @export
shown_table.rater_prior <- function(x) NULL # nolint: object_name.
