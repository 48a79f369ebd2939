# What a fit by posterior draws says.

#' Posterior draws
#'
#' The draws of a fit by `method = "bayes"` of [fit_raters()], for whatever is a function of them.
#' Package \pkg{posterior} takes the fit as well: `posterior::as_draws_df(fit)`.
#'
#' @srrstats {BS5.0, BS5.1, BS5.2, BS5.3, BS5.5} the fit has its ratings, prior, seed and
#'   diagnostics
#' @srrstats {BS6.0, BS6.4} print() and summary()
#' @param x A [fit_raters()] result with `method = "bayes"`.
#' @return A data frame with a row per draw: `.chain`, `.iteration` and `.draw`, then a column per
#'   parameter. `base_rate[k]` are base rates (`base_rate[k,population]` where there are several);
#'   `sens[rater]` and `spec[rater]` sensitivity and specificity, of two categories, of which the
#'   second is positive; `p[rater,truth,rating]` probabilities of ratings, of more; `right[rater]`
#'   accuracies in models with uniform errors. Without the rater where all have the same; and with
#'   `others = "partial"` the centre of the panel, `mu[truth,rating]` and its precision `nu[truth]`.
#'   `accuracy[system]` is the share of these cases that a system gets right, where raters alone say
#'   what is right (a cut distribution: its answers take no part in that).
#' @family estimation
#' @examples
#' tests <- data.frame(
#'   stool = c("+", "+", "-", "-"), serology = c("+", "-", "+", "-"), n = c(38, 2, 87, 35)
#' )
#' x <- ratings(tests, raters = stool:serology, weights = n, categories = c("-", "+"))
#' prior <- rater_prior(
#'   stool = list(sens = list(4.44, 13.31), spec = list(71.25, 3.75)),
#'   serology = list(sens = list(21.96, 5.49), spec = list(4.1, 1.76)), order = "none"
#' )
#' set.seed(1)
#' fit <- fit_raters(x, dawid_skene(), method = "bayes", prior = prior)
#' fit
#' all <- draws(fit)
#' # The probability that serology is the more sensitive test
#' mean(all[["sens[serology]"]] > all[["sens[stool]"]])
#' @export
draws <- function(x) {
  check_given()
  check_class(x, "draws_fit", "x", "Make one with {.code fit_raters(method = \"bayes\")}.")
  chains <- x$sampling$chains
  kept <- x$sampling$kept
  cbind(
    data.frame(
      .chain = rep(seq_len(chains), each = kept), .iteration = rep(seq_len(kept), chains),
      .draw = seq_len(chains * kept)
    ),
    as.data.frame(x$draws, optional = TRUE), as.data.frame(x$systems, optional = TRUE)
  )
}

# For posterior::as_draws() and its kin: columns with these names are what it looks for.
#' @rawNamespace S3method(posterior::as_draws,draws_fit,as_draws_of_fit)
as_draws_of_fit <- function(x, ...) posterior::as_draws_df(draws(x))

#' @rawNamespace S3method(posterior::as_draws_df,draws_fit,as_draws_of_fit)
NULL

#' @rdname tidy.rater_fit
#' @param conf_level For a fit by `"bayes"`: how probable it is that a parameter lies between
#'   `conf.low` and `conf.high`, a probability.
#' @export
tidy.draws_fit <- function(x, ..., conf_level = default_conf_level()) {
  check_dots_empty(...)
  conf_level <- check_level(conf_level)
  ends <- (1 + c(-1, 0, 1) * conf_level) / 2
  at <- vapply(seq_len(ncol(x$draws)), function(j) {
    stats::quantile(x$draws[, j], c(ends[[1L]], 0.5, ends[[3L]]), names = FALSE)
  }, numeric(3L))
  spread <- apply(x$draws, 2L, stats::sd)
  rest <- x$draws[, !is_watched(x$terms), drop = FALSE]
  mixing <- rbind(x$diagnostics, if (ncol(rest) > 0L) diagnose_all(rest, x$sampling$chains))
  mixing <- mixing[x$terms$term, , drop = FALSE]
  rownames(mixing) <- NULL
  table <- tibble::as_tibble(x$terms[c("term", "rater", "truth", "rating", "population")])
  tibble::add_column(table,
    estimate = at[2L, ], std.error = unname(spread), conf.low = at[1L, ], conf.high = at[3L, ],
    mean = unname(colMeans(x$draws)), mcse = mixing[, "mcse"], rhat = mixing[, "rhat"],
    ess_bulk = mixing[, "ess_bulk"], ess_tail = mixing[, "ess_tail"],
    contraction = unname(contraction(x)),
    reason = ifelse(is.na(mixing[, "rhat"]), "the same in all draws", NA_character_)
  )
}

