#' @export
dim.ratings <- function(x) c(length(x$index), length(x$raters))

#' @export
dimnames.ratings <- function(x) list(as_label(x$cases), x$raters)

#' @export
`[.ratings` <- function(x, i, j, ...) {
  call <- rlang::current_env()
  keep_case <- if (missing(i)) seq_along(x$index) else find_subset(i, x$cases, "case", call)
  keep_rater <- if (missing(j)) seq_along(x$raters) else find_subset(j, x$raters, "rater", call)
  if (x$exchangeable && !missing(j)) {
    abort_fallible("argument", c(
      "The raters of {.arg x} have no identity; only their counts are known.",
      "i" = "Subset cases only."
    ), arg = "j", call = call)
  }
  if (length(keep_case) == 0L) {
    abort_fallible("empty", "At least one case must remain.", call = call)
  }
  if (length(keep_rater) < 2L) {
    raters <- x$raters[keep_rater]
    abort_fallible("raters", "At least two raters must remain.", raters = raters, call = call)
  }
  if (anyDuplicated(keep_rater) > 0L) {
    abort_fallible("argument", "A rater can be taken only once.", arg = "j", call = call)
  }
  new_rater <- match(seq_along(x$raters), keep_rater, nomatch = 0L)
  core <- core_patterns_subset(x$patterns, x$index[keep_case], new_rater)
  x$index <- core$index
  core$index <- NULL
  x$raters <- if (x$exchangeable) {
    as.character(seq_len(max(diff(core$start)))) # as many slots as a case still has
  } else {
    x$raters[keep_rater]
  }
  x$patterns <- c(core, raters = length(x$raters), categories = length(x$categories))
  x$cases <- x$cases[keep_case]
  if (!is.null(x$weights)) x$weights <- x$weights[keep_case]
  if (!is.null(x$truth)) x$truth <- subset_truth(x$truth, keep_case)
  if (!is.null(x$empty)) x$empty <- subset_empty(x$empty, keep_case, new_rater)
  x
}

# Positions of the elements that `i` asks for, by number, truth value or name.
find_subset <- function(i, names, what, call) {
  positions <- seq_along(names)
  found <- if (is.character(i)) {
    match(i, as_label(names))
  } else if (is.logical(i) && length(i) == length(names) && !anyNA(i)) {
    which(i)
  } else if (is.numeric(i) && !anyNA(i) && all(abs(i) <= length(names)) &&
    (all(i >= 0) || all(i <= 0))) {
    positions[i]
  } else {
    NA
  }
  if (anyNA(found)) {
    abort_fallible("argument", c(
      "There is no such {what}.",
      "i" = "Subset the {length(names)} {what}s by position, by name or by a logical vector of
             length {length(names)}."
    ), arg = what, call = call)
  }
  found
}

#' Ratings and predictions as tables
#'
#' @param x A [ratings()] object.
#' @param row.names,optional For consistency with the generic; tables have no row names.
#' @param what `"ratings"`: one row per rating. `"systems"`: one row per prediction. `"answers"`:
#'   one row per case and rater, with all labels of the answer.
#' @param ... Not used.
#' @return A tibble. For ratings, columns `case`, `rater` (missing where raters have no identity),
#'   `rating` (a factor with all categories as levels) and, if `x` has weights, `weight`. For
#'   systems, columns `case`, `system` and `prediction`. For answers, columns `case`, `rater` and
#'   `labels`, a list of factors, empty for an answer without labels; the other tables do not show
#'   such answers. Where raters have names, `ratings()` makes the same object from the tables again,
#'   save for cases and raters without any rating.
#' @family data
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' as.data.frame(x)
#' as.data.frame(x, what = "systems")
#' @export
as.data.frame.ratings <- function(x, row.names = NULL, optional = FALSE, # nolint: object_name.
                                  what = c("ratings", "systems", "answers"), ...) {
  if (!is.null(row.names)) {
    abort_fallible("argument", c(
      "The table has no row names.",
      "i" = "Did you mean {.code as.data.frame(x, what = \"systems\")}?"
    ), arg = "row.names", call = rlang::current_env())
  }
  what <- check_choice(what, c("ratings", "systems", "answers"), "what")
  if (what == "answers") {
    return(answer_table(x, rlang::current_env()))
  }
  if (what == "systems") {
    answer <- x$patterns$answer[x$index, , drop = FALSE]
    at <- which(answer > 0L, arr.ind = TRUE)
    return(tibble::tibble(
      case = x$cases[at[, 1L]],
      system = x$systems[at[, 2L]],
      prediction = category_factor(answer[at], x)
    ))
  }
  start <- x$patterns$start
  ratings <- diff(start)[x$index]
  at <- sequence(ratings, from = start[x$index] + 1L)
  row <- rep.int(seq_along(ratings), ratings)
  out <- tibble::tibble(
    case = x$cases[row],
    rater = if (x$exchangeable) NA_character_ else x$raters[x$patterns$rater[at]],
    rating = category_factor(x$patterns$category[at], x)
  )
  if (!is.null(x$weights)) out$weight <- x$weights[row]
  out
}

