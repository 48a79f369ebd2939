# How a study is run: cells (design, number of cases, system), cut into blocks of runs, each of
# which depends on nothing but the study's seed.

# A cell's field `cell` is its number, `item` that of its first run; those of the others follow.
study_cells <- function(study) {
  cells <- lapply(names(study$designs), function(label) {
    design <- study$designs[[label]]
    parts <- if (study$panels == "shared") {
      list(design)
    } else {
      lapply(seq_along(design$systems), keep_system, design = design)
    }
    sizes <- if (is.null(study$n)) design$n else study$n
    unlist(lapply(sizes, function(n) {
      lapply(parts, function(part) list(label = label, n = n, design = part))
    }), recursive = FALSE)
  })
  cells <- unlist(cells, recursive = FALSE)
  Map(function(cell, i) c(cell, cell = i, item = 2^32 * (i - 1)), cells, seq_along(cells))
}

# Cells with `first`, the first run of the block, and `runs`: so few that a block takes seconds at
# most, since an interrupt loses the blocks that are not finished.
study_blocks <- function(study) {
  blocks <- lapply(study_cells(study), function(cell) {
    size <- block_size(cell, study$estimators)
    done <- study$done[[cell$cell]]
    first <- done + size * (seq_len(ceiling((study$runs - done) / size)) - 1) + 1
    lapply(first, function(i) c(cell, first = i, runs = min(size, study$runs - i + 1)))
  })
  unlist(blocks, recursive = FALSE)
}

block_size <- function(cell, estimators) {
  compiled <- built_in(estimators)
  replicates <- vapply(estimators[compiled], function(e) core_options(e)$replicates, 0L)
  work <- cell$n + 500 * sum(replicates) # counted in cases
  max(1, min(if (all(compiled)) 500 else 10, 5e6 %/% work))
}

built_in <- function(estimators) {
  vapply(estimators, function(e) {
    inherits(e, "accuracy_estimator") && attr(e, "options")$method %in% compiled_methods
  }, NA)
}

run_study <- function(study, threads, checkpoint, call) {
  if (!is.null(checkpoint)) save_checkpoint(study, checkpoint, call)
  blocks <- study_blocks(study)
  before <- sum(study$done)
  tables <- list()
  saved <- Sys.time()
  on.exit(if (!is.null(checkpoint)) save_checkpoint(add_results(study, tables), checkpoint, call))
  bar <- progress_bar("Runs", study$runs * length(study$done))
  tick <- function(done) bar$tick(before + done)
  runner <- block_runner(study, threads)
  while (length(blocks) > 0L) {
    wave <- seq_len(min(runner$width, length(blocks)))
    tables <- c(tables, runner$run(blocks[wave], tick))
    for (block in blocks[wave]) {
      study$done[[block$cell]] <- block$first + block$runs - 1
      before <- before + block$runs
    }
    blocks <- blocks[-wave]
    tick(0)
    if (!is.null(checkpoint) && Sys.time() - saved > 5) {
      save_checkpoint(add_results(study, tables), checkpoint, call)
      saved <- Sys.time()
    }
  }
  bar$close()
  add_results(study, tables)
}

# Rows come in the order of cells, runs, systems and estimators.
add_results <- function(study, tables) {
  table <- stack_tables(c(if (!is.null(study$results)) list(study$results), tables))
  order <- order(
    table$cell, table$run, match(table$system, unique(table$system)),
    match(table$estimator, names(study$estimators))
  )
  study$results <- lapply(table, `[`, order)
  study
}

# One below another; all have the same columns, lists among them.
stack_tables <- function(tables) do.call(Map, c(list(c), unname(tables)))

# How many blocks are run at once, and the function that runs them.
block_runner <- function(study, threads) {
  if (!isNamespaceLoaded("future") || inherits(future::plan(), "sequential")) {
    here <- function(blocks, tick) {
      lapply(blocks, run_block, study$estimators, study$seed, threads, tick)
    }
    return(list(width = 1L, run = here))
  }
  needed <- estimator_globals(study$estimators)
  away <- function(blocks, tick) {
    futures <- lapply(blocks, function(block) {
      task <- block_task(block, study$estimators, study$seed)
      future::future(
        .fallible_task(),
        globals = c(list(.fallible_task = task), needed$globals), packages = needed$packages,
        seed = NULL
      )
    })
    lapply(futures, future::value)
  }
  list(width = future::nbrOfWorkers(), run = away)
}

# A function that carries what it needs: on a worker, other names belong to the user.
block_task <- function(block, estimators, seed) {
  force(list(block, estimators, seed))
  function() run_block(block, estimators, seed)
}
utils::globalVariables(".fallible_task")