# How much less a parameter varies than before the ratings were seen: 0 where they say nothing.
contraction <- function(fit) {
  a <- fit$terms$a
  total <- fit$terms$total
  1 - apply(fit$draws, 2L, stats::var) / (a * (total - a) / (total^2 * (total + 1)))
}

least_contraction <- 0.3

#' @rdname tidy.rater_fit
#' @export
glance.draws_fit <- function(x, ...) {
  check_dots_empty(...)
  worst <- function(column, f) f(x$diagnostics[, column], na.rm = TRUE)
  plain <- NextMethod()
  tibble::tibble(
    plain, draws = nrow(x$draws), chains = x$sampling$chains, thin = x$sampling$thin,
    worst_rhat = worst("rhat", max),
    worst_ess = min(worst("ess_bulk", min), worst("ess_tail", min)),
    switched = x$switched
  )
}

#' @rdname tidy.rater_fit
#' @export
format.draws_fit <- function(x, ...) NextMethod()

#' @export
print.draws_fit <- function(x, ...) {
  print_result(x, "tidy(), draws(), ground_truth(), test_accuracy(), plot()", paste0(
    sub("<rater_fit>", "<draws_fit>", format_fit(x)[[1L]], fixed = TRUE), "; ",
    count_noun(x$sampling$chains, "chain"), " of ", count_noun(x$sampling$kept, "draw"),
    if (x$sampling$thin > 1L) paste0(", one of ", x$sampling$thin, " sweeps each")
  ))
}

#' @export
shown_table.draws_fit <- function(x) { # nolint: object_name.
  table <- tidy(x)
  table <- table[is_watched(table), ]
  out <- data.frame(parameter = table$term, estimate = decimals(table$estimate))
  out[[interval_title(default_conf_level())]] <- bracketed(table$conf.low, table$conf.high)
  out$prior <- ifelse(table$contraction < least_contraction & !is.na(table$contraction),
    "mostly prior", "")
  out
}

#' @export
notes_of.draws_fit <- function(x) { # nolint: object_name.
  size <- glance(x)
  c(
    paste0(
      "Estimates are posterior medians. Rhat at most ", decimals(size$worst_rhat, 3L),
      ", effective sample sizes at least ", number(round(size$worst_ess)),
      if (x$switched == 0) "; no categories changed names"
    ),
    paste0(
      "Assumed: raters err ", if (model_is_dependent(x$model)) {
        "together as the model says, which the ratings alone do not show"
      } else {
        "independently given the truth"
      }, "; errors that all share look like truth."
    )
  )
}

likelihood_lines.draws_fit <- function(fit) NULL # nolint: object_name.

# Of a draw: matrices of raters (a list, truths x ratings), base rates of each population, and what
# raters share.
law_of_draw <- function(fit, d) law_of_values(fit, fit$draws[d, ])

law_of_values <- function(fit, at) {
  x <- fit$x
  terms <- fit$terms
  of_rater <- function(rater) {
    mine <- which(terms$rater %in% rater & grepl("^(right|sens|spec|p)\\b", terms$term))
    matrix_of_terms(terms[mine, ], at[mine], x$categories)
  }
  alone <- all(is.na(terms$rater))
  matrices <- lapply(x$raters, function(rater) of_rater(if (alone) NA_character_ else rater))
  rates <- at[startsWith(terms$term, "base_rate")]
  list(
    base_rates = matrix(rates, ncol = length(x$categories), byrow = TRUE), matrices = matrices,
    shared = shared_of_draw(fit, at)
  )
}

