# Words and numbers as printed objects show them.

# More are noise.
check_digits <- function(digits) check_count(digits, "digits", 0L, 15L)

decimals <- function(x, digits = 3L) {
  ifelse(is.na(x), "NA", formatC(x, format = "f", digits = digits))
}

show_p <- function(p) {
  out <- ifelse(is.na(p), "", decimals(p))
  replace(out, which(p < 0.0005), "<.001")
}

percent <- function(x) ifelse(is.na(x), "an unknown share", paste0(decimals(100 * x, 1L), "%"))

whole_percent <- function(share) paste0(formatC(100 * share, format = "f", digits = 0L), "%")

number <- function(n) format(n, big.mark = ",", scientific = FALSE)

count_noun <- function(n, noun, plural = paste0(noun, "s")) {
  paste(number(n), if (n == 1) noun else plural)
}

capitalised <- function(words) paste0(capitals(substr(words, 1L, 1L)), substring(words, 2L))

small_letters <- paste(letters, collapse = "")
capital_letters <- paste(LETTERS, collapse = "")

# English words in capitals. `toupper()` gives a Turkish letter for "i" in a Turkish locale.
capitals <- function(words) chartr(small_letters, capital_letters, words)

# Labels without the difference between capitals and small letters, the same in every locale. A "I"
# is an "i", also with a dot, which `tolower()` makes something else in a Turkish locale. Other
# letters than those of ASCII are folded one by one by package utf8 (which comes with tibble), since
# `tolower()` leaves them in the C locale.
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

# Sorts strings by their characters' numbers, in the same order in every locale.
sort_strings <- function(x) sort(x, method = "radix")

# Lines of a printed object, each wrapped at the width of the console.
cat_lines <- function(...) {
  for (line in printable(c(...))) {
    indent <- nchar(line) - nchar(sub("^ +", "", line))
    cat(strwrap(line, getOption("width"), indent = indent, exdent = indent + 2L), sep = "\n")
  }
}

# Labels in quotes where blanks would mislead.
show_labels <- function(x) {
  if (any(x != trimws(x) | grepl(",", x, fixed = TRUE))) paste0("\"", x, "\"") else x
}

# The first labels of a list that may be long.
shorten <- function(x, separator = ", ", most = 8L) {
  shown <- paste(utils::head(x, most), collapse = separator)
  if (length(x) > most) paste0(shown, ", ... (", length(x), ")") else shown
}

# Intervals in the cells of tables, and the name of their column.
bracketed <- function(low, high, none = "NA") {
  ifelse(is.na(low), none, paste0("[", decimals(low), ", ", decimals(high), "]"))
}

# Ends of ranges in a sentence or a cell.
from_to <- function(low, high, digits = 3L) {
  ifelse(is.na(low), "NA", paste(decimals(low, digits), "to", decimals(high, digits)))
}

interval_title <- function(level) paste0(format(100 * level), "% interval")

# Estimates in the middle of a sentence: 78% (90% interval 67% to 90%). `show` makes strings.
estimate_words <- function(table, level, show) {
  ends <- paste0(" (", interval_title(level), " ", show(table$conf.low), " to ",
    show(table$conf.high), ")")
  ifelse(
    is.na(table$estimate), paste0("unknown (", table$reason, ")"),
    paste0(show(table$estimate), ifelse(is.na(table$conf.low), "", ends))
  )
}

# Columns of words, and their names, that stand at the left where numbers stand at the right.
align_left <- function(table, columns) {
  for (i in columns) {
    table[[i]] <- format(table[[i]], justify = "left")
    names(table)[[i]] <- format(names(table)[[i]], width = max(nchar(table[[i]])))
  }
  table
}

# Doubles at three decimals.
round_columns <- function(table) {
  shown <- as.data.frame(table)
  shown[] <- lapply(shown, function(x) {
    if (is.double(x) && any(x != round(x), na.rm = TRUE)) decimals(x) else x
  })
  shown
}

# A data frame with its doubles at three decimals, under a title.
print_table <- function(title, table, most = 12L) {
  if (is.null(table)) return(invisible())
  cat("\n", printable(title), "\n", sep = "")
  print(round_columns(utils::head(table, most)), row.names = FALSE, right = TRUE)
  if (nrow(table) > most) cat("... and", nrow(table) - most, "more\n")
}

# The columns of a table with one row that say something, one below another.
print_facts <- function(facts) {
  facts <- round_columns(used_columns(facts))
  if (length(facts) > 0L) {
    values <- printable(vapply(facts, format, ""))
    cat("", paste0(format(names(facts)), "  ", values), sep = "\n")
  }
}

number_of <- function(n) trimws(number(n))

