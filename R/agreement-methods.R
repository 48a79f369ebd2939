#' Tables and benchmarks of agreement results
#'
#' Extracts tables from an [agreement()] result `x`. One table contains benchmark levels, which are
#' names for ranges of kappa, such as "substantial" for 0.6 to 0.8.
#'
#' @section Benchmark levels:
#' The probability of a level is computed from a normal distribution that is truncated to \[-1, 1\]
#' (Gwet 2014). Before truncation, its mean is the estimate and its standard deviation the standard
#' error. The level *reached* is the highest level such that this level and all higher levels
#' together have a probability of at least `conf_level`, the argument of [agreement()]. Column
#' `benchmark` of `x` is the level reached on the scale of Landis and Koch.
#'
#' @return `tidy(x)`: a tibble with the rows and columns of `x`.
#'
#'   `tidy(x, "cases")`: a row per `case`, with the number of `ratings`, `agreement` (the share of
#'   pairs of ratings that agree, `NA` with fewer than two ratings) and the most frequent `category`
#'   (the first of tied categories).
#'
#'   `tidy(x, "coincidence")`: Krippendorff's coincidence matrix over all raters, a row per
#'   `category1` and `category2`. `n` is the number of ordered pairs of ratings of the same case in
#'   these categories. Pairs of a case with `m` ratings have weight `1 / (m - 1)`.
#'
#'   `tidy(x, "overlap")`: a row per `rater`, with the number of `ratings` and three shares of all
#'   cases: `coverage` (rated by this rater), `overlap` (rated by this and another rater) and
#'   `conflict` (another rater chose another category).
#'
#'   `tidy(x, "benchmark", scale = "landis-koch")`: a row for each estimate in `x` and each level of
#'   the scale, highest level first. Scales and the lower bounds of their levels are:
#'
#'   * `"landis-koch"` (the default): poor -1, slight 0, fair 0.2, moderate 0.4, substantial 0.6,
#'     almost perfect 0.8.
#'   * `"fleiss"` (Fleiss 1981): poor -1, intermediate to good 0.4, excellent 0.75.
#'   * `"altman"` (Altman 1991): poor -1, fair 0.2, moderate 0.4, good 0.6, very good 0.8.
#'   * `"krippendorff"` (Krippendorff 2004): unreliable -1, tentative 0.667 (only tentative
#'     conclusions can be drawn), reliable 0.8.
#'
#'   The first columns identify the estimate, as in `x`. The other columns are:
#'
#'   * `estimate`, `scale`, `level`; `lower`, `upper`: bounds of the level.
#'   * `membership`: probability of the level; `cumulative`: probability of this or a higher level.
#'   * `reached`: `TRUE` for the level reached, as defined in section *Benchmark levels*.
#'   * `reason`: why the probabilities are `NA`. Measures that are not corrected for chance have no
#'     levels.
#'
#'   `glance(x)`: a tibble with one row. Columns `measures`, `raters`, `cases`, `estimates` and
#'   `missing` are counts; `cases` is the largest number of cases used for an estimate, and
#'   `missing` the number of missing estimates. The other columns are the settings `pairwise`,
#'   `by_category`, `interval`, `conf_level`, `pooling`, `scale_weights` and `replicates` of
#'   [agreement()]. `conf_level` is `NA` without intervals, `replicates` is `NA` without the
#'   bootstrap.
#'
#'   `format(x)`: one line of text, such as `Fleiss' kappa 0.43 (90% interval 0.34 to 0.52)`.
#' @family agreement
#' @references Landis, J. R. and Koch, G. G. (1977). The measurement of observer agreement for
#'   categorical data. *Biometrics*, 33(1), 159--174. \doi{10.2307/2529310}
#'
#'   Fleiss, J. L. (1981). *Statistical Methods for Rates and Proportions*, 2nd edition. Wiley.
#'
#'   Altman, D. G. (1991). *Practical Statistics for Medical Research*. Chapman and Hall.
#'
#'   Krippendorff, K. (2004). *Content Analysis: An Introduction to Its Methodology*, 2nd edition,
#'   page 241. Sage.
#'
#'   Gwet, K. L. (2014). *Handbook of Inter-Rater Reliability*, 4th edition, chapter 6. Advanced
#'   Analytics.
#' @examples
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' result <- agreement(x)
#' tidy(result)
#' # Probabilities of the levels of Altman's scale
#' tidy(result, "benchmark", scale = "altman")
#' glance(result)
#' format(agreement(x, "fleiss_kappa"))
#' @usage
#' # tidy(x)
#' # tidy(x, "cases")
#' # tidy(x, "coincidence")
#' # tidy(x, "overlap")
#' # tidy(x, "benchmark", scale = "landis-koch")
#' # glance(x)
#' @name tidy.agreement
NULL

