# Runs a study: cells (design, number of cases, system) are cut into blocks of runs. The results of
# a block depend only on the study's seed.

# `cell`: number of the cell. `item`: stream item of its first run; those of other runs follow.
study_cells <- function(study) {
  cells <- list()
  for (label in names(study$designs)) {
    design <- study$designs[[label]]
    parts <- if (study$panels == "same") list(design) else
      lapply(seq_along(design$systems), keep_system, design = design)
    for (n in study$n %||% design$n) for (part in parts) {
      i <- length(cells) + 1L
      cells[[i]] <- list(label = label, n = n, design = part, cell = i, item = 2^32 * (i - 1))
    }
  }
  cells
}

# Cells with `first`, the first run of the block, and `runs`, their number. A block takes seconds at
# most, because an interrupt loses unfinished blocks.
study_blocks <- function(study) {
  blocks <- lapply(study_cells(study), function(cell) {
    size <- block_size(cell, study$estimators)
    done <- study$done[[cell$cell]]
    first <- if (done < study$runs) seq(done + 1, study$runs, by = size)
    lapply(first, function(i) c(cell, first = i, runs = min(size, study$runs - i + 1)))
  })
  unlist(blocks, recursive = FALSE)
}

block_size <- function(cell, estimators) {
  compiled <- built_in(estimators)
  options <- lapply(estimators[compiled], core_options)
  replicates <- vapply(options, `[[`, 0L, "replicates")
  averaged <- any(vapply(options, needs_average, NA)) * n_systems(cell$design)
  work <- cell$n + 500 * sum(replicates) + averaged * (1e5 + 200 * cell$n) # in units of cases
  most <- if (all(compiled) && !is_world(cell$design)) 500 else 10 # with user-defined code
  max(1, min(most, 5e6 %/% work))
}

# Does the estimator run in compiled code? Other accuracy_estimator()s run like user-defined ones.
built_in <- function(estimators) {
  vapply(estimators, function(estimator) {
    inherits(estimator, "accuracy_estimator") && runs_compiled(attr(estimator, "options"))
  }, NA)
}

# `clock` returns seconds.
run_study <- function(study, threads, checkpoint = NULL, clock = elapsed) {
  for (cell in study_cells(study)) check_panel_memory(cell$design, cell$n)
  state <- new.env()
  parts <- if (!is.null(checkpoint)) hashes_of_parts(study)
  save <- function() {
    if (is.null(checkpoint)) return()
    save_checkpoint(state$complete %||% add_results(study, state$tables), checkpoint, parts)
    state$saved <- clock()
  }
  save()
  on.exit(save())
  bar <- progress_bar("Runs", study$runs * length(study$done))
  on.exit(bar$close(), add = TRUE)
  blocks <- study_blocks(study)
  before <- sum(study$done)
  runner <- block_runner(study, threads)
  while (length(blocks) > 0L) {
    wave <- seq_len(min(runner$width, length(blocks)))
    keep <- function(tables) state$tables <- c(state$tables, tables)
    keep(withCallingHandlers(
      runner$run(blocks[wave], function(done) bar$tick(before + done)),
      fallible_error_worker = function(cnd) keep(kept_blocks(blocks, cnd$finished))
    ))
    before <- before + sum(vapply(blocks[wave], `[[`, 0, "runs"))
    blocks <- blocks[-wave]
    bar$tick(before)
    if (isTRUE(clock() - state$saved > 5)) save()
  }
  state$complete <- add_results(study, state$tables)
  state$complete
}

# Sorts rows by cell, run, system and estimator. `done` is computed from the rows, so that both
# agree after an interrupt.
add_results <- function(study, tables) {
  if (length(tables) == 0L) return(study)
  table <- stack_tables(c(if (!is.null(study$results)) list(study$results), tables))
  order <- order(
    table$cell, table$run, match(table$system, unique(table$system)),
    match(table$estimator, names(study$estimators))
  )
  study$results <- lapply(table, `[`, order)
  runs <- split(table$run, factor(table$cell, seq_along(study$done)))
  study$done <- vapply(runs, max, 0L, 0L, USE.NAMES = FALSE)
  study
}

# Finished blocks of a wave in which some blocks are lost (NULL). Runs of a cell must be
# consecutive, so that blocks after a lost block of the same cell are dropped too.
kept_blocks <- function(blocks, finished) {
  cell <- vapply(blocks[seq_along(finished)], `[[`, 0L, "cell")
  lost <- vapply(finished, is.null, NA)
  unname(finished[!as.logical(stats::ave(lost, cell, FUN = cummax))])
}

# Number of blocks that run at once, and the function that runs them.
block_runner <- function(study, threads) {
  if (!has_workers()) {
    run <- function(blocks, tick) {
      lapply(blocks, run_block, study$estimators, study$seed, threads, tick)
    }
    return(list(width = 1L, run = run))
  }
  worlds <- lapply(Filter(is_world, study$designs), `[[`, "draw")
  needed <- estimator_globals(c(study$estimators, worlds))
  names <- function(block) {
    last <- block$first + block$runs - 1
    paste0("design ", block$label, ", n = ", number(block$n), ", runs ", block$first, " to ", last)
  }
  run <- function(blocks, tick) {
    run_pieces(
      lapply(blocks, block_task, study$estimators, study$seed), vapply(blocks, names, ""),
      globals = needed$globals, packages = needed$packages
    )
  }
  list(width = future::nbrOfWorkers(), run = run)
}

