# How a study is run: cells (design, number of cases, system), cut into blocks of runs, each of
# which depends on nothing but the study's seed.

# A cell's field `item` is that of its first run; run r has the stream item + r - 1.
study_cells <- function(study) {
  cells <- list()
  for (label in names(study$designs)) {
    design <- study$designs[[label]]
    parts <- if (study$panels == "shared") {
      list(design)
    } else {
      lapply(seq_along(design$systems), keep_system, design = design)
    }
    for (n in if (is.null(study$n)) design$n else study$n) {
      for (part in parts) {
        item <- 2^32 * length(cells)
        cells <- c(cells, list(list(label = label, n = n, design = part, item = item)))
      }
    }
  }
  cells
}

# Cells with `first`, the first run of the block, and `runs`. Compiled code polls for interrupts
# itself; estimators in R are reported on, and saved, after so few panels.
study_blocks <- function(study) {
  size <- if (all(built_in(study$estimators))) 500L else 10L
  done <- runs_done(study)
  blocks <- list()
  cells <- study_cells(study)
  for (i in seq_along(cells)) {
    first <- done[[i]] + 1L
    while (first <= study$runs) {
      runs <- min(size, study$runs - first + 1L)
      block <- c(cells[[i]], list(cell = i, first = first, runs = runs))
      blocks <- c(blocks, list(block))
      first <- first + runs
    }
  }
  blocks
}

# Runs are done in order, so the last of a cell says how many.
runs_done <- function(study) {
  done <- integer(length(study_cells(study)))
  for (result in study$results) done[[result$cell]] <- max(done[[result$cell]], result$last)
  done
}

built_in <- function(estimators) vapply(estimators, inherits, NA, "accuracy_estimator")

run_study <- function(study, threads, checkpoint) {
  blocks <- study_blocks(study)
  cells <- length(study_cells(study))
  before <- sum(runs_done(study))
  saved <- Sys.time()
  on.exit(if (!is.null(checkpoint)) save_checkpoint(study, checkpoint))
  bar <- progress_bar("Runs", study$runs * cells)
  tick <- function(done) bar$tick(before + done)
  runner <- block_runner(study, threads)
  while (length(blocks) > 0L) {
    wave <- seq_len(min(runner$width, length(blocks)))
    tables <- runner$run(blocks[wave], tick)
    for (i in wave) {
      block <- blocks[[i]]
      last <- block$first + block$runs - 1L
      study$results <- c(
        study$results, list(list(cell = block$cell, last = last, table = tables[[i]]))
      )
      before <- before + block$runs
    }
    blocks <- blocks[-wave]
    tick(0)
    if (!is.null(checkpoint) && Sys.time() - saved > 5) {
      save_checkpoint(study, checkpoint)
      saved <- Sys.time()
    }
  }
  bar$close()
  study$results <- join_results(study$results)
  study
}

# One entry per cell.
join_results <- function(results) {
  by_cell <- split(results, vapply(results, `[[`, 0L, "cell"))
  lapply(unname(by_cell), function(of_cell) {
    table <- stack_tables(lapply(of_cell, `[[`, "table"))
    list(cell = of_cell[[1L]]$cell, last = of_cell[[length(of_cell)]]$last, table = table)
  })
}

# How many blocks are run at once, and the function that runs them.
block_runner <- function(study, threads) {
  if (!isNamespaceLoaded("future") || inherits(future::plan(), "sequential")) {
    here <- function(blocks, tick) {
      lapply(blocks, run_block, study$estimators, study$seed, threads, tick)
    }
    return(list(width = 1L, run = here))
  }
  estimators <- study$estimators
  seed <- study$seed
  needed <- estimator_globals(estimators)
  away <- function(blocks, tick) {
    futures <- lapply(blocks, function(block) {
      own <- list(run_block = run_block, block = block, estimators = estimators, seed = seed)
      future::future(
        run_block(block, estimators, seed),
        globals = c(own, needed$globals), packages = needed$packages, seed = NULL
      )
    })
    lapply(futures, future::value)
  }
  list(width = future::nbrOfWorkers(), run = away)
}

# What estimators use that is not theirs: variables of the user's session, and attached packages.
estimator_globals <- function(estimators) {
  out <- list(globals = list(), packages = character())
  for (estimator in estimators[!built_in(estimators)]) {
    used <- future::getGlobalsAndPackages(
      quote(estimator(x)), envir = list2env(list(estimator = estimator), parent = globalenv())
    )
    found <- unclass(used$globals)
    out$globals[setdiff(names(found), "estimator")] <- found[setdiff(names(found), "estimator")]
    out$packages <- union(out$packages, used$packages)
  }
  out
}

