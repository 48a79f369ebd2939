# Makes ratings of objects of other packages, which are recognised by classes and columns.

# Results of evaluatellm (called evalkit before).
refuse_scores <- function(x, arg) {
  abort_argument_if(any(grepl("^(evaluatellm|evalkit)_", class(x))), arg,
    "must have answers or verdicts of raters, and scores are neither.", not = x,
    i = "Make ratings of the answers, or of the verdicts of judges, with {.fun ratings}.")
}

# Calls ratings(). Arguments that the user gives (`args`) replace those found in the object.
ratings_of_object <- function(columns, args, ...) {
  found <- list(...)
  rlang::inject(ratings(columns, !!!found[setdiff(names(found), names(args))], !!!args))
}

# ---- quallmer: a run has a row per text and a column per variable of its codebook --------------

# `given`: runs, and arguments of ratings(). `rating`: quosure of the variable.
ratings_of_runs <- function(given, rating, arg) {
  is_run <- vapply(given, inherits, NA, "qlm_coded")
  runs <- given[is_run]
  variable <- coded_variables(runs, rating)
  if (length(variable) > 1L) {
    return(lapply(stats::setNames(nm = variable), function(name) {
      ratings_of_runs(given, rlang::quo(!!name), arg)
    }))
  }
  facts <- list2DF(stack_tables(lapply(runs, read_run)))
  name <- rlang::names2(runs)
  name <- make.unique(ifelse(nzchar(name), name, facts$name), " ")
  gold <- facts$gold & length(runs) > 1L
  abort_argument_if(sum(gold) > 1L || all(gold), arg, "must have at most one run that is gold.")
  case <- unique(unlist(lapply(runs, function(run) unfactor(run$.id))))
  codes <- lapply(runs, function(run) run[[variable]][match(case, run$.id)])
  columns <- list2DF(c(stats::setNames(codes, name), list(.id = case)))
  ratings_of_object(columns, given[!is_run], raters = name[!gold], case = ".id",
    truth = if (any(gold)) name[gold], rater_kind = stats::setNames(facts$kind, name)[!gold])
}

# Names of the variables to read, which all runs contain. Strings that all differ are explanations
# instead of codes.
coded_variables <- function(runs, quo) {
  names <- Reduce(intersect, lapply(runs, names))
  names <- grep("^[.]|_tokens$|^cost$", names, value = TRUE, invert = TRUE)
  coded <- Filter(function(name) {
    x <- runs[[1L]][[name]]
    is.atomic(x) && (!is.character(x) || anyDuplicated(x) > 0L)
  }, names)
  if (!rlang::quo_is_null(quo)) {
    given <- select_columns(runs[[1L]], quo, "rating")
    return(if (length(given) > 1L) intersect(given, coded) else given)
  }
  abort_argument_if(length(coded) != 1L, "rating", "must name variables of the codebook.",
    x = "The variables are {.val {names}}.",
    i = "For example {.code rating = {names[[1L]]}}, or {.code rating = everything()} for a list
         with ratings of each.")
  coded
}

# Name, kind and gold status of a run. Before version 0.3 of quallmer, they were in the attribute
# "run".
read_run <- function(run) {
  old <- attr(run, "run")
  meta <- attr(run, "meta")
  about <- c(meta$user, meta$object, old, old$metadata)
  name <- setdiff(about$name, "original")
  list(
    name = c(name, about$chat_args$name, "run")[[1L]], gold = isTRUE(about$is_gold),
    kind = if (identical(about$source, "human")) "expert" else "model"
  )
}

# ---- vitals: a row per answer of the system that was evaluated, with the score of a judge ------

is_vitals <- function(x) {
  if (inherits(x, "Task")) return(is.function(x$get_samples))
  has_columns(x, c("id", "input", "target", "score")) ||
    has_columns(x, c("task", "id", "score", "metadata"))
}

# If all tasks have the same answers, their scorers are raters of the same cases. Otherwise each
# answer of each task is a case.
ratings_of_samples <- function(given, arg) {
  is_task <- vapply(given, is_vitals, NA)
  tasks <- given[is_task]
  tables <- Map(read_samples, tasks, rlang::names2(tasks), seq_along(tasks), arg)
  samples <- do.call(rbind, unname(tables))
  key <- c("id", if (any(samples$epoch != 1)) "epoch")
  tasks <- unique(samples$task)
  if (anyDuplicated(unique(samples[c(key, "answer")])[key]) > 0L) {
    if (length(tasks) > 1L) key <- c("task", key)
  } else if (length(unique(samples$rater)) < length(tasks)) {
    samples$rater <- paste(samples$rater, samples$task)
  }
  verdicts <- c("N", "I", "P", "C")
  labels <- levels(samples$rating)
  ratings_of_object(samples, given[!is_task], case = key, rater = "rater", rating = "rating",
    categories = if (all(labels %in% verdicts)) intersect(verdicts, c("I", "C", labels)),
    rater_kind = if (all(samples$model)) "model")
}

# Data frame of the samples of a task, or of several tasks that vitals_bind() has bound.
read_samples <- function(object, name, number, arg) {
  table <- if (is.environment(object)) object$get_samples() else object
  if (!"input" %in% names(table)) table <- cbind(table, do.call(rbind, table$metadata))
  table <- as.list(table)
  known <- is.atomic(table$score) && !all(is.na(table$score))
  abort_argument_if(!known, arg, "must have scores. Evaluate the task first.")
  scorer <- if (is.environment(object)) object$.__enclos_env__$private$scores$name
  judge <- or_null(table[["scorer_chat"]][[1L]]$get_model())
  data.frame(
    id = unfactor(table$id), epoch = table[["epoch"]] %||% 1L,
    answer = as.character(table[["result"]] %||% paste(number, seq_along(table$id))),
    task = table[["task"]] %||% if (nzchar(name)) name else paste("task", number),
    rater = paste(c(scorer %||% "scorer", judge), collapse = " "),
    rating = factor(table$score, column_labels(table$score), ordered = is.ordered(table$score)),
    model = !is.null(table[["scorer_chat"]])
  )
}
