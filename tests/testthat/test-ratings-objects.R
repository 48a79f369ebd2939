# Objects of the shape that other packages make, with invented contents.

chat <- function(model) list(get_model = function() model)

run_of <- function(codes, name, human = FALSE, gold = NULL, ids = names(codes), ...) {
  structure(
    tibble::tibble(.id = ids, stance = unname(codes), ...),
    class = c(if (human) "qlm_humancoded", "qlm_coded", "tbl_df", "tbl", "data.frame"),
    data = paste("text", ids), codebook = list(name = "Stance", schema = NULL),
    meta = list(
      user = list(name = name, notes = NULL),
      object = list(
        call = quote(qlm_code()), n_units = length(codes), source = if (human) "human",
        is_gold = gold, chat_args = if (!human) list(name = "model-1")
      ),
      system = list(timestamp = NULL)
    )
  )
}
stance <- c(d1 = "pro", d2 = "con", d3 = "con", d4 = "pro", d5 = "pro")
other <- c(d5 = "pro", d3 = "pro", d1 = "pro", d2 = "con")

test_that("one run of quallmer is one rater", {
  x <- as_ratings(run_of(stance, "first"))
  expect_identical(x$raters, "first")
  expect_identical(x$cases, names(stance))
  expect_identical(rater_kind(x), "model")
  expect_identical(tidy(x)$rating, factor(unname(stance), c("con", "pro")))
})

test_that("several runs of quallmer are matched by identifier", {
  coder <- run_of(other, "Coder", human = TRUE)
  gold <- run_of(c(d2 = "con", d4 = "pro", d9 = "pro"), "Gold", human = TRUE, gold = TRUE)
  x <- as_ratings(run_of(stance, "first"), coder, gold, again = run_of(rev(stance), "first"))
  expect_identical(x$raters, c("first", "Coder", "again"))
  expect_identical(unname(x$rater_kind), c("model", "expert", "model"))
  expect_identical(x$cases, c(names(stance), "d9"))
  expect_identical(as.character(truth(x)$category), c(NA, "con", NA, "pro", NA, "pro"))
  long <- tidy(x)
  expect_identical(
    as.character(long$rating[long$rater == "Coder"]), unname(other[c("d1", "d2", "d3", "d5")])
  )
  expect_identical(as.character(long$rating[long$rater == "again"]), unname(stance))
  expect_identical(as_ratings(coder, gold, run_of(stance, "first"))$raters, c("Coder", "first"))
  expect_identical(as_ratings(gold)$raters, "Gold")
  expect_error(as_ratings(coder, gold, gold), class = "fallible_error_argument")
  expect_identical(as_ratings(coder, coder, rater_kind = "crowd")$rater_kind, "crowd")
  expect_identical(as_ratings(coder, coder)$raters, c("Coder", "Coder 1"))
  expect_equal(
    agreement(as_ratings(coder, run_of(stance, "first")), "percent_agreement")$estimate, 3 / 4
  )
})

test_that("runs of quallmer before version 0.3 have their facts elsewhere", {
  old <- function(name, human = FALSE) {
    run <- run_of(factor(stance, c("con", "pro", "neutral")), name, ids = 1:5)
    attr(run, "meta") <- NULL
    attr(run, "run") <- list(
      name = name, chat_args = list(name = "model-2"),
      metadata = list(source = if (human) "human", n_units = 5L)
    )
    run
  }
  x <- as_ratings(old("original"), old("Ann", human = TRUE))
  expect_identical(x$raters, c("model-2", "Ann"))
  expect_identical(unname(x$rater_kind), c("model", "expert"))
  expect_identical(x$categories, c("con", "pro", "neutral"))
  expect_identical(x$cases, 1:5)
})

test_that("one variable of a codebook is read", {
  run <- function(name) {
    run_of(stance, name,
      tone = c(1, 3, 2, 2, 1), explanation = paste(name, 1:5), tags = as.list(1:5),
      .error = vector("list", 5L), input_tokens = 1:5, cost = 0.1)
  }
  expect_error(as_ratings(run("a"), run("b")), class = "fallible_error_argument")
  x <- as_ratings(run("a"), run("b"), rating = tone)
  expect_identical(x$categories, c("1", "2", "3"))
  expect_identical(as_ratings(run("a"), run("b"), rating = "stance")$categories, c("con", "pro"))
  expect_identical(as_ratings(run_of(stance, "a", why = letters[1:5]))$categories, c("con", "pro"))
  both <- as_ratings(run("a"), run("b"), rating = everything())
  expect_named(both, c("stance", "tone"))
  expect_equal(both$tone, x)
  expect_identical(as_ratings(run("a"), raters = "tone", case = ".id")$raters, "tone")
  expect_error(as_ratings(run("a"), rating = topic), class = "fallible_error_columns")
  expect_snapshot(error = TRUE, as_ratings(run("a"), run("b")))
})

