# Converts a rater_prior() to parameters of the sampler, given the ratings.

#' @srrstats {BS2.1, BS2.2, BS2.3, BS2.4, BS2.5} priors are checked against ratings before sampling
#' @noRd
NULL

# A list:
# * raters: by name, in the order of `x`: K x K Dirichlet parameters, truth in rows; c(right,
#   wrong) if errors are uniform; NULL for "partial"
# * system: the same, for a rater without a prior
# * others: "vague", "flat", "partial" or `"own"`
# * order: "mean", "each" or "none"
# * base_rates: populations x categories, Dirichlet parameters
# * text: strings: raters, a list by name with a string per row (or one), and base_rates
resolve_prior <- function(prior, x, model) {
  populations <- population_labels(population_table(model, x))
  check_class(prior, "rater_prior", "prior", "Make one with {.fun rater_prior}.")
  categories <- x$categories
  coin <- model$errors == "uniform"
  unknown <- setdiff(names(prior$raters), x$raters)
  abort_argument_if(unknown, "prior", "must name raters of {.arg x}.",
    x = "{.val {unknown}} {?is/are} not among {.val {x$raters}}.")
  kind <- if (is.list(prior$others)) "own" else prior$others
  plain <- plain_parameters(kind, length(categories), coin)
  system <- if (kind == "own") {
    resolve_law(prior$others, "others", plain, categories, coin)
  } else if (kind != "partial") {
    plain
  }
  # If only the sensitivity has a prior, the specificity has the prior of other raters.
  raters <- lapply(setNames(nm = x$raters), function(rater) {
    law <- prior$raters[[rater]]
    if (is.null(law)) system else resolve_law(law, rater, system %||% plain, categories, coin)
  })
  if (model$accuracy == "common") {
    stated <- unique(raters[names(prior$raters)])
    abort_if(length(stated) > 1L, "prior",
      "In this model all raters have the same parameters, so their priors must be equal.",
      x = "Those of {.val {names(prior$raters)}} differ.",
      i = "{.code rater_model(\"rater\")} lets raters differ.")
    if (length(stated) == 1L) raters[] <- stated
  }
  rates <- resolve_rates(prior$base_rates, populations, categories)
  list(
    raters = raters, system = system, others = kind, order = prior$order, base_rates = rates,
    text = list(raters = lapply(raters, law_words), base_rates = apply(rates, 1L, dirichlet_words))
  )
}

# Names of populations, which are rows of a table. Values are quoted if names would be equal.
population_labels <- function(table) {
  if (is.null(table)) return(NULL)
  words <- lapply(unname(as.list(table)), as_label)
  label <- function(words) do.call(paste, c(words, sep = ", "))
  if (anyDuplicated(label(words)) == 0L) return(label(words))
  label(lapply(words, encodeString, quote = "\""))
}

# The prior of a rater without information: flat, or vague with any other `name`.
plain_parameters <- function(name, n, coin) {
  if (coin) return(if (name == "flat") c(1, 1) else c(2.8, 1.2))
  if (name == "flat") matrix(1, n, n) else matrix_with_equal_errors(2.8, n, 1.2)
}

resolve_law <- function(law, rater, base, categories, coin) {
  n <- length(categories)
  abort_if(coin && !identical(names(law), "right"), "prior",
    "With uniform errors the prior of {.val {rater}} must be {.code list(right =)}.",
    x = "It has {.field {names(law)}}.",
    i = "With {.fun dawid_skene} raters have rows for each true category.")
  if (coin) return(law$right)
  if (!is.null(law$matrix)) {
    abort_if(nrow(law$matrix) != n, "prior", "The prior of {.val {rater}} must be a {n} x {n}
      matrix.", x = "It is {nrow(law$matrix)} x {ncol(law$matrix)}.")
    return(matrix(as.double(in_order_of(categories, law$matrix, rater)), n))
  }
  if (!is.null(law$right)) {
    out <- shares_of_wrong(law$wrong %||% rep(1, n), rater, categories) * law$right[[2L]]
    diag(out) <- law$right[[1L]]
    return(out)
  }
  abort_if(n != 2L, "prior", "The prior of {.val {rater}} is of a sensitivity or a specificity,
    which need two categories.", x = "{.arg x} has {n}.",
    i = "Use {.code list(right =)}, or a matrix.")
  if (!is.null(law$spec)) base[1L, ] <- law$spec
  if (!is.null(law$sens)) base[2L, ] <- rev(law$sens)
  base
}

# Relative probabilities of wrong ratings. Rows sum to one, with zero on the diagonal.
shares_of_wrong <- function(wrong, rater, categories) {
  n <- length(categories)
  abort_if(length(wrong) != n || !setequal(names(wrong) %||% categories, categories), "prior",
    "{.field wrong} of {.val {rater}} must be a number for each of {.val {categories}}.",
    not = wrong)
  if (!is.null(names(wrong))) wrong <- wrong[categories]
  out <- matrix(wrong, n, n, byrow = TRUE)
  diag(out) <- 0
  out / rowSums(out)
}

resolve_rates <- function(laws, populations, categories) {
  if (!is.null(names(laws))) {
    abort_argument_if(!setequal(names(laws), populations),
      "prior", "Base rates must have a prior for each population.",
      x = c(
        "Those of the prior are {.val {names(laws)}}.",
        if (is.null(populations)) "All cases of {.arg x} are of one." else
          "Those of {.arg x} are {.val {populations}}."
      ))
    laws <- laws[populations]
  }
  rows <- lapply(laws, resolve_rate_law, categories = categories)
  matrix(
    unlist(rows), max(length(populations), 1L), length(categories), byrow = TRUE,
    dimnames = list(populations, categories)
  )
}

resolve_rate_law <- function(law, categories) {
  n <- length(categories)
  abort_if(!is.null(law$beta) && n != 2L, "prior",
    "A Beta distribution of base rates needs two categories.", x = "{.arg x} has {n}.",
    i = "Give a Dirichlet parameter for each.")
  if (!is.null(law$beta)) return(rev(law$beta))
  given <- law$categories
  named <- !is.null(names(given))
  if (length(given) == 1L && !named) return(rep(as.double(given), n))
  # With two numbers it would be ambiguous which one is that of the positive category.
  ok <- length(given) == n &&
    if (named) setequal(names(given), categories) else n > 2L || length(unique(given)) == 1L
  abort_if(!ok, "prior",
    "The prior of base rates must be a number, or one for each of {.val {categories}} by name.",
    not = given,
    i = if (n == 2L) "{.code list(a, b)} is a Beta distribution of the second category.")
  as.double(if (named) given[categories] else given)
}

# ---- Words --------------------------------------------------------------------------------------

# "Beta(4.44, 13.31)": two decimals, or two significant digits if a number is below 0.1.
prior_words <- function(name, x) {
  numbers <- vapply(x, function(v) format(if (v < 0.1) signif(v, 2L) else round(v, 2L)), "")
  sprintf("%s(%s)", name, toString(numbers))
}

dirichlet_words <- function(x) {
  if (length(x) == 2L) prior_words("Beta", rev(x)) else prior_words("Dirichlet", x)
}

# With two categories the Beta distribution is that of a correct rating.
law_words <- function(parameters) {
  if (is.null(parameters)) return(others_words[["partial"]])
  if (!is.matrix(parameters)) return(prior_words("Beta", parameters))
  if (nrow(parameters) == 2L) parameters[1L, ] <- rev(parameters[1L, ])
  apply(parameters, 1L, dirichlet_words)
}