# What estimators use that is not theirs: variables of the user's session, and attached packages.
estimator_globals <- function(estimators) {
  out <- list(globals = list(), packages = character())
  for (estimator in estimators[!built_in(estimators)]) {
    used <- future::getGlobalsAndPackages(
      quote(.fallible_estimator()),
      envir = list2env(list(.fallible_estimator = estimator), parent = globalenv())
    )
    found <- unclass(used$globals)
    found <- found[names(found) != ".fallible_estimator"]
    out$globals[names(found)] <- found
    out$packages <- union(out$packages, used$packages)
  }
  out
}

# The results of a block: a list of columns, an entry per estimator, system and run.
run_block <- function(block, estimators, seed, threads = 1L, tick = function(done) NULL) {
  item <- block$item + block$first - 1
  seeds <- core_run_seeds(seed, item, block$runs)
  compiled <- built_in(estimators)
  core <- core_study(unclass(block$design), list(
    cases = block$n, runs = block$runs, seed = seed, first = item, threads = threads,
    estimators = lapply(unname(estimators[compiled]), core_options),
    bootstrap_seeds = bootstrap_seeds(estimators[compiled], seeds)
  ), tick)
  results <- vector("list", length(estimators))
  results[compiled] <- lapply(core$estimators, compiled_results, core, block)
  results[!compiled] <- interpreted_results(block, estimators[!compiled], seed, seeds)
  systems <- names(block$design$systems)
  rows <- length(systems) * block$runs
  every <- function(x) rep_len(x, rows)
  stack_tables(Map(function(name, result) {
    c(
      list(
        cell = every(block$cell), design = every(block$label), n = every(block$n),
        system = rep(systems, each = block$runs),
        run = every(as.integer(block$first - 1 + seq_len(block$runs))), estimator = every(name)
      ),
      result[c("estimate", "std.error", "conf.low", "conf.high")],
      list(
        expected = as.vector(core$expected), sample = as.vector(core$sample),
        agreement = every(na_real(core$agreement)), kappa = every(na_real(core$kappa)),
        rater_accuracy = every(na_real(core$rater_accuracy)), seed = every(seeds)
      ),
      result[c("reason", "condition")]
    )
  }, names(estimators), results))
}

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

# All results have their entries run by run within systems.
compiled_results <- function(result, core, block) {
  out <- result_table(na_real(as.vector(result$estimate)))
  systems <- length(out$estimate) / block$runs
  fits <- list(
    identified = rep(core$identified, systems), agreement = rep(core$agreement, systems)
  )
  out$reason <- reason_no_estimate(
    fits$identified, fits$agreement, length(block$design$categories), out$estimate, block$n
  )
  out <- add_intervals(out, result$interval)
  out$condition <- rep(list(NULL), length(out$estimate))
  out
}

interpreted_results <- function(block, estimators, seed, seeds) {
  if (length(estimators) == 0L) {
    return(list()) # no panel need be built
  }
  systems <- names(block$design$systems)
  by_run <- lapply(seq_along(seeds), function(i) {
    x <- tryCatch(run_panel(block, seed, block$first + i - 1L), error = identity)
    lapply(estimators, apply_estimator, x, systems, seeds[[i]])
  })
  by_system <- order(rep(seq_along(systems), length(seeds)))
  lapply(seq_along(estimators), function(e) {
    results <- lapply(by_run, `[[`, e)
    out <- stack_tables(lapply(results, `[[`, "table"))
    out$condition <- rep(lapply(results, `[[`, "condition"), each = length(systems))
    lapply(out, `[`, by_system)
  })
}

run_panel <- function(cell, seed, run) {
  suppressWarnings(
    as_panel(cell$design, draw_panel(cell$design, cell$n, seed, cell$item + run - 1)),
    classes = "fallible_warning"
  )
}

# Written beside its place and moved there, so that an interrupt leaves the file before.
save_checkpoint <- function(study, path, call) {
  beside <- paste0(path, ".new")
  written <- tryCatch(
    {
      suppressWarnings(saveRDS(study, beside))
      file.rename(beside, path)
    },
    error = function(e) FALSE
  )
  if (!written) {
    abort_fallible("file", c(
      "The file of {.arg checkpoint} cannot be written.",
      "x" = verbatim("It is ", path, ".")
    ), path = path, call = call)
  }
}

# The study with the results of the file, if that holds the same study but for its seed and the
# number of runs. `parts` are what must be the same.
resume <- function(study, path, call, parts = c("designs", "estimators", "n", "panels")) {
  if (!file.exists(path)) {
    return(study)
  }
  before <- tryCatch(suppressWarnings(readRDS(path)), error = identity)
  if (!inherits(before, "simulation_study")) {
    abort_fallible("file", c(
      "The file of {.arg checkpoint} does not hold a study.",
      "x" = verbatim("It is ", path, ".")
    ), path = path, call = call)
  }
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
    "Going on from ", path, ": ", number(sum(before$done)), " panels are done."
  ))
  study[c("seed", "results", "done")] <- before[c("seed", "results", "done")]
  study
}
