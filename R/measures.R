# The registry of agreement measures: what agreement() can compute, and what it has to know of each.

# A measure is a list. kernel: its name in the core, or a function of R; form: what the kernel sees
# ("counts" of ratings, "ratings" by rater, the "table" of two raters); raters: 2 or Inf; least: how
# many raters a case needs to enter; weights: does it take scale_weights; metric: weights of its
# own; repeats: may a rater rate a case twice; default: when agreement() shows it unasked.
new_measure <- function(id, title, reference, kernel = id, form = "counts", lower = -1,
                        scale = "nominal", raters = Inf, least = 2L, weights = FALSE,
                        metric = "identity", repeats = FALSE, same_as = NA_character_,
                        default = "never") {
  list(
    id = id, title = title, reference = reference, kernel = kernel, form = form, lower = lower,
    scale = scale, raters = raters, least = least, weights = weights, metric = metric,
    repeats = repeats, same_as = same_as, default = default
  )
}

chance_family <- function(id, title, reference, ...) {
  new_measure(
    id, title, reference,
    kernel = "chance_kappa", weights = TRUE, repeats = TRUE, same_as = "chance_kappa", ...
  )
}

alpha_family <- function(scale, metric, kernel = "krippendorff_alpha") {
  new_measure(
    paste0("krippendorff_alpha_", scale), paste0("Krippendorff's alpha, ", scale),
    "Krippendorff (2004), Human Communication Research 30, 411-433",
    kernel = kernel, scale = scale, metric = metric
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
  chance_family(
    "bennett_s", "Bennett, Alpert and Goldstein's S",
    "Bennett, Alpert and Goldstein (1954), Public Opinion Quarterly 18, 303-308"
  ),
  chance_family(
    "brennan_prediger", "Brennan and Prediger's kappa",
    "Brennan and Prediger (1981), Educational and Psychological Measurement 41, 687-699"
  ),
  chance_family(
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
    "gwet_ac", "Gwet's AC1, AC2",
    "Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48",
    least = 1L, weights = TRUE, repeats = TRUE, default = "always"
  ),
  new_measure(
    "krippendorff_alpha", "Krippendorff's alpha",
    "Krippendorff (2004), Human Communication Research 30, 411-433",
    weights = TRUE, default = "always"
  ),
  alpha_family("ordinal", "identity", kernel = "krippendorff_alpha_ordinal"),
  alpha_family("interval", "quadratic"),
  alpha_family("ratio", "ratio"),
  new_measure(
    "bangdiwala_b", "Bangdiwala's B",
    "Munoz and Bangdiwala (1997), Journal of Applied Statistics 24, 105-112",
    form = "table", lower = 0, raters = 2, default = "two"
  ),
  new_measure(
    "yule_y", "Yule's Y", "Yule (1912), Journal of the Royal Statistical Society 75, 579-652",
    form = "table", scale = "binary", raters = 2, default = "two"
  ),
  new_measure(
    "information_agreement", "Information agreement, IA_C",
    "Casagrande, Fabris and Girometti (2020), doi:10.1109/BIBM49941.2020.9313173",
    form = "table", lower = 0, raters = 2, default = "two"
  ),
  new_measure(
    "information_agreement_plain", "Information agreement, IA",
    "Casagrande, Fabris and Girometti (2020), doi:10.1007/s11517-020-02261-2",
    form = "table", lower = 0, raters = 2
  ),
  new_measure(
    "specific_agreement", "Specific agreement on a category",
    "Cicchetti and Feinstein (1990), Journal of Clinical Epidemiology 43, 551-558",
    lower = 0, scale = "binary", repeats = TRUE, default = "category"
  )
)
names(built_in_measures) <- vapply(built_in_measures, `[[`, "", "id")

# What users registered in this session.
registered <- new.env(parent = emptyenv())

all_measures <- function() {
  own <- mget(sort(ls(registered)), envir = registered)
  c(built_in_measures, own)
}

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
#' It returns one number, `NA` where it is undefined. Errors come from calling it again: with a case
#' less (jackknife), or with other weights (bootstrap).
#'
#' @param id A name for the measure.
#' @param title A title.
#' @param kernel A function; see Kernels. `NULL` removes a measure that was registered.
#' @param form What the kernel is given.
#' @param range The smallest and the largest value; intervals end there.
#' @param raters `2`, or `Inf` for two or more.
#' @param reference Where the measure is published.
#' @return `measures()`: a tibble with columns `id`, `title`, `range`, `scale` (of the categories:
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
  upper <- vapply(all, function(m) m$upper %||% 1, 0)
  tibble::tibble(
    id = field("id", ""), title = field("title", ""),
    range = unname(paste(vapply(all, function(m) format(m$lower), ""), "to", format(upper))),
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
  call <- rlang::current_env()
  usable <- rlang::is_string(id) && nzchar(id) && !startsWith(id, ".")
  if (!usable || id %in% names(built_in_measures)) {
    abort_fallible("argument", c(
      "{.arg id} must be a name that no measure of the package has and that starts with no dot.",
      "x" = "It is {describe(id)}."
    ), arg = "id", call = call)
  }
  if (is.null(kernel)) {
    rm(list = intersect(id, ls(registered)), envir = registered)
    return(invisible(id))
  }
  form <- check_choice(form, c("counts", "ratings", "table"), "form")
  if (!is.function(kernel)) {
    abort_fallible("argument", c(
      "{.arg kernel} must be a function.", "x" = "It is {describe(kernel)}."
    ), arg = "kernel", call = call)
  }
  if (!(is.numeric(range) && length(range) == 2L && !anyNA(range) && range[[1L]] < range[[2L]])) {
    abort_fallible("argument", c(
      "{.arg range} must be two numbers, the smaller one first.", "x" = "It is {describe(range)}."
    ), arg = "range", call = call)
  }
  if (!(identical(as.double(raters), 2) || (identical(raters, Inf) && form != "table"))) {
    abort_fallible("argument", c(
      "{.arg raters} must be {.code 2}, or {.code Inf} for two or more.",
      "x" = "It is {describe(raters)}."
    ), arg = "raters", call = call)
  }
  measure <- new_measure(
    id, check_string(title, "title"), check_string(reference, "reference"),
    kernel = kernel, form = form, lower = range[[1L]], raters = as.double(raters),
    least = if (raters == 2) 2L else 1L
  )
  measure$upper <- range[[2L]]
  assign(id, measure, envir = registered)
  invisible(id)
}

# The measures asked for, or those that suit what is compared if nobody asked.
find_measures <- function(ids, view, settings, call) {
  known <- all_measures()
  if (is.null(ids)) {
    shown <- c("always", if (view$units == 2L) "two" else "many", if (view$binary) "category")
    suits <- function(m) m$default %in% shown && is.null(misfit(m, view, settings))
    return(Filter(suits, known))
  }
  off <- if (is.character(ids)) setdiff(ids, names(known))
  if (!is.character(ids) || length(ids) == 0L || anyNA(ids) || length(off) > 0L) {
    near <- Filter(function(id) {
      any(utils::adist(off, id) <= 2) || any(vapply(off, grepl, NA, id, fixed = TRUE))
    }, names(known))
    abort_fallible("measure", c(
      "{.arg measures} must be among the {.code id} of {.fun measures}.",
      "x" = if (length(off) > 0L) "There is no {.val {off}}." else "It is {describe(ids)}.",
      if (length(off) > 0L && length(near) > 0L) c("i" = "Did you mean {.val {near}}?")
    ), measure = ids, call = call)
  }
  found <- known[unique(ids)]
  for (measure in found) check_fit(measure, view, settings, call)
  found
}

check_fit <- function(measure, view, settings, call) {
  why <- misfit(measure, view, settings)
  if (!is.null(why)) {
    abort_fallible("measure", c(
      paste0("{.val {measure$id}} is not defined here: ", why[[1L]]),
      stats::setNames(why[-1L], rep("i", length(why) - 1L))
    ), measure = measure$id, call = call)
  }
}

# Why a measure is not defined for what is compared, and what to do instead; NULL if it is.
misfit <- function(measure, view, settings) {
  if (measure$raters == 2 && view$units != 2L) {
    c(
      paste0("it compares two raters, and there are ", view$units, "."),
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
  } else if (measure$id == "specific_agreement" && !view$binary) {
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
