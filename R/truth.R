#' Consensus labels and their probabilities
#'
#' Computes how probable each category of each case is, given the ratings. Answers of systems are
#' not used. The rows are soft labels, ready to be targets for training.
#'
#' @section Labels of ratings:
#' Labels of ratings are the mean of two accounts of a panel: a model of raters, and votes.
#'
#' The model is the mean of the posteriors of two models of the raters, [dawid_skene()] with its
#' pooled prior, and the same around a centre in which all errors are equally probable. The first
#' expects that a panel has biases, the second that cases are hard. Raters of the same case share
#' errors, so that the posterior is far too sure. It is flattened: the evidence of r ratings is
#' reduced to `1 / (1 + (r - 1) rho)` of itself, while base rates and the most probable category
#' stay the same. `rho` is the correlation, over cases, of two raters' being right; .43 is the mean
#' of 25 public sources (standard deviation .21). Ratings do not show it.
#'
#' Votes are smoothed shares: `(votes for k + 2 / K) / (votes + 2)`, with `K` categories. `votes` is
#' their weight, 1/2 by default. `votes = 1` is a smoothed majority vote, `votes = 0` the model.
#' Raters of one group and reruns of a rater (arguments `rater_groups` and `repeats` of [ratings()])
#' count as one vote. Cases without ratings have the labels of the model.
#'
#' On 60 public sources labels are right in .76 of cases, the majority in .74 (difference .020,
#' standard error .005). Log loss is .66, against .70 of smoothed shares of votes (-.036, standard
#' error .006), and it is lower where people, language models or programs rate. Probabilities are
#' .01 lower than the share of right labels on average: .05 lower for people, .10 higher for
#' language models. Independent raters, such as diagnostic tests, deserve `votes = 0` or a named
#' model.
#'
#' Do not sum probabilities to count the cases of a rare category: pseudo-votes raise it. Use the
#' base rates, `tidy(x, "categories")`, or `votes = 0`.
#'
#' @section Known truth:
#' `known_truth` sets the labels of gold cases to 0 and 1, and the models use them. If gold cases
#' are a random sample (`gold_sample`) of at least five rated cases, they also calibrate the labels
#' of all other cases: labels P become proportional to `a_k P^b`, where the power `b` makes
#' probabilities as sure as they are right on gold cases, and `a_k` adjusts base rates. The labels
#' that are compared with gold have not used it. 50 random cases make labels of all others right
#' more often by .020 (standard error .006) and lower log loss by .10 (.02), in 45 public sources,
#' and the probabilities agree with the share of right labels within .01. Cases picked by hand
#' cannot do that.
#'
#' For a single rater gold cases are necessary, and votes have no weight.
#'
#' @section Abstentions:
#' A rater may answer "cannot tell", a test may be indeterminate, and a labelling function votes for
#' one category or abstains. Declare such replies with `abstain` of [ratings()]. Without this
#' argument they are a false category, or missing ratings.
#'
#' Abstentions are used if they improve the prediction of the answers. The model of labels, and
#' [dawid_skene()], are fitted twice: with abstentions as missing ratings, and with a probability
#' for each rater and category that the rater answers such a case. The second fit is used if the log
#' likelihood of the answers, given who answered, is higher by more than log(20). It does harm where
#' raters abstain together for another reason, for example on cases that are difficult for all.
#'
#' Labelling functions that vote for one category each cannot be compared in this way: their answers
#' carry no information about the truth, but their abstentions may. Labels then rest on who
#' abstains, and the print says so. They assume that sources answer together because of the truth;
#' the data cannot show whether that is right. Two categories need three such sources, more
#' categories need more. Sources that are nearly copies abstain together, which looks like truth.
#' Accuracies of systems are `NA` there, unless cases with known truth measure them. If all raters
#' vote for one category, `votes` is 0.
#'
#' An abstention is no vote. All other functions count abstentions as missing ratings, and say so.
#' In ordered categories an abstention is not a middle category.
#'
#' @section Labels that are NA:
#' Labels are `NA`, with a reason, if raters agree no better than by chance (given how often each
#' uses each category), if the association of two raters is not positive, or if no case has two
#' ratings without raters who always give the same answer. Such raters are left out of all labels of
#' ratings, unless their abstentions are used. `votes = 1` still counts votes, and labels with gold
#' cases are never `NA`. Two raters get labels with a warning: where they disagree priors decide.
#'
#' @section Labels of a model:
#' A fit has the posterior of its model by Bayes' rule, not flattened or mixed with votes unless you
#' give `rho` or `votes`, and so has an estimate by a named method or model; an estimate by method
#' `"average"` has the labels of ratings. Under the K-model the probability of category k is
#' proportional to its base rate times, for each rating, the rater accuracy if the rating is k and
#' otherwise (1 - accuracy) / (categories - 1). A case without ratings gets the base rates. A case
#' whose truth was given to [fit_raters()] has probability one there.
#'
#' @srrstats {UL1.3, UL3.4} labels keep cases and categories, and have probabilities
#' @srrstatsNA {UL1.3a, UL3.0, UL3.1, UL7.2} labels are the categories of the ratings, none is made
#' @param fit A [fit_raters()] or [estimate_accuracy()] result; or [ratings()].
#' @param format `"wide"`, with a column for each category, or `"long"`, with a row for each case
#'   and category.
#' @param rho Correlation of the errors of raters, in \[0, 1\]; 0 takes them for independent. `NULL`
#'   is .43 for labels of ratings, 0 for those of a model.
#' @param votes Weight of smoothed shares of votes, in \[0, 1\]. `NULL` is .5 for labels of ratings,
#'   0 for those of a model, and 0 if no case has two votes.
#' @param known_truth,gold_sample Cases whose truth is known and how they were chosen, as in
#'   [estimate_accuracy()]; for ratings, and for estimates without gold cases. An estimate with gold
#'   cases uses those.
#' @param object A `ground_truth()` result.
#' @param ... Not used.
#' @return For `"wide"`, a tibble of class `ground_truth`: `case`, then a column of probabilities
#'   for each category; rows sum to one; see [tidy()][tidy.ground_truth] for what it can be turned
#'   into. For `"long"`, a tibble with `case`, `category` (a factor)
#'   and `probability`. `NA` where labels are not identified. For ratings in a database, a
#'   lazy table with the columns of `"wide"`; see [ratings-database]. `predict()`: a tibble with
#'   `case`, `category`, `probability` and `tied`, as [predict.rater_fit()] has them.
#' @family estimation
#' @templateVar where Table 3
#' @template ref-lehner
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' truth <- ground_truth(x)
#' truth
#' predict(truth)
#' as.matrix(truth[-1]) # targets for training
#' ground_truth(x, votes = 1) # smoothed majority votes
#' # Of a named model, as the paper has them
#' ground_truth(fit_raters(x))
#' ground_truth(fit_raters(x), format = "long")
#' @export
ground_truth <- function(fit, format = c("wide", "long"), rho = NULL, votes = NULL,
                         known_truth = NULL, gold_sample = NULL) {
  check_given()
  format <- check_choice(format)
  if (!is.null(rho)) check_number(rho, "rho", 0, 1)
  if (!is.null(votes)) check_number(votes, "votes", 0, 1)
  labels <- finish_labels(labels_of(fit, known_truth, gold_sample, votes), rho, votes)
  x <- labels$x
  if (format == "wide") return(new_ground_truth(x, labels$posterior, labels))
  if (in_database(x)) {
    abort_no_cases("The long format needs the cases",
      hint = "{.code format = \"wide\"} gives a lazy table.")
  }
  long_truth(x$cases, category_factor(seq_along(x$categories), x),
    labels$posterior[pattern_of_case(x), , drop = FALSE])
}

