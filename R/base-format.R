# Formats numbers, labels and tables for print() and format().

# Checks the user's argument `digits`, a number of decimals from 0 to 15. Doubles have about 15
# significant digits.
check_digits <- function(digits) check_count(digits, "digits", 0L, 15L)

format_decimals <- function(x, digits = 3L) {
  ifelse(is.na(x), "NA", formatC(x, format = "f", digits = digits))
}

# Joins the lines of each string: line breaks and runs of blanks become one blank.
one_line <- function(text) gsub("\\s+", " ", text)

# Joins the lines of a template, and inserts values with sprintf().
fill_template <- function(template, ...) sprintf(one_line(template), ...)

# Formats p-values with three decimals, values below .0005 as "<.001", and NA as an empty string.
format_p <- function(p_values) {
  replace(ifelse(is.na(p_values), "", format_decimals(p_values)), which(p_values < 0.0005), "<.001")
}

# Formats shares (in [0, 1]) as percentages with one decimal, for sentences.
percent <-
  function(x) ifelse(is.na(x), "an unknown share", paste0(format_decimals(100 * x, 1L), "%"))

# Formats shares as percentages without decimals, such as "78%".
whole_percent <- function(share) paste0(format_points(share), "%")

# Formats shares as percentages without decimals and without "%". Shares that would become "0" or
# "100" only by rounding have one decimal, such as "0.2" or "99.7". `+ 0` turns -0 into 0, so that
# "-0" is not printed.
format_points <- function(share) {
  points <- 100 * share
  needs_decimal <- abs(round(points)) %in% c(0, 100) & abs(points - round(points)) > 1e-8
  ifelse(needs_decimal, format_decimals(round(points, 1L) + 0, 1L),
    format_decimals(round(points) + 0, 0L))
}

# Formats a number with commas between thousands.
number <- function(n) format(n, big.mark = ",", decimal.mark = ".", scientific = FALSE)

# Returns a number with a noun, such as "1 case" or "1,200 cases".
count_noun <- function(n, noun, plural = paste0(sub("y$", "ie", noun), "s")) {
  paste(number(n), if (n == 1) noun else plural)
}

capitalised <- function(words) paste0(to_capitals(substr(words, 1L, 1L)), substring(words, 2L))

small_letters <- paste(letters, collapse = "")
capital_letters <- paste(LETTERS, collapse = "")

# Converts English words to capitals. Does not use `toupper()`, which converts "i" to another letter
# in a Turkish locale.
to_capitals <- function(words) chartr(small_letters, capital_letters, words)

# Converts strings to small letters, with the same result in every locale. "I", with or without a
# dot, becomes "i"; `tolower()` converts it differently in a Turkish locale. In the C locale
# `tolower()` skips letters outside ASCII. Package utf8 (installed with tibble) therefore converts
# these letters.
fold_case <- function(x) {
  x <- enc2utf8(as.character(x))
  x <- chartr(paste0(capital_letters, "\u0130"), paste0(small_letters, "i"), x)
  characters <- unique(unlist(strsplit(x, "", fixed = TRUE)))
  characters <- grep("[^ -~]", characters, perl = TRUE, value = TRUE)
  if (is_empty(characters)) return(x)
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
    line <- strwrap(
      keep_strings_whole(line), getOption("width"), indent = indent, exdent = indent + 2L
    )
    cat(chartr("\u00a0", " ", line), sep = "\n")
  }
}

# Joins labels to one string. If there are more than `most`, only the first `most` are shown, with
# the total number: "a, b, ... (12)".
shorten <- function(x, separator = ", ", most = 8L) {
  shown_labels <- paste(head(x, most), collapse = separator)
  if (length(x) > most) sprintf("%s, ... (%s)", shown_labels, length(x)) else shown_labels
}

# Returns `words` followed by `labels`, such as "Not identified for a, b"; NULL without labels.
# Labels that begin or end with a blank are quoted. `...`: see shorten().
words_with_labels <- function(words, labels, ...) {
  labels <- as.character(labels)
  labels <- ifelse(labels == trimws(labels), labels, dQuote(labels, FALSE))
  if (!is_empty(labels)) paste(words, shorten(labels, ...))
}

# Joins labels for a sentence, such as "a, b and c". More than six labels are shortened by
# shorten().
join_words <- function(x) {
  n <- length(x)
  if (n < 2L || n > 6L) shorten(x, most = 6L) else paste(toString(x[-n]), "and", x[[n]])
}

# Formats intervals for cells of tables, such as "[0.712, 0.834]"; "" if the limits are NA.
format_interval <- function(low, high, digits = 3L) {
  ifelse(is.na(low), "",
    sprintf("[%s, %s]", format_decimals(low, digits), format_decimals(high, digits)))
}

# Formats ranges, such as "0.712 to 0.834".
format_limits <- function(low, high, digits = 3L) {
  ifelse(is.na(low), "NA", paste(format_decimals(low, digits), "to", format_decimals(high, digits)))
}