# The results of a block: a data frame with a row per run, system and estimator.
run_block <- function(block, estimators, seed, threads = 1L, tick = function(done) NULL) {
  item <- block$item + block$first - 1
  seeds <- core_run_seeds(seed, item, block$runs)
  compiled <- built_in(estimators)
  core <- core_study(unclass(block$design), list(
    cases = block$n, runs = block$runs, seed = seed, first = item, threads = threads,
    estimators = lapply(unname(estimators[compiled]), core_options),
    bootstrap_seeds = bootstrap_seeds(estimators[compiled], seeds)
  ), tick)
  systems <- names(block$design$systems)
  panel <- list(
    run = block$first - 1L + seq_len(block$runs), agreement = na_real(core$agreement),
    kappa = na_real(core$kappa), rater_accuracy = na_real(core$rater_accuracy), seed = seeds
  )
  tables <- vector("list", length(estimators))
  tables[compiled] <- lapply(core$estimators, compiled_results, core, block)
  tables[!compiled] <- interpreted_results(block, estimators[!compiled], seed, seeds)
  rows <- Map(function(name, table) {
    every <- function(x) rep_len(x, nrow(table))
    list2DF(c(
      list(
        design = every(block$label), n = every(block$n),
        system = rep(systems, each = block$runs), run = every(panel$run), estimator = every(name)
      ),
      table[c("estimate", "std.error", "conf.low", "conf.high")],
      list(expected = as.vector(core$expected), sample = as.vector(core$sample)),
      lapply(panel[c("agreement", "kappa", "rater_accuracy", "seed")], every),
      table[c("reason", "condition")]
    ))
  }, names(estimators), tables)
  rows <- stack_tables(rows)
  rows[order(rows$run, match(rows$system, systems), match(rows$estimator, names(estimators))), ]
}

# One below another; all have the same columns, lists among them.
stack_tables <- function(tables) list2DF(do.call(Map, c(list(c), unname(tables))))

# The options of an estimator that the core knows.
core_options <- function(estimator) {
  options <- attr(estimator, "options")
  if (options$interval == "none") options$replicates <- 0L
  options[c("method", "clip", "bin_width", "replicates", "conf_level")]
}

# What estimate_accuracy() would draw in each run: two words per run.
bootstrap_seeds <- function(estimators, seeds) {
  replicates <- vapply(estimators, function(estimator) core_options(estimator)$replicates, 0L)
  if (!any(replicates > 0L)) {
    return(matrix(0L, 2L, 0L))
  }
  vapply(seeds, function(seed) with_run_seed(seed, draw_seed()), integer(2L))
}

# All tables have their rows run by run within systems.
compiled_results <- function(result, core, block) {
  table <- result_table(na_real(as.vector(result$estimate)))
  run <- rep_len(seq_len(block$runs), nrow(table))
  for (i in which(is.na(table$estimate))) {
    fit <- list(
      identified = core$identified[[run[[i]]]], agreement = core$agreement[[run[[i]]]],
      x = block$design
    )
    table$reason[[i]] <- reason_no_estimate(fit, data.frame(estimate = NA_real_, n = block$n))
  }
  table <- add_intervals(table, result$interval)
  table$condition <- rep(list(NULL), nrow(table))
  table
}

interpreted_results <- function(block, estimators, seed, seeds) {
  systems <- names(block$design$systems)
  if (length(estimators) == 0L) {
    return(list())
  }
  by_run <- lapply(seq_along(seeds), function(i) {
    x <- tryCatch(run_panel(block, seed, block$first + i - 1L), error = identity)
    lapply(estimators, apply_estimator, x, systems, seeds[[i]])
  })
  lapply(seq_along(estimators), function(e) {
    results <- lapply(by_run, `[[`, e)
    table <- stack_tables(lapply(results, `[[`, "table"))
    table$condition <- rep(lapply(results, `[[`, "condition"), each = length(systems))
    table[order(rep(seq_along(systems), length(seeds))), ]
  })
}

run_panel <- function(cell, seed, run) {
  suppressWarnings(
    as_panel(cell$design, draw_panel(cell$design, cell$n, seed, cell$item + run - 1)),
    classes = "fallible_warning"
  )
}

# Written beside its place and moved there, so that an interrupt leaves the file before.
save_checkpoint <- function(study, path) {
  beside <- paste0(path, ".new")
  saveRDS(study, beside)
  file.rename(beside, path)
}

# The study of the file, if it is the same but for its seed and the number of runs.
resume <- function(study, path, call) {
  if (!file.exists(path)) {
    return(study)
  }
  before <- tryCatch(readRDS(path), error = identity)
  if (!inherits(before, "simulation_study")) {
    abort_fallible("file", c(
      "The file of {.arg checkpoint} does not hold a study.",
      "x" = verbatim("It is ", path, ".")
    ), path = path, call = call)
  }
  parts <- c("designs", "estimators", "n", "panels")
  differ <- parts[!vapply(parts, function(part) {
    identical(
      before[[part]], study[[part]], ignore.environment = TRUE, ignore.bytecode = TRUE,
      ignore.srcref = TRUE
    )
  }, NA)]
  if (length(differ) > 0L || before$runs > study$runs) {
    abort_fallible("file", c(
      "The file of {.arg checkpoint} holds another study.",
      "x" = if (length(differ) > 0L) "Not the same: {.arg {differ}}." else
        "It has {before$runs} {.arg runs}, more than the {study$runs} asked for.",
      "i" = "Choose another file, or delete this one."
    ), path = path, call = call)
  }
  cli::cli_inform(verbatim(
    "Going on from ", path, ": ", number(sum(runs_done(before))), " panels are done."
  ))
  study$seed <- before$seed
  study$results <- before$results
  study
}
