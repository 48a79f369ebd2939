# Crowds whose spammers are known.

#' Simulated crowds with planted spammers
#'
#' Draws the judgements of a crowd that may give several labels to a unit, among them spammers.
#' Repeatable with [set.seed()].
#'
#' Every unit has a main label, and a clarity drawn uniformly between .3 and 1: the probability that
#' a faithful worker gives the main label. The rest of the probability goes in half to the label's
#' neighbour (the first and the second label are neighbours, the third and the fourth, and so on),
#' and in half to any other. With probability .15 a faithful worker adds the neighbour of what was
#' given. Workers judge as nearly equally many units as possible, drawn at random.
#'
#' Spammers take the places of faithful workers:
#' * `random`: any label, and with probability .3 a second, whatever the unit.
#' * `constant`: always the same label, drawn for each such worker.
#' * `copy`: like `random`, but all of them give the same answer on a unit, as if they copied from
#'   one another. They agree among themselves.
#'
#' @param units,workers,per_unit Numbers of units, of workers and of judgements for each unit, at
#'   most as many as workers.
#' @param labels Number of labels, 2 to 26, called by letters.
#' @param spammers Named vector: how many workers are of each kind.
#' @return A [ratings()] object with `repeats = "labels"` that also carries the kinds of its
#'   workers: `tidy(x, "workers")` is a tibble with `worker` and `kind`, which is `"faithful"`,
#'   `"random"`, `"constant"` or `"copy"`.
#' @family CrowdTruth
#' @examples
#' set.seed(1)
#' x <- simulate_crowd(units = 40, workers = 20, spammers = c(random = 2, copy = 3))
#' x
#' table(tidy(x, "workers")$kind)
#' @export
simulate_crowd <- function(units = 60L, workers = 30L, per_unit = min(10L, workers), labels = 6L,
                           spammers = c(random = 0, constant = 0, copy = 0)) {
  units <- check_count(units, "units")
  workers <- check_count(workers, "workers", min = 2L)
  per_unit <- check_count(per_unit, "per_unit", max = workers)
  labels <- check_count(labels, "labels", min = 2L, max = 26L)
  check_memory(
    as.double(units) * max(per_unit, 2 * labels), "answers of a crowd",
    "Have fewer {.arg units}, or fewer answers {.arg per_unit}."
  )
  kinds <- draw_kinds(spammers, workers)
  worker <- as.vector(assign_workers(units, workers, per_unit))
  unit <- rep(seq_len(units), each = per_unit)
  main <- sample.int(labels, units, replace = TRUE)
  clarity <- stats::runif(units, 0.3, 1)
  n <- length(unit)
  draw_label <- function(n) sample.int(labels, n, replace = TRUE)
  neighbour <- function(label) pmin(label + ifelse(label %% 2L == 1L, 1L, -1L), labels)

  luck <- stats::runif(n)
  p <- clarity[unit]
  first <- ifelse(luck < (1 + p) / 2, neighbour(main[unit]), draw_label(n))
  first[luck < p] <- main[unit][luck < p]
  second <- ifelse(stats::runif(n) < 0.15, neighbour(first), NA)
  random <- list(first = draw_label(n), second = ifelse(stats::runif(n) < 0.3, draw_label(n), NA))
  shared <- list(
    first = draw_label(units), second = ifelse(stats::runif(units) < 0.3, draw_label(units), NA)
  )
  constant <- draw_label(workers)

  kind <- kinds[worker]
  first[kind == "random"] <- random$first[kind == "random"]
  second[kind == "random"] <- random$second[kind == "random"]
  first[kind == "copy"] <- shared$first[unit[kind == "copy"]]
  second[kind == "copy"] <- shared$second[unit[kind == "copy"]]
  first[kind == "constant"] <- constant[worker[kind == "constant"]]
  second[kind == "constant"] <- NA
  two <- !is.na(second) & second != first
  name <- function(prefix, n) paste0(prefix, formatC(seq_len(n), width = nchar(n), flag = "0"))
  names <- name("w", workers)
  x <- ratings(
    data.frame(
      case = name("u", units)[c(unit, unit[two])], rater = names[c(worker, worker[two])],
      rating = LETTERS[c(first, second[two])]
    ),
    case = "case", rater = "rater", rating = "rating", categories = LETTERS[seq_len(labels)],
    repeats = "labels"
  )
  x$kinds <- stats::setNames(unname(kinds), names)
  x
}

draw_kinds <- function(spammers, workers) {
  known <- c("random", "constant", "copy")
  ok <- is.numeric(spammers) && all(names(spammers) %in% known) && !is.null(names(spammers)) &&
    !anyNA(spammers) && all(spammers >= 0 & spammers == round(spammers)) &&
    sum(spammers) <= workers
  abort_argument_if(length(spammers) > 0L && !ok, "spammers",
    "must say how many of the {workers} workers are {.or {.val {known}}}.", not = spammers)
  kinds <- rep("faithful", workers)
  bad <- rep(names(spammers), spammers)
  kinds[sample.int(workers, length(bad))] <- bad
  kinds
}

# The workers of each unit in a column. They come in turn, in a new random order each turn; where a
# unit spans two turns, those it has already come last in the second.
assign_workers <- function(units, workers, per_unit) {
  out <- matrix(0L, per_unit, units)
  turn <- sample.int(workers)
  done <- 0L
  for (u in seq_len(units)) {
    left <- min(workers - done, per_unit)
    chosen <- turn[done + seq_len(left)]
    done <- done + left
    if (left < per_unit) {
      turn <- sample.int(workers)
      turn <- c(setdiff(turn, chosen), intersect(turn, chosen))
      done <- per_unit - left
      chosen <- c(chosen, turn[seq_len(done)])
    }
    out[, u] <- chosen
  }
  out
}
