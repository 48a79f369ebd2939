# Models in which abstentions may depend on the true category. Only the pooled Dawid-Skene model, in
# which confusion matrices of raters vary around a common mean, can include abstentions. Further
# parameters are then the probabilities that raters answer, for each rater and true category; see
# src/core/model/answering.hpp. In this file, a reply is an answer or an abstention.

# Smallest gain in log likelihood for which abstentions are modelled. It is the logarithm of a
# likelihood ratio of 20. The limit is high because a wrong model of abstentions increases the
# errors of consensus labels.
min_abstention_gain <- log(20)

# Decides whether the model of a panel of raters includes abstentions. Compares two fits of the
# pooled model: the first ignores abstentions (as missing ratings), the second models them. Returns
# a list:
# * depends: does the model include abstentions?
# * identified: "yes" if consensus labels are identified, otherwise a code of the reason
# * by_replies: are consensus labels identified only if abstentions are modelled?
# * gain: log likelihood of the second fit minus that of the first fit. Both are log likelihoods of
#   the answers, given which raters answered.
# * z: test statistic for the association between the replies of different raters
# * weak: is the association between raters not significant? A vector with elements `answers`, for
#   answers only, and `replies`, for answers and abstentions together.
# * constant: names of constant raters, who always give the same answer
# * fits: a list of the two fits
#
# The decision is made once per panel. Groups of cases of the panel use the same decision.
decide_abstain <- function(x) {
  if (!is.null(x$panel$abstain)) return(x$panel$abstain)
  constant_names <- constant_raters(x)
  ratings_without_abstentions <- without_constant_raters(drop_abstentions(x))
  n_used_categories <- n_distinct(rating_category(x))
  decision <- list(depends = FALSE,
    identified = identification_code_of_answers(ratings_without_abstentions),
    by_replies = FALSE, constant = constant_names)
  if (n_used_categories == 1L && n_categories(x) != 2L) return(decision)
  ratings_by_replying_raters <- keep_replying_raters(x, constant_names)
  fit_pooled <- function(x, settings) fit_around_centre(FALSE, x, nothing_known, settings)[[1L]]
  fit_ignoring_abstentions <- fit_pooled(ratings_without_abstentions,
    abstention_arguments(ratings_without_abstentions, FALSE))
  fit_with_abstentions <- fit_pooled(ratings_by_replying_raters,
    abstention_arguments(ratings_by_replying_raters, TRUE, constant_names))
  decision$fits <- list(fit_ignoring_abstentions, fit_with_abstentions)
  split_ratings <- split_by_abstention(x)
  reply_association <- as.list(core_reply_association(
    split_ratings$patterns, weights_of_labels(split_ratings),
    abstention_arguments(split_ratings, TRUE), max(n_used_categories, 2L)
  ))
  decision$z <- reply_association$z
  is_weak <- is_weak_association(rater_association(ratings_without_abstentions))
  decision$weak <- c(answers = is_weak, replies = is_weak && decision$z < qnorm(0.95))
  decision$gain <- fit_with_abstentions$answering$log_answers -
    fit_ignoring_abstentions$answering$log_answers
  if (decision$identified == "yes") {
    decision$depends <- decision$gain > min_abstention_gain
    return(decision)
  }
  replies_identify_labels <- reply_association$identified != 0
  posterior_shift <- fit_with_abstentions$posterior -
    rep(fit_with_abstentions$base_rates, each = n_patterns(ratings_by_replying_raters))
  decision$depends <- decision$by_replies <- replies_identify_labels &&
    reply_association$excess > 1e-9 && max(abs(posterior_shift)) >= 0.01
  decision$identified <- if (decision$depends) {
    "yes"
  } else if (reply_association$pairs == 0) {
    "no_pairs"
  } else if (replies_identify_labels) {
    "replies"
  } else if (n_used_categories > 2L && n_distinct(c(rating_rater(x), x$abstained$rater)) > 2L) {
    "few_sources"
  } else {
    decision$identified
  }
  decision
}

# Stores the result of decide_abstain() in the ratings, and returns the ratings.
store_abstain_decision <- function(x) {
  if (has_abstentions(x) && is.null(x$panel$abstain)) {
    x$panel$abstain <- decide_abstain(x)
    # The fits are dropped, because they have a row per pattern of ratings, and patterns may change.
    x$panel$abstain$fits <- NULL
  }
  x
}

# Returns "yes" if the answers identify consensus labels, otherwise a code of the reason. The code
# is "unrelated" if each rater uses only one category and all ratings of each case agree. In this
# case, ratings may agree only because a rater abstains instead of giving another category.
identification_code_of_answers <- function(x) {
  identification <- identification_for_labels(fit_algebraic(x))
  used_categories <- unique(cbind(rating_rater(x), rating_category(x))) # rater, category
  each_rater_uses_one_category <- !any_repeated(used_categories[, 1L])
  if (identification == "yes" && each_rater_uses_one_category && raters_always_agree(x))
    "unrelated" else identification
}

# Drops constant raters who never abstain, splits patterns of ratings by abstentions, and returns
# the ratings. Constant raters who abstain are kept, because their abstentions may depend on the
# true category. `constant_names`: names of constant raters.
keep_replying_raters <- function(x, constant_names) {
  is_kept <- !x$raters %in% constant_names | seq_along(x$raters) %in% x$abstained$rater
  split_by_abstention(if (all(is_kept)) x else x[, is_kept])
}

# Returns a list of arguments for the core. `depends`: does the model include abstentions? Elements:
# * constant: indices of constant raters, whose names are in `constant_names`
# * abstained: the raters who abstain in each pattern, see abstaining_raters(); left out if
#   `depends` is FALSE
abstention_arguments <- function(x, depends, constant_names = character()) {
  c(
    list(constant = which(x$raters %in% constant_names)),
    if (depends) list(abstained = abstaining_raters(x))
  )
}

