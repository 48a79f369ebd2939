# Panels with abstentions. The expected results were computed by two other programs.

# Reads a panel from text: patterns of replies with the number of their cases, separated by "|". In
# a pattern, "." means that the rater was not asked, and "?" is an abstention.
read_replies <- function(text) {
  entries <- strsplit(trimws(strsplit(text, "|", fixed = TRUE)[[1]]), " ", fixed = TRUE)
  pattern <- vapply(entries, `[[`, "", 1)
  replies <- do.call(rbind, strsplit(pattern, "", fixed = TRUE))
  replies[replies == "."] <- NA
  colnames(replies) <- letters[seq_len(ncol(replies))]
  data.frame(replies, case = make.unique(pattern), n = as.numeric(vapply(entries, `[[`, "", 2)))
}

ratings_of_replies <- function(data, ...) {
  ratings(data, raters = !c(case, n), case = case, weights = n, abstain = "?",
    rater_kind = "expert", ...)
}

tests_with_replies <- function() {
  read_replies("--- 95|+-- 9|?-- 8|-+- 8|++- 6|?+- 1|-?- 4|+?- 1|??- 1|--+ 12|+-+ 4|?-+ 2|-++ 5|
    +++ 20|?++ 6|-?+ 1|+?+ 6|??+ 2|--? 6|+-? 2|?-? 1|-+? 1|++? 7|?+? 3|-?? 1|+?? 3|??? 2")
}

sources_with_replies <- function() {
  read_replies("???? 150|1??? 40|?1?? 35|11?? 22|??2? 30|???2 45|??22 26|1?2? 6|?1?2 8|11?2 3|
    1?22 2")
}

judges_with_replies <- function() {
  read_replies("111. 1|1121 1|11.2 1|2222 1|2232 1|212. 1|333? 1|3?23 1|33.? 1|1211 1|?332 1|
    2221 1|??33 1|?11? 1")
}

# Returns the probability of a category in the cases `cases`. `labels`: consensus labels, with a
# column of probabilities per category.
label_in <- function(labels, cases, category = names(labels)[[ncol(labels)]]) {
  labels[[category]][match(cases, labels$case)]
}

expect_near <- function(object, expected) {
  expect_lt(max(abs(unlist(object, use.names = FALSE) - expected)), 1e-6)
}
