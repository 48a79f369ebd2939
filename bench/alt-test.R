# The alternative annotator test, compared with the numbers that its authors print:
#
#   Rscript bench/alt-test.R PATH
#
# PATH is a checkout of github.com/nitaytech/AltTest, whose notebook prints winning rate and
# advantage probability of the sets in data/. Ends with an error where a number differs.

library(fallible)

path <- commandArgs(TRUE)[1L]
notebook <- jsonlite::read_json(file.path(path, "alt_test_example.ipynb"))
texts <- unlist(lapply(notebook$cells, function(cell) lapply(cell$outputs, `[[`, "text")))
pattern <- paste0(
  "^(\\S+) (\\S+) \\[(\\w+)\\]:\\s+Winning Rate=([0-9.]+)\\s+Advantage Probability=([0-9.]+)"
)
lines <- grep(pattern, unlist(strsplit(texts, "\n", fixed = TRUE)), value = TRUE)
printed <- data.frame(
  set = sub(paste0(pattern, ".*"), "\\1", lines), system = sub(paste0(pattern, ".*"), "\\2", lines),
  passed = sub(paste0(pattern, ".*"), "\\3", lines) == "PASSED",
  winning_rate = sub(paste0(pattern, ".*"), "\\4", lines),
  advantage = sub(paste0(pattern, ".*"), "\\5", lines)
)

# As the notebook sets them
epsilon <- c(
  wax = 0.1, lgbteen = 0.2, mtbench = 0.2, framing = 0.15, cebab_aspects = 0.1, summeval = 0.2,
  "10k_prompts" = 0.15, cebab_stars = 0.1, lesion = 0.15
)
numbers <- c("summeval", "10k_prompts", "cebab_stars", "lesion")

long_table <- function(file) {
  answers_in_file <- jsonlite::read_json(file)
  do.call(rbind, lapply(names(answers_in_file), function(who) {
    answers <- Filter(Negate(is.null), answers_in_file[[who]])
    data.frame(case = names(answers), who = who, answers_in_file = vapply(answers, function(answer) {
      if (is.numeric(answer)) format(answer, digits = 15) else as.character(answer)
    }, ""))
  }))
}

run_set <- function(set) {
  folder <- file.path(path, "data", set)
  people <- long_table(file.path(folder, "human_annotations.json"))
  models <- long_table(file.path(folder, "llm_annotations.json"))
  models$who <- paste0("model:", models$who)
  labels <- unique(c(people$answers_in_file, models$answers_in_file))
  x <- suppressWarnings(ratings(
    people, case = case, rater = who, rating = answers_in_file, systems = models, categories = labels
  ))
  score <- if (set %in% numbers) "neg_rmse" else "accuracy"
  result <- tidy(alt_test(x, epsilon = epsilon[[set]], score = score))
  data.frame(
    set = set, system = sub("model:", "", result$system, fixed = TRUE), passed = result$passed,
    winning_rate = sprintf("%.2f", result$winning_rate),
    advantage = sprintf("%.2f", result$advantage)
  )
}

computed <- do.call(rbind, lapply(unique(printed$set), run_set))
merged <- merge(printed, computed, c("set", "system"), suffixes = c("", ".here"))
wrong <- merged[
  merged$winning_rate != merged$winning_rate.here | merged$advantage != merged$advantage.here |
    merged$passed != merged$passed.here,
]
cat(nrow(printed), "lines printed,", nrow(merged), "computed,", nrow(wrong), "differ\n")
if (nrow(merged) != nrow(printed) || nrow(wrong) > 0L) {
  print(wrong)
  stop("not as printed")
}
