# Logs of evaluations of language models, in which judges (scorers, assertions) give verdicts.

# ---- Inspect --------------------------------------------------------------------------------

# A run that was broken off has no header yet.
inspect_headers <- c("header.json", file.path("_journal", "start.json"))

has_log <- function(input) any(inspect_headers %in% input$entries$name)

# A log is of one model; its samples, of each epoch, are cases and scorers raters.
read_inspect <- function(input) {
  log <- if (input$kind == "zip") unzip_inspect(input) else input$document
  got <- judged_items(input, log$samples, "sample", "scores", function(sample) {
    inspect_records(sample, log$eval)
  })
  rating <- if (!is.null(got$table$value)) "value"
  c(got, list(
    map = list(case = "sample", rater = "scorer", rating = rating),
    choices = grep("^value", names(got$table), value = TRUE)
  ))
}

# Of items with records of verdicts, the table of these, and a note of how many have none.
judged_items <- function(input, items, noun, verdicts, records_of) {
  records <- lapply(items, records_of)
  none <- lengths(records) == 0L
  if (all(none)) abort_file(input$path, sprintf("holds no %s with %s.", noun, verdicts))
  list(
    table = record_table(unlist(records, recursive = FALSE), input),
    notes = left_out(none, noun, paste("without", verdicts))
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
  c(judged_items(input, results, "result", "graded assertions", promptfoo_records), list(
    map = list(case = "result", rater = "assertion", rating = "verdict"),
    choices = c("verdict", "score")
  ))
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
