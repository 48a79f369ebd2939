#' Read ratings from files
#'
#' Reads files of annotation tools, crowdsourcing platforms and evaluations of language models, and
#' returns a [ratings()] object: the categories that *raters* gave to *cases*, and the answers of
#' *systems* (classifiers to evaluate). Cases, raters, labels and truths are read as text, so
#' that a case `007` stays `"007"`. Other columns, such as weights and covariates, become numbers or
#' logicals if all their values can be converted.
#' @section Formats:
#' The last column of the table lists the columns that `case`, `rater` and `rating` select by
#' default. "The question", "the control" and "the column ..." mean the only column of labels. If
#' there are several, `rating` has no default and must be given. In evaluations, a value of `result`
#' identifies an answer of the evaluated model.
#'
#' | `format` | kind of file | `case`, `rater`, `rating` by default |
#' |---|---|---|
#' `r list_formats()`
#'
#' Nested fields of JSON have names with dots, such as `meta.judge`.
#'
#' Files may be compressed by gzip. Excel files need the package \pkg{readxl}. Formats based on JSON
#' need the package \pkg{jsonlite}. If several files are read, their rows are combined, and the
#' additional column `file` contains the name of the file of each row.
#'
#' @section Dropped rows and missing ratings:
#' `read_ratings()` drops:
#' * rows in which the case, the rater and the rating are all empty (in a table with a row per case:
#'   the case and all ratings);
#' * copies of a row that are equal in all columns, see `repeats` of [ratings()];
#' * assignments of crowdsourcing platforms that were rejected or not completed;
#' * answers of workers who failed Appen's test questions, and cancelled annotations (Label Studio).
#'
#' Verdicts that a tool could not parse, and answers that were not submitted, become missing
#' ratings. Warnings of class `fallible_warning_left_out` count the dropped rows and these missing
#' ratings.
#'
#' Labels in `na` also become missing ratings. A warning of class `fallible_warning_missing` lists
#' these labels, except `"NA"`. If you give `na`, the list is a message instead of a warning.
#'
#' Known answers in files of Appen and Toloka become the `truth` of the cases; `truth = NULL`
#' ignores the known answers.
#'
#' @section Cases in several files:
#' Equal identifiers in several files mean the same case if one of these conditions holds:
#' * The files are exports of annotation tools or crowdsourcing platforms.
#' * The files are tables or records, and cases are in the default column, `case`.
#' * Each file is a rater (`rater = file`).
#'
#' In evaluations of language models, equal identifiers mean the same case in files from the same
#' run of the evaluated model, and different cases in files from different runs.
#'
#' Otherwise, equal identifiers are an error of class `fallible_error_repeat`. This includes
#' evaluations that do not identify their run. To resolve the error, give `case = c(file, id)` for
#' different cases, or `file = list(same_cases = TRUE)` for the same cases.
#'
#' @section Evaluations of language models:
#' In results of evaluations (Inspect, promptfoo, DeepEval, OpenAI evals, lm-evaluation-harness),
#' the raters are the judges of the answers of the evaluated model. A judge has the kind `"tool"`
#' (see `rater_kind` of [ratings()]) if its name is that of a program, such as `exact` in Inspect.
#' All judges of lm-evaluation-harness are tools. Other judges have the kind `"model"`. A message
#' lists the kinds.
#'
#' In a log of Inspect, a sample is a task for the evaluated model, which may be run several times.
#' The identifier of the sample becomes the covariate `sample`. If samples were run several times,
#' give `resampling = list(cluster = "sample")` to [estimate_accuracy()].
#'
#' @section Untrusted files:
#' Code in files is never run. An archive (`.eval`, `.xlsx`) with links or unsafe paths is an error
#' of class `fallible_error_archive`. Sizes of files are limited, see [fallible-limits].
#' @srrstats {UL1.4b} examples are files as tools write them
#' @param path Path of a file or of a folder, or a vector of paths of files. If the vector has
#'   names, column `file` contains these names in place of file names. A folder must contain
#'   `ratings.csv` or `ratings.csv.gz`, or files of only one type.
#' @param format Name of the format of the file, a string from section *Formats*. `NULL`, the
#'   default, detects it.
#' @param case,rater,rating,raters,counts Columns, quoted or not. A table with a row per rating
#'   needs `case`, `rater` and `rating`; section *Formats* lists their defaults. A table with a row
#'   per case needs `raters`, a column for each rater. A table of counts needs `counts`, a column
#'   for each category with the number of its ratings.
#' @param systems The systems. `TRUE`, the default: systems in the file and, for a table
#'   of text (`"csv"`), the predictions in the file `systems.csv` or `systems.csv.gz` of its folder.
#'   `FALSE`: no systems. Otherwise one of: names of raters that are systems;
#'   columns of a table with a row per case; a data frame or file of predictions. Predictions have
#'   the columns `case`, `system` and `prediction`, or the names given in `case`, `rater` and
#'   `rating`.
#' @param na Labels that mean a missing rating or an unknown truth. Capitals and blanks are ignored.
#'   Empty fields are always missing. If `"+"` is a label in the file, `"-"` is not missing by
#'   default. Your labels replace the default: to add `"99"`, give `c("NA", "n/a", "-", "?", "99")`.
#' @param clean_labels If `TRUE`, merges labels that differ only in capitals and blanks, and removes
#'   blanks at the ends of names of cases, raters and systems; by default `FALSE`.
#' @param file A list of settings for unusual tables:
#'   * `sep`: character between columns, detected by default. With `";"`, decimal commas are read.
#'   * `encoding`: encoding of the text, if not UTF-8 or UTF-16; `skip`: lines above the table.
#'   * `sheet`, `range`: name or number of the sheet of an Excel file (by default the first), and
#'     its cells, such as `"A3:D20"`.
#'   * `same_cases`: are equal identifiers in several files the same case? By default `FALSE`.
#' @param abstain Labels of replies that are no category, such as `"cannot tell"`, see [ratings()].
#'   Argument `na` does not apply to these labels.
#' @param ... Other arguments of [ratings()], such as `categories`, `ordered`, `repeats`, `weights`,
#'   `rater_kind` and `rater_groups`. Columns for groups of cases, such as a site, must be given as
#'   `covariates`; columns without a role are not kept.
#' @return A [ratings()] object; a list of such objects if `rating` or `raters` selects several
#'   variables. A file that cannot be read is an error of class `fallible_error_file`.
#' @family data
#' @examples
#' # A table with columns case, rater and rating
#' file <- tempfile(fileext = ".csv")
#' utils::write.csv(dawid1979, file, row.names = FALSE)
#' read_ratings(file, repeats = "ratings")
#'
#' # A table with other column names, where one of the raters is a model
#' writeLines(c(
#'   "item;who;verdict", "1;ann;good", "1;bob;good", "1;gpt-4o;good",
#'   "2;ann;bad", "2;bob;Bad", "2;gpt-4o;-", "3;ann;good", "3;bob;bad", "3;gpt-4o;bad"
#' ), file)
#' read_ratings(
#'   file, case = item, rater = who, rating = verdict, systems = "gpt-4o", clean_labels = TRUE
#' )
#' @export
read_ratings <- function(path, format = NULL, case = NULL, rater = NULL, rating = NULL,
                         systems = TRUE, na = c("", "NA", "n/a", "-", "?"), clean_labels = FALSE,
                         raters = NULL, file = list(), counts = NULL, abstain = NULL, ...) {
  check_call(dots = NULL)
  check_flag(clean_labels, "clean_labels")
  is_na_given <- !missing(na)
  if (is.numeric(na)) na <- as_label(na)
  file_settings <- check_file_settings(file, na)
  mapping <- enquos(
    case = case, rater = rater, rating = rating, raters = raters, counts = counts
  )
  repeats <- value_of_argument(enquos(...)$repeats)
  settings <- c(file_settings, list(
    format = format, scratch = withr::local_tempdir(),
    keep = new_column_selector(mapping, enquos(systems, ...)),
    named = names_in_expressions(mapping), labels = identical(repeats, "labels"),
    na_given = is_na_given
  ))
  files <- find_files(path)
  read_all <- function() {
    c(read_files(files, replace(settings, "keep", list(identity))), is_complete = TRUE)
  }
  # If repeated ratings are allowed, all columns are read. ratings() then looks for columns that
  # differ between repeats, such as the version of the evaluated system.
  contents <- if (any(repeats %in% c("ratings", "reruns"))) or_null(read_all())
  contents <- contents %||% read_files(files, settings)
  # If a named column does not exist, all columns are read, so that the error can list them.
  if (!all(settings$named %in% c("file", names(contents$table)))) contents <- read_all()
  if (!is.null(abstain)) na <- setdiff(na, as_label(abstain))
  convert_files <- function(contents) {
    ratings_from_contents(
      contents, mapping, enquo(systems), settings, na, clean_labels, abstain = abstain, ...
    )
  }
  # If ratings or cases are repeated, a second attempt reads all columns, in order to find copies of
  # rows. Warnings and messages of the first attempt are not shown again.
  log_of_first_attempt <- env()
  keep_message <- function(cnd) {
    log_of_first_attempt$messages <- c(log_of_first_attempt$messages, conditionMessage(cnd))
  }
  muffle_repeats <- function(cnd) {
    if (conditionMessage(cnd) %in% log_of_first_attempt$messages) rlang::cnd_muffle(cnd)
  }
  try_conversion <- function() {
    withCallingHandlers(convert_files(contents), warning = keep_message, message = keep_message)
  }
  read_again <- function(cnd) {
    contents <- or_null(read_all()) %||% cnd_signal(cnd)
    withCallingHandlers(convert_files(contents), warning = muffle_repeats, message = muffle_repeats)
  }
  tryCatch(try_conversion(), fallible_error_repeat = read_again, fallible_error_case = read_again)
}

