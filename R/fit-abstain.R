# Decides whether the probability that a rater answers depends on the truth. The pooled Dawid-Skene
# fit can have probabilities of answering in addition to its matrices
# (src/core/model/answering.hpp).

least_gain <- log(20) # odds of 20 are required, because a wrong model of answering does harm

# Decides for a panel, using the fits of consensus labels. Fields: depends (are abstentions
# modelled?); identified ("yes", or a code for why labels are not); by_replies (are labels
# identified by abstentions only, because answers carry no information?); gain (in the log
# likelihood of the answers given which raters answered); z (of the test of replies); weak (are
# answers, or all replies, nearly unrelated?); constant (names of raters); fits (pooled, with
# abstentions as missing and modelled). The decision is made once per panel, and not again for
# groups of its cases.
decide_abstain <- function(x) {
  if (!is.null(x$panel$abstain)) return(x$panel$abstain)
  constant <- constant_raters(x)
  answers <- without_constant_raters(without_abstentions(x))
  used <- length(unique(rating_category(x)))
  out <- list(depends = FALSE, identified = identified_by_answers(answers), by_replies = FALSE,
    constant = constant)
  if (used == 1L && n_categories(x) != 2L) return(out)
  full <- keep_replying_raters(x, constant)
  fit <- function(x, parts) fit_around_centre(FALSE, x, nothing_known, parts)[[1L]]
  modelled <- fit(full, abstain_parts(full, TRUE, constant))
  missing <- fit(answers, abstain_parts(answers, FALSE))
  out$fits <- list(missing, modelled)
  all <- split_by_abstention(x)
  replies <- as.list(core_reply_association(
    all$patterns, weights_of_labels(all), abstain_parts(all, TRUE), max(used, 2L)
  ))
  out$z <- replies$z
  weak <- is_weak_association(association_of(answers))
  out$weak <- c(answers = weak, replies = weak && replies$z < stats::qnorm(0.95))
  out$gain <- modelled$answering$log_answers - missing$answering$log_answers
  if (out$identified == "yes") {
    out$depends <- out$gain > least_gain
    return(out)
  }
  flat <- max(abs(modelled$posterior - rep(modelled$base_rates, each = n_patterns(full)))) < 0.01
  few <- replies$identified == 0
  raters <- length(unique(c(rating_rater(x), x$abstained$rater)))
  out$depends <- out$by_replies <- !few && replies$excess > 1e-9 && !flat
  out$identified <- if (out$depends) {
    "yes"
  } else if (replies$pairs == 0) {
    "no_pairs"
  } else if (few) {
    if (used > 2L && raters > 2L) "few_sources" else out$identified
  } else {
    "replies"
  }
  out
}

# `x` with the decision, but without the fits.
keep_decision <- function(x) {
  if (has_abstentions(x) && is.null(x$panel$abstain)) {
    x$panel$abstain <- decide_abstain(x)
    x$panel$abstain$fits <- NULL # they depend on the patterns, which may change
  }
  x
}

# Do answers carry information about the truth? If no rater uses two categories, raters agree
# because they rarely answer.
identified_by_answers <- function(x) {
  code <- identified_for_labels(fit_algebraic(x))
  given <- unique(cbind(rating_rater(x), rating_category(x)))
  constant <- anyDuplicated(given[, 1L]) == 0L
  if (code == "yes" && constant && agrees_on_all(x)) "unrelated" else code
}

# `x` without constant raters who never abstain, with patterns split by abstentions. Constant raters
# who abstain are kept: whether they answer depends on the truth.
keep_replying_raters <- function(x, constant) {
  keep <- !x$raters %in% constant | seq_along(x$raters) %in% x$abstained$rater
  split_by_abstention(if (all(keep)) x else x[, keep])
}

# Arguments of the core about abstentions.
abstain_parts <- function(x, depends, constant = character()) {
  c(
    list(constant = match(intersect(constant, x$raters), x$raters)),
    if (depends) list(abstained = abstaining_raters(x))
  )
}

# Effective number of ratings of each pattern. An abstention counts as a fraction of a rating: the
# range of its log likelihood, relative to the mean range of answers. `fit`: a pooled fit of `x`.
replies_worth <- function(x, fit) {
  used <- fit$centre$categories
  answered <- fit$answering$answered[, used, drop = FALSE]
  log_range <- function(logs) do.call(pmax, asplit(logs, 2L)) - do.call(pmin, asplit(logs, 2L))
  silent <- log_range(log(pmax(1 - answered, 1e-300))) # 0 for raters who never abstain
  theta <- fit$confusion[, used, , drop = FALSE] * as.vector(answered) # raters x truths x ratings
  ranges <- matrix(apply(log(theta), 3L, log_range), n_raters(x)) # raters x ratings
  ranges <- ranges[cbind(rating_rater(x), rating_category(x))]
  mean <- stats::weighted.mean(ranges, pattern_weights(x)[rating_pattern(x)])
  abstained <- abstaining_raters(x)
  row <- rep.int(seq_len(n_patterns(x)), diff(abstained$start))
  pattern_lengths(x) + rowsum_codes(row, pmin(1, silent[abstained$rater] / mean), n_patterns(x))
}

