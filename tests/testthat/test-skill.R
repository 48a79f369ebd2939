# The skill for coding assistants, inst/skills.
test_that("the skill is short, and its code and functions are current", {
  file <- system.file("skills", "evaluate-with-fallible-judges", "SKILL.md", package = "fallible")
  text <- readLines(file, encoding = "UTF-8")
  expect_lte(length(text), 150)
  expect_identical(text[1:2], c("---", "name: evaluate-with-fallible-judges"))
  fences <- grep("^```", text)
  starts <- fences[text[fences] == "```r"]
  chunks <- lapply(starts, function(start) {
    parse(text = text[(start + 1):(fences[match(start, fences) + 1] - 1)], keep.source = FALSE)
  })
  expect_length(chunks, 3)

  set.seed(1)
  data <- expand.grid(prompt = 1:200, version = c("old", "new"), stringsAsFactors = FALSE)
  good <- runif(400) < 0.8
  data$truth <- ifelse(good, "pass", "fail")
  data$verdict <- ifelse(runif(400) < ifelse(good, 0.9, 0.2), "pass", "fail")
  data$judge <- "judge"
  data$id <- 1:400
  withr::local_dir(withr::local_tempdir())
  write.csv(data[c("id", "judge", "verdict")], "verdicts.csv", row.names = FALSE)
  env <- list2env(list(data = data[c("prompt", "version", "judge", "verdict")]),
    parent = globalenv())
  env$labels <- data[data$prompt <= 40, c("prompt", "version", "truth")]
  values <- lapply(chunks[[1]], function(call) {
    value <- eval(call, env)
    if (is.data.frame(env$sheet)) env$sheet$truth <- data$truth[as.integer(env$sheet$case)]
    value
  })
  expect_s3_class(values[[length(values)]], "gate")
  expect_false(is.na(tidy(env$e)$conf.low))
  expect_true(all(c("case", "probability", "truth") %in% names(env$sheet)))
  elsewhere <- eval(chunks[[3]], env)
  expect_false(is.na(tidy(elsewhere)$conf.low))
  difference <- eval(chunks[[2]], env)
  expect_false(is.na(tidy(difference)$conf.low))

  named <- unlist(regmatches(text, gregexpr("[a-z][a-z_.]*(?=[(])", text, perl = TRUE)))
  exported <- getNamespaceExports("fallible")
  expect_identical(setdiff(named, c(exported, "vignette", ls(baseenv()))), character())
})
