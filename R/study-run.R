# Runs a simulation study. A study has cells: the combinations of design, number of cases and, for
# separate panels, system. The runs of a cell are divided into blocks. Results of a block depend
# only on the seed of the study. Therefore blocks may run in any order and in several processes.

# Returns a list of cells. Fields of a cell:
# * label: name of the design.
# * n: number of cases.
# * design: the design.
# * cell: number of the cell.
# * item: position of the first run of the cell in the random stream. The other runs of the cell
#   have the next positions.
study_cells <- function(study) {
  cells <- list()
  for (label in names(study$designs)) {
    design <- study$designs[[label]]
    designs_of_cells <- if (study$panels == "same") list(design) else
      lapply(seq_along(design$systems), keep_system, design = design)
    for (n in study$n %||% design$n) for (design_of_cell in designs_of_cells) {
      cell_number <- length(cells) + 1L
      cells[[cell_number]] <- list(
        label = label, n = n, design = design_of_cell, cell = cell_number,
        item = 2^32 * (cell_number - 1)
      )
    }
  }
  cells
}

# Returns the number of runs in a block of the cell. A block should take at most a few seconds,
# because the results of unfinished blocks are lost at an interrupt. The time of compiled code is
# estimated. User-defined code may be slow, so its time is measured: `max_interpreted_runs` is the
# number of runs that the last blocks completed in one second, see run_study().
block_size <- function(cell, estimators, max_interpreted_runs = 10) {
  is_compiled <- are_compiled(estimators)
  estimator_options <- lapply(estimators[is_compiled], core_options)
  n_averaged_systems <- any(map_lgl(estimator_options, needs_average)) * n_systems(cell$design)
  # Estimated time of a run, in units of the time in which one case is simulated.
  work_per_run <- cell$n + 500 * sum(map_int(estimator_options, `[[`, "replicates")) +
    n_averaged_systems * (1e5 + 200 * cell$n)
  max_runs <- if (all(is_compiled) && !is_world(cell$design)) 500 else min(10, max_interpreted_runs)
  max(1, min(max_runs, 5e6 %/% work_per_run))
}

# Does each estimator run in compiled code? User-defined estimators run in R. Some results of
# accuracy_estimator() also run in R, for example with profile intervals.
are_compiled <- function(estimators) {
  map_lgl(estimators, function(estimator) {
    inherits(estimator, "accuracy_estimator") && can_run_compiled(attr(estimator, "options"))
  })
}

# Computes the missing runs of a study, block by block. A block is a cell with two more fields:
# `first`, the number of its first run, and `runs`, its number of runs. The first block with
# user-defined code has one run. Later blocks have the number of runs that takes one second, at most
# 10. Returns the study with results.
# * threads: number of threads.
# * checkpoint: path of a file, or NULL. The study is saved to this file at the start, every five
#   seconds and at the end.
# * clock: function that returns the time in seconds.
run_study <- function(study, threads, checkpoint = NULL, clock = elapsed_seconds) {
  cells <- study_cells(study)
  for (cell in cells) check_panel_memory(cell$design, cell$n)
  # `started`: number of started runs of each cell
  run_state <- list2env(list(started = study$done))
  hashes <- if (!is.null(checkpoint)) hashes_of_parts(study)
  save_progress <- function() {
    if (is.null(checkpoint)) return()
    saved_study <- run_state$complete %||% add_results(study, run_state$tables)
    save_checkpoint(saved_study, checkpoint, hashes)
    run_state$saved_at <- clock()
    sum(saved_study$done)
  }
  save_progress()
  on.exit({
    n_saved <- save_progress()
    if (is.null(run_state$complete) && !is.null(n_saved)) inform_fallible(escape_braces(
      count_noun(n_saved, "panel"), if (n_saved == 1L) " is" else " are", " saved in ", checkpoint,
      ". The same call continues the study."
    ))
  })
  progress <- progress_bar("Runs", study$runs * length(cells))
  on.exit(progress$close(), add = TRUE)
  max_interpreted_runs <- 1
  # Returns the next block, NULL if all runs are started.
  start_block <- function(i) {
    cell_number <- match(TRUE, run_state$started < study$runs)
    if (is.na(cell_number)) return()
    cell <- cells[[cell_number]]
    n_started <- run_state$started[[cell_number]]
    n_block_runs <- min(
      block_size(cell, study$estimators, max_interpreted_runs), study$runs - n_started
    )
    run_state$started[[cell_number]] <- n_started + n_block_runs
    c(cell, first = n_started + 1, runs = n_block_runs)
  }
  runner <- block_runner(study, threads, clock)
  keep_tables <- function(tables) run_state$tables <- c(run_state$tables, tables)
  repeat {
    n_done <- sum(run_state$started)
    progress$tick(n_done)
    blocks <- drop_null(lapply(seq_len(runner$width), start_block))
    if (is_empty(blocks)) break
    tables <- withCallingHandlers(
      runner$run(blocks, function(done) progress$tick(n_done + done)),
      fallible_error_worker = function(cnd) {
        keep_tables(keep_consecutive_results(blocks, cnd$finished))
      }
    )
    keep_tables(tables)
    seconds <- map_dbl(tables, attr, "seconds")
    max_interpreted_runs <- floor(min(map_dbl(blocks, `[[`, "runs") / seconds))
    if (isTRUE(clock() - run_state$saved_at > 5)) save_progress()
  }
  run_state$complete <- add_results(study, run_state$tables)
  run_state$complete
}