# A row per case and category.
long_truth <- function(cases, categories, probability) {
  tibble::tibble(
    case = rep(cases, each = length(categories)), category = rep(categories, length(cases)),
    probability = as.vector(t(probability))
  )
}

#' @rdname ground_truth
#' @export
predict.ground_truth <- function(object, ...) {
  check_dots_empty(...)
  probability <- probability_matrix(object, "object")
  best <- most_probable(probability)
  best$category <- factor(colnames(probability)[best$category], colnames(probability))
  tibble::new_tibble(c(list(case = object$case), best), nrow = nrow(object))
}

#' Are probabilities as often right as they say?
#'
#' Puts the probabilities of all categories of all cases into bins, and counts how often the
#' category is the true one. Probabilities that mean what they say lie within the intervals.
#'
#' @param x A [ground_truth()] result, or a data frame like it: `case`, and a column of
#'   probabilities for each category.
#' @param truth A data frame with columns `case` and `truth` (or `category`), or categories named by
#'   case; cases whose truth is not known are left out. Not needed for ratings that
#'   carry their [truth()].
#' @param bins Number of bins of equal width from 0 to 1. Limits belong to the bin below, 0 to the
#'   first.
#' @param conf_level Probability with which the intervals are meant to cover, in (0, 1); see
#'   [fallible-options].
#' @return A tibble of class `calibration` with a row per bin that is not empty: `lower` and
#'   `upper`, its limits; `probability`, the mean of its probabilities; `share`, how many of them
#'   are of the true category; `conf.low` and `conf.high`, Wilson's interval of that share, as if
#'   the probabilities were independent (those of one case are not); `n`, their number. `glance()`:
#'   the numbers of `bins` and `cases`; `outside`, the number of bins whose `probability` is outside
#'   the interval; `error`, the mean absolute difference of `probability` and `share`, weighted by
#'   `n` (expected calibration error); `conf_level`.
#' @family estimation
#' @references Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
#'   inference. *Journal of the American Statistical Association*, 22, 209-212.
#'   \doi{10.1080/01621459.1927.10502953}
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), n = 500))
#' found <- calibration(ground_truth(fit_raters(x)))
#' found
#' # What the system of the worked example says is not the truth, but can stand in for it here
#' y <- ratings(lehner2015, raters = rater1:rater4, case = case)
#' calibration(ground_truth(y), truth = setNames(lehner2015$system, lehner2015$case), bins = 4)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' autoplot(found) + ggplot2::theme_bw()
#' @order 1
#' @export
calibration <- function(x, truth = NULL, bins = 10L, conf_level = default_conf_level()) {
  check_given()
  probability <- probability_matrix(x, "x")
  bins <- check_count(bins, "bins")
  conf_level <- check_level(conf_level)
  true <- true_categories(x, truth, colnames(probability))
  given <- attr(x, "known") %||% logical(nrow(probability))
  known <- true > 0L & !is.na(probability[, 1L]) & !rep_len(given, nrow(probability))
  abort_argument_if(!any(known), "truth", "The truth of the cases in {.arg x} cannot be estimated.",
    i = if (anyNA(probability)) "Their probabilities are {.code NA}.")
  probability <- probability[known, , drop = FALSE]
  hit <- col(probability) == true[known]
  bin <- pmax(ceiling(probability * bins - 1e-9), 1)
  sums <- rowsum(cbind(1, as.vector(probability), as.vector(hit)), as.vector(bin))
  top <- as.double(rownames(sums))
  n <- unname(sums[, 1L])
  share <- unname(sums[, 3L]) / n
  ends <- wilson_interval(share, n, normal_quantile(conf_level))
  new_calibration(tibble::tibble(
    lower = (top - 1) / bins, upper = top / bins, probability = unname(sums[, 2L]) / n,
    share = share, conf.low = ends[, 1L], conf.high = ends[, 2L], n = n
  ), list(conf_level = conf_level, cases = sum(known)))
}

