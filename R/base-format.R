# Text and numbers of printed objects.

# More than 15 digits are not significant.
check_digits <- function(digits) check_count(digits, "digits", 0L, 15L)

decimals <- function(x, digits = 3L) {
  ifelse(is.na(x), "NA", formatC(x, format = "f", digits = digits))
}

show_p <- function(p) {
  out <- ifelse(is.na(p), "", decimals(p))
  replace(out, which(p < 0.0005), "<.001")
}

percent <- function(x) ifelse(is.na(x), "an unknown share", paste0(decimals(100 * x, 1L), "%"))

whole_percent <- function(share) paste0(decimals(100 * share, 0L), "%")

number <- function(n) format(n, big.mark = ",", scientific = FALSE)

count_noun <- function(n, noun, plural = paste0(noun, "s")) {
  paste(number(n), if (n == 1) noun else plural)
}

capitalised <- function(words) paste0(capitals(substr(words, 1L, 1L)), substring(words, 2L))

small_letters <- paste(letters, collapse = "")
capital_letters <- paste(LETTERS, collapse = "")

# English words in capitals. `toupper()` converts "i" to a Turkish letter in a Turkish locale.
capitals <- function(words) chartr(small_letters, capital_letters, words)

# Converts strings to small letters, with the same result in every locale. "I" becomes "i", also
# with a dot, which `tolower()` converts differently in a Turkish locale. Package utf8 (installed
# with tibble) folds letters outside ASCII one by one, because `tolower()` skips them in the C
# locale.
fold_case <- function(x) {
  x <- enc2utf8(as.character(x))
  x <- chartr(paste0(capital_letters, "\u0130"), paste0(small_letters, "i"), x)
  letters <- unique(unlist(strsplit(x, "", fixed = TRUE)))
  letters <- grep("[^ -~]", letters, perl = TRUE, value = TRUE)
  if (length(letters) == 0L) return(x)
  if (!requireNamespace("utf8", quietly = TRUE)) return(tolower(x))
  small <- utf8::utf8_normalize(letters, map_case = TRUE)
  small <- ifelse(nchar(small) == 1L, small, letters)
  chartr(paste(letters, collapse = ""), paste(small, collapse = ""), x)
}

# Sorts strings by code points, in the same order in every locale.
sort_strings <- function(x) sort(x, method = "radix")

# Prints lines, each wrapped at the width of the console.
cat_lines <- function(...) {
  for (line in printable(c(...))) {
    indent <- nchar(line) - nchar(sub("^ +", "", line))
    cat(strwrap(line, getOption("width"), indent = indent, exdent = indent + 2L), sep = "\n")
  }
}

# Quotes labels if blanks or commas would be ambiguous.
show_labels <- function(x) {
  if (any(x != trimws(x) | grepl(",", x, fixed = TRUE))) paste0("\"", x, "\"") else x
}

# Joins at most `most` labels, and adds the total number of longer lists.
shorten <- function(x, separator = ", ", most = 8L) {
  shown <- paste(head(x, most), collapse = separator)
  if (length(x) > most) paste0(shown, ", ... (", length(x), ")") else shown
}

# Intervals in cells of tables, as text.
bracketed <- function(low, high, none = "NA") {
  ifelse(is.na(low), none, paste0("[", decimals(low), ", ", decimals(high), "]"))
}

# Ranges in a sentence or a cell.
from_to <- function(low, high, digits = 3L) {
  ifelse(is.na(low), "NA", paste(decimals(low, digits), "to", decimals(high, digits)))
}

interval_title <- function(level) paste0(format(100 * level), "% interval")

# Estimates for the middle of a sentence: 78% (90% interval 67% to 90%). `show` formats numbers.
estimate_words <- function(table, level, show) {
  ifelse(
    is.na(table$estimate), paste0("unknown (", table$reason, ")"),
    paste0(show(table$estimate), interval_words(table, level, show))
  )
}

interval_words <- function(table, level, show) {
  ends <- paste(show(table$conf.low), "to", show(table$conf.high))
  ifelse(is.na(table$conf.low), "", paste0(" (", interval_title(level), " ", ends, ")"))
}

