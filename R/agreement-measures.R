# The measures of the package: a record for each measure, and functions for the common ones.

# Creates the record of a measure of agreement, a list with these fields:
# * id: name of the measure.
# * title: name of the measure in words.
# * reference: publication that defines the measure.
# * kernel: function that computes the measure, given by its name in the core or as an R function.
# * form: input of the kernel ("counts" of ratings, "ratings" by rater, or the "table" of two
#   raters).
# * lower, upper: smallest and largest value of the measure.
# * scale: level of measurement ("nominal", "ordinal", "interval", "ratio", or "binary").
# * raters: number of raters that the measure compares, 2 or Inf (any number).
# * least: smallest number of raters per case. Cases with ratings by fewer raters are not used.
# * weights: does the measure accept scale_weights?
# * metric: scale weights that are used if the user gives none.
# * repeats: may a rater rate a case twice?
# * of_category: does the measure compare one category with all others?
# * counted: must case weights be counts, because the measure depends on the number of ratings?
# * same_as: id of the same measure under another name.
# * default: conditions under which agreement() reports the measure by default. All conditions must
#   be fulfilled: "always"; "never"; "two" (raters) or "many"; "ordered" (categories are ordered);
#   "category" (one category is compared with all others).
# * weighted: title of the measure if scale weights are used.
new_measure <- function(id, title, reference, kernel = id, form = "counts", lower = -1, upper = 1,
                        scale = "nominal", raters = if (form == "table") 2 else Inf, least = 2L,
                        weights = FALSE, metric = "identity", repeats = FALSE,
                        of_category = FALSE, counted = FALSE, same_as = NA_character_,
                        default = "never", weighted = title) {
  mget(names(formals()))
}

# Creates a measure that is equal to measure "chance_kappa" (chance agreement is 1 / number of
# categories) but was published under another name.
new_chance_kappa <- function(id, title, reference) {
  new_measure(
    id, title, reference,
    kernel = "chance_kappa", weights = TRUE, repeats = TRUE, same_as = "chance_kappa"
  )
}

# Creates Krippendorff's alpha for a level of measurement (`scale`) above "nominal".
new_krippendorff_alpha <- function(scale, metric, kernel = "krippendorff_alpha", ...) {
  new_measure(
    paste0("krippendorff_alpha_", scale), paste0("Krippendorff's alpha, ", scale),
    "Krippendorff (2004), Human Communication Research 30, 411-433",
    kernel = kernel, scale = scale, metric = metric, counted = TRUE, ...
  )
}

# Creates the record of a kappa with quadratic weights. With these weights, Cohen's kappa is an
# intraclass correlation (Fleiss and Cohen 1973).
new_quadratic_kappa <- function(id, title, ...) {
  new_measure(
    paste0(id, "_quadratic"), paste0(title, ", quadratic weights"),
    "Fleiss and Cohen (1973), Educational and Psychological Measurement 33, 613-619",
    scale = "interval", metric = "quadratic", ...
  )
}