# `about`: level of the intervals, and the number of cases.
new_calibration <- function(table, about) {
  off <- sum(table$probability < table$conf.low | table$probability > table$conf.high)
  error <- stats::weighted.mean(abs(table$share - table$probability), table$n)
  new_result("calibration",
    again = new_calibration, tables = list(bins = table), about = about,
    facts = list(
      bins = nrow(table), cases = about$cases, outside = off, error = error,
      conf_level = about$conf_level
    ),
    line = paste(
      "Probabilities differ from shares of true categories by", decimals(error, 2L),
      "on average, and are outside the interval in", off, "of", count_noun(nrow(table), "bin")
    ),
    shown = view(
      table, digits = c(3L, lower = 2L, upper = 2L), level = about$conf_level, left = NULL
    )
  )
}

# The probabilities of a table like those of ground_truth(), cases x categories.
probability_matrix <- function(x, arg) {
  categories <- setdiff(names(x), "case")
  shaped <- is.data.frame(x) && "case" %in% names(x) && length(categories) > 0L
  out <- if (shaped) as.matrix(as.data.frame(x)[categories])
  ok <- shaped && is.numeric(out) && all(is.na(out) | (out >= 0 & out <= 1 + 1e-9))
  abort_if(!ok, "columns",
    "{.arg {arg}} must have the column {.val case}, and one of probabilities for each category.",
    x = if (any_columns(x)) "It has {.val {names(x)}}." else "It is {describe(x)}.", arg = arg)
  dimnames(out) <- list(NULL, categories)
  out
}