samples_of <- function(score, ids = seq_along(score), model = "m", judge = NULL, ...) {
  samples <- tibble::tibble(
    input = paste("question", ids), target = paste("answer", ids), id = ids,
    result = paste(model, "answers", seq_along(ids)), score = score,
    solver_chat = rep(list(chat(model)), length(ids)), ...
  )
  if (!is.null(judge)) samples$scorer_chat <- rep(list(chat(judge)), length(ids))
  samples
}
verdict <- function(x, levels = c("I", "C")) factor(x, levels, ordered = TRUE)
task_of <- function(samples, scorer = NULL) {
  task <- new.env()
  task$get_samples <- function() samples
  task$.__enclos_env__ <- list(private = list(scores = list(name = scorer)))
  structure(task, class = c("Task", "R6"))
}

test_that("samples of vitals are verdicts of one judge on answers", {
  x <- as_ratings(samples_of(verdict(c("C", "I", NA, "C"))))
  expect_identical(dim(x), c(4L, 1L))
  expect_identical(x$categories, c("I", "C"))
  expect_true(x$ordered)
  expect_equal(n_ratings(x), 3)
  expect_null(x$rater_kind)
  # From a log they are strings, perhaps all the same.
  x <- as_ratings(samples_of(c("C", "C"), epoch = 1L, judge = "j"))
  expect_identical(x$categories, c("I", "C"))
  expect_identical(x$cases, 1:2)
  expect_identical(x$raters, "scorer j")
  expect_identical(rater_kind(x), "model")
  partly <- as_ratings(samples_of(c("C", "P", "I")))
  expect_identical(partly$categories, c("I", "P", "C"))
  expect_identical(as_ratings(samples_of(c(0, 1, 1)))$categories, c("0", "1"))
  expect_error(as_ratings(samples_of(c(NA, NA))), class = "fallible_error_argument")
  expect_error(as_ratings(samples_of(list("C", "I"))), class = "fallible_error_argument")
})

test_that("epochs of vitals are cases of their own", {
  samples <- samples_of(verdict(c("C", "I", "C", "C")), ids = c(1, 1, 2, 2), epoch = c(1, 2, 1, 2))
  x <- as_ratings(task_of(samples, "model_graded_qa()"))
  expect_identical(x$cases, c("1/1", "1/2", "2/1", "2/2"))
  expect_identical(x$raters, "model_graded_qa()")
  expect_identical(as.data.frame(x, "covariates")$id, c(1, 1, 2, 2))
  expect_identical(as_ratings(samples[c(5, 3, 1, 2, 7, 6, 4)])$cases, x$cases)
})

test_that("tasks with the same answers have several judges, others several systems", {
  judged <- samples_of(verdict(c("C", "I", "C")), judge = "j")
  again <- samples_of(verdict(c("C", "C", "P"), c("I", "P", "C")), judge = "k")
  x <- as_ratings(task_of(judged, "qa()"), task_of(again[3:1, ], "qa()"))
  expect_identical(x$raters, c("qa() j", "qa() k"))
  expect_identical(x$categories, c("I", "P", "C"))
  expect_equal(n_ratings(x), 6)
  expect_identical(as_ratings(task_of(judged), task_of(judged))$raters,
    c("scorer j task 1", "scorer j task 2"))
  rival <- samples_of(verdict(c("C", "C", "I")), model = "rival", judge = "j")
  y <- as_ratings(judged, rival = rival)
  expect_identical(dim(y), c(6L, 1L))
  expect_identical(as.data.frame(y, "covariates")$task, rep(c("task 1", "rival"), each = 3))
})

test_that("tasks that vitals_bind() has bound are taken apart", {
  samples <- samples_of(NA)[rep(1, 4), c("input", "target", "result")]
  samples$result <- c("a", "b", "c", "d")
  bound <- tibble::tibble(
    task = rep(c("one", "two"), each = 2), id = rep(1:2, 2), score = c("C", "I", "C", "C"),
    metadata = lapply(1:4, function(row) samples[row, ])
  )
  x <- as_ratings(bound)
  expect_identical(x$cases, c("one/1", "one/2", "two/1", "two/2"))
  bound$metadata <- bound$metadata[c(1, 2, 1, 2)]
  expect_identical(as_ratings(bound)$raters, c("scorer one", "scorer two"))
})

test_that("other tasks, and scores, are no ratings", {
  learner <- structure(new.env(), class = c("TaskClassif", "Task", "R6"))
  expect_error(as_ratings(learner), class = "fallible_error_argument")
  for (class in c("evaluatellm_eval", "evalkit_eval")) {
    scores <- structure(
      data.frame(item = rep(1:3, 2), model = rep(c("a", "b"), each = 3), score = 0:1),
      class = c(class, "data.frame")
    )
    expect_error(as_ratings(scores), "but it contains scores", class = "fallible_error_argument")
    expect_error(agreement(scores), "but it contains scores", class = "fallible_error_argument")
    expect_error(
      ratings(scores, case = item, rater = model, rating = score), "but it contains scores",
      class = "fallible_error_argument"
    )
  }
  expect_error(as_ratings(structure(list(), class = "evaluatellm_score")), "but it contains scores")
})
