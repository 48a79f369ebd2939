# Formats numbers, labels and tables for print() and format().

# Checks a number of decimals, at most 15, because doubles have about 15 significant digits.
check_digits <- function(digits) check_count(digits, "digits", 0L, 15L)

format_decimals <- function(x, digits = 3L) {
  ifelse(is.na(x), "NA", formatC(x, format = "f", digits = digits))
}

# Formats p-values with three decimals; small ones as "<.001", and NA as an empty string.
show_p <- function(p) replace(ifelse(is.na(p), "", format_decimals(p)), which(p < 0.0005), "<.001")

# Formats shares (in [0, 1]) as percentages with one decimal, for sentences.
percent <-
  function(x) ifelse(is.na(x), "an unknown share", paste0(format_decimals(100 * x, 1L), "%"))

# Formats shares as percentages without decimals, such as "78%".
whole_percent <- function(share) paste0(points(share), "%")

# Formats shares as whole percentage points. `+ 0` turns -0 into 0, so that "-0" is not printed.
points <- function(share) format_decimals(round(100 * share) + 0, 0L)

# Formats a number with commas between thousands.
number <- function(n) format(n, big.mark = ",", decimal.mark = ".", scientific = FALSE)

# Returns a number with a noun, such as "1 case" or "1,200 cases".
count_noun <- function(n, noun, plural = paste0(noun, "s")) {
  paste(number(n), if (n == 1) noun else plural)
}

capitalised <- function(words) paste0(capitals(substr(words, 1L, 1L)), substring(words, 2L))

small_letters <- paste(letters, collapse = "")
capital_letters <- paste(LETTERS, collapse = "")

# Converts English words to capitals. Does not use `toupper()`, which converts "i" to another letter
# in a Turkish locale.
capitals <- function(words) chartr(small_letters, capital_letters, words)

