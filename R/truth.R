#' Consensus labels and their probabilities
#'
#' Computes the posterior probability of each category for each case, given the ratings. Answers of
#' systems are not used. The rows are soft labels, which can be used as training targets.
#'
#' @section Labels from ratings:
#' Labels from ratings are the mean of two estimates: the posterior under a model of the raters, and
#' vote shares.
#'
#' *Model.* The model is the mean of the posteriors of two models of the raters: [dawid_skene()]
#' with its pooled prior, and the same around a centre in which all errors are equally probable. The
#' first fits panels with biases, the second panels with hard cases. Raters of the same case share
#' errors, so the posterior is overconfident and is flattened. The evidence of `r` ratings is
#' multiplied by `1 / (1 + (r - 1) rho)`; base rates and the most probable category stay the same.
#' `rho` is the correlation, over cases, of two raters being correct. The default .43 is the mean of
#' 25 public sources (standard deviation .21); it is not identified from ratings.
#'
#' *Votes.* The smoothed vote share of category `k` is `(votes for k + 2 / K) / (votes + 2)`, for
#' `K` categories. `votes` is its weight, by default 1/2. `votes = 1` is a smoothed majority vote,
#' and `votes = 0` is the model. The ratings of a group of raters, and reruns of a rater, are one
#' vote (arguments `rater_groups` and `repeats` of [ratings()]). Cases without ratings have the
#' labels of the model (with `votes = 1`, equal probabilities).
#'
#' *Performance.* On 60 public sources, .76 of labels and .74 of majority labels are correct
#' (difference .020, standard error .005). Log loss is .66, and .70 for smoothed vote shares
#' (difference -.036, standard error .006). The difference is negative for people, for language
#' models and for programs. On average, probabilities are .01 lower than the share of correct
#' labels: .05 lower for people, .10 higher for language models. For independent raters, such as
#' diagnostic tests, use `votes = 0` or the fit of a model.
#'
#' *Base rates.* Do not sum probabilities to count the cases of a rare category: pseudo-votes
#' increase the sum. Use the base rates, `tidy(x, "categories")`, or `votes = 0`.
#'
#' @section Known truth:
#' `known_truth` sets the labels of gold cases to 0 and 1, and the models use the known truth. If
#' gold cases are a random sample (`gold_sample`) of at least five rated cases, they also calibrate
#' the labels of all other cases: a label `P` becomes proportional to `a_k P^b`. The power `b` is
#' chosen so that probabilities match the share of correct labels on gold cases, and `a_k` adjusts
#' base rates. The calibration compares gold cases with labels that did not use them. In 45 public
#' sources, 50 random gold cases increased the share of correct labels among the other cases by .020
#' (standard error .006) and decreased log loss by .10 (.02). Probabilities then agreed with the
#' share of correct labels within .01. Cases chosen by hand cannot calibrate labels.
#'
#' A single rater needs gold cases, and votes then have weight zero.
#'
#' @section Abstentions:
#' A rater may answer "cannot tell", a test may be indeterminate, and a labelling function votes for
#' one category or abstains. Declare such answers with `abstain` of [ratings()]. Otherwise they are
#' treated as a category, or as missing ratings.
#'
#' Abstentions are used if they improve the prediction of the answers. The model of labels, and
#' [dawid_skene()], are fitted twice: with abstentions as missing ratings, and with a probability
#' of answering for each rater and category. The second fit is used if the log likelihood of the
#' answers, given which raters answered, is higher by more than log(20). It gives worse labels if
#' raters abstain together for another reason, for example on cases that are difficult for all.
#'
#' Labelling functions that each vote for one category cannot be compared in this way. Their answers
#' carry no information about the truth, but their abstentions may. Labels are then computed from
#' who abstains, and the print reports it. This assumes that sources answer together because of the
#' truth; the data cannot test it. Two categories need three such sources, more categories need
#' more. Sources that are nearly copies abstain together, which cannot be distinguished from truth.
#' Accuracies of systems are then `NA`, unless cases with known truth measure them. If all raters
#' vote for one category, `votes` is 0.
#'
#' An abstention is not a vote. All other functions treat abstentions as missing ratings, and print
#' a note. With ordered categories, an abstention is not a middle category.
#'
#' @section Labels that are NA:
#' Labels are `NA`, with a reason, in three cases:
#' * raters agree no better than by chance, given how often each uses each category;
#' * the association of two raters is not positive;
#' * no case has two ratings by raters who do not always give the same answer.
#'
#' Constant raters are left out of labels from ratings, unless their abstentions are used.
#' `votes = 1` still counts votes, and labels with gold cases are never `NA`. Two raters get labels
#' with a warning: if they disagree, priors decide.
#'
#' @section Labels of a model:
#' For a fit, labels are the posterior of its model by Bayes' rule. They are flattened or mixed with
#' votes only if `rho` or `votes` is given. The same holds for an estimate by another method than
#' `"average"` or another model than the K-model, and for ratings given as counts (K-model).
#' Estimates by method `"average"` have labels from ratings. Under the K-model the probability of
#' category k is proportional to its base rate times a factor per rating. The factor is the rater
#' accuracy if the rating is k, and otherwise (1 - accuracy) / (categories - 1). A case without
#' ratings gets the base rates. A case with known truth in [fit_raters()] has probability one for
#' its true category.
#'
#' @srrstats {UL1.3, UL3.4} labels keep cases and categories, and have probabilities
#' @srrstatsNA {UL1.3a, UL3.0, UL3.1, UL7.2} labels are the categories of the ratings, none is made
#' @param fit A [fit_raters()] or [estimate_accuracy()] result; or [ratings()].
#' @param format `"wide"`, with a column for each category, or `"long"`, with a row for each case
#'   and category.
#' @param rho Correlation of the errors of raters, in \[0, 1\]; 0 means independent errors. `NULL`
#'   is .43 for labels from ratings, 0 for those of a model.
#' @param votes Weight of smoothed vote shares, in \[0, 1\]. `NULL` is .5 for labels from ratings, 0
#'   for those of a model, and 0 if no case has two votes.
#' @param known_truth,gold_sample Cases with known truth and how they were chosen, as in
#'   [estimate_accuracy()]. For ratings, and for estimates without gold cases. Estimates with gold
#'   cases use those.
#' @param object A `ground_truth()` result.
#' @param ... Not used.
#' @return For `"wide"`, a tibble of class `ground_truth`: `case`, and a column of probabilities for
#'   each category; rows sum to one. See [tidy()][tidy.ground_truth] for further tables. For
#'   `"long"`, a tibble with `case`, `category` (a factor) and `probability`. Probabilities are `NA`
#'   if labels are not identified. For ratings in a database, a lazy table with the columns of
#'   `"wide"`; see [ratings-database]. `predict()`: a tibble with `case`, `category`, `probability`
#'   and `tied`, as in [predict.rater_fit()].
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
#' # From the fit of a model, as in the paper
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