matrix_of_terms <- function(terms, value, categories) {
  size <- length(categories)
  if (startsWith(terms$term[[1L]], "right")) {
    out <- matrix((1 - value[[1L]]) / (size - 1), size, size)
    diag(out) <- value[[1L]]
  } else if (size == 2L) {
    out <- rbind(c(value[[1L]], 1 - value[[1L]]), c(1 - value[[2L]], value[[2L]]))
  } else {
    out <- matrix(0, size, size)
    out[cbind(match(terms$truth, categories), match(terms$rating, categories))] <- value
  }
  out
}

# Of other cases: the mean over some of the draws.
posterior_of_others.draws_fit <- function(fit, x) { # nolint: object_name.
  some <- unique(round(seq(1, nrow(fit$draws), length.out = 200)))
  parts <- lapply(some, function(d) {
    law <- law_of_draw(fit, d)
    rates <- colMeans(law$base_rates)
    if (model_is_dependent(fit$model)) {
      joint <- codes_given_class(law, pattern_codes(x), fit$model, x$raters) *
        rep(rates, each = n_patterns(x))
      joint / rowSums(joint)
    } else {
      posterior_of_law(rates, law$matrices, x)
    }
  })
  Reduce(`+`, parts) / length(parts)
}

# Patterns x categories.
posterior_of_law <- function(rates, matrices, x) {
  log_rows <- do.call(cbind, lapply(seq_along(rates), function(k) {
    log(vapply(matrices, function(m) m[k, ], numeric(length(rates))))[
      cbind(rating_category(x), rating_rater(x))
    ]
  }))
  sums <- rowsum(log_rows, factor(rating_pattern(x), seq_len(n_patterns(x))))
  joint <- matrix(log(rates), n_patterns(x), length(rates), byrow = TRUE)
  joint[as.integer(rownames(sums)), ] <- joint[as.integer(rownames(sums)), ] + sums
  out <- exp(joint - apply(joint, 1L, max))
  out / rowSums(out)
}

rating_probabilities.draws_fit <- function(fit) { # nolint: object_name.
  aperm(fit$matrices, c(2L, 3L, 1L))
}

# Functions of some of the draws.
tested.draws_fit <- function(fit, rates, both, conf_level) { # nolint: object_name.
  some <- unique(round(seq(1, nrow(fit$draws), length.out = 1000)))
  all <- lapply(some, function(d) {
    law <- law_of_draw(fit, d)
    matrices <- aperm(simplify2array(law$matrices), c(3L, 1L, 2L))
    off_scale(test_numbers(with_combined(matrices, both), colMeans(law$base_rates), rates))
  })
  drawn <- vapply(all, as.vector, numeric(length(all[[1L]])))
  ends <- apply(drawn, 1L, stats::quantile, (1 + c(-1, 0, 1) * conf_level) / 2, na.rm = TRUE)
  shape <- dim(all[[1L]])
  list(
    value = array(ends[2L, ], shape), error = array(apply(drawn, 1L, stats::sd), shape),
    low = array(ends[1L, ], shape), high = array(ends[3L, ], shape)
  )
}

drawing_law.draws_fit <- function(fit) { # nolint: object_name.
  abort_argument_if(model_is_dependent(fit$model), "object",
    "Ratings with dependent errors are not drawn.", call = NULL)
  NextMethod()
}

refitting.draws_fit <- function(fit) NULL # nolint: object_name.

warn_kind.draws_fit <- function(fit) invisible() # nolint: object_name.

#' @export
update.draws_fit <- function(object, model = object$model, x = object$x, # nolint: object_name.
                             known_truth = object$given$truth,
                             known_raters = object$given$raters, prior = object$given$prior,
                             new = NULL, ...) {
  check_dots_empty(...)
  if (!is.null(new) && !missing(x)) abort_both()
  if (missing(x) && any(known_patterns(object))) x <- x[]
  if (!is.null(new)) x <- add_ratings(x, new)
  sampling <- object$sampling
  sampling <- list(
    draws = sampling$chains * sampling$kept, chains = sampling$chains, warmup = sampling$warmup,
    threads = sampling$threads
  )
  fit_raters(x, model, "bayes", known_truth, known_raters, prior, sampling)
}