# Adds tables of new results to a study. Results are sorted by cell, run, system and estimator. The
# field `done`, the number of finished runs of each cell, is computed from the rows of the results,
# so that it is correct after an interrupt.
add_results <- function(study, tables) {
  if (is_empty(tables)) return(study)
  table <- stack_tables(c(if (!is.null(study$results)) list(study$results), tables))
  row_order <- order(
    table$cell, table$run, match(table$system, unique(table$system)),
    match(table$estimator, names(study$estimators))
  )
  study$results <- lapply(table, `[`, row_order)
  runs_by_cell <- split(table$run, factor(table$cell, seq_along(study$done)))
  study$done <- map_int(runs_by_cell, max, 0L, USE.NAMES = FALSE)
  study
}

# Selects results that can be kept after worker processes failed. The finished runs of a cell must
# be consecutive. Therefore, results of blocks after a lost block of the same cell are dropped.
# `finished`: results of the first blocks in `blocks`, NULL for a lost block.
keep_consecutive_results <- function(blocks, finished) {
  cell_numbers <- map_int(blocks[seq_along(finished)], `[[`, "cell")
  unname(finished[!as.logical(ave(map_lgl(finished, is.null), cell_numbers, FUN = cummax))])
}

# Decides where blocks run: in the worker processes of package future if there are any, otherwise in
# this process. Workers get the global variables and attached packages that user-defined
# estimators and designs need. Returns a list:
# * width: number of blocks that run at the same time.
# * run: function that runs a list of `blocks` and returns a list of their results. Its second
#   argument `tick` is a function that shows progress. It is not used with workers.
block_runner <- function(study, threads, clock) {
  if (!has_workers()) {
    return(list(width = 1L, run = function(blocks, tick) {
      lapply(blocks, run_block, study$estimators, study$seed, threads, tick, clock)
    }))
  }
  user_functions <- c(
    study$estimators[!are_compiled(study$estimators)],
    lapply(Filter(is_world, study$designs), `[[`, "draw")
  )
  globals <- list()
  packages <- character()
  for (user_function in user_functions) {
    dependencies <- future::getGlobalsAndPackages(
      quote(.fallible_estimator()),
      envir = list2env(list(.fallible_estimator = user_function), parent = globalenv())
    )
    globals[names(dependencies$globals)] <- unclass(dependencies$globals)
    packages <- union(packages, dependencies$packages)
  }
  describe_block <- function(block) {
    last_run <- block$first + block$runs - 1
    sprintf("design %s, n = %s, runs %s to %s", block$label, number(block$n), block$first, last_run)
  }
  list(width = future::nbrOfWorkers(), run = function(blocks, tick) {
    run_tasks_in_workers(
      lapply(blocks, block_task, study$estimators, study$seed), map_chr(blocks, describe_block),
      globals = globals[names(globals) != ".fallible_estimator"], packages = packages
    )
  })
}

# Returns a task for a worker process: a function without arguments that runs a block. The
# environment of the function is sent to the worker, so it contains only the block, the estimators
# and the seed. force() evaluates the arguments first.
block_task <- function(block, estimators, seed) {
  force(list(block, estimators, seed))
  function() run_block(block, estimators, seed)
}