# Aligns columns of text, and their names, to the left.
align_left <- function(table, columns) {
  for (i in columns) {
    table[[i]] <- format(table[[i]], justify = "left")
    names(table)[[i]] <- format(names(table)[[i]], width = max(nchar(table[[i]])))
  }
  table
}

# Doubles with three decimals.
round_columns <- function(table) {
  shown <- as.data.frame(table)
  shown[] <- lapply(shown, function(x) {
    if (is.double(x) && any(x != round(x), na.rm = TRUE)) decimals(x) else x
  })
  shown
}

# Prints at most twelve rows of a data frame under a title, with three decimals.
print_table <- function(title, table) {
  cat("\n", printable(title), "\n", sep = "")
  print(round_columns(head(table, 12L)), row.names = FALSE, right = TRUE)
  if (nrow(table) > 12L) cat("... and", nrow(table) - 12L, "more\n")
}

# Prints the columns of a table with one row that are not NA, one per line.
print_facts <- function(facts) {
  facts <- round_columns(used_columns(facts))
  if (length(facts) > 0L) {
    values <- printable(vapply(facts, format, ""))
    cat("", paste0(format(names(facts)), "  ", values), sep = "\n")
  }
}

number_of <- function(n) trimws(number(n))

#' Glossary
#'
#' Defines the terms in arguments, columns and help pages. Each term has one meaning, except those
#' in the last section.
#'
#' @section Ratings and predictions:
#' * **case**: the object to classify; one row of a matrix of ratings. CrowdTruth: **unit**.
#' * **rater**: a person (or another source) whose answers are evidence about the truth. CrowdTruth:
#'   **worker**.
#' * **system**: a classifier whose accuracy is to be estimated. Its answers are never ratings.
#' * **judge**: a rater or a system, if a model or a measure treats both in the same way.
#' * **category**: one of the possible answers; each case has one true category. Names of
#'   categories are **labels**.
#' * **rating**: the category that a rater gave a case; **prediction**: the category that a system
#'   gave it; **answer**: either. In crowds an answer may have several labels
#'   (`repeats = "labels"`). CrowdTruth calls a possible label an **annotation**, and an answer a
#'   **judgement**.
#' * **panel**: all ratings and predictions of some cases, as data or simulated by
#'   [simulate_ratings()].
#' * **pattern**: a combination of ratings and predictions that one or more cases have; see
#'   `tidy(x, "patterns")`.
#' * **tally**: the number of raters who gave each category to a case; its columns are `counts`.
#' * **covariate**: another property of a case (`covariates` of [ratings()]), on which base rates,
#'   accuracy or difficulty may depend.
#'
#' @section Truth and accuracy:
#' * **accuracy**: the probability that a judge gives the true category. It is an argument of
#'   [rater_design()]; [estimate_accuracy()] estimates it for systems, [fit_raters()] for raters.
#' * **base rate**: the share of cases with a given true category.
#' * **posterior**: the probabilities of the categories of a case, given its ratings. The posteriors
#'   of all cases are the **ground truth**, an estimate by [ground_truth()].
#' * **truth**: the true categories. [truth()] returns them for a simulated panel.
#'   [true_accuracy()] returns the true accuracy of systems (`expected`: over all panels; `sample`:
#'   in this panel).
#' * **known truth**: true categories of some cases (**gold cases**), given as `known_truth`.
#'   **Known raters** are raters with known confusion matrices (`known_raters`).
#' * **confusion matrix**: probabilities of answers (columns) given the truth (rows).
#'   [confusion_matrix()] computes one from parameters. `confusion()` returns those of the raters in
#'   a fit, or of the systems in an estimate. The **agreement matrix** of two raters
#'   ([agreement_matrix()]) counts cases by both ratings and does not involve the truth.
#' * **confidence**: how sure a rater was of a rating (`confidence` of [ratings()]). For intervals,
#'   their coverage probability (`conf_level`). Numbers that systems give to categories are
#'   **scores**.
#'
#' @section Models of raters:
#' * **model**: assumptions about raters in a fit, a [rater_model()]; **design**: properties of
#'   raters in a simulation, a [rater_design()].
#' * **K-property**: one of Lehner's three assumptions: raters are equally accurate, errors equally
#'   probable, cases equally difficult. The **K-model** ([k_model()]) has all three. The arguments
#'   `accuracy`, `errors` and `difficulty` of a model relax them.
#' * **family**: a user-defined model, given by the distribution of ratings given the truth
#'   ([rater_family()]).
#' * **difficulty**: the loss of accuracy on some cases compared with others. Cases of equal
#'   difficulty are **strata**. **Dispersion** and **error range** describe how far errors are from
#'   equally probable.
#' * **agreement**: the share of pairs of ratings of a case that are equal; **chance**: the share
#'   for guessing raters, 1 / number of categories; **chance kappa**: agreement beyond chance,
#'   `(agreement - chance) / (1 - chance)`, as in Lehner (2015). **Kappa** without further words is
#'   Fleiss' kappa, whose chance is computed from the shares of the categories. A **measure** of
#'   agreement is any of [measures()].
#' * **kind of raters**: people (`"expert"`, `"crowd"`) or machines (`"model"`, `"tool"`); argument
#'   `rater_kind` of [ratings()]. Intervals are wider for machines. Experts and crowds have the
#'   same intervals.
#' * **identified**: determined by the ratings. A quantity that is not identified is `NA`, with a
#'   reason.
#'
#' @section Estimation of accuracy:
#' * **metric**: a number computed from the joint table of truth and answers of a system, such as
#'   accuracy; any of [system_metrics]. [estimate_metrics()] estimates the others.
#' * **method**: a way to estimate accuracy; **estimator**: a method with given options, or any
#'   function of a panel ([accuracy_estimator()]).
#' * **member**: one of the models that method `"average"` averages with **weights**. The
#'   **weight** of a case is the number of cases that it represents (`weights`).
#' * **bin**: cases whose highest posterior probability is in the same range; see
#'   [tidy()][tidy.accuracy_estimate].
#' * **interval**: a range that contains the accuracy with probability `conf_level`. **Robust**
#'   intervals allow for shared errors, which ratings do not show. **Profile** intervals end where
#'   the profile of the log posterior is below its maximum by a given amount. **Bootstrap**
#'   intervals resample cases.
#' * **shared errors**: errors of judges on the same cases, more often than by chance. The
#'   literature calls them *correlated errors*. [shared_errors()] measures them. **Bounds** are the
#'   lowest and highest accuracy that ratings allow for any shared errors ([accuracy_bounds()]).
#' * **replicate**: a bootstrap resample; **run**: a panel of a [simulation_study()].
#'
#' @section Words with several meanings:
#' * **shared** means common to system and raters, in contrast to independent. Method `"shared"`
#'   assumes that a system has only the information in the posterior of the raters. Column `shared`
#'   of an estimate is the accuracy if the system shares all errors of the raters; column
#'   `independent` is the accuracy if its errors are independent. In
#'   `rater_model(system = "shared")` a system has the dispersion and difficulty of the raters;
#'   `rater_design(difficulty = list(shared = ))` specifies which of them systems have in a
#'   simulation.
#' * **method** of [fit_raters()] is the algorithm that fits a model; of [estimate_accuracy()] and
#'   of results about systems, the way to estimate accuracy; in tables of agreement, the way to
#'   compute the standard error.
#' * **known** in [flag_workers()] marks workers of low quality, if a user knows them.
#' * **missing** in [rater_design()] is the share of missing ratings; in results the
#'   number of estimates that are `NA` (in `summary()` of studies, and in plans, their share); in
#'   ground truth the number of missing cases.
#' * **n** is always a number of cases.
#' @name fallible-glossary
#' @aliases glossary
#' @seealso [conditions] for the classes of errors and warnings, [fallible-options] for options,
#'   the article *Why it is built so* for the parts of the package.
#' @examples
#' # The truth, and its estimate
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(system = 0.9), categories = 3, n = 100))
#' head(truth(x))
#' ground_truth(fit_raters(x))
NULL
