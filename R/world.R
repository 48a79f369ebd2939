# Worlds: functions of a user's that return ratings with truth, in the place of a design.

# Fields: draw (the function), label, systems (whose accuracy nobody tells beforehand, by name; so
# that a study finds them where those of a design are; some of them, where each has panels of its
# own), and of the panel that was drawn to learn them: all (names of systems), categories, raters
# (their number), missing (the share of ratings that are).
new_world <- function(draw, label, n) {
  world <- structure(list(draw = draw, label = label), class = "rater_world")
  x <- first_panel(world, n)
  if (inherits(x, "error")) {
    x$call <- rlang::error_call(user_frame())
    rlang::cnd_signal(x)
  }
  given <- sum(pattern_lengths(x)[pattern_of_case(x)])
  world$systems <- stats::setNames(rep(NA_real_, length(x$systems)), x$systems)
  world$all <- x$systems
  world$categories <- x$categories
  world$raters <- length(x$raters)
  world$missing <- 1 - given / (nrow(x) * length(x$raters))
  world
}

# A world may fail now and then, which a study bears; one that fails always is no world.
first_panel <- function(world, n) {
  for (seed in 1:5) {
    x <- tryCatch(
      suppressWarnings(world_panel(world, n, seed), classes = "fallible_warning"),
      fallible_error = identity
    )
    if (!inherits(x, "error")) return(x)
    if (seed == 1L) first <- x
  }
  first
}

# A panel of so many cases, with the systems that are asked for.
world_panel <- function(world, n, seed) {
  x <- tryCatch(with_run_seed(seed, world$draw(n)), error = function(e) {
    abort_world(world, "stopped with an error", verbatim(in_one_line(e)), error = without_trace(e))
  })
  check_panel(x, world, n)
  keep <- match(names(world$systems) %||% x$systems, x$systems)
  if (identical(keep, seq_along(x$systems))) x else join_patterns(keep_systems(x, keep, NULL))
}

check_panel <- function(x, world, n) {
  if (!is_ratings(x)) {
    abort_world(world, "must return ratings", verbatim("It returned ", describe(x), "."))
  }
  if (nrow(x) != n) {
    abort_world(
      world, paste0("must return ratings of ", count_noun(n, "case"), ", as it was asked to"),
      paste0("It returned ", count_noun(nrow(x), "case"), ".")
    )
  }
  if (is.null(x$truth)) {
    abort_world(
      world, "must return ratings with truth", "It returned ratings whose truth is not known."
    )
  }
  if (anyNA(x$truth$category)) {
    abort_world(
      world, "must know the truth of every case",
      paste("It is missing in", count_noun(sum(is.na(x$truth$category)), "case"))
    )
  }
  check_world_systems(x, world)
}

check_world_systems <- function(x, world) {
  if (length(x$systems) == 0L) {
    abort_world(world, "must return ratings with the answers of a system", "There is no system.")
  }
  lacking <- setdiff(names(world$systems), x$systems)
  more <- setdiff(x$systems, world$all %||% x$systems)
  if (length(lacking) > 0L || length(more) > 0L) {
    abort_world(
      world, "must return the same systems every time",
      verbatim(
        "They were ", toString(world$all %||% names(world$systems)), "; now they are ",
        toString(x$systems), "."
      )
    )
  }
}

abort_world <- function(world, must, found, ...) {
  abort_fallible("design", paste0("Design ", verbatim("\"", world$label, "\""), " ", must, "."),
    x = found,
    i = "A design may be a function of the number of cases that returns {.fun ratings} with the
        answers of systems, and with the truth of each case by {.fun with_truth}.",
    design = world$label, ..., call = NULL)
}

# Seeds of a world's own, in a lane beside those of estimators: the two must not go together.
world_seed <- function(seed, item) core_run_seeds(seed, item + 2^31, 1L)

# What is true of a panel, and how its raters agree; NA where there is no panel.
panel_facts <- function(x, systems) {
  if (inherits(x, "error")) {
    none <- rep(NA_real_, length(systems))
    return(list(
      expected = none, sample = none, agreement = NA_real_, kappa = NA_real_,
      rater_accuracy = NA_real_
    ))
  }
  fit <- fit_algebraic(with_votes(x), k_model())
  c(
    list(expected = unname(x$truth$expected), sample = sample_accuracy(x)),
    fit[c("agreement", "kappa", "rater_accuracy")]
  )
}

# Those of many runs, laid out as the core lays out its own: runs x systems, and by run.
stack_facts <- function(facts) {
  of <- function(name) lapply(facts, `[[`, name)
  c(
    lapply(stats::setNames(nm = c("expected", "sample")), function(name) do.call(rbind, of(name))),
    lapply(stats::setNames(nm = c("agreement", "kappa", "rater_accuracy")), function(name) {
      as.double(unlist(of(name)))
    })
  )
}