built_in_measures <- list(
  new_measure(
    "percent_agreement", "Percent agreement",
    "Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.",
    lower = 0, weights = TRUE, repeats = TRUE, default = "always"
  ),
  new_measure(
    "chance_kappa", "Kappa against chance 1/N", "Lehner (2015), doi:10.22237/jmasm/1430453520",
    weights = TRUE, repeats = TRUE, default = "always"
  ),
  new_chance_kappa(
    "bennett_s", "Bennett, Alpert and Goldstein's S",
    "Bennett, Alpert and Goldstein (1954), Public Opinion Quarterly 18, 303-308"
  ),
  new_chance_kappa(
    "brennan_prediger", "Brennan and Prediger's kappa",
    "Brennan and Prediger (1981), Educational and Psychological Measurement 41, 687-699"
  ),
  new_chance_kappa(
    "pabak", "Prevalence- and bias-adjusted kappa",
    "Byrt, Bishop and Carlin (1993), Journal of Clinical Epidemiology 46, 423-429"
  ),
  new_measure(
    "cohen_kappa", "Cohen's kappa",
    "Cohen (1960), Educational and Psychological Measurement 20, 37-46",
    kernel = "conger_kappa", form = "ratings", raters = 2, weights = TRUE, default = "two"
  ),
  new_measure(
    "scott_pi", "Scott's pi", "Scott (1955), Public Opinion Quarterly 19, 321-325",
    kernel = "fleiss_kappa", raters = 2, weights = TRUE, default = "two"
  ),
  new_measure(
    "fleiss_kappa", "Fleiss' kappa", "Fleiss (1971), Psychological Bulletin 76, 378-382",
    least = 1L, weights = TRUE, repeats = TRUE, default = "many"
  ),
  new_measure(
    "conger_kappa", "Conger's kappa", "Conger (1980), Psychological Bulletin 88, 322-328",
    form = "ratings", least = 1L, weights = TRUE, default = "many"
  ),
  new_measure(
    "light_kappa", "Light's kappa", "Light (1971), Psychological Bulletin 76, 365-377",
    form = "ratings", weights = TRUE, default = "many"
  ),
  new_measure(
    "gwet_ac", "Gwet's AC1",
    "Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48",
    least = 1L, weights = TRUE, repeats = TRUE, default = "always", weighted = "Gwet's AC2"
  ),
  new_measure(
    "krippendorff_alpha", "Krippendorff's alpha",
    "Krippendorff (2004), Human Communication Research 30, 411-433",
    weights = TRUE, counted = TRUE, default = "always"
  ),
  new_krippendorff_alpha("ordinal", "identity", "krippendorff_alpha_ordinal", default = "ordered"),
  new_quadratic_kappa(
    "cohen_kappa", "Cohen's kappa", kernel = "conger_kappa", form = "ratings", raters = 2,
    default = c("ordered", "two")
  ),
  new_quadratic_kappa(
    "fleiss_kappa", "Fleiss' kappa", kernel = "fleiss_kappa", least = 1L, repeats = TRUE,
    default = c("ordered", "many")
  ),
  new_quadratic_kappa(
    "conger_kappa", "Conger's kappa", kernel = "conger_kappa", form = "ratings", least = 1L,
    default = c("ordered", "many")
  ),
  new_krippendorff_alpha("interval", "quadratic"),
  new_krippendorff_alpha("ratio", "ratio"),
  new_measure(
    "bangdiwala_b", "Bangdiwala's B",
    "Munoz and Bangdiwala (1997), Journal of Applied Statistics 24, 105-112",
    form = "table", lower = 0, default = "two"
  ),
  new_measure(
    "yule_y", "Yule's Y", "Yule (1912), Journal of the Royal Statistical Society 75, 579-652",
    form = "table", scale = "binary", default = "two"
  ),
  new_measure(
    "information_agreement", "Information agreement, IA_C",
    "Casagrande, Fabris and Girometti (2020), doi:10.1109/BIBM49941.2020.9313173",
    form = "table", lower = 0, default = "two"
  ),
  new_measure(
    "information_agreement_plain", "Information agreement, IA",
    "Casagrande, Fabris and Girometti (2020), doi:10.1007/s11517-020-02261-2",
    form = "table", lower = 0
  ),
  new_measure(
    "cohen_kappa_max", "Largest Cohen's kappa with these margins",
    "Cohen (1960), Educational and Psychological Measurement 20, 37-46",
    kernel = function(table) {
      # Largest value of Cohen's kappa that two raters with these shares of categories can have.
      shares <- cbind(rowSums(table), colSums(table)) / sum(table)
      chance_agreement <- sum(shares[, 1L] * shares[, 2L])
      (sum(pmin(shares[, 1L], shares[, 2L])) - chance_agreement) / (1 - chance_agreement)
    }, form = "table"
  ),
  new_measure(
    "specific_agreement", "Specific agreement on a category",
    "Cicchetti and Feinstein (1990), Journal of Clinical Epidemiology 43, 551-558",
    lower = 0, scale = "binary", repeats = TRUE, of_category = TRUE, default = "category"
  )
)
names(built_in_measures) <- vapply(built_in_measures, `[[`, "", "id")

