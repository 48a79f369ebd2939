tidy_prior <- function(x) {
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

schema_of.rater_prior <- function(x) { # nolint: object_name.
  who <- if (length(x$raters) > 0L) paste0(shorten(names(x$raters)), "; ")
  named <- is.list(x$others)
  table <- tidy_prior(x)
  shown <- data.frame(
    rater = ifelse(is.na(table$rater), "", table$rater), table[c("part", "prior")],
    mean = ifelse(is.na(table$mean), "", decimals(table$mean)),
    interval = bracketed(table$lower, table$upper, "")
  )
  shown[] <- lapply(shown, printable)
  new_schema(
    tables = list(priors = table),
    facts = list(
      raters = length(x$raters), others = if (named) "own" else x$others, order = x$order,
      populations = length(x$base_rates)
    ),
    line = printable(paste0(
      "Priors: ", who, "others ", if (named) "as you say" else x$others, ", order ", x$order
    )),
    shown = view(shown, c("rater", "part", "prior", "mean", `90%` = "interval"), left = 1:3)
  )
}