# Converts the contents of files to ratings or, with several variables, to a list of ratings.
# * contents: result of read_files().
# * mapping, systems: quosures of arguments of read_ratings().
# * settings: settings of the reader, see open_input().
# * ...: arguments of ratings().
ratings_from_contents <- function(contents, mapping, systems, settings, na, clean_labels = FALSE,
                                  ...) {
  dots <- enquos(...)
  if (describes_long_data(c(mapping, dots))) mapping <- add_default_columns(mapping, contents)
  columns <- Map(
    function(quo, arg) mapped_columns(contents, quo, arg), mapping, names(mapping)
  )
  is_default_case <- identical(unname(columns$case), contents$map$case)
  contents$table <- resolve_cases(contents, columns, is_default_case, isTRUE(settings$same_cases))
  system_input <- find_systems(systems, contents, c(mapping, dots), settings)
  if (is_quosure(system_input$columns))
    columns$systems <- mapped_columns(contents, system_input$columns, "systems")
  check_files(contents, columns)
  table <- drop_rows(system_input$ratings %||% contents$table, contents, columns)
  truth_columns <- if (!"truth" %in% names(dots))
    contents$truths[names(contents$truths) %in% columns$rating]
  columns$truth <- truth_columns %||% mapped_columns(contents, dots$truth %||% quo(NULL), "truth")
  tables <- list(ratings = blank_ids_to_na(table, columns))
  if (!is.null(system_input$table)) tables$systems <- as.list(system_input$table)
  tables <- resolve_labels(tables, columns, na, clean_labels, isTRUE(settings$na_given))
  if (!is_default_case) contents$covariates <- NULL
  is_multilabel <- isTRUE(settings$labels)
  tables$ratings <- convert_columns(tables$ratings, columns, contents, is_multilabel)
  tables$ratings <- keep_known_truths(tables$ratings, truth_columns, dots, is_multilabel)
  implied_arguments <-
    settings_from_files(contents, tables$ratings, columns, system_input$columns, names(dots))
  systems <- if (is.null(tables$systems)) system_input$columns else list2DF(tables$systems)
  ratings_data <- structure(
    list2DF(tables$ratings), na_labels = as.character(na),
    is_partial = is.null(contents$is_complete),
    no_key = if (!is_empty(contents$key)) "file"
  )
  x <- inject(ratings(ratings_data, !!!mapping, systems = !!systems, !!!implied_arguments,
    clean_labels = clean_labels && is_empty(columns$counts), ...))
  variables <- if (is.object(x)) list(x) else x
  warn_similar_names(unique(unlist(lapply(variables, function(x) as_label(x$cases)))), "case")
  # With `rows = "ratings"`, vectors are never matched to cases by position. The user has no data
  # frame in which row i is case i.
  variables <- lapply(variables, replace, "rows", "ratings")
  if (is.object(x)) variables[[1L]] else variables
}

