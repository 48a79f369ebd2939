test_that("a worker that dies is an error that names the piece, and keeps the others", {
  skip_on_cran()
  skip_if_not_installed("future")
  local_workers()
  expect_true(has_workers())
  tasks <- list(function() 1, function() tools::pskill(Sys.getpid()))
  expect_identical(run_tasks_in_workers(tasks[c(1, 1)], c("a", "b")), list(1, 1))
  lost <- expect_error(
    run_tasks_in_workers(tasks, c("one", "{two}")), "Lost tasks: \\{two\\}",
    class = "fallible_error_worker"
  )
  expect_identical(lost$pieces, "{two}")
  expect_identical(lost$finished, list(one = 1, "{two}" = NULL))
  future::plan("sequential")
  expect_false(has_workers())
})