# Formats the smallest and the largest value, such as "40% to 55%". If they are equal, only one is
# shown. `show`: a function that formats numbers.
format_span <- function(values, show = identity) {
  paste(unique(show(range(values, na.rm = TRUE))), collapse = " to ")
}

interval_title <- function(level) paste0(format(100 * level), "% interval")

# Formats estimates for the middle of a sentence, such as "78% (90% interval 67% to 90%)".
# * table: columns estimate, conf.low, conf.high and reason.
# * level: confidence level.
# * show: a function that formats numbers.
estimate_words <- function(table, level, show) {
  ifelse(
    is.na(table$estimate), paste0("unknown (", table$reason, ")"),
    paste0(show(table$estimate), format_interval_with_title(table, level, show))
  )
}

format_interval_with_title <- function(table, level, show) {
  ifelse(is.na(table$conf.low), "", sprintf(
    " (%s %s to %s)", interval_title(level), show(table$conf.low), show(table$conf.high)
  ))
}

# Inserts values into `words`, a template for sprintf(). Returns "" for values that are NA.
format_unless_missing <- function(value, words) ifelse(is.na(value), "", sprintf(words, value))

# Formats numbers like number(), without padding to a common width.
format_unpadded <- function(n) trimws(number(n))

#' Glossary of terms
#'
#' Defines the terms that arguments, columns and help pages use.
#'
#' @section Ratings and predictions:
#' * **case**: one of the objects to classify. CrowdTruth calls it a **unit**.
#' * **category**: one of the possible answers. Each case has one true category. The names of
#'   categories are **labels**.
#' * **rater**: a person, language model or other program whose answers are evidence about the true
#'   categories. CrowdTruth calls it a **worker**.
#' * **system**: a classifier whose accuracy is to be estimated. Its answers do not count as
#'   ratings.
#' * **judge**: a rater or a system, in models and measures that treat both in the same way. A
#'   **language model as a judge** is a rater that evaluates answers of a system.
#' * **rating**: the category that a rater gave to a case.
#' * **prediction**: the category that a system gave to a case.
#' * **answer**: a rating or a prediction. In crowdsourcing an answer may have several labels.
#'   CrowdTruth calls these labels **annotations**, and the answer a **judgement**.
#' * **panel**: a data set of ratings and predictions.
#' * **pattern**: a combination of the answers of all raters and systems to a case. Computations use
#'   the number of cases with each pattern.
#' * **kind of raters**: people (`"expert"`, `"crowd"`) or machines (`"model"`, `"tool"`); argument
#'   `rater_kind` of [ratings()].
#'
#' @section Truth and accuracy:
#' * **accuracy**: the probability that a rater or a system gives the true category.
#' * **confusion matrix**: the probability of each answer (columns) for each true category (rows).
#' * **base rate**: the share of the cases that have a given true category.
#' * **posterior probability**: the probability of a category of a case, given the ratings and a
#'   model. The posterior probabilities of all cases are the estimated **ground truth**, see
#'   [ground_truth()].
#' * **gold cases**: cases whose true category is known; argument `known_truth` of
#'   [estimate_accuracy()]. The **worth** of ratings is the factor by which they reduce the number
#'   of gold cases that are needed. With worth 3, one gold case that was also rated gives as much
#'   information as three that were not, see [plan_gold()].
#' * **known raters**: raters whose confusion matrices are known, for example from a **calibration
#'   sample** of cases with known truth; argument `known_raters` of [fit_raters()].
#' * **metric**: a number computed from the joint probabilities of truth and answers of a system,
#'   such as accuracy or recall, see [system_metrics].
#' * **confidence**: how sure a rater was of a rating. **Scores** are numbers that a system gives to
#'   the categories of a case.
#'
#' @section Agreement:
#' * **agreement**: the share of pairs of ratings of the same case that are equal.
#' * **chance agreement**: the agreement expected from raters who guess. **Chance kappa** is
#'   `(agreement - chance) / (1 - chance)` with `chance` = 1 / number of categories, as in Lehner
#'   (2015). **Kappa** without a name is Fleiss' kappa, whose chance agreement is computed from the
#'   shares of the categories.
#' * **shared errors**: raters or systems have shared errors if they are wrong on the same cases
#'   more often than by chance. The literature calls them **correlated errors**. [shared_errors()]
#'   measures them.
#'
#' @section Models of raters:
#' * **model**: assumptions about raters in a fit, see [rater_model()].
#' * **design**: properties of raters in a simulation, see [rater_design()].
#' * **K-properties**: the assumptions of Lehner (2015) that raters are equally accurate, errors
#'   equally probable, and cases equally difficult. The **K-model** has all three, see [k_model()].
#' * **family**: a user-defined model of the ratings, given the true category, see [rater_family()].
#' * **difficulty** of a case: how often raters get it wrong. A **stratum** is a group of equally
#'   difficult cases; in [plan_gold()], of similarly uncertain cases.
#' * **identified**: a quantity is identified if the distribution of the ratings determines its
#'   value.
#'
#' @section Estimation of accuracy:
#' * **method**: in [estimate_accuracy()], a way to estimate accuracy. An **estimator** is a method
#'   with its options, see [accuracy_estimator()]. In [fit_raters()], a method is an algorithm.
#' * **member**: one of the models that method `"average"` averages.
#' * **bin**: a group of cases whose most probable categories have similar posterior probabilities.
#' * **confidence interval**: a range computed so that it contains the true value in a share
#'   `conf_level` of repeated samples.
#' * **robust interval**: an interval that allows for sampling error and for shared errors.
#' * **bootstrap interval**: percentiles of estimates from resampled cases. A **replicate** is one
#'   resample.
#' * **profile interval**: the values of a parameter for which the log posterior, maximised over all
#'   other parameters, is close to its overall maximum.
#' * **corrected interval**: an interval around the estimate from ratings, after the error of this
#'   estimate on the gold cases was subtracted.
#' * **combined interval**: an interval from gold cases that uses the estimate from ratings as a
#'   prior, unless gold cases contradict this estimate.
#' * **bounds**: the lowest and the highest accuracy over all possible shared errors of a system and
#'   the raters, see [accuracy_bounds()].
#'
#' @section Words with several meanings:
#' * **weight**: of a case, the number of cases that it represents; of a member, its share in the
#'   average; `scale_weights`, agreement between two categories.
#' * **shared**: common to the system and the raters. Column `shared` of an estimate is the accuracy
#'   if the system shares all errors of the raters, column `independent` if it shares none.
#' @name fallible-glossary
#' @aliases glossary
#' @examples
#' # The simulated truth, and the estimated ground truth
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(system = 0.9), categories = 3, n = 100))
#' head(truth(x))
#' ground_truth(fit_raters(x))
NULL