# Returns the default of the argument `na`, the usual codes for missing ratings.
default_na <- function() eval(formals(read_ratings)$na)

check_file_settings <- function(file, na) {
  file <- check_settings_list(
    file, "file", c("sep", "encoding", "sheet", "skip", "range", "same_cases")
  )
  check_count(file$skip %||% 0, "skip", 0L)
  check_string(file$range %||% "", "range")
  check_flag(file$same_cases %||% FALSE, "same_cases")
  sep <- file[["sep"]] %||% ","
  abort_argument_if(!is_string(sep) || !nchar(sep, allowNA = TRUE) %in% 1L, "sep",
    "must be one character.", not = sep)
  abort_argument_if(!is.null(na) && !(is.character(na) && all(validEnc(na))), "na",
    "must be strings with a valid encoding.", not = na)
  encoding <- check_string(file[["encoding"]] %||% "UTF-8", "encoding")
  abort_argument_if(!encoding %in% c("UTF-8", "latin1", iconvlist()), "encoding",
    "must be one of the encodings that {.fun iconvlist} lists.", not = encoding)
  file
}

# Returns a function that selects columns: given the names of all columns of a file, it returns the
# names of the columns to read. To save memory, these are only the columns that arguments name, and
# columns called case, rater or rating. In two situations all columns are read:
# * an argument calls a function such as starts_with();
# * data are long, and `rater` or `rating` is not given.
new_column_selector <- function(mapping, dots) {
  quos <- c(mapping, dots)
  named_columns <- names_in_expressions(quos)
  called_functions <- setdiff(unlist(lapply(lapply(quos, quo_get_expr), all.names)), named_columns)
  has_all_roles <- !describes_long_data(quos) ||
    all(c("rater", "rating") %in% given_argument_names(mapping))
  if (has_all_roles && all(called_functions %in% c("c", "`")))
    function(names) intersect(names, c(named_columns, "case", "rater", "rating")) else identity
}

