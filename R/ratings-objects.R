# Converts user input to ratings. Most exported functions call as_ratings() on their argument `x`.

#' Conversion to ratings
#'
#' Converts data frames, matrices, tables and objects of other packages to a [ratings()] object: the
#' categories that *raters* gave to *cases*, and the answers of *systems* (classifiers to evaluate).
#' Functions that take ratings call `as_ratings()` on their first argument. To choose columns
#' yourself, call [ratings()].
#'
#' * A **matrix** has cases in rows and raters in columns.
#' * A **data frame** with the columns `case`, `rater` and `rating` has one row per rating. Any
#'   other data frame has one row per case. Columns whose names begin with `system` are then
#'   systems, `case` is the identifier of the case, and `weight` its weight. Other columns are
#'   raters, except those in section *Identifiers*.
#' * A **[table][base::table]** is the agreement matrix of two raters: rows are the categories of
#'   one rater, columns those of the other, and cells are numbers of cases.
#' * **Counts** of ratings (cases x categories) need `as_ratings(x, counts = everything())`.
#' * A **lazy table** of \pkg{dbplyr} is read like a data frame, see [ratings-database].
#' * A **[ratings()]** object is returned unchanged. For a **[crowdtruth()]** result, its ratings
#'   are returned. Answers with several labels are an error; [single_label()] converts them.
#'
#' @section Identifiers:
#' Other column names also give a column a role. [ratings()] uses the same rules if its argument
#' `raters` is a range or a pattern, such as `everything()`.
#' * Without a column `case`, a column called `id`, `item`, `unit`, `subject`, `doc_id`, `text_id`
#'   or similar, or a first column `X`, identifies the case. In data with one row per case, its
#'   values must differ in all rows. A second identifier, with repeated values, becomes a covariate
#'   (a property of cases).
#' * A column `truth` or `gold` is left out, with a message.
#' * A column `epoch`, `run`, `model` or `population` is a rater if it has the labels of the other
#'   raters; if this is not clear, an error asks for its role. `population` is a covariate if there
#'   are several other raters with at most two labels.
#'
#' @section Objects of other packages:
#' * **\pkg{quallmer}**: In `as_ratings(run1, run2, rating = sentiment)`, each run (class
#'   `qlm_coded`) is a rater, with the name of the argument or of the run. Its `rater_kind` (see
#'   [ratings()]) is `"expert"` for human coders, otherwise `"model"`. A run that is marked as gold
#'   becomes the `truth`.
#' * **\pkg{vitals}**: A `Task`, its samples or the result of `vitals_bind()` has a row per answer
#'   of the evaluated system. Each answer is a case, and its scorer is a rater. In
#'   `as_ratings(task1, task2)` the scorers rate the same cases if both tasks have the same answers
#'   to all samples.
#' * **\pkg{haven}**: Columns with value labels are read as factors. Declared missing values become
#'   missing ratings.
#' @srrstats {G2.4, G2.4a, G2.4b, G2.4c, G2.4d, G2.4e, G2.6} labels of any type are strings, with
#'   codes
#' @srrstats {G2.7, G2.8, G2.9} a generic; what cannot be converted, or loses something, is reported
#' @param x An object of a type in sections *Details* and *Objects of other packages*.
#' @param ... Arguments of [ratings()], such as `counts`, `categories` and `ordered`. For objects of
#'   other packages, also further objects of the same type.
#' @param rating For runs of \pkg{quallmer}: the column of the coded variable, or several columns.
#'   By default, the only variable; required if there are several.
#' @param votes For [ratings()] objects: if `TRUE`, the most frequent category replaces the ratings
#'   of each group of raters, and the reruns (repeated answers) of each rater, see [rater_groups].
#'   The default is `FALSE`.
#' @param arg Name of the argument `x` in error messages, a string, by default `"x"`. For functions
#'   that call `as_ratings()`.
#' @return A [ratings()] object. If `rating` selects several columns, a list of `ratings` objects,
#'   named by variable.
#' @family data
#' @examples
#' # A matrix, a data frame with one row per rating, and counts
#' as_ratings(cbind(r1 = c("a", "b", "a"), r2 = c("a", "b", "b")))
#' as_ratings(dawid1979[dawid1979$rater != "A1", ])
#' as_ratings(fleiss1971[-1], counts = everything())
#'
#' # An agreement matrix of two raters
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' as_ratings(agreement_matrix(x, "rater1", "rater2"))
#' @export
as_ratings <- function(x, ...) {
  check_call(dots = NULL)
  UseMethod("as_ratings")
}