# Converts strings to small letters, with the same result in every locale. "I", with or without a
# dot, becomes "i"; `tolower()` converts it differently in a Turkish locale. Letters outside ASCII
# are converted by package utf8 (installed with tibble), because `tolower()` skips them in the C
# locale.
fold_case <- function(x) {
  x <- enc2utf8(as.character(x))
  x <- chartr(paste0(capital_letters, "\u0130"), paste0(small_letters, "i"), x)
  characters <- unique(unlist(strsplit(x, "", fixed = TRUE)))
  characters <- grep("[^ -~]", characters, perl = TRUE, value = TRUE)
  if (length(characters) == 0L) return(x)
  if (!requireNamespace("utf8", quietly = TRUE)) return(tolower(x))
  small_characters <- utf8::utf8_normalize(characters, map_case = TRUE)
  small_characters <- ifelse(nchar(small_characters) == 1L, small_characters, characters)
  chartr(paste(characters, collapse = ""), paste(small_characters, collapse = ""), x)
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

# Puts all labels in quotes if one of them contains a comma, or begins or ends with a blank, so that
# a list of labels is unambiguous.
show_labels <- function(x) {
  if (any(x != trimws(x) | grepl(",", x, fixed = TRUE))) paste0("\"", x, "\"") else x
}

# Joins labels to one string. If there are more than `most`, only the first `most` are shown, with
# the total number: "a, b, ... (12)".
shorten <- function(x, separator = ", ", most = 8L) {
  shown <- paste(head(x, most), collapse = separator)
  if (length(x) > most) paste0(shown, ", ... (", length(x), ")") else shown
}

# Joins labels for a sentence, such as "a, b and c". More than `most` labels are shortened by
# shorten().
join_words <- function(x, most = 6L) {
  n <- length(x)
  if (n < 2L || n > most) shorten(x, most = most) else paste(toString(x[-n]), "and", x[[n]])
}

# Formats intervals for cells of tables, such as "[0.712, 0.834]"; "" if the limits are NA.
bracketed <- function(low, high) {
  ifelse(is.na(low), "", sprintf("[%s, %s]", format_decimals(low), format_decimals(high)))
}

# Formats ranges, such as "0.712 to 0.834".
from_to <- function(low, high, digits = 3L) {
  ifelse(is.na(low), "NA", paste(format_decimals(low, digits), "to", format_decimals(high, digits)))
}

# The smallest and the largest value, such as "40% to 55%", or the only one. `show`: a function that
# formats numbers.
span_words <- function(values, show = identity) {
  paste(unique(show(range(values, na.rm = TRUE))), collapse = " to ")
}

interval_title <- function(level) paste0(format(100 * level), "% interval")

# Formats estimates for the middle of a sentence, such as "78% (90% interval 67% to 90%)". `table`:
# columns estimate, conf.low, conf.high and reason. `level`: confidence level. `show`: a function
# that formats numbers.
estimate_words <- function(table, level, show) {
  ifelse(
    is.na(table$estimate), paste0("unknown (", table$reason, ")"),
    paste0(show(table$estimate), interval_words(table, level, show))
  )
}

interval_words <- function(table, level, show) {
  ifelse(is.na(table$conf.low), "", sprintf(
    " (%s %s to %s)", interval_title(level), show(table$conf.low), show(table$conf.high)
  ))
}

# Inserts values into the template `words` of sprintf(). Returns "" for values that are NA.
unless_missing <- function(value, words) ifelse(is.na(value), "", sprintf(words, value))

# Pads text in the columns with the numbers `columns`, and their names, so that they are printed
# aligned to the left.
align_left <- function(table, columns) {
  for (i in columns) {
    table[[i]] <- format(table[[i]], justify = "left")
    names(table)[[i]] <- format(names(table)[[i]], width = max(nchar(table[[i]])))
  }
  table
}

# Returns a data frame in which columns of doubles are strings with three decimals, except columns
# of whole numbers.
round_columns <- function(table) {
  shown <- as.data.frame(table)
  shown[] <- lapply(shown, function(x) {
    if (is.double(x) && any(x != round(x), na.rm = TRUE)) format_decimals(x) else x
  })
  shown
}

# Prints a title, and the first twelve rows of a data frame with three decimals.
print_table <- function(title, table) {
  cat("\n", printable(title), "\n", sep = "")
  print(round_columns(head(table, 12L)), row.names = FALSE, right = TRUE)
  if (nrow(table) > 12L) cat("... and", nrow(table) - 12L, "more\n")
}

# Prints a table with one row as lines of names and values. Leaves out columns that are NA.
print_facts <- function(table) {
  table <- round_columns(used_columns(table))
  if (length(table) == 0L) return(invisible())
  values <- printable(map_chr(table, format))
  cat("", paste0(format(names(table)), "  ", values), sep = "\n")
}

# Formats numbers like number(), without padding to a common width.
number_of <- function(n) trimws(number(n))

#' Glossary of terms
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
#' * **rating**: the category that a rater gave to a case; **prediction**: the category that a
#'   system gave to a case; **answer**: a rating or a prediction. In crowds an answer may consist of
#'   several labels (`repeats = "labels"`). CrowdTruth calls a possible label an **annotation**, and
#'   an answer a **judgement**.
#' * **panel**: all ratings and predictions of some cases, from data or simulated by
#'   [simulate_ratings()].
#' * **pattern**: a combination of ratings and predictions. Cases with the same answers of all
#'   raters and systems have the same pattern; see `tidy(x, "patterns")`.
#' * **tally**: the numbers of raters who gave each category to a case, for data in which raters
#'   are not identified; argument `counts` of [ratings()] names the columns.
#' * **covariate**: another property of a case (`covariates` of [ratings()]), on which base rates,
#'   accuracy or difficulty may depend.
#'
#' @section Truth and accuracy:
#' * **accuracy**: the probability that a judge gives the true category. It is an argument of
#'   [rater_design()]; [estimate_accuracy()] estimates it for systems, [fit_raters()] for raters.
#' * **base rate**: the share of cases with a given true category.
#' * **posterior**: the probabilities of the categories of a case, given its ratings and a model.
#'   The posteriors of all cases are the **ground truth**, an estimate by [ground_truth()].
#' * **truth**: the true categories. [truth()] returns them for a simulated panel.
#'   [true_accuracy()] returns the true accuracy of systems (`expected`: over all panels; `sample`:
#'   in this panel).
#' * **known truth**: true categories of some cases (**gold cases**), given in the argument
#'   `known_truth`. The **worth** of ratings is the number of gold cases without ratings that are as
#'   informative as one gold case with ratings ([plan_gold()]). **Known raters** are raters with
#'   known confusion matrices (`known_raters`).
#' * **confusion matrix**: probabilities of answers (columns) given the truth (rows).
#'   [confusion_matrix()] computes one from parameters. `confusion()` returns those of the raters in
#'   a fit, or of the systems in an estimate. The **agreement matrix** of two raters
#'   ([agreement_matrix()]) counts cases by both ratings and does not involve the truth.
#' * **confidence**: how sure a rater was of a rating (`confidence` of [ratings()]).
#'   **Scores** are numbers that a system gives to the categories of a case.
#'
#' @section Models of raters:
#' * **model**: assumptions about raters in a fit, a [rater_model()]; **design**: properties of
#'   raters in a simulation, a [rater_design()].
#' * **K-property**: one of Lehner's three assumptions: raters are equally accurate, errors equally
#'   probable, cases equally difficult. The **K-model** ([k_model()]) has all three. The arguments
#'   `accuracy`, `errors` and `difficulty` of a model relax them.
#' * **family**: a user-defined model, specified by the distribution of ratings for each true
#'   category ([rater_family()]).
#' * **difficulty**: the loss of accuracy on some cases compared with others. A **stratum** contains
#'   cases of equal difficulty; in [plan_gold()], cases of similar uncertainty. **Dispersion**: how
#'   many times less probable an error is with each further step from the true category. **Error
#'   range** r: error probabilities are multiplied by random numbers from 1 - r to 1 + r.
#' * **agreement**: the share of pairs of ratings of the same case that are equal. **Chance**: the
#'   agreement of raters who guess, 1 / number of categories. **Chance kappa**: agreement beyond
#'   chance, `(agreement - chance) / (1 - chance)`, as in Lehner (2015). The word **kappa** without
#'   a name is Fleiss' kappa, whose chance agreement is computed from the shares of categories. A
#'   **measure** of agreement is any of [measures()].
#' * **kind of raters**: people (`"expert"`, `"crowd"`) or machines (`"model"`, `"tool"`), given by
#'   argument `rater_kind` of [ratings()]. Intervals are wider for machines than for people.
#' * **identified**: a quantity is identified if ratings of enough cases determine its value.
#'   Otherwise it is `NA`, with a reason.
#'
#' @section Estimation of accuracy:
#' * **metric**: a number computed from the joint table of truth and answers of a system, such as
#'   accuracy or recall; see [system_metrics]. [estimate_metrics()] estimates metrics.
#' * **method**: a way to estimate accuracy; **estimator**: a method with given options, or any
#'   function of a panel ([accuracy_estimator()]).
#' * **member**: one of the models that method `"average"` averages with **weights**. The
#'   **weight** of a case is the number of cases that it represents (`weights`).
#' * **bin**: cases whose highest posterior probability is in the same range; in [calibration()]
#'   probabilities of all categories.
#' * **interval**: a range that contains the accuracy with probability `conf_level`, the
#'   **confidence level**. **Robust** intervals allow for shared errors, which ratings do not show.
#'   **Profile** intervals contain the values at which the profile of the log posterior is within a
#'   given distance of its maximum.
#'   **Bootstrap** intervals are computed from resampled cases. **Corrected** intervals use the
#'   estimate from ratings and correct its error by gold cases. **Combined** intervals also use it
#'   as a prior, unless gold cases contradict it.
#' * **shared errors**: judges have shared errors if they are wrong on the same cases more often
#'   than by chance. The literature calls them *correlated errors*. [shared_errors()] measures them.
#'   Argument `common` of [estimate_accuracy()] is the part of the raters' errors (0 to 1) that a
#'   system is assumed to share; **typical** is the part found in public data. **Bounds** are the
#'   lowest and the highest accuracy over all possible shared errors ([accuracy_bounds()]).
#' * **replicate**: a bootstrap resample; **run**: a panel of a [simulation_study()].
#'
#' @section Words with several meanings:
#' * **shared** means common to system and raters, in contrast to independent. Method `"shared"`
#'   assumes that the truth is independent of a system's answer, given the ratings of the case.
#'   Column `shared` of an estimate is the accuracy if the system shares all errors of the raters;
#'   column `independent` is the accuracy if its errors are independent. In
#'   `rater_model(system = "shared")` the system has the same dispersion and difficulty as the
#'   raters. In simulations, `rater_design(difficulty = list(shared = ))` specifies which effects on
#'   raters (`"difficulty"`, `"errors"`) also hold for systems.
#' * **method**: in [fit_raters()] the algorithm that fits a model; in [estimate_accuracy()] and in
#'   results about systems the way to estimate accuracy; in tables of agreement the way to compute
#'   the standard error.
#' * **known** usually means a known truth. `known` of [flag_workers()] contains workers of known
#'   quality.
#' * **missing**: in [rater_design()] the share of missing ratings; in results the number of
#'   estimates that are `NA` (in `summary()` of studies, and in plans, their share); in ground truth
#'   the number of cases whose probabilities are `NA`.
#' * **n** is a number of cases, unless the page says otherwise.
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

# Merges notes of parts of a result (variables or groups) that differ only in their first
# percentage. It becomes the range of its values, such as "14% to 53%". If only some parts have a
# note, it begins with their names. `notes`: texts of each part, a list named by part.
merge_part_notes <- function(notes) {
  texts <- unlist(notes, use.names = FALSE)
  part <- rep(names(notes), lengths(notes))
  pattern <- "[0-9.]+%( to [0-9.]+%)?"
  form <- sub(pattern, "\r", texts)
  map_chr(unique(form), function(one_form) {
    same <- form == one_form
    shares <- regmatches(texts[same], regexpr(pattern, texts[same]))
    shares <- sort(as.numeric(unlist(strsplit(shares, "%( to )?"))))
    range <- paste0(unique(shares[c(1L, length(shares))]), "%", collapse = " to ")
    note <- sub("\r", range, one_form, fixed = TRUE)
    if (sum(same) < length(notes)) paste0(shorten(part[same]), ": ", note) else note
  }, USE.NAMES = FALSE)
}