#' @rdname as.data.frame.ratings
#' @export
tidy.ratings <- function(x, what = c("ratings", "systems", "answers"), ...) {
  check_dots_empty(...)
  as.data.frame(x, what = what)
}

category_factor <- function(code, x) {
  factor(x$categories[code], levels = x$categories, ordered = x$ordered)
}

#' Counts of ratings
#'
#' `counts()` gives the classification matrix: how many raters chose each category for each case.
#' `agreement_matrix()` crosses the ratings of two raters, or of a rater and a system.
#'
#' @param x A [ratings()] object.
#' @param rater1,rater2 Names of two raters or systems.
#' @return `counts()`: an integer matrix, cases x categories. `agreement_matrix()`: a `table`,
#'   categories of `rater1` x categories of `rater2`, over the cases that both rated, weighted if
#'   `x` has weights.
#' @family data
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' counts(x)
#' agreement_matrix(x, "rater1", "system")
#' @export
counts <- function(x) {
  check_ratings(x)
  by_pattern <- table(
    factor(rating_pattern(x$patterns), levels = seq_len(length(x$patterns$start) - 1L)),
    factor(x$patterns$category, levels = seq_along(x$categories))
  )
  matrix(
    as.integer(by_pattern)[outer(x$index, (seq_along(x$categories) - 1L) * nrow(by_pattern), `+`)],
    ncol = length(x$categories), dimnames = list(as.character(x$cases), x$categories)
  )
}

#' @rdname counts
#' @export
agreement_matrix <- function(x, rater1, rater2) {
  check_ratings(x)
  check_single_label(x)
  given <- list(rater1 = rater1, rater2 = rater2)
  call <- rlang::current_env()
  answers <- Map(function(name, arg) unit_answers(x, name, arg, call), given, names(given))
  weight <- pattern_weights(x)
  both <- merge(answers[[1L]], answers[[2L]], by = "pattern")
  crossed <- stats::xtabs(
    weight ~ a + b,
    data = list(
      weight = weight[both$pattern], a = category_factor(both$category.x, x),
      b = category_factor(both$category.y, x)
    )
  )
  structure(
    unclass(crossed), class = "table", call = NULL,
    dimnames = stats::setNames(list(x$categories, x$categories), c(rater1, rater2))
  )
}

# What a rater or a system says in each pattern.
unit_answers <- function(x, name, arg, call) {
  units <- c(if (!x$exchangeable) x$raters, x$systems)
  if (!(rlang::is_string(name) && name %in% units)) {
    abort_fallible("argument", c(
      "{.arg {arg}} must name a rater or a system of {.arg x}.",
      "x" = "It is {describe(name)}.",
      "i" = if (x$exchangeable) {
        "The raters of {.arg x} have no identity; only their counts are known."
      } else {
        "They are {.val {units}}."
      }
    ), arg = arg, call = call)
  }
  if (!x$exchangeable && name %in% x$raters) {
    mine <- x$patterns$rater == match(name, x$raters)
    return(data.frame(
      pattern = rating_pattern(x$patterns)[mine], category = x$patterns$category[mine]
    ))
  }
  answer <- x$patterns$answer[, match(name, x$systems)]
  data.frame(pattern = which(answer > 0L), category = answer[answer > 0L])
}

#' @export
summary.ratings <- function(object, ...) {
  weight <- pattern_weights(object)
  total <- core_rater_counts(object$patterns, weight)
  used <- rowsum_codes(
    object$patterns$category, weight[rating_pattern(object$patterns)], length(object$categories)
  )
  fit <- if (object$repeats != "labels") core_fit_algebraic(object$patterns, weight)
  structure(
    list(
      x = object,
      agreement = fit$agreement %||% NA_real_,
      kappa = fit$kappa %||% NA_real_,
      raters = if (!object$exchangeable) {
        tibble::tibble(
          rater = object$raters, ratings = total$ratings,
          agreement = if (object$repeats != "labels") ratio(total$agreeing, total$pairs)
        )
      },
      categories = tibble::tibble(
        category = object$categories, ratings = used, share = used / sum(used)
      ),
      systems = summarise_systems(object, weight)
    ),
    class = "summary_ratings"
  )
}