#' Kappa, alpha and other measures of agreement between raters
#'
#' Each function returns one measure of agreement as a number. [agreement()] computes several
#' measures, with standard errors and intervals.
#'
#' `Po` is observed agreement: the share of pairs of ratings of the same case that agree. `Pe` is
#' the agreement expected by chance, `N` the number of categories, and `p` the vector of shares of
#' the categories in all ratings. If a `Pe` is given below, the measure is `(Po - Pe) / (1 - Pe)`.
#' With `scale_weights`, `w` is the `N` x `N` matrix of weights, and `Po` is the mean weight of all
#' pairs of ratings of the same case.
#'
#' * `percent_agreement()`: `Po`.
#' * `chance_kappa()` and `bennett_s()`, two names of the same measure: `Pe = 1/N` (Lehner 2015).
#'   With weights, `Pe = mean(w)`. It is also known as Brennan and Prediger's kappa and PABAK.
#' * `scott_pi()` for two raters, `fleiss_kappa()` for any number: `Pe = sum(p^2)`. With weights,
#'   `Pe = sum(w * outer(p, p))`.
#' * `cohen_kappa()` for two raters: `Pe = sum(p1 * p2)`, where `p1` and `p2` are the shares of the
#'   categories in the ratings of each rater. With weights, `Pe = sum(w * outer(p1, p2))`.
#' * `conger_kappa()` for any number of raters: `Pe` is the mean of the `Pe` of Cohen's kappa over
#'   all pairs of raters.
#' * `light_kappa()`: the mean of Cohen's kappa over all pairs of raters.
#' * `gwet_ac()`: AC1 has `Pe = sum(p * (1 - p)) / (N - 1)`. With weights, AC2 multiplies this `Pe`
#'   by `sum(w) / N`.
#' * `krippendorff_alpha()`: `1 - Do / De`. `Do` is the mean disagreement (see `level`) of two
#'   ratings of the same case, and `De` the mean disagreement of any two ratings. Cases with a
#'   single rating are left out.
#' * `bangdiwala_b()` for two raters: `sum(diag(A)^2) / sum(rowSums(A) * colSums(A))`, where `A` is
#'   the agreement matrix: numbers of cases by the categories of both raters.
#' * `yule_y()` for two raters and two categories: `(sqrt(OR) - 1) / (sqrt(OR) + 1)`, where `OR` is
#'   the odds ratio of the agreement matrix.
#' * `information_agreement()` for two raters: the mutual information of both ratings divided by the
#'   smaller of their entropies. It is biased upwards in small samples.
#'
#' @param pooling How cases are weighted if they have different numbers of ratings: `"pairs"` (the
#'   default), `"cases"` or `"fleiss-cuzick"`; see section *Missing ratings* of [agreement()].
#' @param scale_weights Weights of pairs of categories, for partial agreement: 1 is full agreement,
#'   0 full disagreement. `NULL`, the default: different categories have weight 0. `"linear"` or
#'   `"quadratic"`: the weight falls with the absolute or squared difference of two categories.
#'   [agreement()] describes further names, matrices, and answers with several labels.
#' @param x Categories that raters assigned to cases: a [ratings()] object; a data frame or matrix
#'   of labels (cases x raters); or the agreement matrix of two raters, a [table][base::table].
#' @param level How Krippendorff's alpha measures the disagreement of two ratings:
#'   * `"nominal"` (the default): 0 if both ratings are equal and 1 otherwise.
#'   * `"interval"`: squared difference of the values of both ratings. Values are the labels, if all
#'     are numbers, and otherwise the positions of the categories. `x` may be a matrix of numbers
#'     with any number of different values.
#'   * `"ratio"`: squared difference of the values, divided by the square of their sum.
#'   * `"ordinal"`: squared difference of the ranks of both ratings among all ratings.
#'
#'   Levels other than `"nominal"` need labels that are numbers, or ordered categories.
#' @param continuity How `information_agreement()` is defined if a rater used only one category, so
#'   that its ratio is 0 / 0. If `TRUE`, the default, its value is then the limit `1 - m / N`, where
#'   `m` is the number of categories that the other rater used. If `FALSE`, its value is then `NA`.
#' @param ... Not used.
#' @return One number. If the measure is undefined, `NA` with a warning of class
#'   `fallible_warning_undefined` that gives the reason.
#' @family agreement
#' @seealso [measures()] for references.
#' @examples
#' # Six diagnoses of each patient, given as counts
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' fleiss_kappa(x)
#' gwet_ac(x)
#'
#' # The agreement matrix of two raters
#' two <- as.table(rbind(c(40, 5), c(3, 2)))
#' cohen_kappa(two)
#' bangdiwala_b(two)
#' information_agreement(two)
#' @name agreement_measures
NULL