#' @rdname as_ratings
#' @export
as_ratings.default <- function(x, ..., arg = "x") {
  refuse_evaluatellm(x, arg)
  abort_argument(arg, "must be ratings, a data frame or matrix of cases x raters, or an agreement
                       matrix of class {.cls table}.", not = x,
    i = conversion_hint(x) %||% "Make ratings with {.fun ratings}.")
}

#' @rdname as_ratings
#' @export
as_ratings.ratings <- function(x, ..., votes = FALSE, arg = "x") {
  check_dots_empty(...)
  x <- check_ratings_fields(x, arg)
  if (check_flag(votes, "votes")) with_votes(x) else x
}

#' @export
as_ratings.ratings_labels <- function(x, ..., arg = "x") {
  abort_fallible("labels",
    "{.arg {arg}} has answers with several labels; this method needs one category per rating.",
    i = c(
      "Convert {.arg {arg}} with {.fun single_label}: {.code single_label(x)} if every answer has
       one label, or {.code single_label(x, label = \"{x$categories[[1L]]}\")} to ask about one
       label. {.fun crowdtruth} accepts several labels.",
      "If the rows are independent repeats, call {.fun ratings} again with
       {.code repeats = \"ratings\"}."
    ))
}

#' @export
as_ratings.crowdtruth <- function(x, ..., arg = "x") {
  check_dots_empty(...)
  as_ratings(x$ratings, arg = arg)
}

#' @export
as_ratings.matrix <- function(x, ..., arg = "x") {
  if (is.object(x)) return(NextMethod())
  if (!gives_column_roles(...)) warn_counts(x)
  ratings(x, ...)
}

#' @export
as_ratings.table <- function(x, ..., arg = "x") {
  if (...length() > 0L) ratings(x, ...) else ratings_of_cell_counts(x, arg)
}

#' @export
as_ratings.data.frame <- function(x, ..., arg = "x") {
  refuse_evaluatellm(x, arg)
  if (inherits(x, classes_without_ratings)) return(NextMethod())
  if (gives_column_roles(...)) return(ratings(x, ...))
  if (is_vitals_task(x)) return(ratings_of_samples(list(x, ...), arg))
  x <- plain_columns(x)
  roles <- guess_roles(x, arg)
  warn_counts(x[roles$raters])
  for (name in roles$covariates) x[[name]] <- factor(x[[name]]) # populations
  inject(ratings(x, !!!roles, ...))
}

#' @rdname as_ratings
#' @export
as_ratings.qlm_coded <- function(x, ..., rating = NULL, arg = "x") {
  if (gives_column_roles(...)) ratings(x, ..., rating = {{ rating }}) else
    ratings_of_runs(list(x, ...), enquo(rating), arg)
}

#' @export
as_ratings.Task <- function(x, ..., arg = "x") {
  if (is_vitals_task(x)) ratings_of_samples(list(x, ...), arg) else NextMethod()
}

#' @export
as_ratings.tbl_lazy <- function(x, ..., arg = "x") {
  roles <- if (!gives_column_roles(...)) guess_roles(ask_database(dplyr::collect(head(x, 0L))), "x")
  inject(ratings(x, !!!roles, ...))
}

# Does `...` contain arguments of ratings() that select columns? Only the names of the arguments are
# checked. Their values are column names, which cannot be evaluated here.
gives_column_roles <- function(...) {
  argument_names <- names(substitute(list(...)))
  "case" %in% argument_names || !is_empty(layouts_with_arguments(argument_names))
}

# Warns if columns of ratings look like counts of ratings: they are whole numbers, all rows have the
# same sum, and there are zeros.
warn_counts <- function(columns) {
  is_count_column <- function(x) is_plain(x, "numeric") && !anyNA(x) && all(x >= 0 & x == round(x))
  columns <- as.list(as.data.frame(columns))
  if (length(columns) < 2L || !all(map_lgl(columns, is_count_column))) return()
  row_sums <- Reduce(`+`, columns)
  sums_are_equal <- length(row_sums) > 2L && all(row_sums == row_sums[[1L]]) && row_sums[[1L]] > 1
  warn_if(sums_are_equal && any(map_lgl(columns, function(x) 0 %in% x)), "labels",
    "Every row sums to {row_sums[[1L]]}, as if it contained counts of ratings.",
    i = "The columns are read as raters. If they are counts, use
        {.code as_ratings(x, counts = everything())}.", labels = names(columns))
}

# Classes of data frames in this package that do not contain ratings.
classes_without_ratings <- c(
  "ground_truth", "calibration", "agreement", "agreement_benchmark", "k_check"
)

# Converts `x` to ratings, and fails if there is only one rater.
as_ratings_of_several <- function(x, arg = "x") check_several_raters(as_ratings(x, arg = arg))

check_several_raters <- function(x) {
  abort_if(n_raters(x) < 2L,
    "raters", "At least two raters are needed to learn from their agreement.",
    x = if (is.null(x$voted$groups)) "Found only {.val {x$raters}}." else
      "All raters are in {.val {x$raters}}, which counts as one vote.",
    i = c(
      "Systems do not count as raters.",
      "With one rater, give {.arg known_truth} or {.arg known_raters} to {.fun estimate_accuracy} or
       {.fun fit_raters}."
    ), raters = x$raters)
  x
}

# Converts `x` to ratings by at least two raters. Unlike as_ratings_of_several(), accepts answers
# with several labels, and returns them unchanged.
as_any_ratings <- function(x) {
  if (inherits(x, "crowdtruth")) x <- x$ratings
  if (has_labels(x)) x else as_ratings_of_several(x)
}

# Converts an agreement matrix (categories of rater 1 x categories of rater 2), or a table with a
# dimension for each of several raters, to ratings. Each cell becomes a case, whose weight is the
# count in the cell.
ratings_of_cell_counts <- function(x, arg, categories = NULL, ordered = NULL) {
  check_text(c(unlist(dimnames(x)), names(dimnames(x))), arg)
  n_raters <- length(dim(x))
  abort_if(n_raters < 2L || n_distinct(dim(x)) > 1L || n_distinct(unname(dimnames(x))) > 1L,
    "table", "An agreement matrix must have the same categories in rows and columns.",
    x = "{.arg {arg}} is {paste(dim(x), collapse = ' x ')}.",
    i = c(
      "Give both raters the same levels: {.code table(factor(a, levels), factor(b, levels))}.
       A matrix of cases x raters must not be a {.cls table}.",
      "If it contains counts of ratings (cases x categories), use
       {.code as_ratings(x, counts = everything())}."
    ))
  abort_if(!is.numeric(x) || !all(is.finite(x)) || any(x < 0) || sum(x) == 0, "table",
    "The cells of an agreement matrix must be finite numbers of at least zero, not all zero.",
    i = "Correct the cells of {.arg {arg}}.")
  labels <- rownames(x) %||% as.character(row_numbers(x))
  cells <- expand.grid(
    setNames(rep(list(labels), n_raters), numbered_names("rater", n_raters)),
    stringsAsFactors = FALSE
  )
  cells$weight <- as.vector(unclass(x))
  ratings_of_cells <- ratings(
    cells, raters = seq_len(!!n_raters), weights = "weight", categories = categories %||% labels,
    ordered = ordered
  )
  rater_names <- names(dimnames(x))
  if (length(setdiff(rater_names, "")) == n_raters) ratings_of_cells$raters <- rater_names
  ratings_of_cells
}

# Returns a hint for the conversion of an object that as_ratings() does not accept; NULL if there is
# none.
conversion_hint <- function(x) {
  if (inherits(x, "formula")) {
    "Give columns as arguments, not as a formula: {.code ratings(data, raters = r1:r4)}."
  } else if (is.function(x)) {
    "There is no data object of this name, so R found a function of this name. Create the data
     object with {.fun ratings}."
  } else if (inherits(x, c("arrow_dplyr_query", "ArrowTabular", "Dataset", "dtplyr_step"))) {
    "Convert it with {.fun dplyr::collect}, or objects of arrow with {.fun arrow::to_duckdb}."
  } else if (is.object(x) && is.list(x) && is_ratings(unclass(x)$x)) {
    "Give the ratings that it was computed from."
  } else if (is.list(x) && !is.object(x)) {
    "Convert the list with {.fun as.data.frame}, and the data frame with {.fun ratings}."
  }
}

# Ratings from objects of other packages, which are recognised by their classes and columns.

# Fails for results of package evaluatellm (formerly evalkit): their scores are not answers.
refuse_evaluatellm <- function(x, arg) {
  abort_argument_if(any(grepl("^(evaluatellm|evalkit)_", class(x))), arg,
    "must contain answers or verdicts of raters, but it contains scores.", not = x,
    i = "Give the answers, or the verdicts of judges, to {.fun ratings}.")
}

# Calls ratings() on the data frame `columns`.
# * args: arguments that the user gave.
# * ...: arguments that were read from the object. `args` have precedence over them.
ratings_of_object <- function(columns, args, ...) {
  roles <- list(...)
  inject(ratings(columns, !!!roles[setdiff(names(roles), names(args))], !!!args))
}

# ---- quallmer: a run has a row per text and a column per variable of the codebook --------------

# Converts coding runs (objects of class "qlm_coded") to ratings. Each run is a rater; a run that is
# marked as gold is the truth.
# * dots: a list of the runs and of arguments of ratings(). The first run is the user's `x`.
# * rating: quosure of the names of the codebook's variables. With several variables, the result is
#   a list of ratings.
ratings_of_runs <- function(dots, rating, arg) {
  is_run <- map_lgl(dots, inherits, "qlm_coded")
  runs <- dots[is_run]
  # Variables of the codebook are columns that all runs have. Text columns without repeated values
  # are explanations, not variables.
  shared_columns <- Reduce(intersect, lapply(runs, names))
  shared_columns <- grep("^[.]|_tokens$|^cost$", shared_columns, value = TRUE, invert = TRUE)
  variable_names <- Filter(function(name) {
    x <- runs[[1L]][[name]]
    is.atomic(x) && (!is.character(x) || any_repeated(x))
  }, shared_columns)
  abort_argument_if(quo_is_null(rating) && length(variable_names) != 1L, "rating",
    "must name a variable of the codebook.", x = "The variables are {.val {shared_columns}}.",
    i = "For example {.code rating = {shared_columns[[1L]]}}, or {.code rating = everything()} for a
         list with ratings of each.")
  if (!quo_is_null(rating)) {
    selected_columns <- select_columns(runs[[1L]], rating, "rating")
    variable_names <- if (length(selected_columns) > 1L)
      intersect(selected_columns, variable_names) else selected_columns
  }
  if (length(variable_names) > 1L) {
    return(lapply(setNames(nm = variable_names), function(name) {
      ratings_of_runs(dots, quo(!!name), arg)
    }))
  }
  run_properties <- stack_rows(runs, read_run)
  run_names <- names2(runs)
  run_names <- make.unique(ifelse(nzchar(run_names), run_names, run_properties$name), " ")
  is_gold <- run_properties$gold & length(runs) > 1L
  abort_argument_if(sum(is_gold) > 1L || all(is_gold), arg,
    "must have at most one run that is marked as gold, and a run that is not.")
  cases <- unique(unlist(lapply(runs, function(run) unfactor(run$.id))))
  coded_columns <- lapply(runs, function(run) run[[variable_names]][match(cases, run$.id)])
  columns <- list2DF(c(setNames(coded_columns, run_names), list(.id = cases)))
  ratings_of_object(columns, dots[!is_run], raters = run_names[!is_gold], case = ".id",
    truth = if (any(is_gold)) run_names[is_gold],
    rater_kind = setNames(run_properties$kind, run_names)[!is_gold])
}

# Returns the properties of a run, a data frame with one row:
# * name: name of the run.
# * gold: is the run marked as gold?
# * kind: kind of the rater.
#
# The properties are in the attribute "meta" of the run. Before version 0.3 of quallmer, they were
# in the attribute "run".
read_run <- function(run) {
  old_meta <- attr(run, "run")
  new_meta <- attr(run, "meta")
  properties <- c(new_meta$user, new_meta$object, old_meta, old_meta$metadata)
  run_name <- setdiff(properties$name, "original")
  data.frame(
    name = c(run_name, properties$chat_args$name, "run")[[1L]], gold = isTRUE(properties$is_gold),
    kind = if (identical(properties$source, "human")) "expert" else "model"
  )
}

# ---- vitals: a row per answer of the evaluated system, with the score of a judge ----------------

is_vitals_task <- function(x) {
  if (inherits(x, "Task")) is.function(x$get_samples) else
    has_columns(x, c("id", "input", "target", "score")) ||
      has_columns(x, c("task", "id", "score", "metadata"))
}

# Returns ratings from tasks of package vitals. `dots`: a list of the tasks and of arguments of
# ratings(). If all tasks have the same answer to each sample, the samples are cases, and the
# scorers of the tasks are raters. Otherwise each answer of each task is a separate case.
ratings_of_samples <- function(dots, arg) {
  is_task <- map_lgl(dots, is_vitals_task)
  tasks <- dots[is_task]
  samples <- stack_rows(unname(
    Map(read_samples, tasks, names2(tasks), seq_along(tasks), arg)
  ))
  id_columns <- c("id", if (any(samples$epoch != 1)) "epoch")
  n_tasks <- n_distinct(samples$task)
  if (any_repeated(unique(samples[c(id_columns, "answer")])[id_columns])) {
    if (n_tasks > 1L) id_columns <- c("task", id_columns)
  } else if (n_distinct(samples$rater) < n_tasks) {
    samples$rater <- paste(samples$rater, samples$task)
  }
  verdict_labels <- c("N", "I", "P", "C")
  labels <- levels(samples$rating)
  ratings_of_object(samples, dots[!is_task], case = id_columns, rater = "rater", rating = "rating",
    categories = if (all(labels %in% verdict_labels))
      intersect(verdict_labels, c("I", "C", labels)),
    rater_kind = if (all(samples$model)) "model")
}

# Returns a data frame with a row per sample of `task`. The task may be a table in which
# vitals_bind() has combined several tasks. `name`: name of the task. `number`: its position, which
# replaces a missing name.
read_samples <- function(task, name, number, arg) {
  samples <- if (is.environment(task)) task$get_samples() else task
  if (!"input" %in% names(samples)) samples <- cbind(samples, stack_rows(samples$metadata))
  samples <- as.list(samples)
  abort_argument_if(!is.atomic(samples$score) || all(is.na(samples$score)), arg,
    "must have scores. Evaluate the task first.")
  scorer_name <- if (is.environment(task)) task$.__enclos_env__$private$scores$name
  judge <- or_null(samples[["scorer_chat"]][[1L]]$get_model())
  data.frame(
    id = unfactor(samples$id), epoch = samples[["epoch"]] %||% 1L,
    answer = as.character(samples[["result"]] %||% paste(number, seq_along(samples$id))),
    task = samples[["task"]] %||% if (nzchar(name)) name else paste("task", number),
    rater = paste(c(scorer_name %||% "scorer", judge), collapse = " "),
    rating = factor(
      samples$score, column_labels(samples$score), ordered = is.ordered(samples$score)
    ),
    model = !is.null(samples[["scorer_chat"]])
  )
}
