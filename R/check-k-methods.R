#' Tables of checks of the K-properties
#'
#' @return `tidy()`: a tibble with a row per test, as in the [check_k_properties()] result.
#'
#'   `tidy(x, "pairs")`: a row per pair of raters with at least 10 common cases; the system that
#'   joined counts as a rater. Columns: `rater1`, `rater2`; `n`, the number of common cases;
#'   `observed` and `expected`, the share of these cases in which the two agree, in the data and
#'   under the fitted model; `excess`, the standardised difference; `p.value`, the share of panels
#'   from the model whose largest excess is at least as large.
#'
#'   `tidy(x, "disagreements")`: `category1`, `category2`, and the `observed` and `expected` numbers
#'   of pairs of ratings.
#'
#'   `glance()`: a tibble with one row: `cases`, `raters`, `categories`, the `system` that joined;
#'   the numbers of `tests` done and of those `violated` (contradictions included); `p.value`, the
#'   smallest adjusted one; `alpha` and `replicates`. `format()`: the verdict in a line.
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.4, 0.6, 0.9), systems = 0.7))
#' checks <- check_k_properties(x, "independence", resampling = list(replicates = 49))
#' tidy(checks, "pairs")
#' glance(checks)
#' @name tidy.k_check
NULL

new_k_check <- function(table, about) {
  bad <- table$verdict %in% bad_verdicts
  tests <- sum(table$verdict != "not tested")
  properties <- unique(k_labels[table$property[bad]])
  shown <- table
  shown$property <- unname(k_labels[table$property])
  shown$verdict[bad] <- capitals(table$verdict[bad])
  new_result("k_check",
    again = new_k_check, about = about,
    tables = list(tests = table, pairs = about$pairs, disagreements = about$disagreements),
    facts = c(about$size, list(
      system = c(about$system, NA)[[1L]], tests = tests, violated = sum(bad),
      p.value = if (all(is.na(table$p.adjusted))) NA_real_ else min(table$p.adjusted, na.rm = TRUE),
      alpha = about$alpha, replicates = about$replicates
    )),
    line = paste0(
      sprintf("%d of %s of the K-properties significant", sum(bad), count_noun(tests, "test")),
      if (any(bad)) sprintf(" (%s)", toString(properties))
    ),
    head = c(about$header, sprintf("System \"%s\" joins the raters as one more", about$system)),
    shown = view(shown, c("property", "test", "verdict", `adjusted p` = "p.adjusted"),
      left = 1:3, most = Inf),
    notes = c(
      concerns_of(table), reasons_of(table), note("What to do:", "heading"),
      paste("*", advice_of(table, about)), caveats_of(table, about), about$silent
    ),
    more = "summary(), tidy(), plot(); vignette(\"how-far-to-trust\")"
  )
}

k_labels <- c(
  accuracy = "equal accuracy", errors = "equal errors", difficulty = "equal difficulty",
  independence = "independence", `one category` = "attention", chance = "above chance",
  alternative = "other models"
)

concerns_of <- function(x) {
  at <- which(!is.na(x$concerns))
  lead <- c(
    "disagreeing pairs" = "Confused more often than under equal errors: ",
    "residual agreement" = "Agree more than their accuracies explain: ",
    "share of one category" = "", "agreement below chance" = "Below chance: "
  )
  paste0(lead[x$test[at]], x$concerns[at])
}

reasons_of <- function(x) {
  properties <- split(k_labels[x$property], factor(x$reason, unique(x$reason)))
  short <- vapply(properties, function(labels) shorten(unique(labels), most = 3L), "")
  sprintf("Not tested (%s): %s", short, names(short))
}

# Advice from the verdicts: which model to fit, and which estimates not to use.
advice_of <- function(x, about) {
  bad <- x$verdict %in% bad_verdicts
  problems <- c(x$property[bad], x$test[bad])
  dropped <- vapply(c(accuracy = "accuracy", errors = "errors", difficulty = "difficulty"),
    `%in%`, NA, problems)
  two <- about$size[["categories"]] == 2L
  out <- c(
    if (any(dropped)) c(
      sprintf("Fit %s, and use it in estimate_accuracy().", better_model(x, dropped)),
      paste(
        "Do not use methods that rest on the K-model (\"binned\", \"unbinned\"), nor its rater",
        "accuracy and base rates."
      )
    ),
    if (dropped[["difficulty"]] && two) paste(
      "With two categories, cases of one category that are harder than those of the other look",
      "like difficulty: compare with rater_model(errors = \"free\")."
    ),
    if ("independence" %in% problems) paste(
      "Some raters do not err independently: the estimated accuracy of raters, and of a system",
      "among them, is too high under every model. Check whether they saw each other's answers,",
      "and what changes without one of them."
    ),
    if ("alternative" %in% problems) sprintf(
      "Fit what fits better, and use it in estimate_accuracy(): %s.",
      shorten(x$alternative[bad & x$property == "alternative"], most = 3L)
    ),
    c(
      "one category" =
        "Check the raters named above; leave them out, or give each rater a matrix: dawid_skene().",
      "agreement below chance" =
        "Agreement below chance has no accuracy: do raters mean the same by the labels?",
      "negative base rates" =
        "The lowest base rate is below zero by more than chance: the K-model does not fit."
    )[intersect(c("one category", "agreement below chance", "negative base rates"), problems)]
  )
  if (length(out) > 0L) return(unname(out))
  if (all(x$verdict == "not tested")) {
    return("Nothing could be tested, so the K-properties are neither supported nor contradicted.")
  }
  "No test contradicts the K-model. Report the interval and the range with each estimate."
}