# Merges notes of parts of a result (variables or groups). `notes`: list with the texts of each
# part, named by part.
# * Notes that differ only in their first percentage become one note. The percentage becomes the
#   range of the values, such as "14% to 53%".
# * If only some parts have a note, the names of these parts are put before it.
merge_part_notes <- function(notes) {
  texts <- unlist(notes, use.names = FALSE)
  part_names <- rep(names(notes), lengths(notes))
  percent_pattern <- "[0-9.]+%( to [0-9.]+%)?"
  templates <- sub(percent_pattern, "\r", texts)
  beginnings <- sub(": [^:]*$", "", templates)
  map_chr(unique(templates), function(one_template) {
    is_same <- templates == one_template
    percents <- regmatches(texts[is_same], regexpr(percent_pattern, texts[is_same]))
    percents <- sort(as.numeric(unlist(strsplit(percents, "%( to )?"))))
    range_text <- paste0(unique(percents[c(1L, length(percents))]), "%", collapse = " to ")
    note <- sub("\r", range_text, one_template, fixed = TRUE)
    # Two notes are similar if they differ only after the last colon. If all variables (or groups)
    # have similar notes, the note of more than half of them is printed without names. The other
    # notes are shortened to their last sentence.
    similar_templates <- templates[beginnings %in% beginnings[is_same]]
    is_majority <- length(similar_templates) == length(notes) &
      2L * table(similar_templates) > length(notes)
    if (isTRUE(is_majority[[one_template]])) return(note)
    paste0(shorten(part_names[is_same]), ": ",
      if (any(is_majority)) sub(".*[.] ", "", note) else note)
  }, USE.NAMES = FALSE)
}

# Shortens long names to 16 characters: three dots replace the middle. The end is kept, because
# names of models often differ only in their last characters. Names that would become equal are not
# shortened. The names in "a - b" and in "right[a,b]" are shortened separately.
short_names <- function(names) {
  names <- as.character(names)
  letters_pattern <- "((?:(?! - )[^][,]){%s})"
  long_name_pattern <- paste(sprintf(letters_pattern, c("7", "4,", "6")), collapse = "")
  shortened_names <- gsub(paste0("(?: - )?\\K", long_name_pattern), "\\1...\\3", names, perl = TRUE)
  is_ambiguous <- shortened_names %in% repeated_values(shortened_names[!duplicated(names)])
  ifelse(is_ambiguous, names, shortened_names)
}

# Changes the first letter of titles to lower case, for use within a sentence. Titles with an
# apostrophe, such as "Fleiss' kappa", are not changed, because they begin with a name.
lower_first_letter <- function(titles) {
  has_plain_first_word <- grepl("^[A-Z][a-z-]+( |$)", titles) & !grepl("'", titles, fixed = TRUE)
  ifelse(has_plain_first_word, sub("^(.)", "\\L\\1", titles, perl = TRUE), titles)
}

# Largest number of raters whose answers or pairs are listed one by one.
max_listed_raters <- 20L