# Computes the measure named `id` as a number, without an interval.
compute_measure <- function(x, id, scale_weights = NULL,
                         pooling = c("pairs", "cases", "fleiss-cuzick")) {
  check_call(2L)
  input <- prepare_for_agreement(x, scale_weights)
  settings <- list(
    interval = "none", pooling = check_choice(pooling),
    conf_level = 0.9, scale_weights = input$scale_weights,
    scale_name = name_of_weights(scale_weights)
  )
  view <- new_judge_view(input$x)
  measure <- find_measures(id, list(view), settings)[[1L]]
  # If categories are ordered, a message states whether near misses (ratings in neighbouring
  # categories) get partial credit.
  if (input$x$ordered && length(view$labels) > 2L) {
    weights_name <- settings$scale_name
    level_text <-
      if (weights_name == no_weights_name) measure$scale else paste(weights_name, "weights")
    inform_fallible("Level of measurement of {measure$title}: {level_text}.",
      i = if (level_text == "nominal") "The categories are ordered, but near misses get no credit.
        To give them partial credit, use {.arg scale_weights}, or {.arg level} of
        {.fun krippendorff_alpha}.")
  }
  evaluation <- evaluate_measure(measure, view, settings)
  warn_if(is.na(evaluation$estimate), "undefined",
    "{measure$title} is {.code NA}: {evaluation$reason}.", measure = id, reason = evaluation$reason)
  evaluation$estimate
}

# Creates the exported function of a measure, with arguments `x` and `scale_weights`. It also has
# argument `pooling` if `pooled` is TRUE.
make_measure_function <- function(id, pooled = TRUE) {
  pooling_argument <- if (pooled) formals(compute_measure)["pooling"]
  new_function(
    c(alist(x = , scale_weights = NULL), pooling_argument, alist(... = )), # nolint: spaces_inside.
    call2(
      "compute_measure", quote(x), id, quote(scale_weights),
      !!!lapply(names(pooling_argument), as.name)
    ), topenv()
  )
}

#' @rdname agreement_measures
#' @export
percent_agreement <- make_measure_function("percent_agreement")

#' @rdname agreement_measures
#' @export
chance_kappa <- make_measure_function("chance_kappa")

#' @rdname agreement_measures
#' @export
bennett_s <- make_measure_function("bennett_s")

#' @rdname agreement_measures
#' @export
cohen_kappa <- make_measure_function("cohen_kappa", pooled = FALSE)

#' @rdname agreement_measures
#' @export
scott_pi <- make_measure_function("scott_pi", pooled = FALSE)

#' @rdname agreement_measures
#' @export
fleiss_kappa <- make_measure_function("fleiss_kappa")

#' @rdname agreement_measures
#' @export
conger_kappa <- make_measure_function("conger_kappa")

#' @rdname agreement_measures
#' @export
light_kappa <- make_measure_function("light_kappa", pooled = FALSE)

#' @rdname agreement_measures
#' @export
gwet_ac <- make_measure_function("gwet_ac")

#' @rdname agreement_measures
#' @export
krippendorff_alpha <- function(x, level = c("nominal", "ordinal", "interval", "ratio"),
                               scale_weights = NULL, ...) {
  level <- check_choice(level)
  abort_argument_if(level != "nominal" && !is.null(scale_weights), "scale_weights",
    "{.arg scale_weights} cannot be combined with {.code level = {.val {level}}}, because both
        define disagreement.", i = "Give only one of these arguments.")
  if (level == "interval" && (is.matrix(x) || is.data.frame(x))) {
    rating_matrix <- as.matrix(x)
    has_many_values <- is.numeric(rating_matrix) && n_distinct(c(rating_matrix)) > max_categories
    if (has_many_values) return(compute_alpha_of_numbers(rating_matrix))
  }
  compute_measure(x, paste(c("krippendorff_alpha", if (level != "nominal") level), collapse = "_"),
    scale_weights)
}

# Computes Krippendorff's alpha at the interval level (Krippendorff 2004) from sums of squares,
# without a table of categories. `numbers`: numeric ratings, a matrix (cases x raters).
compute_alpha_of_numbers <- function(numbers) {
  numbers <- pick_rows(numbers, rowSums(!is.na(numbers)) > 1L)
  numbers <- numbers - mean(numbers, na.rm = TRUE)
  n_ratings_of_case <- rowSums(!is.na(numbers))
  sums_of_squares <- rowSums(numbers^2, na.rm = TRUE)
  n_ratings <- sum(n_ratings_of_case)
  observed_disagreement <- sum(
    (n_ratings_of_case * sums_of_squares - rowSums(numbers, na.rm = TRUE)^2) /
      (n_ratings_of_case - 1)
  ) / n_ratings
  1 - observed_disagreement * (n_ratings - 1) / sum(sums_of_squares)
}

#' @rdname agreement_measures
#' @export
bangdiwala_b <- function(x, ...) compute_measure(x, "bangdiwala_b")

#' @rdname agreement_measures
#' @export
yule_y <- function(x, ...) compute_measure(x, "yule_y")

#' @rdname agreement_measures
#' @export
information_agreement <- function(x, continuity = TRUE, ...) {
  check_flag(continuity, "continuity")
  compute_measure(x, paste0("information_agreement", if (!continuity) "_plain"))
}

# The following functions compare each rating with the plurality (the most frequent category) of the
# other ratings of its case. The rating itself is excluded. If it were included, raters would agree
# with themselves, and agreement would be overestimated.

# Returns the share of ratings that differ from the plurality of the other ratings of their case. If
# k categories are tied, a rating in one of these categories counts as 1 / k of an agreement. Cases
# are weighted, and cases with a single rating are left out. NA if no case has two ratings.
plurality_disagreement <- function(x) {
  rating_table <- compared_ratings(x)
  1 - ratio(sum(rating_table$weight * rating_table$credit), sum(rating_table$weight))
}

# Returns a table with a row per rating. Cases that have only one rating are left out. Columns:
# * credit: 1 if the rating is the plurality of the other ratings of its case, 1 / k if it is one of
#   k tied categories, 0 otherwise.
# * weight: sum of the weights of all cases with the same pattern of ratings.
# * rater: index of the rater.
compared_ratings <- function(x) {
  pattern_of_rating <- rating_pattern(x)
  cell_index <- cbind(seq_along(pattern_of_rating), rating_category(x))
  other_counts <- pick_rows(pattern_counts(x), pattern_of_rating)
  other_counts[cell_index] <- other_counts[cell_index] - 1L
  is_plurality <- is_row_maximum(other_counts)
  data.frame(
    credit = is_plurality[cell_index] / rowSums(is_plurality),
    weight = pattern_weights(x)[pattern_of_rating], rater = rating_rater(x)
  )[pattern_lengths(x)[pattern_of_rating] > 1L, ]
}
