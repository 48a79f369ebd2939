# Crowds whose spammers are known.

#' Simulated crowds with planted spammers
#'
#' Draws the judgements of a crowd that may give several labels to a unit, among them spammers.
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
#' * `copy`: like `random`, but all of them give the same answer on a unit.
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
  unit <- rep(seq_len(units), each = per_unit)
  with_one_seed({
    kinds <- draw_kinds(spammers, workers)
    worker <- as.vector(assign_workers(units, workers, per_unit))
    given <- draw_answers(unit, worker, kinds, labels)
  })
  second <- which(!is.na(given$second) & given$second != given$first)
  all <- c(seq_along(unit), second)
  name <- function(prefix, n) paste0(prefix, formatC(seq_len(n), width = nchar(n), flag = "0"))
  names <- name("w", workers)
  x <- ratings(
    data.frame(
      case = name("u", units)[unit[all]], rater = names[worker[all]],
      rating = LETTERS[c(given$first, given$second[second])]
    ),
    case = "case", rater = "rater", rating = "rating", categories = LETTERS[seq_len(labels)],
    repeats = "labels"
  )
  x$kinds <- stats::setNames(kinds, names)
  x
}

# The first and perhaps a second label of each answer, as the kind of its worker gives them.
draw_answers <- function(unit, worker, kinds, labels) {
  n <- length(unit)
  units <- max(unit)
  draw <- function(n) sample.int(labels, n, replace = TRUE)
  neighbour <- function(label) pmin(label + ifelse(label %% 2L == 1L, 1L, -1L), labels)
  main <- draw(units)[unit]
  p <- stats::runif(units, 0.3, 1)[unit]
  luck <- stats::runif(n)
  first <- ifelse(luck < (1 + p) / 2, neighbour(main), draw(n))
  first[luck < p] <- main[luck < p]
  faithful <- list(first = first, second = ifelse(stats::runif(n) < 0.15, neighbour(first), NA))
  careless <- function(n) {
    list(first = draw(n), second = ifelse(stats::runif(n) < 0.3, draw(n), NA))
  }
  answers <- list(
    faithful = faithful, random = careless(n), copy = lapply(careless(units), `[`, unit),
    constant = list(first = draw(length(kinds))[worker], second = rep(NA, n))
  )
  at <- cbind(seq_len(n), match(kinds[worker], names(answers)))
  lapply(c(first = "first", second = "second"), function(part) {
    do.call(cbind, lapply(answers, `[[`, part))[at]
  })
}

draw_kinds <- function(spammers, workers) {
  known <- c("random", "constant", "copy")
  ok <- length(spammers) == 0L || is.numeric(spammers) && !is.null(names(spammers)) &&
    all(names(spammers) %in% known) && !anyNA(spammers) &&
    all(spammers >= 0 & spammers == round(spammers)) && sum(spammers) <= workers
  abort_argument_if(!ok, "spammers",
    "must say how many of the {workers} workers are {.or {.val {known}}}.", not = spammers)
  bad <- rep(names(spammers), spammers)
  replace(rep("faithful", workers), sample.int(workers, length(bad)), bad)
}

# The workers of each unit in a column. They come in turn, in a new random order each turn; where a
# unit spans two turns, those it has already come last in the second.
assign_workers <- function(units, workers, per_unit) {
  out <- matrix(0L, per_unit, units)
  turn <- sample.int(workers)
  for (u in seq_len(units)) {
    chosen <- utils::head(turn, per_unit)
    turn <- utils::tail(turn, -per_unit)
    lacking <- per_unit - length(chosen)
    if (lacking > 0L) {
      again <- sample.int(workers)
      again <- c(setdiff(again, chosen), intersect(again, chosen))
      chosen <- c(chosen, again[seq_len(lacking)])
      turn <- again[-seq_len(lacking)]
    }
    out[, u] <- chosen
  }
  out
}