# A column number for each row of `x`; 0 where the truth is not known.
true_categories <- function(x, truth, categories) {
  truth <- truth %||% attr(x, "truth")
  abort_argument_if(is.null(truth), "truth", "Calibration needs the {.arg truth} of some cases.",
    i = "Only what {.fun simulate_ratings} and {.fun with_truth} make carries its truth.")
  given <- as_truth_table(truth, "truth")
  known_codes(given, as_label(x$case), categories, "truth")
}

# The number of the true category of each case, 0 where none is given. `given`: see
# as_truth_table(); a case that is there several times has the same truth each time.
known_codes <- function(given, case, categories, arg) {
  code <- truth_codes(given$truth, categories, arg)[match(case, given$case)]
  replace(code, is.na(code), 0L)
}

# Numbers of true categories, which must be known ones; NA stays NA.
truth_codes <- function(truth, categories, arg) {
  code <- match(truth, categories)
  off <- which(is.na(code) & !is.na(truth))
  unknown <- unique(truth[off])
  abort_if(off, "category", "{.arg {arg}} must hold categories of {.arg x}.",
    x = "{.val {unknown}} {?is/are} not among {.val {categories}}.", row = off,
    column = NA_character_, found = unknown)
  code
}

# Cases and their truths as labels, from what a user may give; without those that are missing.
# `keys`: see with_case().
as_truth_table <- function(truth, arg, keys = NULL) {
  if (inherits(truth, "gold_cases")) truth <- truth$truth
  truth <- name_cases(with_case(truth, keys))
  for (part in c(list(names(truth)), as.list(truth))) check_text(part, arg)
  if (is.data.frame(truth)) {
    column <- intersect(c("truth", "category"), names(truth))[1L]
    abort_if(!"case" %in% names(truth) || is.na(column), "columns",
      "{.arg {arg}} must have the columns {.val case} and {.val truth}.",
      x = if (any_columns(truth)) "It has {.val {names(truth)}}." else "It is {describe(truth)}.",
      arg = arg)
    case <- as_label(truth$case)
    category <- as_label(truth[[column]])
  } else {
    abort_argument_if(!(is.atomic(truth) && rlang::is_named(truth)), arg,
      "must be categories with the cases as names, or a data frame with columns {.val case} and
          {.val truth}.", not = truth)
    case <- names(truth)
    category <- as_label(unname(truth))
  }
  known <- which(!is.na(category))
  case <- case[known]
  category <- category[known]
  first <- match(case, case)
  off <- which(category != category[first])
  abort_if(off, "case", "A case has one true category.",
    x = "Case {.val {case[off[1L]]}} has {.val {category[first[off[1L]]]}} and
        {.val {category[off[1L]]}} in {.arg {arg}}.", row = known[off[1L]])
  list(case = case[!duplicated(case)], truth = category[!duplicated(case)])
}

# A table whose cases have a column of their own name, the only one besides the truth.
name_cases <- function(table) {
  other <- if (is.data.frame(table)) setdiff(names(table), c("truth", "category", "probability"))
  if (length(other) == 1L) names(table)[names(table) == other] <- "case"
  table
}
