# CrowdTruth 2.0 against the result files that its authors published.
#
#   Rscript tests/peers/crowdtruth.R [output.csv]
#
# The environment variable CROWDTRUTH_DATA names the folder tutorial/data of the authors' repository
# (github.com/CrowdTruth/CrowdTruth-core), with the judgements and, in results/, their scores.
# Answers are prepared as in their notebooks. Each file has the scores where the iteration ended and
# those after its first step. A difference of 1e-9 or more is a failure, but for one that is known:
# the agreement with units of a worker without quality, or with none but such workers, the authors'
# program takes to be 1e-8; here it is 0. No other score moves by it.

library(fallible)

limit <- 1e-9
floor <- 1e-8

main <- function(output = NULL) {
  folder <- Sys.getenv("CROWDTRUTH_DATA")
  if (!dir.exists(file.path(folder, "results"))) {
    message("skipped: CROWDTRUTH_DATA names no folder with the authors' results")
    return(invisible())
  }
  results <- do.call(rbind, lapply(published_sets(), compare_set, folder = folder))
  print(results, digits = 3L, row.names = FALSE)
  if (!is.null(output)) write_largest(results, output)
  off <- results$missing > 0L | results$difference >= limit
  if (any(off)) stop(sum(off), " tables differ from the published ones")
}

# A row per set and score, over both steps.
write_largest <- function(results, output) {
  largest <- stats::aggregate(
    results[c("n", "floored", "difference")], results[c("score", "set")], max
  )
  largest <- largest[order(match(largest$set, results$set)), c(2L, 1L, 3:5)]
  largest$difference <- signif(largest$difference, 3L)
  utils::write.csv(cbind(largest, date = format(Sys.Date())), output, row.names = FALSE)
}

# The columns of unit, worker and answer; how labels of an answer are parted; where the results are.
published_sets <- function() {
  relation <- c("_unit_id", "_worker_id")
  standard <- c("orig_id", "!amt_worker_ids")
  list(
    list(name = "binary choice", file = "relex-binary-choice", parted = NULL,
      columns = c(relation, "top_member_employee"), results = "binary-relex-%s"),
    list(name = "multiple choice, text", file = "relex-multiple-choice", parted = "\n",
      columns = c(relation, "relations"), results = "multchoice-relex-%s"),
    list(name = "multiple choice, video", file = "person-video-multiple-choice", parted = ",",
      columns = c(relation, "selected_answer"), results = "multchoice-people-video-%s"),
    list(name = "sparse multiple choice", file = "relex-sparse-multiple-choice", parted = "\n",
      columns = c(relation, "output_relations"), results = "sparsemultchoice-relex-%s"),
    list(name = "RTE", file = "rte.standardized", parted = NULL,
      columns = c(standard, "response"), results = "crowdtruth_%s_rte"),
    list(name = "TEMP", file = "temp.standardized", parted = NULL,
      columns = c(standard, "response"), results = "crowdtruth_%s_temp")
  )
}

compare_set <- function(set, folder) {
  read <- function(name) {
    file <- file.path(folder, paste0(name, ".csv"))
    if (file.exists(file)) {
      utils::read.csv(file, check.names = FALSE, colClasses = "character", na.strings = "")
    }
  }
  published <- lapply(c(units = "units", workers = "workers", annotations = "annotations"),
    function(table) read(file.path("results", sprintf(set$results, table))))
  x <- read_answers(read(set$file)[set$columns], set$parted)
  settled <- crowdtruth(x, version = "2.0")
  first <- withCallingHandlers(
    crowdtruth(x, version = "2.0", max_steps = 1L),
    fallible_warning_no_convergence = function(w) invokeRestart("muffleWarning")
  )
  rows <- c(
    compare_scores(settled, published, ""), compare_scores(first, published, "_initial"),
    list(compare_shares(settled, published$units))
  )
  cbind(set = set$name, do.call(rbind, rows))
}

# As the authors' notebooks: small letters, no brackets or quotes.
read_answers <- function(judgements, parted) {
  names(judgements) <- c("unit", "worker", "answer")
  answer <- gsub("[][\"]", "", tolower(judgements$answer))
  labels <- if (is.null(parted)) as.list(answer) else strsplit(answer, parted, fixed = TRUE)
  rows <- rep(seq_along(labels), lengths(labels))
  long <- cbind(judgements[rows, c("unit", "worker")], label = unlist(labels))
  ratings(long, case = unit, rater = worker, rating = label, repeats = "labels")
}

compare_scores <- function(own, published, state) {
  tables <- list(
    list("units", "unit", c(uqs = "uqs")),
    list("workers", "worker", c(wqs = "wqs", wwa = "wwa", wua = "wsa")),
    list("annotations", "annotation", c(aqs = "aqs"))
  )
  unlist(lapply(tables, function(table) {
    other <- published[[table[[1L]]]]
    if (is.null(other)) {
      return(NULL)
    }
    mine <- own[[table[[1L]]]]
    at <- match(mine[[table[[2L]]]], other[[1L]])
    lapply(names(table[[3L]]), function(score) {
      theirs <- as.numeric(other[[paste0(table[[3L]][[score]], state)]][at])
      difference_row(score, state, mine[[score]], theirs)
    })
  }), recursive = FALSE)
}

# Unit-annotation scores, from columns named after labels or from one that prints a dictionary.
compare_shares <- function(own, other) {
  scores <- own$scores
  label <- as.character(scores$annotation)
  row <- match(scores$unit, other[[1L]])
  theirs <- if ("unit_annotation_score" %in% names(other)) {
    unlist(Map(dictionary_value, other$unit_annotation_score[row], label))
  } else {
    column <- c("0" = "false", "1" = "true")[label]
    column[is.na(column)] <- label[is.na(column)]
    unlist(Map(function(i, j) as.numeric(other[[j]][[i]]), row, column))
  }
  difference_row("uas", "", scores$score, unname(theirs))
}

dictionary_value <- function(text, key) {
  found <- regmatches(text, regexec(paste0("'", key, "': ([-+.0-9e]+)"), text))[[1L]]
  as.numeric(found[2L])
}

difference_row <- function(score, state, mine, theirs) {
  floored <- score == "wua" & theirs %in% floor & mine %in% 0
  data.frame(
    score = score, after = if (nzchar(state)) "first step" else "last step", n = length(mine),
    floored = sum(floored), missing = sum(is.na(mine) != is.na(theirs)),
    difference = max(abs(mine - theirs)[!floored], na.rm = TRUE)
  )
}

arguments <- commandArgs(trailingOnly = TRUE)
do.call(main, as.list(arguments))