# Creates an agreement result from its table. `details`: list of the settings, the compared ratings
# (`views`, see new_judge_view()), and words for plots and printed sentences.
new_agreement <- function(table, details) {
  label_columns <- agreement_label_columns(table)
  details$views <- compared_views(table, details)
  part_column_names <- part_columns_of(table)
  if (!is_empty(part_column_names)) {
    details$header <- c(count_noun(length(details$views), part_column_names), paste0(
      names(details$views), ": ", map_chr(details$views, function(x) header_of_agreement(x)[[1L]])
    ))
    details$judges <- unique(unlist(lapply(details$views, `[[`, "names")))
  }
  new_result("agreement",
    again = new_agreement,
    tables = list(
      agreement = table, benchmark = tidy_benchmark,
      cases = function(x) stack_views(x, agreement_by_case),
      coincidence = function(x) stack_views(x, coincidences),
      overlap = function(x) stack_views(x, overlap_of_raters)
    ),
    about = details,
    facts = list(
      measures = n_distinct(table$measure), raters = length(details$judges),
      cases = sum(tapply(
        table$n, if (identical(part_column_names, "group")) table$group else 0 * table$n, max
      )),
      estimates = nrow(table), missing = sum(is.na(table$estimate)),
      pairwise = details$pairwise, by_category = details$by_category, interval = details$interval,
      conf_level = if (details$interval == "none") NA_real_ else details$conf_level,
      pooling = details$pooling, scale_weights = details$scale_name,
      replicates = if (details$interval == "bootstrap") details$replicates else NA_integer_
    ),
    line = if (nrow(table) != 1L) {
      shorten(paste(name_agreement_rows(table), format_decimals(table$estimate, 2L)), "; ")
    } else {
      paste(
        name_agreement_rows(table, measure_titles(table$measure, details$scale_name)),
        estimate_words(table, details$conf_level, function(value) format_decimals(value, 2L))
      )
    },
    caption = details$header[[1L]],
    head = c(
      details$header, if (details$pairwise) paste("Pairs of:", shorten(details$judges)),
      if (details$by_category) "Each category against all others"
    ),
    shown = view(
      table,
      c(label_columns, "estimate", if (any_known(table$std.error)) interval_columns, "n"),
      level = details$conf_level, left = seq_along(label_columns), most = 40L
    ),
    notes = agreement_notes(table, details), more = "tidy(what = \"benchmark\"), plot()"
  )
}

# Returns the views (compared ratings, see new_judge_view()) of the variables or groups in `table`.
compared_views <- function(table, details = attr(table, "about")) {
  is_in_table <- names(details$views) %in% unlist(table[part_columns_of(table)])
  if (!is_empty(is_in_table)) details$views[is_in_table] else details$views
}

# Returns the names of the columns that identify a row: variable or group, raters, category and
# measure.
agreement_label_columns <- function(x) {
  intersect(c(part_columns, "rater1", "rater2", "category", "measure"), names(x))
}

# Returns a name for each row of an agreement result, such as "cohen_kappa (rater1, rater2)".
name_agreement_rows <- function(x, measure = x$measure) {
  label_columns <- plain_data_frame(x)[setdiff(agreement_label_columns(x), "measure")]
  if (is_empty(label_columns)) return(as.character(measure))
  paste0(measure, " (", paste_columns(label_columns), ")")
}