find_files <- function(path) {
  if (!is.character(path) || is_empty(path) || !all(file.exists(path))) {
    missing_path <- if (is.character(path)) path[!file.exists(path)][1L] else path
    abort_fallible("file", "{.arg path} must be a folder, or files, that exist.",
      not = missing_path, path = missing_path)
  }
  if (length(path) > 1L || !dir.exists(path)) return(path)
  file <- find_file(path, "ratings")
  if (!is.null(file)) return(file)
  file_pattern <- "[.](csv|tsv|xlsx|xls|json|jsonl|ndjson|eval)([.]gz)?$"
  files <- sort_strings(list.files(path, file_pattern, full.names = TRUE, ignore.case = TRUE))
  extensions <- unique(tools::file_ext(sub("[.]gz$", "", fold_case(files))))
  abort_if(length(extensions) != 1L, "file", "The folder must contain {.file ratings.csv} or
      {.file ratings.csv.gz}, or files of one type.",
    x = c(
      "The folder is {.file {path}}.", if (!is_empty(files)) "It has {.file {basename(files)}}."
    ), path = path)
  files
}

find_file <- function(folder, stem) {
  Find(file.exists, file.path(folder, paste0(stem, c(".csv", ".csv.gz"))))
}

read_files <- function(files, settings) {
  file_contents <- lapply(files, read_file, settings = settings)
  file_names <- map_chr(file_contents, `[[`, "name")
  file_names <- ifelse(file_names %in% repeated_values(file_names), files, file_names)
  file_names <- ifelse(nzchar(names2(files)), names(files), file_names)
  n_rows <- lengths(lapply(file_contents, function(file) file$table[1L][[1L]]))
  tables <- Map(function(file, name, n) {
    table <- file$table
    needs_file_column <- length(files) > 1L || "file" %in% c(unlist(file$map), settings$named)
    if (needs_file_column && is.null(table[["file"]])) table[["file"]] <- rep(name, n)
    table
  }, unname(file_contents), file_names, n_rows)
  collect_field <- function(field) unlist(lapply(unname(file_contents), `[[`, field))
  case_keys <- collect_field("key")
  contents <- file_contents[[1L]]
  contents$files <- setNames(lapply(tables, names), files)
  contents$table <- bind_tables(tables)
  contents$from <- rep(files, n_rows)
  contents$key <- if (length(case_keys) == sum(n_rows) && !anyNA(case_keys)) case_keys
  contents$map$systems <- unique(unlist(lapply(file_contents, function(file) file$map$systems)))
  contents$decimal_mark <- unique(collect_field("decimal_mark"))
  contents$notes <- collect_field("notes")
  truths <- collect_field("truths")
  contents$truths <- truths[!duplicated(names(truths))]
  contents
}

read_file <- function(file, settings) {
  input <- open_input(file, settings)
  format <- find_format(input, settings$format)
  input$failed <- format$failed
  # An error of the reader means that the file is not valid in this format.
  contents <- handle_foreign_error(format$read(input), function(cnd) {
    abort_file(input, "cannot be read as {format$words}.", x = "{conditionMessage(cnd)}",
      i = "If the file has another format, give it as {.arg format}.")
  })
  contents$notes <- c(input$notes, contents$notes)
  if (input$kind == "text" && csv_separator(input) == ";") contents$decimal_mark <- ","
  c(contents, list(name = input$name, format = format, path = file))
}