better_model <- function(x, dropped) {
  by_distance <- x$test == "likelihood ratio, distance" & x$verdict == "violated"
  errors <- if (any(by_distance)) "distance" else "free"
  given <- sprintf("%s = \"%s\"", names(dropped), c("rater", errors, "strata"))
  sprintf("rater_model(%s)", toString(given[dropped]))
}

caveats_of <- function(x, about) {
  tests <- sum(!is.na(x$p.value))
  if (tests == 0L) return(NULL)
  low <- x$p.value <= about$alpha & !x$p.adjusted <= about$alpha
  few <- any(low, na.rm = TRUE) && tests > about$alpha * (about$replicates + 1)
  c(
    paste(
      "A test that is not significant does not show that a property holds: with few cases or weak",
      "raters violations go unnoticed, and errors shared by all raters cannot be detected."
    ),
    if (tests > 1L) paste0(
      tests, " tests; p-values are adjusted for that by Holm's method, and significant up to ",
      format(about$alpha), ".",
      if (few) sprintf(" %s replicates are too few for that.", number(about$replicates))
    )
  )
}

# Checks of raters that need no model.

least_ratings <- 10 # least number of ratings of a rater, or of common cases of a pair
nearly_always <- 0.95 # share of a rater's ratings in one category

# Raters who nearly always choose one category although other raters do not.
one_category_row <- function(x) {
  row <- function(...) k_row("one category", "share of one category", ...)
  if (has_counts(x)) return(row(reason = no_identity))
  if (!weights_are_counts(x)) return(row(reason = "weights are not counts"))
  raters <- favourites(x)
  raters <- raters[raters$ratings >= least_ratings & raters$others > 0, ]
  if (nrow(raters) == 0L) {
    return(row(reason = "no rater has 10 ratings of cases that others rated too"))
  }
  raters$p <- ifelse(raters$share >= nearly_always, pmin(1, raters$p * nrow(raters)), 1)
  worst <- raters[raters$p == min(raters$p), ]
  worst <- worst[order(-worst$share), ]
  row(
    statistic = max(raters$share), p_value = worst$p[[1L]],
    concerns = shorten(sprintf(
      "%s says %s (%s of ratings)", worst$rater, worst$category, percent(worst$share)
    ), "; ", 4L)
  )
}

# A row per rater: most frequent category, its share and a p-value. It is the probability of a share
# at least as large if the rater used the category like others in the same cases.
favourites <- function(x) {
  pattern <- rating_pattern(x)
  rater <- rating_rater(x)
  weight <- pattern_weights(x)[pattern]
  n <- n_categories(x)
  raters <- seq_along(x$raters)
  counts <- rowsum_codes((rater - 1L) * n + rating_category(x), weight, length(raters) * n)
  counts <- matrix(counts, length(raters), n, byrow = TRUE)
  top <- max.col(counts, "first")
  # Ratings of the same cases by others: all of them, and those in the rater's favourite category.
  unit <- paste(pattern, rater)
  by_unit <- function(value) stats::ave(as.double(value), unit, FUN = sum)
  total <- function(value) rowsum_codes(rater, weight * value, length(raters))
  hit <- rating_category(x) == top[rater]
  comparable <- total(pattern_lengths(x)[pattern] - by_unit(1 + 0 * rater))
  same <- total(pattern_counts(x)[cbind(pattern, top[rater])] - by_unit(hit))
  ratings <- rowSums(counts)
  times <- counts[cbind(raters, top)]
  data.frame(
    rater = x$raters, category = x$categories[top], ratings = ratings, share = times / ratings,
    others = comparable, p = at_least(times, ratings, (same + 0.5) / (comparable + 1))
  )
}

# Under the K-properties no pair of raters agrees less than by chance.
below_chance_row <- function(x, alpha) {
  row <- function(...) k_row("chance", "agreement below chance", ...)
  chance <- 1 / n_categories(x)
  fit <- fit_algebraic(x)
  if (fit$identified == "no_pairs") return(row(reason = reason_of_fit(fit)))
  impossible <- fit$agreement <= chance
  all_raters <- sprintf("all raters agree in %s of pairs", percent(fit$agreement))
  countable <- weights_are_counts(x) && length(named_raters(x)) %in% seq_len(most_judges)
  pairs <- if (countable) judge_pairs(x)
  if (NROW(pairs) == 0L) {
    return(row(statistic = fit$agreement, contradiction = impossible, concerns = all_raters))
  }
  pairs$share <- pairs$agreeing / pairs$cases
  pairs$p <- pmin(1, nrow(pairs) * stats::pbinom(pairs$agreeing, pairs$cases, chance))
  worst <- pairs[order(pairs$p, pairs$share)[[1L]], ]
  row(
    statistic = worst$share, p_value = worst$p, contradiction = impossible,
    concerns = paste(c(if (impossible) all_raters, if (worst$p <= alpha) sprintf(
      "%s and %s agree in %s of cases", x$raters[[worst$judge1]], x$raters[[worst$judge2]],
      percent(worst$share)
    )), collapse = "; ")
  )
}

# A row per pair of judges with enough common cases. Judges are raters and, if `system` is given,
# that system as the last one.
judge_pairs <- function(x, system = 0L) {
  n <- n_raters(x)
  patterns <- pick_systems(x$patterns, system)
  check_pair_numbers(n, 4)
  total <- core_pair_counts(patterns, pattern_weights(x), seq_len(n), n)
  at <- which(upper.tri(total$pairs) & total$pairs >= least_ratings, arr.ind = TRUE)
  data.frame(
    judge1 = at[, 1L], judge2 = at[, 2L], cases = total$pairs[at], agreeing = total$agreeing[at]
  )
}