# Runs a block. Returns a list of columns, with an element for each estimator, system and run. Its
# attribute `seconds` is the time that the block took.
run_block <- function(block, estimators, seed, threads = 1L, tick = no_tick,
                      clock = elapsed_seconds) {
  start <- clock()
  stream_position <- block$item + block$first - 1
  run_seeds <- core_run_seeds(seed, stream_position, block$runs)
  is_compiled <- are_compiled(estimators) & !is_world(block$design)
  r_results <- interpreted_results(block, estimators[!is_compiled], seed, run_seeds)
  estimator_options <- lapply(unname(estimators[is_compiled]), core_options)
  uses_bootstrap <- any(map_int(estimator_options, `[[`, "replicates") > 0L)
  panel_results <- r_results$panels %||% core_study(unclass(block$design), list(
    cases = block$n, runs = block$runs, seed = seed, first = stream_position, threads = threads,
    estimators = lapply(estimator_options, c, list(ordered = is_ordered(block$design))),
    # Matrix (2 x runs) of the seeds that estimate_accuracy() would draw in each run.
    bootstrap_seeds = if (!uses_bootstrap) matrix(0L, 2L, 0L) else
      vapply(run_seeds, function(seed) with_run_seed(seed, draw_seed()), integer(2L))
  ), tick)
  results <- vector("list", length(estimators))
  results[is_compiled] <- Map(
    compiled_results, panel_results$estimators, estimators[is_compiled],
    MoreArgs = list(block = block)
  )
  results[!is_compiled] <- r_results$results
  systems <- names(block$design$systems)
  repeat_columns <- function(...) lapply(list(...), rep_len, length(systems) * block$runs)
  table <- stack_tables(Map(function(name, result) {
    c(
      repeat_columns(
        cell = block$cell, design = block$label, n = block$n,
        system = rep(systems, each = block$runs),
        run = as.integer(block$first - 1 + seq_len(block$runs)), estimator = name
      ),
      result[estimate_columns],
      repeat_columns(
        expected = as.vector(panel_results$expected), sample = as.vector(panel_results$sample),
        agreement = na_real(panel_results$agreement), chance_kappa = na_real(panel_results$kappa),
        rater_accuracy = na_real(panel_results$rater_accuracy), seed = run_seeds
      ),
      result[c("reason", "condition")]
    )
  }, names(estimators), results))
  structure(table, seconds = clock() - start)
}

# Converts the result of an estimator in compiled code to a list of columns. A column has an element
# for each system and run, sorted by system, then by run.
compiled_results <- function(result, estimator, block) {
  result_columns <- result_table(na_real(as.vector(result$estimate)))
  repeat_runs <- function(x) rep_len(x, length(result_columns$estimate))
  category_count <- n_categories(block$design)
  identifiable <- repeat_runs(result$identifiable)
  result_columns$reason <- why_no_estimate(
    identifiable, repeat_runs(result$agreement), category_count, result_columns$estimate, block$n
  )
  result_columns$reason[identifiable == "yes" & !repeat_runs(result$identified)] <-
    reason_of_parameters(attr(estimator, "options")$model, category_count)
  c(
    add_intervals(result_columns, result$interval),
    list(condition = repeat_runs(NA_character_))
  )
}

# Applies estimators that run in R to the panels of a block. Returns a list:
# * results: a list of columns for each estimator.
# * panels: true accuracies and agreement of the panels, if a user-defined design draws the panels.
#   Otherwise NULL, because the core then computes true accuracies and agreement.
interpreted_results <- function(block, estimators, seed, seeds) {
  if (is_empty(estimators)) return(list()) # panels are not needed
  systems <- names(block$design$systems)
  panels <- lapply(block$first + seq_along(seeds) - 1L, function(run) {
    tryCatch(draw_panel_of_run(block, seed, run), error = identity)
  })
  rows_by_system <- order(rep(seq_along(systems), length(seeds)))
  list(
    results = lapply(estimators, function(estimator) {
      results_by_run <-
        Map(function(x, seed) apply_estimator(estimator, x, systems, seed), panels, seeds)
      lapply(stack_tables(results_by_run), `[`, rows_by_system)
    }),
    # Matrices in the form of the results of the core, with a row per run. They have a column per
    # system, or a single column for the agreement of raters.
    panels = if (is_world(block$design))
      do.call(Map, c(list(rbind), lapply(panels, accuracy_and_agreement, systems)))
  )
}

# Draws the panel of run number `run` of a cell. Returns ratings with their truth.
draw_panel_of_run <- function(cell, seed, run) {
  stream_position <- cell$item + run - 1
  without_warnings(if (is_world(cell$design)) {
    # Seeds of estimators are from another part of the random stream, so panels and estimators use
    # independent random numbers.
    draw_world(cell$design, cell$n, core_run_seeds(seed, stream_position + 2^31, 1L))
  } else {
    as_panel(cell$design, draw_panel(cell$design, cell$n, seed, stream_position))
  })
}
