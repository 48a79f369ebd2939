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
  world$systems <- stats::setNames(rep(NA_real_, n_systems(x)), x$systems)
  world$all <- x$systems
  world$categories <- x$categories
  world$raters <- n_raters(x)
  world$missing <- 1 - given / (nrow(x) * n_raters(x))
  world
}

# A world may fail now and then, which a study bears; one that fails always is no world.
first_panel <- function(world, n) {
  for (seed in 1:5) {
    x <- tryCatch(
      suppressWarnings(world_panel(world, n, seed), classes = "fallible_warning"),
      fallible_error = identity
    )
    if (!inherits(x, "error")) break
  }
  x
}

# A panel of so many cases, with the systems that are asked for.
world_panel <- function(world, n, seed) {
  x <- tryCatch(with_run_seed(seed, world$draw(n)), error = function(e) {
    abort_world(world, "stopped with an error", in_one_line(e), error = without_trace(e))
  })
  check_panel(x, world, n)
  keep <- match(names(world$systems) %||% x$systems, x$systems)
  if (identical(keep, seq_along(x$systems))) x else join_patterns(keep_systems(x, keep))
}

check_panel <- function(x, world, n) {
  must <- function(ok, what, found) if (!ok) abort_world(world, paste("must", what), found)
  must(is_ratings(x), "return ratings", paste0("It returned ", describe(x), "."))
  must(
    nrow(x) == n, paste0("return ratings of ", count_noun(n, "case"), ", as it was asked to"),
    paste0("It returned ", count_noun(nrow(x), "case"), ".")
  )
  must(
    !is.null(x$truth), "return ratings with truth", "It returned ratings whose truth is not known."
  )
  unknown <- sum(is.na(x$truth$category))
  must(
    unknown == 0L, "know the truth of every case",
    paste("It is missing in", count_noun(unknown, "case"))
  )
  must(
    n_systems(x) > 0L, "return ratings with the answers of a system", "There is no system."
  )
  before <- world$all %||% x$systems
  same <- all(names(world$systems) %in% x$systems) && all(x$systems %in% before)
  must(same, "return the same systems every time", paste0(
    "They were ", toString(before), "; now they are ", toString(x$systems), "."
  ))
}

abort_world <- function(world, must, found, ...) {
  abort_fallible("design", verbatim("Design \"", world$label, "\" ", must, "."),
    x = verbatim(found),
    i = "A design may be a function of the number of cases that returns {.fun ratings} with the
        answers of systems, and with the truth of each case by {.fun with_truth}.",
    design = world$label, ..., call = NULL)
}

# Seeds of a world's own, in a lane beside those of estimators: the two must not go together.
world_seed <- function(seed, item) core_run_seeds(seed, item + 2^31, 1L)

# What is true of a panel, and how its raters agree; NA where there is no panel.
panel_facts <- function(x, systems) {
  if (inherits(x, "error")) {
    lacking <- rep(NA_real_, length(systems))
    none <- list(agreement = NA_real_, kappa = NA_real_, rater_accuracy = NA_real_)
    return(c(list(expected = lacking, sample = lacking), none))
  }
  fit <- fit_algebraic(with_votes(x), k_model())
  c(
    list(expected = unname(x$truth$expected), sample = sample_accuracy(x)),
    fit[c("agreement", "kappa", "rater_accuracy")]
  )
}

# Those of many runs, laid out as the core lays out its own: runs x systems, and by run.
stack_facts <- function(facts) {
  of <- function(name) stack_rows(facts, `[[`, name)
  names <- c("expected", "sample", "agreement", "kappa", "rater_accuracy")
  lapply(stats::setNames(nm = names), of)
}