# Task for a worker, without the rest of the study, which a worker does not need.
block_task <- function(block, estimators, seed) {
  force(list(block, estimators, seed))
  function() run_block(block, estimators, seed)
}

# Global variables and attached packages of the user's session that estimators (and worlds) need.
estimator_globals <- function(estimators) {
  out <- list(globals = list(), packages = character())
  for (estimator in estimators[!built_in(estimators)]) {
    used <- future::getGlobalsAndPackages(
      quote(.fallible_estimator()),
      envir = list2env(list(.fallible_estimator = estimator), parent = globalenv())
    )
    globals <- unclass(used$globals)
    globals <- globals[names(globals) != ".fallible_estimator"]
    out$globals[names(globals)] <- globals
    out$packages <- union(out$packages, used$packages)
  }
  out
}

# Results of a block: a list of columns, with an entry per estimator, system and run.
run_block <- function(block, estimators, seed, threads = 1L, tick = function(done) NULL) {
  item <- block$item + block$first - 1
  seeds <- core_run_seeds(seed, item, block$runs)
  compiled <- built_in(estimators) & !is_world(block$design)
  interpreted <- interpreted_results(block, estimators[!compiled], seed, seeds)
  core <- interpreted$facts %||% core_study(unclass(block$design), list(
    cases = block$n, runs = block$runs, seed = seed, first = item, threads = threads,
    estimators = lapply(unname(estimators[compiled]), function(estimator) {
      c(core_options(estimator), list(ordered = is_ordered(block$design)))
    }),
    bootstrap_seeds = bootstrap_seeds(estimators[compiled], seeds)
  ), tick)
  results <- vector("list", length(estimators))
  results[compiled] <- Map(
    compiled_results, core$estimators, estimators[compiled], MoreArgs = list(block = block)
  )
  results[!compiled] <- interpreted$results
  systems <- names(block$design$systems)
  every <- function(...) lapply(list(...), rep_len, length(systems) * block$runs)
  stack_tables(Map(function(name, result) {
    c(
      every(
        cell = block$cell, design = block$label, n = block$n,
        system = rep(systems, each = block$runs),
        run = as.integer(block$first - 1 + seq_len(block$runs)), estimator = name
      ),
      result[c("estimate", interval_columns)],
      every(
        expected = as.vector(core$expected), sample = as.vector(core$sample),
        agreement = na_real(core$agreement), chance_kappa = na_real(core$kappa),
        rater_accuracy = na_real(core$rater_accuracy), seed = seeds
      ),
      result[c("reason", "condition")]
    )
  }, names(estimators), results))
}

# Bootstrap seeds that estimate_accuracy() would draw in each run: two words per run.
bootstrap_seeds <- function(estimators, seeds) {
  replicates <- vapply(estimators, function(estimator) core_options(estimator)$replicates, 0L)
  if (!any(replicates > 0L)) return(matrix(0L, 2L, 0L))
  vapply(seeds, function(seed) with_run_seed(seed, draw_seed()), integer(2L))
}

# Columns of results; entries are ordered by system, then by run.
compiled_results <- function(result, estimator, block) {
  out <- result_table(na_real(as.vector(result$estimate)))
  systems <- length(out$estimate) / block$runs
  categories <- n_categories(block$design)
  identifiable <- rep(result$identifiable, systems)
  out$reason <- reason_no_estimate(
    identifiable, rep(result$agreement, systems), categories, out$estimate, block$n
  )
  out$reason[identifiable == "yes" & !rep(result$identified, systems)] <-
    reason_of_parameters(attr(estimator, "options")$model, categories)
  out <- add_intervals(out, result$interval)
  out$condition <- vector("list", length(out$estimate))
  out
}

# Fields: results, by estimator; facts, true accuracies and agreement of panels, if a world draws
# them.
interpreted_results <- function(block, estimators, seed, seeds) {
  if (length(estimators) == 0L) return(list()) # panels are not needed
  systems <- names(block$design$systems)
  panels <- lapply(block$first + seq_along(seeds) - 1L, function(run) {
    tryCatch(run_panel(block, seed, run), error = identity)
  })
  by_system <- order(rep(seq_along(systems), length(seeds)))
  results <- lapply(estimators, function(estimator) {
    by_run <- Map(function(x, seed) apply_estimator(estimator, x, systems, seed), panels, seeds)
    lapply(stack_tables(by_run), `[`, by_system)
  })
  # As in results of the core, with a row per run: runs x systems, or a single column.
  facts <- if (is_world(block$design)) {
    do.call(Map, c(list(rbind), lapply(panels, panel_facts, systems)))
  }
  list(results = results, facts = facts)
}

run_panel <- function(cell, seed, run) {
  item <- cell$item + run - 1
  suppressWarnings(
    if (is_world(cell$design)) {
      world_panel(cell$design, cell$n, world_seed(seed, item))
    } else {
      as_panel(cell$design, draw_panel(cell$design, cell$n, seed, item))
    },
    classes = "fallible_warning"
  )
}
