# Objects of other packages, known by their classes and columns, as ratings.

# Results of evaluatellm (called evalkit before).
refuse_scores <- function(x, arg) {
  abort_argument_if(any(grepl("^(evaluatellm|evalkit)_", class(x))), arg,
    "must have answers or verdicts of raters, and scores are neither.", not = x,
    i = "Scores of {.pkg evaluatellm} are about the correctness of answers. Make ratings of the
        answers of raters, or of the verdicts of judges, with {.fun ratings}.")
}

# The objects among arguments, with their names, and the other arguments.
split_objects <- function(given, is_object) {
  is_object <- vapply(given, is_object, NA)
  names <- rlang::names2(given)[is_object]
  list(objects = unname(given[is_object]), names = names, rest = given[!is_object])
}

# Names that users gave, or else those found; numbered where several are the same.
choose_names <- function(given, found) make.unique(ifelse(nzchar(given), given, found), " ")

# Columns of labels as one factor.
stack_labels <- function(columns) {
  factor(unlist(lapply(columns, as_label)), list_labels(columns),
    ordered = all(vapply(columns, is.ordered, NA)))
}

# Ratings of stacked data, with arguments of the user before those found.
ratings_of_stack <- function(columns, case, found, rest) {
  found <- found[setdiff(names(found), names(rest))]
  rlang::inject(ratings(
    list2DF(columns), case = !!case, rater = "rater", rating = "rating", !!!found, !!!rest
  ))
}

# ---- quallmer: a run has a row per text and a column per variable of its codebook --------------

#' @rdname as_ratings
#' @export
as_ratings.qlm_coded <- function(x, ..., rating = NULL, arg = "x") {
  if (names_columns(...)) return(ratings(x, ..., rating = {{ rating }}))
  given <- split_objects(list(x, ...), function(object) inherits(object, "qlm_coded"))
  variable <- coded_variable(given$objects, rlang::enquo(rating))
  runs <- lapply(given$objects, read_run, variable = variable)
  check_same_texts(runs)
  gold <- vapply(runs, `[[`, NA, "gold")
  abort_argument_if(sum(gold) > 1L, arg, "must have at most one run that is gold.")
  if (length(runs) == 1L) gold <- FALSE
  name <- choose_names(given$names, vapply(runs, `[[`, "", "name"))[!gold]
  truth <- runs[gold]
  runs <- runs[!gold]
  case <- unlist(lapply(runs, `[[`, "case"))
  codes <- lapply(c(runs, truth), `[[`, "codes")
  labels <- stack_labels(codes)
  columns <- list(
    case = case, rater = rep(name, lengths(lapply(runs, `[[`, "case"))),
    rating = labels[seq_along(case)]
  )
  found <- list(rater_kind = stats::setNames(vapply(runs, `[[`, "", "kind"), name))
  if (any(gold)) {
    columns$truth <- as_label(truth[[1L]]$codes)[match(case, truth[[1L]]$case)]
    found$truth <- "truth"
    unseen <- setdiff(truth[[1L]]$case, case)
    warn_if(unseen, "left_out", "Gold codes of texts that no run has coded were left out:
        {shorten(unseen)}.")
  }
  if (runs[[1L]]$level == "ordinal" && !any(vapply(codes, is.character, NA))) found$ordered <- TRUE
  ratings_of_stack(columns, "case", found, given$rest)
}

# One variable that all runs have. Texts of which none occurs twice are explanations.
coded_variable <- function(runs, quo) {
  names <- grep("^[.]|_tokens$|^cost$", Reduce(intersect, lapply(runs, names)), value = TRUE,
    invert = TRUE)
  columns <- lapply(stats::setNames(nm = names), function(name) lapply(runs, `[[`, name))
  columns <- Filter(function(values) all(vapply(values, is.atomic, NA)), columns)
  if (!rlang::quo_is_null(quo)) return(select_column(list2DF(lapply(columns, `[[`, 1L)), quo, "rating"))
  coded <- Filter(function(values) {
    values <- unlist(lapply(values, function(x) x[!is.na(x)]))
    !is.character(values) || anyDuplicated(values) > 0L
  }, columns)
  names <- names(if (length(coded) > 0L) coded else columns)
  abort_argument_if(length(names) != 1L, "rating", "must name one variable of the codebook.",
    x = "The variables of all runs are {.val {names(columns)}}.",
    i = if (length(names) > 1L) "For example {.code as_ratings(x, rating = {names[[1L]]})}.")
  names
}

# Runs keep their facts in the attribute "meta", and before version 0.3 in "run".
read_run <- function(run, variable) {
  old <- attr(run, "run")
  meta <- attr(run, "meta")
  about <- c(meta$object, old$metadata, list(
    chat_args = old$chat_args, input_type = attr(run, "input_type")
  ))
  codebook <- attr(run, "codebook") %||% old$codebook
  case <- unfactor(run$.id)
  texts <- attr(run, "data")
  ids <- names(texts) %||% if (length(texts) == length(case)) case else seq_along(texts)
  human <- inherits(run, "qlm_humancoded") || identical(about$source, "human")
  list(
    case = case, codes = run[[variable]], kind = if (human) "expert" else "model",
    name = meta$user$name %||% old$name %||% about$chat_args$name %||% "run",
    gold = isTRUE(about$is_gold), level = as.list(codebook$levels)[[variable]] %||% "",
    texts = if (is.character(texts) && !isTRUE(about$input_type %in% c("image", "audio")))
      stats::setNames(texts, ids)
  )
}

# Texts without names are numbered in each run, so that the same number may be another text.
check_same_texts <- function(runs) {
  texts <- unlist(lapply(runs, `[[`, "texts"))
  pairs <- unique(data.frame(id = names(texts), text = unname(texts)))
  other <- pairs$id[duplicated(pairs$id)]
  abort_if(other, "case", "Runs have different texts with the same {.field .id}.",
    x = "Among them is {.val {other[[1L]]}}.",
    i = "Give texts names of their own before they are coded.", row = other)
}

# ---- vitals: a row per answer of the system that was evaluated, with the score of one judge ----

#' @export
as_ratings.Task <- function(x, ..., arg = "x") {
  if (is_vitals(x)) ratings_of_samples(x, ..., arg = arg) else as_ratings.default(x, arg = arg)
}

is_vitals <- function(x) {
  if (inherits(x, "Task")) return(is.function(x$get_samples))
  is.data.frame(x) && (all(c("id", "input", "target", "score") %in% names(x)) ||
    all(c("task", "id", "score", "metadata") %in% names(x)))
}

verdicts <- c("N", "I", "P", "C")

ratings_of_samples <- function(x, ..., arg = "x") {
  given <- split_objects(list(x, ...), is_vitals)
  samples <- unlist(Map(read_samples, given$objects, given$names, arg), recursive = FALSE)
  field <- function(name) unlist(lapply(samples, `[[`, name), use.names = FALSE)
  columns <- list(id = field("id"), epoch = field("epoch"))
  answers <- unique(list2DF(c(columns, list(answer = field("answer")))))
  same <- length(samples) == 1L || (!anyNA(answers) && anyDuplicated(answers[1:2]) == 0L)
  rater <- if (same) choose_names(field("given"), field("rater")) else field("rater")
  n <- lengths(lapply(samples, `[[`, "id"))
  columns$task <- rep(choose_names(field("given"), field("task")), n)
  columns$rater <- rep(rater, n)
  columns$rating <- stack_labels(lapply(samples, `[[`, "score"))
  labels <- levels(columns$rating)
  if (all(labels %in% verdicts)) {
    columns$rating <- factor(columns$rating, intersect(verdicts, c("I", "C", labels)),
      ordered = is.ordered(columns$rating))
  }
  case <- c(if (!same) "task", "id", if (any(columns$epoch != 1)) "epoch")
  if (!same) inform_fallible("The tasks have different answers to a sample. Each answer is a case:
      {.code case = c({toString(case)})}.")
  kind <- stats::setNames(field("kind"), rater)[!duplicated(rater)]
  ratings_of_stack(columns, case, list(rater_kind = if (!anyNA(kind)) kind), given$rest)
}

# A list with the samples of each task: of one task, or of several that are bound together.
read_samples <- function(object, given, arg) {
  private <- if (is.environment(object)) object$.__enclos_env__$private
  table <- if (is.environment(object)) object$get_samples() else object
  bound <- !"input" %in% names(table)
  abort_argument_if(all(is.na(table[["score"]])), arg,
    "has samples without a score. Solve and score the task first.")
  tables <- if (bound) split(table, table$task) else stats::setNames(list(table), given)
  unname(Map(function(table, task) {
    details <- if (bound) do.call(rbind, lapply(table$metadata, function(row) {
      row[intersect(names(row), c("result", "scorer", "solver_chat", "scorer_chat"))]
    })) else table
    model <- function(chat) or_null(details[[chat]][[1L]]$get_model())
    scorer <- c(unlist(details[["scorer"]])[1L], private$scores$name, "scorer")[[1L]]
    machine <- "scorer_chat" %in% names(details) || grepl("^model_graded", scorer)
    list(
      id = unfactor(table$id), epoch = table[["epoch"]] %||% rep(1L, nrow(table)),
      answer = as.character(details[["result"]] %||% rep(NA, nrow(table))),
      score = table$score, given = task,
      rater = paste(c(scorer, sprintf("(%s)", model("scorer_chat"))), collapse = " "),
      task = model("solver_chat") %||% private$dataset_name %||% "task",
      kind = if (machine) "model" else if (grepl("^detect_", scorer)) "tool" else NA_character_
    )
  }, tables, names(tables)))
}
