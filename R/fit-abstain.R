# Abstentions: does the probability that a rater answers depend on the true category? The pooled
# Dawid-Skene model, in which confusion matrices vary around a common centre, can also have
# probabilities of answering (src/core/model/answering.hpp). A reply is an answer or an abstention.

# Smallest gain in log likelihood for which abstentions are modelled: odds of 20. The limit is high
# because a wrong model of answering increases the errors of labels.
min_gain <- log(20)

# Decides whether abstentions of a panel are modelled. Compares two fits that compute consensus
# labels: one ignores abstentions, the other models them. Returns a list:
# * depends: are abstentions modelled?
# * identified: "yes" if consensus labels are identified, otherwise a code of the reason
# * by_replies: are labels identified only from abstentions, because answers carry no information?
# * gain: gain in the log likelihood of the answers, given which raters answered
# * z: test statistic of the association between replies
# * weak: two logical values: is the association between raters not significant for `answers` only,
#   or for all `replies`?
# * constant: names of constant raters, who always give the same answer
# * fits: the two fits: abstentions as missing ratings, and modelled.
#
# The decision is made once per panel, and is reused for groups of its cases.
decide_abstain <- function(x) {
  if (!is.null(x$panel$abstain)) return(x$panel$abstain)
  constant <- constant_raters(x)
  answers <- without_constant_raters(without_abstentions(x))
  n_used <- n_distinct(rating_category(x))
  decision <- list(depends = FALSE, identified = identified_by_answers(answers), by_replies = FALSE,
    constant = constant)
  if (n_used == 1L && n_categories(x) != 2L) return(decision)
  replying <- keep_replying_raters(x, constant)
  fit_pooled <- function(x, parts) fit_around_centre(FALSE, x, nothing_known, parts)[[1L]]
  fit_modelled <- fit_pooled(replying, abstention_arguments(replying, TRUE, constant))
  fit_missing <- fit_pooled(answers, abstention_arguments(answers, FALSE))
  decision$fits <- list(fit_missing, fit_modelled)
  all_replies <- split_by_abstention(x)
  reply_association <- as.list(core_reply_association(
    all_replies$patterns, weights_of_labels(all_replies), abstention_arguments(all_replies, TRUE),
    max(n_used, 2L)
  ))
  decision$z <- reply_association$z
  is_weak <- is_weak_association(rater_association(answers))
  decision$weak <- c(answers = is_weak,
    replies = is_weak && reply_association$z < qnorm(0.95))
  decision$gain <- fit_modelled$answering$log_answers - fit_missing$answering$log_answers
  if (decision$identified == "yes") {
    decision$depends <- decision$gain > min_gain
    return(decision)
  }
  is_identified <- reply_association$identified != 0
  posterior_shift <- fit_modelled$posterior -
    rep(fit_modelled$base_rates, each = n_patterns(replying))
  decision$depends <- decision$by_replies <- is_identified && reply_association$excess > 1e-9 &&
    max(abs(posterior_shift)) >= 0.01
  decision$identified <- if (decision$depends) {
    "yes"
  } else if (reply_association$pairs == 0) {
    "no_pairs"
  } else if (is_identified) {
    "replies"
  } else if (n_used > 2L && n_distinct(c(rating_rater(x), x$abstained$rater)) > 2L) {
    "few_sources"
  } else {
    decision$identified
  }
  decision
}

# Stores the decision in the ratings, so that it is not made again, and returns the ratings.
store_abstain_decision <- function(x) {
  if (has_abstentions(x) && is.null(x$panel$abstain)) {
    x$panel$abstain <- decide_abstain(x)
    # The fits have a row per pattern of ratings; they would be wrong after patterns change.
    x$panel$abstain$fits <- NULL
  }
  x
}

# Returns "yes" if consensus labels are identified from the answers, otherwise a code of the reason.
# If each rater uses only one category and all ratings of a case agree, the agreement is no
# evidence: raters may agree because others abstain.
identified_by_answers <- function(x) {
  code <- identified_for_labels(fit_algebraic(x))
  rater_answers <- unique(cbind(rating_rater(x), rating_category(x)))
  is_unrelated <- code == "yes" && anyDuplicated(rater_answers[, 1L]) == 0L && agrees_on_all(x)
  if (is_unrelated) "unrelated" else code
}

# Drops constant raters who never abstain, and splits patterns by abstentions. Constant raters who
# abstain are kept, because whether they answer carries information about the truth.
keep_replying_raters <- function(x, constant) {
  is_kept <- !x$raters %in% constant | seq_along(x$raters) %in% x$abstained$rater
  split_by_abstention(if (all(is_kept)) x else x[, is_kept])
}

# Returns a list of arguments of the core: `constant`, the indices of the raters named in
# `constant`; and `abstained`, the raters who abstain in each pattern. `depends`: are abstentions
# modelled? If not, `abstained` is left out.
abstention_arguments <- function(x, depends, constant = character()) {
  c(
    list(constant = which(x$raters %in% constant)),
    if (depends) list(abstained = abstaining_raters(x))
  )
}

