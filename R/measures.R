# The registry of agreement measures: what agreement() can compute. Those of the package are in
# agreement-measures.R; here are those that users register, and what suits which ratings.

all_measures <- function() c(built_in_measures, registered("measure"))

#' Measures of agreement
#'
#' `measures()` lists what [agreement()] can compute. `register_measure()` adds a measure of your
#' own for the rest of the session, with jackknife and bootstrap errors.
#'
#' @section Kernels:
#' A kernel is a function of distinct cases and their weights, the number of cases that each stands
#' for, which may be zero. What it is given depends on `form`:
#' * `"counts"`: `kernel(counts, weights)`, `counts` a matrix of distinct cases x categories that
#'   holds numbers of ratings. Raters are exchangeable.
#' * `"ratings"`: `kernel(ratings, weights)`, `ratings` a matrix of distinct cases x raters that
#'   holds numbers of categories, `NA` where a rating is missing.
#' * `"table"`: `kernel(table)`, `table` the agreement matrix of two raters, over the cases that
#'   both rated; only for two raters.
#'
#' Arguments are given by place; what else the function takes needs defaults. It returns one number,
#' `NA` where it is undefined. Errors come from calling it again: with a case
#' less (jackknife), or with other weights (bootstrap).
#'
#' @param id A name for the measure.
#' @param title A title.
#' @param kernel A function; see Kernels. `NULL` removes a measure that was registered.
#' @param form What the kernel is given.
#' @param range The smallest and the largest value; intervals end there.
#' @param raters `2`, or `Inf` for two or more.
#' @param reference Where the measure is published.
#' @return `measures()`: a tibble with columns `id`, `title`, `range` (with `scale_weights`, or
#'   where cases have a single rating, those from -1 can be lower still), `scale` (of categories:
#'   `"nominal"`, `"ordinal"`, `"interval"`, `"ratio"` or, for measures of two categories,
#'   `"binary"`), `raters`, `weights` (does it take `scale_weights`?), `same_as` (of which measure
#'   it is another name, or `NA`), `reference`. `register_measure()`: its `id`, invisibly.
#' @family agreement
#' @examples
#' measures()
#'
#' # The share of cases on which all raters agree
#' register_measure("unanimous", "Unanimous cases", function(counts, weights) {
#'   agreed <- apply(counts, 1, max) == rowSums(counts)
#'   sum(weights * agreed) / sum(weights)
#' }, range = c(0, 1))
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' agreement(x, c("unanimous", "percent_agreement"), interval = "jackknife")
#' register_measure("unanimous", kernel = NULL)
#' @export
measures <- function() {
  all <- all_measures()
  field <- function(name, type) unname(vapply(all, `[[`, type, name))
  ends <- function(name) vapply(field(name, 0), format, "") # each by itself, not as a column
  tibble::tibble(
    id = field("id", ""), title = field("title", ""),
    range = paste(ends("lower"), "to", ends("upper")),
    scale = field("scale", ""), raters = ifelse(field("raters", 0) == 2, "2", "2 or more"),
    weights = field("weights", NA), same_as = field("same_as", ""),
    reference = field("reference", "")
  )
}

#' @rdname measures
#' @export
register_measure <- function(id, title, kernel, form = c("counts", "ratings", "table"),
                             range = c(-1, 1), raters = if (form == "table") 2 else Inf,
                             reference = "") {
  check_given(but = if (!missing(kernel) && is.null(kernel)) "title")
  call <- rlang::current_env()
  form <- check_choice(form, c("counts", "ratings", "table"), "form", call)
  register("measure", id, kernel, names(built_in_measures), call = call, make = function() {
    check_range(range, "numbers", finite = FALSE, call)
    if (!(identical(as.double(raters), 2) || (identical(raters, Inf) && form != "table"))) {
      abort_argument("raters", "must be {.code 2}, or {.code Inf} for two or more.", not = raters,
        call = call)
    }
    measure <- new_measure(
      id, check_string(title, "title", call), check_string(reference, "reference", call),
      kernel = kernel, form = form, lower = range[[1L]], upper = range[[2L]],
      raters = as.double(raters), least = if (raters == 2) 2L else 1L
    )
    check_kernel(kernel, form, if (form == "table") "table" else c(form, "weights"), call)
    measure
  })
}

# Titles of measures, by which they can be told apart; names are ids.
measure_titles <- function(ids) {
  known <- all_measures()
  ids <- unique(as.character(ids))
  titles <- vapply(ids, function(id) known[[id]]$title %||% id, "")
  shared <- titles %in% titles[duplicated(titles)]
  titles[shared] <- paste0(titles[shared], " (", ids[shared], ")")
  titles
}

# The measures asked for, or those that suit what is compared if nobody asked. In some views a
# measure may be undefined, but not in all.
find_measures <- function(ids, views, settings, call) {
  known <- all_measures()
  if (is.null(ids)) {
    one <- views[[1L]]
    shown <- c("always", if (one$judges == 2L) "two" else "many", if (one$binary) "category")
    suits <- function(m) m$default %in% shown && is.null(misfit_of_all(m, views, settings))
    return(Filter(suits, known))
  }
  found <- find_records("measure", ids, known, call)
  for (measure in found) check_fit(measure, views, settings, call)
  found
}

check_fit <- function(measure, views, settings, call) {
  why <- misfit_of_all(measure, views, settings)
  if (!is.null(why)) {
    abort_fallible("measure", c(
      paste0("{.val {measure$id}} is not defined here: ", why[[1L]]),
      stats::setNames(why[-1L], rep("i", length(why) - 1L))
    ), measure = measure$id, call = call)
  }
}

misfit_of_all <- function(measure, views, settings) {
  for (view in views) {
    why <- misfit(measure, view, settings)
    if (is.null(why)) {
      return(NULL)
    }
  }
  why
}

# Why a measure is not defined for what is compared, and what to do instead; NULL if it is.
misfit <- function(measure, view, settings) {
  if (measure$raters == 2 && view$judges != 2L) {
    c(
      paste0("it compares two raters, and there are ", view$judges, "."),
      "Use {.code agreement(pairwise = TRUE)}, take two raters with {.code x[, c(\"a\", \"b\")]}, or
       choose a measure for many raters, such as {.val fleiss_kappa}."
    )
  } else if (measure$form != "counts" && view$exchangeable) {
    c(
      "it needs to know who gave which rating, and raters have no identity.",
      "Measures for exchangeable raters are {.val fleiss_kappa}, {.val gwet_ac} and
       {.val krippendorff_alpha}."
    )
  } else if (!measure$repeats && view$repeated) {
    c(
      "a rater rated a case more than once.",
      "Repeats make no difficulty for {.val fleiss_kappa}, {.val chance_kappa} and
       {.val gwet_ac}; or keep one rating per rater and case."
    )
  } else if (measure$of_category && !view$binary) {
    c("it belongs to one category.", "Use {.code agreement(by_category = TRUE)}.")
  } else if (measure$scale == "binary" && length(view$labels) != 2L) {
    c(
      paste0("it needs two categories, and there are ", length(view$labels), "."),
      "Use {.code agreement(by_category = TRUE)} for each category against the others."
    )
  } else if (!measure$weights && !is.null(settings$scale_weights)) {
    c(
      "it takes no {.arg scale_weights}.",
      "{.code measures()$weights} tells which do."
    )
  }
}