# ---- Fits ---------------------------------------------------------------------------------------

uses_abstentions <- function(model) identical(model$abstain, "depends")

# Adds to the model whether it uses abstentions, and to the ratings the decision.
resolve_abstain <- function(x, model, method, known_raters) {
  abstains <- has_abstentions(x)
  able <- is_pooled(model) && is.null(known_raters) && weights_are_counts(x) &&
    identical(method %||% "likelihood", "likelihood")
  abort_argument_if(abstains && uses_abstentions(model) && !able, "abstain",
    "{.code abstain = \"depends\"} needs a fit by likelihood, without known raters, of cases whose
        weights are counts.")
  if (abstains && identical(method, "bayes")) {
    inform_fallible(paste0(abstain_note(x), "."), class = "fallible_message_abstain")
  }
  if (!able || !abstains) {
    model$abstain <- NULL
    return(list(x = x, model = model))
  }
  x <- keep_decision(x)
  decision <- x$panel$abstain
  model$abstain <- model$abstain %||% if (decision$depends) "depends" else "ignored"
  if (uses_abstentions(model)) x <- keep_replying_raters(x, decision$constant)
  list(x = x, model = model)
}

# Adds probabilities of answering to a fit. The curvature does not include them, so there are no
# standard errors.
add_answering <- function(fit) {
  if (!uses_abstentions(fit$model) || is.null(fit$answering)) return(fit)
  x <- fit$x
  answered <- fit$answering$answered
  dimnames(answered) <- list(x$raters, x$categories)
  answered[is.na(fit$matrices[, 1L, 1L]), ] <- NA # raters who never answer
  rates <- rep(fit$base_rates, each = nrow(answered)) * ifelse(is.na(answered), 0, answered)
  right <- t(apply(fit$matrices, 1L, diag))
  accuracy <- rowSums(rates * right) / rowSums(rates)
  fit$coefficients[rater_terms(x)] <- accuracy
  fit$rater_accuracy <- mean(accuracy, na.rm = TRUE)
  terms <- sprintf("answered[%s: %s]", x$raters[row(answered)], x$categories[col(answered)])
  fit$coefficients <- c(fit$coefficients, setNames(as.vector(answered), terms))
  fit$answered <- answered
  fit$log_likelihood <- fit$answering$log_likelihood
  fit["unsure"] <- list(NULL)
  fit
}

# Accuracies of systems are estimated from answers only.
fit_of_answers <- function(fit) {
  if (!uses_abstentions(fit$model)) return(fit)
  if (!fit$x$panel$abstain$by_replies || knows_some(fit$known)) {
    return(fit_again(fit, model = replace(fit$model, "abstain", "ignored")))
  }
  fit$identified <- "labels_only"
  without_numbers(fit)
}

# Multiplies posteriors from answers (patterns x categories) by the probabilities of answers and
# abstentions. Ratings without abstentions come from raters who could not abstain.
times_answering <- function(posterior, fit, x) {
  if (is.null(fit$answered) || !has_abstentions(x)) return(posterior)
  answered <- replace(fit$answered, is.na(fit$answered), 1)
  abstained <- abstaining_raters(x)
  row <- c(rating_pattern(x), rep.int(seq_len(n_patterns(x)), diff(abstained$start)))
  # If a rater never abstains, the factor is the same for all categories and cancels.
  shares <- rbind(answered[rating_rater(x), ], 1 - answered[abstained$rater, ])
  softmax(log(posterior) + rowsum_rows(row, log(pmax(shares, 1e-300)), n_patterns(x)))
}

rests_on_abstentions <- "Labels rest on who abstains: answers alone carry no information"

abstain_lines <- function(fit) {
  if (!uses_abstentions(fit$model)) return(abstain_note(fit$x))
  c("Whether raters answer depends on the truth: see confusion()",
    if (isTRUE(fit$x$panel$abstain$by_replies)) rests_on_abstentions)
}

# Warnings about labels and fits that use abstentions.
warn_abstain <- function(x, decision, depends = decision$depends) {
  if (isTRUE(decision$weak[1L + depends])) warn_weak(no_better_than_chance)
  only <- unique(rating_category(x))
  if (length(only) == 1L && depends) {
    warn_weak(verbatim("only ", x$categories[only],
      " is ever answered; the other category is known by abstentions alone"))
  }
}