# Returns the effective number of ratings of each pattern. An abstention counts as a fraction of a
# rating, at most 1: the range of its log likelihood over true categories, divided by the mean range
# of answers. `fit` is a pooled fit of `x`.
effective_replies <- function(x, fit) {
  used <- fit$centre$categories
  p_answered <- fit$answering$answered[, used, drop = FALSE]
  log_range <- function(logs) row_maximum(logs) + row_maximum(-logs)
  abstention_range <- log_range(log(pmax(1 - p_answered, 1e-300))) # 0 for raters who never abstain
  # Raters x truths x ratings.
  p_rating <- fit$confusion[, used, , drop = FALSE] * as.vector(p_answered)
  answer_range <- matrix(apply(log(p_rating), 3L, log_range), n_raters(x)) # raters x ratings
  mean_range <- weighted.mean(answer_range[cbind(rating_rater(x), rating_category(x))],
    rating_weights(x))
  abstained <- abstaining_raters(x)
  pattern_lengths(x) + rowsum_codes(abstained$pattern,
    pmin(1, abstention_range[abstained$rater] / mean_range), n_patterns(x))
}

# ---- Fits ---------------------------------------------------------------------------------------

uses_abstentions <- function(model) identical(model$abstain, "depends")

# Sets field `abstain` of the model ("depends", "ignored" or NULL), and stores the decision in the
# ratings. Returns both in a list. Field `decided` is TRUE if the user did not choose. The choice is
# then made again for other ratings.
resolve_abstain <- function(x, model, method, known_raters) {
  if (isTRUE(model$decided)) model[c("abstain", "decided")] <- NULL
  has_abstained <- has_abstentions(x)
  can_model <- is_pooled(model) && is.null(known_raters) && weights_are_counts(x) &&
    identical(method %||% "likelihood", "likelihood")
  abort_argument_if(has_abstained && uses_abstentions(model) && !can_model, "abstain",
    "{.code abstain = \"depends\"} needs a fit by likelihood, without known raters, of cases whose
        weights are counts.")
  if (has_abstained && identical(method, "bayes")) {
    inform_fallible(paste0(abstain_note(x), "."), class = "fallible_message_abstain")
  }
  if (can_model && has_abstained) {
    x <- store_abstain_decision(x)
    decision <- x$panel$abstain
    if (is.null(model$abstain)) {
      model$abstain <- if (decision$depends) "depends" else "ignored"
      model$decided <- TRUE
    }
    if (uses_abstentions(model)) x <- keep_replying_raters(x, decision$constant)
  } else {
    model$abstain <- NULL
  }
  list(x = x, model = model)
}

# Adds the probabilities of answering to a fit. They have no standard errors, because the curvature
# of the likelihood is computed without them.
add_answering <- function(fit) {
  if (!uses_abstentions(fit$model) || is.null(fit$answering)) return(fit)
  x <- fit$x
  p_answered <- fit$answering$answered
  dimnames(p_answered) <- list(x$raters, x$categories)
  p_answered[is.na(fit$matrices[, 1L, 1L]), ] <- NA # raters who never answer
  answered_rates <- rep(fit$base_rates, each = nrow(p_answered)) *
    ifelse(is.na(p_answered), 0, p_answered)
  accuracy <- rowSums(answered_rates * t(apply(fit$matrices, 1L, diag))) / rowSums(answered_rates)
  fit$coefficients[rater_terms(x)] <- accuracy
  fit$rater_accuracy <- mean(accuracy, na.rm = TRUE)
  terms <- sprintf("answered[%s: %s]", x$raters[row(p_answered)], x$categories[col(p_answered)])
  fit$coefficients <- c(fit$coefficients, setNames(as.vector(p_answered), terms))
  fit$answered <- p_answered
  fit$log_likelihood <- fit$answering$log_likelihood
  fit["unsure"] <- list(NULL)
  fit
}

# Returns the fit of a model that ignores abstentions. It is used to estimate accuracies of systems,
# which are accuracies of answers. Estimates are NA if answers carry no information.
fit_without_abstentions <- function(fit) {
  if (!uses_abstentions(fit$model)) return(fit)
  if (!fit$x$panel$abstain$by_replies || has_known_values(fit$known)) {
    model <- fit$model
    model[c("abstain", "decided")] <- list("ignored", FALSE)
    return(fit_again(fit, model = model))
  }
  fit$identified <- "labels_only"
  without_numbers(fit)
}

# Multiplies posterior probabilities that were computed from answers (patterns x categories) by the
# probabilities of answering and of abstaining. Ratings `x` without abstentions are not changed: it
# is assumed that their raters could not abstain.
weight_by_replies <- function(posterior, fit, x) {
  if (is.null(fit$answered) || !has_abstentions(x)) return(posterior)
  p_answered <- replace(fit$answered, is.na(fit$answered), 1)
  abstained <- abstaining_raters(x)
  pattern <- c(rating_pattern(x), abstained$pattern)
  # If a rater never abstains, the factor is the same for all categories and cancels.
  reply_probabilities <- rbind(p_answered[rating_rater(x), ], 1 - p_answered[abstained$rater, ])
  softmax(log(posterior) +
    rowsum_rows(pattern, log(pmax(reply_probabilities, 1e-300)), n_patterns(x)))
}

rests_on_abstentions <- "Labels are computed from who abstains: answers carry no information"

abstain_lines <- function(fit) {
  if (!uses_abstentions(fit$model)) return(abstain_note(fit$x))
  c("Whether raters answer depends on the truth: see confusion()",
    if (isTRUE(fit$x$panel$abstain$by_replies)) rests_on_abstentions)
}

# Warns if labels or a fit that use abstentions are only weakly identified.
warn_abstain <- function(x, decision, depends = decision$depends) {
  if (isTRUE(decision$weak[1L + depends])) warn_weak(no_better_than_chance)
  only <- unique(rating_category(x))
  if (length(only) == 1L && depends) {
    warn_weak(escape_braces("all answers are ", x$categories[only],
      "; estimates for the other category depend only on who abstains"))
  }
}