# Each system: cases answered, those without ratings, and agreement with single ratings.
summarise_systems <- function(x, weight) {
  pattern <- rating_pattern(x$patterns)
  agreement <- function(s) {
    answer <- x$patterns$answer[pattern, s]
    shared <- answer > 0L
    agreeing <- shared & answer == x$patterns$category
    ratio(sum(weight[pattern][agreeing]), sum(weight[pattern][shared]))
  }
  answered <- x$patterns$answer > 0L
  rated <- rated_patterns(x)
  each <- function(extra) {
    vapply(seq_along(x$systems), function(i) count_cases(x, answered[, i] & extra), 0)
  }
  tibble::tibble(
    system = x$systems, cases = each(TRUE), unrated = each(!rated),
    agreement = vapply(seq_along(x$systems), agreement, 0)
  )
}

ratio <- function(a, b) ifelse(b > 0, a / b, NA_real_)

rowsum_codes <- function(code, weight, n) {
  out <- numeric(n)
  sums <- rowsum(weight, code)
  out[as.integer(rownames(sums))] <- sums[, 1L]
  out
}

#' @export
print.ratings <- function(x, ...) {
  info <- summary(x)
  cat_lines(
    format_header(x), format_agreement(info),
    if (length(x$systems) > 0L) format_systems(info),
    "", paste("Next:", next_step(x))
  )
  invisible(x)
}

next_step <- function(x) {
  if (x$repeats == "labels") {
    "crowdtruth(), counts(), as.data.frame()."
  } else if (length(x$systems) > 0L) {
    "fit_raters(), ground_truth(), estimate_accuracy(), plot()."
  } else {
    "fit_raters(), ground_truth(), summary(), plot()."
  }
}

format_header <- function(x) {
  ratings <- diff(x$patterns$start)[x$index]
  unrated <- sum(ratings == 0L)
  unused <- setdiff(seq_along(x$categories), x$patterns$category)
  raters <- if (x$exchangeable) {
    paste("up to", length(x$raters), "exchangeable raters")
  } else {
    count_noun(length(x$raters), "rater")
  }
  c(
    paste0(
      "<ratings> ", count_noun(length(x$index), "case"), ", ", raters, ", ",
      count_noun(length(x$categories), "category", "categories")
    ),
    paste0(
      "Categories: ", shorten(show_labels(x$categories), if (x$ordered) " < " else ", "),
      if (length(unused) > 0L) paste0("; nobody used ", shorten(x$categories[unused]))
    ),
    if (x$repeats == "labels") {
      format_answers(x)
    } else {
      paste0(
        count_noun(sum(ratings), "rating"), ", ", format_range(ratings), " per case",
        if (unrated > 0L) paste0("; ", count_noun(unrated, "case"), " without any"),
        if (x$repeats == "ratings") "; repeats by a rater are ratings of their own"
      )
    },
    if (!is.null(x$weights)) {
      if (weights_are_counts(x)) {
        paste("Rows have weights and stand for", count_noun(sum(x$weights), "case"))
      } else {
        "Rows have weights that are not counts: no standard errors or intervals"
      }
    }
  )
}

format_range <- function(n) {
  if (min(n) == max(n)) as.character(min(n)) else paste(min(n), "to", max(n))
}

format_agreement <- function(info) {
  if (info$x$repeats == "labels") {
    return(character())
  }
  if (is.na(info$agreement)) {
    return("No case was rated by two raters: agreement is unknown")
  }
  paste0(
    "Pairs of raters agree: ", percent(info$agreement), " (chance ",
    percent(1 / length(info$x$categories)), ", kappa ", decimals(info$kappa), ")"
  )
}

format_systems <- function(info) {
  systems <- info$systems
  shown <- utils::head(systems, 10L)
  c(
    paste0(count_noun(nrow(systems), "system"), ":"),
    paste0(
      "  ", format(shown$system), "  ", number(shown$cases),
      ifelse(shown$cases == 1, " case", " cases"),
      ifelse(shown$unrated > 0, paste0(" (", number(shown$unrated), " without ratings)"), ""),
      ", agrees with ", percent(shown$agreement), " of the ratings"
    ),
    if (nrow(systems) > 10L) paste0("  ... and ", nrow(systems) - 10L, " more")
  )
}

#' @export
print.summary_ratings <- function(x, ...) {
  cat_lines(format_header(x$x), format_agreement(x))
  print_table("Categories", x$categories)
  single <- x$x$repeats != "labels"
  print_table(if (single) "Raters (agreement with the others)" else "Raters", x$raters)
  if (nrow(x$systems) > 0L) print_table("Systems (agreement with raters)", x$systems)
  invisible(x)
}