#' Calibration of probabilities
#'
#' Compares the probabilities of categories with the share of cases in which the category is true.
#' All probabilities of all cases are grouped into bins. If they are calibrated, the mean
#' probability of a bin is within the interval of the share.
#'
#' @param x A [ground_truth()] result, or a data frame with the same columns: `case`, and a column
#'   of probabilities for each category.
#' @param truth A data frame with columns `case` and `truth` (or `category`), or categories named by
#'   case; cases with unknown truth are left out. Not needed for ratings that contain their
#'   [truth()].
#' @param bins Number of bins of equal width from 0 to 1, by default 10. A limit belongs to the bin
#'   below it, and 0 to the first bin.
#' @param conf_level Nominal coverage of the intervals, in (0, 1); see [fallible-options].
#' @return A tibble of class `calibration` with a row per bin that is not empty: `lower` and
#'   `upper`, its limits; `probability`, the mean of its probabilities; `share`, the share of them
#'   that belong to the true category; `conf.low` and `conf.high`, Wilson's interval of that share;
#'   `n`, their number. The interval treats the probabilities as independent, although those of one
#'   case are not. `glance()`: the numbers of `bins` and `cases`; `outside`, the number of bins
#'   whose `probability` is outside the interval; `error`, the mean absolute difference of
#'   `probability` and `share`, weighted by `n` (expected calibration error); `conf_level`.
#' @family estimation
#' @references Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
#'   inference. *Journal of the American Statistical Association*, 22, 209-212.
#'   \doi{10.1080/01621459.1927.10502953}
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), n = 500))
#' found <- calibration(ground_truth(fit_raters(x)))
#' found
#' # In this example, the answers of the system are used as the truth
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
  sums <- unname(sums)
  n <- sums[, 1L]
  share <- sums[, 3L] / n
  ends <- wilson_interval(share, n, normal_quantile(conf_level))
  new_calibration(tibble::tibble(
    lower = (top - 1) / bins, upper = top / bins, probability = sums[, 2L] / n,
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

# The probabilities of a table with the columns of ground_truth(), cases x categories.
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

# The number of the true category for each row of `x`; 0 if it is not known.
true_categories <- function(x, truth, categories) {
  truth <- truth %||% attr(x, "truth")
  abort_argument_if(is.null(truth), "truth", "Calibration needs the {.arg truth} of some cases.",
    i = "It can be left out only for ratings from {.fun simulate_ratings} or {.fun with_truth}.")
  given <- as_truth_table(truth, "truth")
  known_codes(given, as_label(x$case), categories, "truth")
}

# The number of the true category of each case; 0 if it is not given. For `given`, see
# as_truth_table(); rows for the same case have the same truth.
known_codes <- function(given, case, categories, arg) {
  code <- truth_codes(given$truth, categories, arg)[match(case, given$case)]
  replace(code, is.na(code), 0L)
}

# Numbers of true categories, which must be among `categories`; NA stays NA.
truth_codes <- function(truth, categories, arg) {
  code <- match(truth, categories)
  off <- which(is.na(code) & !is.na(truth))
  unknown <- unique(truth[off])
  abort_if(off, "category", "{.arg {arg}} must hold categories of {.arg x}.",
    x = "{.val {unknown}} {?is/are} not among {.val {categories}}.", row = off,
    column = NA_character_, found = unknown)
  code
}

# Converts the user's known truth to a list of cases and true categories, both as strings, without
# missing truths. For `keys`, see replace_key_columns().
as_truth_table <- function(truth, arg, keys = NULL) {
  if (inherits(truth, "gold_cases")) truth <- truth$truth
  truth <- name_cases(replace_key_columns(truth, keys))
  for (part in c(list(names(truth)), as.list(truth))) check_text(part, arg)
  if (is.data.frame(truth)) {
    column <- intersect(c("truth", "category"), names(truth))[1L]
    abort_if(!"case" %in% names(truth) || is.na(column), "columns",
      "{.arg {arg}} must have the columns {.val {c(keys %||% 'case', 'truth')}}.",
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

# Renames the column of cases to `case` if it is the only one besides truth and probability.
name_cases <- function(table) {
  other <- if (is.data.frame(table)) setdiff(names(table), c("truth", "category", "probability"))
  if (length(other) == 1L) names(table)[names(table) == other] <- "case"
  table
}