#' Words of the package
#'
#' What the words in arguments, columns and help pages mean. Each has one meaning, but for those in
#' the last section.
#'
#' @section Who says what:
#' * **case**: what is judged; one row of a matrix of ratings. CrowdTruth calls it a **unit**.
#' * **rater**: a person (or anything else) whose answers inform about the truth; CrowdTruth's
#'   **worker**.
#' * **system**: a classifier whose accuracy is asked for. Its answers are never ratings.
#' * **judge**: a rater or a system, where a model or a measure treats both alike.
#' * **category**: one of the possible answers; one of them is true of each case. The names are its
#'   **labels**.
#' * **rating**: the category that a rater gave a case; **prediction**: that of a system;
#'   **answer**: either. In crowds an answer may hold several labels (`repeats = "labels"`), and
#'   CrowdTruth calls a label that may be given an **annotation**, an answer a **judgement**.
#' * **panel**: all ratings and predictions of some cases, as data or as simulated by
#'   [simulate_ratings()].
#' * **pattern**: ratings (and predictions) that several cases have in common; see
#'   `tidy(x, "patterns")`.
#' * **tally**: how often raters gave each category to a case; its columns are `counts`.
#' * **covariate**: what is known of a case beside its ratings (`covariates` of [ratings()]), on
#'   which base rates, accuracy or difficulty may depend.
#'
#' @section What is true:
#' * **accuracy**: the probability that a judge gives the true category. [rater_design()] asks for
#'   it, [estimate_accuracy()] estimates that of systems, [fit_raters()] that of raters.
#' * **base rate**: the share of cases of which a category is true.
#' * **posterior**: the probabilities of the categories of a case, given its ratings; those of all
#'   cases are the **ground truth**, an estimate by [ground_truth()].
#' * **truth**: what is really so. [truth()] is the category of each case of a simulated panel,
#'   [true_accuracy()] what its systems really reach (`expected`, over all panels; `sample`, in this
#'   one).
#' * **known truth**: true categories that a user has, of some cases: **gold** items, given as
#'   `known_truth`. **Known raters** have confusion matrices that a user has (`known_raters`).
#' * **confusion matrix**: probabilities of answers given the truth, which stands in rows.
#'   [confusion_matrix()] makes one from parameters, `confusion()` reads those of the raters from a
#'   fit and those of the systems from an estimate. The **agreement matrix** of two raters
#'   ([agreement_matrix()]) counts cases by both ratings and knows no truth.
#' * **confidence**: how sure raters said they were of a rating (`confidence` of [ratings()]); with
#'   intervals, how often they hold what is true (`conf_level`). What systems say in numbers are
#'   **scores**.
#'
#' @section How raters answer:
#' * **model**: what is assumed of raters, a [rater_model()]; **design**: what is so in a
#'   simulation, a [rater_design()].
#' * **K-property**: one of Lehner's three assumptions: raters are equally accurate, errors equally
#'   probable, cases equally difficult. The **K-model** ([k_model()]) has all three; a model lets go
#'   of each by one argument, `accuracy`, `errors` and `difficulty`.
#' * **family**: a model of one's own, told by the law of ratings given the truth
#'   ([rater_family()]).
#' * **difficulty**: how much less accurate judges are on some cases than on others, which are
#'   **strata** of difficulty; **dispersion** and **error range**: how far from equally probable
#'   errors are.
#' * **agreement**: the share of pairs of ratings of a case that are the same; **chance**: the share
#'   that raters who guess would reach, 1 / number of categories; **chance kappa**: how far
#'   agreement is above that, `(agreement - chance) / (1 - chance)`, as in Lehner (2015). **kappa**
#'   alone is Fleiss', whose chance is what the shares of the categories make. A **measure** of
#'   agreement is any of [measures()].
#' * **kind of raters**: who rates, people (`"expert"`, `"crowd"`) or machines (`"model"`,
#'   `"tool"`; argument `rater_kind` of [ratings()]). Machines have wider intervals. Which of the
#'   people rate changes no number.
#' * **identified**: such that ratings can tell it. What is not is `NA`, with a reason.
#'
#' @section How accuracy is estimated:
#' * **metric**: a number that the joint table of truth and answer of a system gives, any of
#'   [system_metrics], of which accuracy is one; [estimate_metrics()] estimates the others.
#' * **method**: a way to the estimate; **estimator**: a method with its options settled, or any
#'   function of a panel ([accuracy_estimator()]).
#' * **member**: one of the models over which method `"average"` takes the mean, by their
#'   **weight**. The **weight** of a case is how many cases it stands for (`weights`).
#' * **bin**: cases whose highest posterior probability is in the same range; see
#'   [tidy()][tidy.accuracy_estimate].
#' * **interval**: where the accuracy lies with probability `conf_level`. **robust** intervals allow
#'   for shared errors, which no ratings show; **profile** intervals end where the profile of the
#'   posterior has fallen far enough; **bootstrap** intervals resample cases.
#' * **shared errors**: errors of judges on the same cases, more than chance makes;
#'   [shared_errors()] measures them. **Bounds** are the lowest and highest accuracy that ratings
#'   allow whatever they are ([accuracy_bounds()]).
#' * **replicate**: a bootstrap resample; **run**: a panel of a [simulation_study()].
#'
#' @section Words with several meanings:
#' * **shared** is what system and raters have in common, and opposed to being of one's own. Method
#'   `"shared"` takes the posterior of the raters for all that a system knows; column `shared` of an
#'   estimate is the end of the range where the system errs where raters err, column `independent`
#'   the end where its errors are its own; in `rater_model(system = "shared")` a system has the
#'   raters' dispersion and difficulty; `rater_design(difficulty = list(shared = ))` names what
#'   systems have in common with the raters in a simulation.
#' * **method** of [fit_raters()] is how a model is fitted, of [estimate_accuracy()] and of results
#'   about systems how accuracy is estimated, and in tables of agreement how the error was found.
#' * **known** in [flag_workers()] says which workers are of low quality, as far as a user knows.
#' * **missing** in [rater_design()] is the share of ratings that are not there; in results the
#'   number of estimates that are `NA` (in `summary()` of studies, and in plans, their share), and
#'   of ground truth that of cases.
#' * **n** is a number of cases everywhere.
#' @name fallible-glossary
#' @aliases glossary
#' @seealso [conditions] for the classes of errors and warnings, [fallible-options] for options,
#'   the article *Why it is built so* for what the parts of the package are.
#' @examples
#' # Truth, and what is estimated of it
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(system = 0.9), categories = 3, n = 100))
#' head(truth(x))
#' ground_truth(fit_raters(x))
NULL