# Returns the effective number of ratings of each pattern. A rating counts as 1. An abstention
# counts as its information divided by the mean information in a rating, but at most as 1.
# Information is measured by the range of the log likelihood over true categories.
# `fit`: a pooled fit of `x`.
count_effective_replies <- function(x, fit) {
  used_categories <- fit$centre$categories
  p_answered <- pick_columns(fit$answering$answered, used_categories)
  range_width <- function(log_p) row_maximum(log_p) + row_maximum(-log_p)
  # 0 for raters who never abstain
  abstention_range_width <- range_width(log(pmax(1 - p_answered, 1e-300)))
  # Joint probability that a rater answers and gives each rating, for each true category: an array
  # (raters x true categories x ratings)
  p_rating <- fit$confusion[, used_categories, , drop = FALSE] * as.vector(p_answered)
  # Rows are raters, columns are the categories of their ratings.
  answer_range_width <- matrix(apply(log(p_rating), 3L, range_width), n_raters(x))
  mean_range_width <- weighted.mean(answer_range_width[cbind(rating_rater(x), rating_category(x))],
    rating_weights(x))
  abstentions <- abstaining_raters(x)
  pattern_lengths(x) + rowsum_codes(abstentions$pattern,
    pmin(1, abstention_range_width[abstentions$rater] / mean_range_width), n_patterns(x))
}

# ---- Fits ---------------------------------------------------------------------------------------

uses_abstentions <- function(model) identical(model$abstain, "depends")

# Decides whether a model includes abstentions. Returns a list of `x`, the ratings, in which the
# decision is stored, and `model`, the model with these fields:
# * abstain: "depends" (abstentions are modelled), "ignored" (they are missing ratings), or NULL if
#   the ratings have no abstentions or the model cannot include them
# * decided: TRUE if decide_abstain() chose the value of `abstain`, and not the user. A refit to
#   other ratings then makes the decision again.
resolve_abstain <- function(x, model, method, known_raters) {
  if (isTRUE(model$decided)) model[c("abstain", "decided")] <- NULL
  any_abstention <- has_abstentions(x)
  can_model_abstentions <- is_pooled(model) && is.null(known_raters) && weights_are_counts(x) &&
    identical(method %||% "likelihood", "likelihood")
  abort_argument_if(any_abstention && uses_abstentions(model) && !can_model_abstentions, "abstain",
    "{.code abstain = \"depends\"} needs {.code method = \"likelihood\"}, no {.arg known_raters},
        and weights of cases that are whole numbers.",
    x = if (!is.null(known_raters)) "{.arg known_raters} is given." else if (!weights_are_counts(x))
      "Some weights are not whole numbers." else "{.arg method} is {.val {method}}.")
  if (any_abstention && identical(method, "bayes")) {
    inform_fallible(paste0(abstain_note(x), "."), class = "fallible_message_abstain")
  }
  if (can_model_abstentions && any_abstention) {
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

# Adds the probabilities of answering to the coefficients of a fit, and returns the fit. No
# coefficient of this fit has a standard error, because the core computes the curvature of the
# likelihood without the probabilities of answering.
add_answer_probabilities <- function(fit) {
  if (!uses_abstentions(fit$model) || is.null(fit$answering)) return(fit)
  x <- fit$x
  p_answered <- fit$answering$answered
  dimnames(p_answered) <- list(x$raters, x$categories)
  p_answered[is.na(fit$matrices[, 1L, 1L]), ] <- NA # raters who never answer
  p_truth_and_answer <- rep(fit$base_rates, each = nrow(p_answered)) * replace_na(p_answered, 0)
  accuracy <- rowSums(p_truth_and_answer * t(apply(fit$matrices, 1L, diag))) /
    rowSums(p_truth_and_answer)
  fit$coefficients[rater_terms(x)] <- accuracy
  fit$rater_accuracy <- mean(accuracy, na.rm = TRUE)
  terms <- sprintf("answered[%s: %s]", x$raters[row(p_answered)], x$categories[col(p_answered)])
  fit$coefficients <- c(fit$coefficients, setNames(as.vector(p_answered), terms))
  fit$answered <- p_answered
  fit$log_likelihood <- fit$answering$log_likelihood
  fit["unsure"] <- list(NULL)
  fit
}

# Returns the fit of the same model with abstentions ignored. Accuracies of systems are estimated
# from this fit.
fit_without_abstentions <- function(fit) {
  if (!uses_abstentions(fit$model)) return(fit)
  # The refit needs answers that identify consensus labels without abstentions, or known truths of
  # cases, or known error rates of raters. Otherwise, all estimates are NA.
  if (!fit$x$panel$abstain$by_replies || has_known_values(fit$known)) {
    model <- fit$model
    model[c("abstain", "decided")] <- list("ignored", FALSE)
    return(fit_again(fit, model = model))
  }
  fit$identified <- "labels_only"
  set_estimates_to_na(fit)
}

abstention_only_text <-
  "Labels are identified only by abstentions: the answers do not identify them"

# Warns if estimates from ratings with abstentions are only weakly identified. `decision`: a result
# of decide_abstain(). `depends`: does the model include abstentions?
warn_abstain <- function(x, decision, depends = decision$depends) {
  if (isTRUE(decision$weak[1L + depends])) warn_weak_identification(reason_near_chance)
  used_category <- unique(rating_category(x))
  if (length(used_category) == 1L && depends) {
    warn_weak_identification(escape_braces("all answers are ", x$categories[used_category],
      ", so estimates for the other category are computed only from abstentions"))
  }
}