# Returns the notes that are printed below the table, on missing values, intervals, unequal numbers
# of ratings, and scale weights.
agreement_notes <- function(table, details) {
  c(
    reason_notes(table, name_agreement_rows(table)),
    switch(details$interval,
      jackknife = "Interval: jackknife over cases",
      bootstrap = sprintf("Interval: case bootstrap, %s replicates", number(details$replicates)),
      analytic = if (any(table$method != "analytic")) {
        "Interval: analytic; jackknife for measures without an analytic one"
      }
    ),
    if (details$unequal) fill_template("Cases have different numbers of ratings; agreement is pooled
      over %s (see `pooling`)", details$pooling),
    weights_note(table, details), details$silent
  )
}

# Returns notes on scale weights (weights of pairs of categories). If the user gave weights, the
# note contains their name, and explains measures whose names are ambiguous. Without weights, the
# notes explain which measures give credit for near misses.
weights_note <- function(table, details) {
  measures <- as.character(table$measure)
  weights_name <- details$scale_name
  if (weights_name == no_weights_name) {
    if (isTRUE(details$by_category)) return(NULL)
    views <- details$views
    measure_scales <- map_chr(all_measures()[measures], `[[`, "scale")
    part_of_row <- unlist(table[part_columns_of(table)]) %||% ""
    notes <- unlist(Map(function(view, part) {
      scales <- measure_scales[part_of_row == part]
      is_nominal <- "nominal" %in% scales
      if (length(view$labels) < 3L) NULL else if (view$x$ordered) {
        if (is_nominal)
          "Categories are ordered, and only ordinal and weighted measures count near misses"
      } else if (has_numeric_categories(view$x)) {
        if (any(c("ordinal", "interval", "ratio") %in% scales)) one_line("Ordinal measures use the
          numbers of the categories. If the numbers are only codes, give `ordered = FALSE` to
          ratings()") else if (is_nominal)
          "Near misses do not count. If the numbers are a scale, give `ordered = TRUE` to ratings()"
      }
    }, views, names2(views)))
    # A note about only some of the variables or groups begins with their names.
    return(map_chr(unique(notes), function(note) {
      is_same_note <- notes == note
      prefix <- if (sum(is_same_note) < length(views))
        paste0(toString(names(notes)[is_same_note]), ": ")
      paste0(prefix, note)
    }))
  }
  paste0(
    "Scale weights: ", weights_name,
    if ("gwet_ac" %in% measures) "; gwet_ac is Gwet's AC2 with them (AC1 without)",
    if (weights_name == "ordinal" && "krippendorff_alpha" %in% measures) {
      "; Krippendorff's own ordinal alpha is another number, krippendorff_alpha_ordinal"
    }
  )
}

# Published names for ranges of agreement, with the lower bound of each range.
benchmark_scales <- list(
  "landis-koch" = c(
    poor = -1, slight = 0, fair = 0.2, moderate = 0.4, substantial = 0.6, `almost perfect` = 0.8
  ),
  fleiss = c(poor = -1, `intermediate to good` = 0.4, excellent = 0.75),
  altman = c(poor = -1, fair = 0.2, moderate = 0.4, good = 0.6, `very good` = 0.8),
  krippendorff = c(unreliable = -1, tentative = 0.667, reliable = 0.8)
)

# Returns the table of tidy(x, "benchmark"), for the confidence level of the agreement result.
tidy_benchmark <- function(x, ..., scale = names(benchmark_scales)) {
  check_dots_empty(...)
  scale <- check_choice(scale)
  abort_argument_if(!has_columns(x, c("measure", "estimate", "std.error")), "x",
    "must be a result of {.fun agreement} with all its columns.", not = x)
  benchmark_table(x, scale, attr(x, "about")$conf_level)
}

# Returns the probabilities of benchmark levels. The table has a row for each row of the agreement
# result `x` and each level, highest level first. The help page of tidy.agreement describes the
# columns.
benchmark_table <- function(x, scale, conf_level) {
  levels <- rev(benchmark_scales[[scale]])
  row <- rep(row_numbers(x), each = length(levels))
  lower <- rep(unname(levels), nrow(x))
  upper <- rep(c(1, unname(levels[-length(levels)])), nrow(x))
  level <- rep(names(levels), nrow(x))
  x <- plain_tibble(x)[row, ]
  measures <- unname(all_measures()[as.character(x$measure)])
  # Smallest and largest possible value of each measure. A measure that the user registered and
  # later removed is treated as if its values were from -1 to 1.
  measure_min <- map_dbl(measures, function(m) m$lower %||% -1)
  measure_max <- map_dbl(measures, function(m) m$upper %||% 1)
  p_below <- function(limit) pnorm(limit, x$estimate, x$std.error)
  p_in_range <- p_below(1) - p_below(-1)
  reason <- ifelse(measure_max == 1, first_reason(
    "no standard error" = is.na(x$estimate) | is.na(x$std.error),
    "the estimate is far from all levels" = p_in_range < 1e-8
  ), paste0("values go up to ", map_chr(measure_max, format), ", the benchmark scale to 1"))
  reason[measure_min >= 0] <- "not corrected for chance"
  membership <- replace((p_below(upper) - p_below(lower)) / p_in_range, !is.na(reason), NA)
  cumulative <- ave(membership, row, FUN = cumsum)
  reaches_conf_level <- cumulative >= conf_level
  tibble(
    x[agreement_label_columns(x)], estimate = x$estimate, scale, level, lower, upper, membership,
    cumulative,
    reached = reaches_conf_level %in% TRUE & !duplicated(data.frame(row, reaches_conf_level)),
    reason
  )
}

# Returns the benchmark level of each row of an agreement result, on the scale of Landis and Koch:
# the highest level that the measure reaches with probability `conf_level` or more; NA if there is
# none.
level_reached <- function(x, conf_level) {
  is_reached <- matrix(benchmark_table(x, "landis-koch", conf_level)$reached, ncol = nrow(x))
  rev(names(benchmark_scales[["landis-koch"]]))[apply(is_reached, 2L, match, x = TRUE)]
}

# ---- Tables of tidy(): agreement per case, coincidences of categories, overlap of raters ----

# Binds tables for all variables or groups of an agreement result. `make_table`: function that
# returns the table for a view, which contains the ratings of a variable or group (see
# new_judge_view()).
stack_views <- function(x, make_table) {
  part_column_names <- part_columns_of(x)
  views <- compared_views(x)
  if (is_empty(part_column_names)) return(make_table(views[[1L]]))
  bind_parts(structure(views, column = part_column_names), make_table)
}

# Returns the result of kernel_rows(). Its field `data` is a matrix of numbers of ratings, with a
# column per category. A row stands for all cases with the same ratings.
rows_of_counts <- function(view) kernel_rows(built_in_measures$fleiss_kappa, view)

# Returns the table of tidy(x, "cases"), with a row per case.
agreement_by_case <- function(view) {
  rating_rows <- rows_of_counts(view)
  counts <- rating_rows$data
  n_ratings <- rowSums(counts)
  row_of_case <- rating_rows$of_pattern[pattern_of_case(view$x)]
  row_of_case[row_of_case == 0L] <- NA
  tibble(
    case = view$x$cases, ratings = replace_na(n_ratings[row_of_case], 0),
    agreement = ratio(rowSums(counts * (counts - 1)), n_ratings * (n_ratings - 1))[row_of_case],
    category = view$labels[max.col(counts, "first")][row_of_case]
  )
}

# Returns Krippendorff's coincidence matrix as a table. In a case with m ratings, each ordered pair
# of ratings has the weight 1 / (m - 1).
coincidences <- function(view) {
  rating_rows <- rows_of_counts(view)
  n_ratings <- rowSums(rating_rows$data)
  row_weight <- ifelse(n_ratings > 1, rating_rows$weight / (n_ratings - 1), 0)
  weighted_counts <- rating_rows$data * row_weight
  coincidence_matrix <- crossprod(weighted_counts, rating_rows$data) -
    diag(colSums(weighted_counts), ncol(weighted_counts))
  columns_tibble(
    category1 = rep(view$labels, length(view$labels)),
    category2 = rep(view$labels, each = length(view$labels)), n = as.vector(coincidence_matrix)
  )
}

# Returns a table with a row per rater and three shares of all cases:
# * coverage: cases that the rater rated.
# * overlap: cases that the rater and another rater rated.
# * conflict: cases that the rater and another rater rated differently.
overlap_of_raters <- function(view) {
  check_named_raters(
    view$x, "what", "The overlap of raters needs the rater of each rating.", i = NULL
  )
  x <- view$x
  answers <- answers_by_pattern(x)[, seq_along(x$raters), drop = FALSE]
  is_rated <- !is.na(answers)
  counts <- pattern_counts(x)
  n_ratings <- rowSums(counts)
  n_equal_ratings <- counts[cbind(c(row(answers)), c(answers))]
  share_of_cases <- function(is_rated) colSums(is_rated * view$cases) / sum(view$cases)
  columns_tibble(
    rater = x$raters, ratings = colSums(is_rated * view$cases), coverage = share_of_cases(is_rated),
    overlap = share_of_cases(is_rated & n_ratings > 1),
    conflict = share_of_cases(is_rated & n_ratings > n_equal_ratings)
  )
}
