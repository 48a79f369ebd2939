# Logs of evaluations of language models, in which judges (scorers, assertions) give verdicts.

# ---- Inspect --------------------------------------------------------------------------------

# A run that was broken off has no header yet.
inspect_headers <- c("header.json", file.path("_journal", "start.json"))

has_log <- function(input) any(inspect_headers %in% input$entries$name)

# A log is of one model; its samples, of each epoch, are cases and scorers raters.
read_inspect <- function(input) {
  log <- if (input$kind == "zip") unzip_inspect(input) else input$document
  samples <- log$samples
  scored <- vapply(samples, function(sample) length(sample$scores) > 0L, NA)
  records <- unlist(lapply(samples[scored], inspect_records, log = log$eval), recursive = FALSE)
  if (length(records) == 0L) {
    abort_file(input$path, "holds no scored sample.", "i" = "Score the log first.")
  }
  table <- record_table(records, input)
  list(
    table = table,
    map = list(case = "sample", rater = "scorer", rating = if (!is.null(table$value)) "value"),
    choices = grep("^value", names(table), value = TRUE),
    notes = left_out(!scored, "sample", "without scores")
  )
}

inspect_records <- function(sample, log) {
  about <- list(
    sample = paste(c(log$model, sample$id, sample$epoch), collapse = "/"), id = sample$id,
    epoch = sample$epoch, model = log$model, task = log$task, target = unlist(sample$target)
  )
  Map(function(score, scorer) {
    c(about, list(scorer = scorer, answer = score$answer), score["value"])
  }, sample$scores, names(sample$scores))
}

unzip_inspect <- function(input) {
  folder <- tempfile(tmpdir = dirname(tempfile()))
  on.exit(unlink(folder, recursive = TRUE))
  if (!has_log(input)) abort_file(input$path, "is not a log of Inspect.")
  inside <- input$entries$name
  # All, since to find each by its name takes the square of their number.
  got <- or_null(utils::unzip(input$plain, exdir = folder, overwrite = FALSE))
  whole <- file.size(file.path(folder, inside)) == input$entries$size
  if (length(got) == 0L || !all(whole %in% TRUE | endsWith(inside, "/"))) {
    abort_file(input$path, "cannot be unpacked.",
      "i" = "Convert it to JSON: `inspect log convert --to json`.")
  }
  read <- function(file) {
    text <- readLines(file.path(folder, file), warn = FALSE, encoding = "UTF-8")
    parse_json(paste(text, collapse = "\n"), input)
  }
  samples <- grep("^samples/.*[.]json$", inside, value = TRUE)
  list(eval = read(intersect(inspect_headers, inside)[[1L]])$eval, samples = lapply(samples, read))
}

# ---- promptfoo ------------------------------------------------------------------------------

# The answer of a provider to a prompt with the variables of a test is a case, assertions raters.
read_promptfoo <- function(input) {
  results <- if (input$kind == "jsonl") {
    parse_lines(readLines(input$plain, warn = FALSE, encoding = "UTF-8"), 0L, input)
  } else {
    input$document$results$results
  }
  graded <- vapply(results, function(r) length(r$gradingResult$componentResults) > 0L, NA)
  records <- unlist(lapply(results[graded], promptfoo_records), recursive = FALSE)
  if (length(records) == 0L) abort_file(input$path, "holds no result with graded assertions.")
  list(
    table = record_table(records, input),
    map = list(case = "result", rater = "assertion", rating = "verdict"),
    choices = c("verdict", "score"),
    notes = left_out(!graded, "result", "without graded assertions")
  )
}

promptfoo_records <- function(result) {
  provider <- id_of(result$provider)
  about <- list(
    result = paste(c(provider, result$testIdx, result$promptIdx), collapse = "/"),
    test = result$testIdx, prompt = result$promptIdx, provider = provider
  )
  # Sets of assertions stand beside the assertions in them, which alone are verdicts.
  components <- Filter(
    function(one) length(one$componentResults) == 0L, result$gradingResult$componentResults
  )
  who <- make.unique(vapply(components, assertion_name, ""), "#")
  Map(function(component, who) {
    verdict <- if (is.logical(component$pass)) c("fail", "pass")[component$pass + 1L]
    c(about, list(assertion = who, verdict = verdict, score = component$score))
  }, components, who)
}

# Its metric, where it has one; or what it asks, and whom.
assertion_name <- function(component) {
  assertion <- component$assertion
  assertion$metric %||%
    paste(c(assertion$type %||% "assertion", id_of(assertion$provider)), collapse = " ")
}

id_of <- function(who) if (is.list(who)) who$id else who