# ---- Roles of columns, identifiers of cases, and systems ------------------------------------

# Completes `mapping`, the quosures of arguments that name columns. If the user did not give `case`,
# `rater` or `rating` (long data), the file format determines the column.
add_default_columns <- function(mapping, contents) {
  for (arg in setdiff(c("case", "rater", "rating"), given_argument_names(mapping))) {
    rating_choices <- if (arg == "rating") contents$choices
    abort_if(!any(contents$map[[arg]] %in% names(contents$table)), "file",
      "Give {.arg {arg}}, the name of the column that contains the {arg} of each row.",
      x = "The file looks like {contents$format$words}, with the columns
          {.val {names(contents$table)}}.",
      i = c(
        if (!is_empty(rating_choices)) "The column may be {.or {.val {rating_choices}}}.",
        "A table with a row per rating needs {.arg case}, {.arg rater} and {.arg rating}. A table
         with a column per rater needs {.arg raters}. A table of counts, with a column per category,
         needs {.arg counts}.",
        escape_braces(contents$notes)
      ),
      path = contents$path)
    mapping[[arg]] <- as_quosure(contents$map[[arg]], baseenv())
  }
  mapping
}

# Fails if a file lacks a used column that other files have. Its values would silently be missing.
check_files <- function(contents, columns) {
  for (arg in names(columns)) {
    for (path in names(contents$files)) {
      lacking_columns <- setdiff(columns[[arg]], contents$files[[path]])
      abort_file_if(lacking_columns, list(path = path),
        "lacks the column {toString(dQuote(lacking_columns, FALSE))}.",
        x = "The argument `{arg}` needs it, and other files have it.",
        i = "Give the column the same name in all files, or read the files one by one.")
    }
  }
}

# Returns the names of the columns that an argument selects, for all variables of a codebook.
mapped_columns <- function(contents, quo, arg) {
  if (quo_is_call(quo, "list"))
    quo <- quo_set_expr(quo, call2("c", !!!unname(call_args(quo))))
  select_columns(list2DF(contents$table), quo, arg, contents$notes)
}

# Makes case identifiers unique over several files, and returns the table. Fails if equal
# identifiers in two files may be different cases.
# * is_default_case: is `case` the default column of the format?
# * same_cases: did the user declare that equal identifiers are the same case?
resolve_cases <- function(contents, columns, is_default_case, same_cases) {
  table <- contents$table
  case_columns <- columns$case
  is_evaluation_log <- !is.null(contents$format$programs)
  if (length(contents$files) < 2L || is_empty(case_columns)) return(table)
  # Rows with equal keys (see new_format()) get the same identifier; other rows get different ones.
  if (is_default_case && !is_empty(contents$key)) {
    first_row_of_key <- match(contents$key, contents$key)
    row_ids <- table[[case_columns]]
    if (any_repeated(row_ids[unique(first_row_of_key)]))
      row_ids <- paste(table$file, row_ids, sep = "/")
    table[[case_columns]] <- row_ids[first_row_of_key]
    tasks <- table[["task"]]
    if (n_distinct(tasks) > 1L) table$sample <- paste(tasks, table[["sample"]], sep = "/")
    return(table)
  }
  same_cases <- same_cases || contents$format$shared || "file" %in% c(case_columns, columns$rater)
  if (same_cases || (is_default_case && !is_evaluation_log)) return(table)
  row_ids <- paste_columns(table[case_columns], "/")
  file_ids <-
    unique(data.frame(id = row_ids, from = contents$from)[!is_blank(table[[case_columns[[1L]]]]), ])
  shared_ids <- repeated_values(file_ids$id)
  abort_if(shared_ids, "repeat", "Several files contain the same case identifiers.",
    x = "{.file {file_ids$from[file_ids$id == shared_ids[[1L]]]}} have case
         {.val {shared_ids[[1L]]}}
         {if (length(shared_ids) > 1L) paste('and', length(shared_ids) - 1L, 'more')} in common.",
    i = c("If these are different cases, give
        {.code case = c({toString(c('file', case_columns))})}.",
      "If they are the same cases, give {.code file = list(same_cases = TRUE)}, also if they
        are repeats."),
    case = shared_ids, rater = NULL)
  table
}
