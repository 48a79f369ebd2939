# A few known truths and many fallible ratings: coverage, width and error of intervals that combine
# both.
#
#   FALLIBLE_DATA=/path Rscript bench/gold.R [output.csv] [draws] [cache.rds]
#
# Worlds are the sets of $FALLIBLE_DATA/real with at least 200 truths, up to four systems each, and
# eight simulated designs of 1000 cases. In each draw the cases of a world are drawn with
# replacement, so the share of right answers in the world is the population value. Gold cases are a
# random part of the drawn cases, up to half. The estimate from ratings is computed from the drawn
# cases; the parameters of raters are fitted once. Reading and fitting takes longest, so the cache
# keeps them.
#
# Accuracies: gold only (Wilson), ratings only, PPI++ with its interval, corrected, combined.
# Differences, recall and precision: gold only, corrected, combined. Then gold in clusters; gold by
# strata and by unequal probabilities; looks after every batch; and the planner.
#
# Prints tables, and writes those of the first two kinds: mean coverage over worlds, the worst
# coverage, mean width, pooled root mean squared error, and the number of worlds.

library(fallible)

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]]))
source(file.path(folder, "helpers.R"))
source(file.path(folder, "..", "tests", "testthat", "helper-gold.R")) # the peer
inside <- asNamespace("fallible") # what users do not call

seed <- 20150501
conf_level <- 0.9
sizes <- c(10, 20, 50, 100, 200, 300)

main <- function(output = NULL, draws = "300", cache = NULL) {
  options(width = 150L, cli.progress_show_after = 3600)
  draws <- as.integer(draws)
  worlds <- cached_worlds(cache)
  cat("Seed ", seed, ", ", draws, " draws, ", length(worlds), " worlds\n", sep = "")
  results <- rbind(
    told("accuracy", measure(worlds, draws, draw_accuracy, systems_of)),
    told("difference", measure(worlds, draws, draw_difference, pairs_of)),
    told("recall", measure(worlds, draws, draw_recall, categories_of)),
    told("precision", measure(worlds, draws, draw_precision, categories_of))
  )
  if (!is.null(output)) write_results(cbind(summarise(results), draws = draws), output, seed)
  print_choices(worlds, draws)
  print_clusters(draws)
  print_looks(worlds, draws)
  print_planner(worlds, draws)
}

told <- function(of, results) {
  results <- cbind(of = of, results)
  print_tables(results)
  results
}

# ---- Worlds -------------------------------------------------------------------------------------

cached_worlds <- function(cache) {
  if (!is.null(cache) && file.exists(cache)) {
    return(readRDS(cache))
  }
  worlds <- make_worlds()
  if (!is.null(cache)) saveRDS(worlds, cache)
  worlds
}

make_worlds <- function() {
  root <- Sys.getenv("FALLIBLE_DATA")
  sets <- if (nzchar(root)) list.dirs(file.path(root, "real"), recursive = FALSE)
  if (is.null(sets)) message("FALLIBLE_DATA is not set: simulated designs only.")
  designs <- simulated_designs()
  worlds <- c(
    stats::setNames(lapply(sets, real_world), basename(as.character(sets))),
    lapply(designs, simulated_world)
  )
  Filter(Negate(is.null), worlds)
}

real_world <- function(folder) {
  file <- function(stem) {
    files <- file.path(folder, paste0(stem, c(".csv", ".csv.gz")))
    files[file.exists(files)]
  }
  read <- function(stem) {
    utils::read.csv(file(stem)[[1L]], colClasses = "character", na.strings = c("NA", ""))
  }
  if (length(file("truth")) == 0L || length(file("systems")) == 0L) {
    return(NULL)
  }
  known <- read("truth")
  known <- known[!is.na(known$truth), ]
  if (nrow(known) < 200L) {
    return(NULL)
  }
  answers <- read("systems")
  answers <- answers[answers$case %in% known$case, ]
  number <- table(answers$system)
  answers <- answers[answers$system %in% utils::head(names(number)[order(-number)], 4L), ]
  long <- read("ratings")
  categories <- sort(unique(c(long$rating, answers$prediction, known$truth)))
  x <- quiet(ratings(
    long, case = case, rater = rater, rating = rating, systems = answers, categories = categories,
    repeats = "ratings"
  ))
  new_world(x, match(known$truth[match(as.character(x$cases), known$case)], categories))
}

simulated_designs <- function() {
  even <- function(n) rep(1 / n, n)
  list(
    easy = rater_design(c(0.9, 0.9, 0.9), c(0.9, 0.8), 3, 1000, even(3)),
    hard = rater_design(c(0.5, 0.5, 0.6), c(0.7, 0.5), 5, 1000, even(5)),
    two = rater_design(c(0.7, 0.7, 0.7), c(0.8, 0.75), 2, 1000, even(2)),
    many = rater_design(rep(c(0.6, 0.8), 4), c(0.9, 0.7), 4, 1000, even(4)),
    difficult = rater_design(
      c(0.7, 0.7, 0.7), c(0.7, 0.6), 4, 1000, c(0.4, 0.3, 0.2, 0.1), difficulty = 0.25
    ),
    sparse = rater_design(rep(0.7, 10), c(0.8, 0.7), 3, 1000, even(3), missing = 0.8),
    neighbours = rater_design(
      c(0.6, 0.7, 0.8), c(0.8, 0.6), 5, 1000, even(5), dispersion = 3, error_range = 1
    ),
    together = rater_design(
      c(0.7, 0.7, 0.7), c(0.8, 0.7), 2, 1000, even(2),
      copying = data.frame(from = 1, to = c(2, 3, 4), probability = c(0.6, 0.6, 0.4))
    )
  )
}

simulated_world <- function(design) {
  set.seed(seed)
  x <- quiet(simulate_ratings(design))
  new_world(x, as.integer(truth(x)$category))
}

# A row per case with a truth and an answer: `truth`, `answer` (cases x systems), `predicted` (cases
# x categories), `posterior` (a matrix of the same shape per system). And the estimate of each
# system from ratings only.
new_world <- function(x, truth) {
  estimate <- quiet(estimate_accuracy(x))
  answer <- x$patterns$answer[x$index, , drop = FALSE]
  kept <- which(!is.na(truth) & rowSums(answer) > 0L)
  at <- x$index[kept]
  list(
    truth = truth[kept], answer = answer[kept, , drop = FALSE],
    predicted = inside$predict_categories(x)[at, , drop = FALSE],
    posterior = lapply(estimate$posterior, function(p) unclass(as.matrix(p))[at, , drop = FALSE]),
    alone = lapply(seq_along(x$systems), function(s) inside$estimates_from_ratings(estimate, s)),
    sampling = estimate$details$sampling, cells = cells_alone(estimate)
  )
}

quiet <- function(code) suppressWarnings(code, classes = "fallible_warning")

systems_of <- function(world) {
  lapply(Filter(function(s) sum(world$answer[, s] > 0L) >= 100, seq_len(ncol(world$answer))), list)
}

pairs_of <- function(world) {
  if (ncol(world$answer) < 2L) {
    return(list())
  }
  pairs <- utils::combn(ncol(world$answer), 2L)
  enough <- function(p) sum(world$answer[, p[[1L]]] > 0L & world$answer[, p[[2L]]] > 0L) >= 100
  pairs <- Filter(enough, asplit(pairs[, seq_len(min(3L, ncol(pairs))), drop = FALSE], 2L))
  lapply(pairs, as.list)
}

# The first two systems, and of categories that are frequent enough the first and the last.
categories_of <- function(world) {
  frequent <- which(tabulate(world$truth, ncol(world$predicted)) >= 0.15 * length(world$truth))
  if (length(frequent) > 2L) frequent <- range(frequent)
  systems <- utils::head(unlist(systems_of(world)), 2L)
  unlist(lapply(systems, function(s) lapply(frequent, function(k) list(s, k))), recursive = FALSE)
}

# ---- Draws --------------------------------------------------------------------------------------

# A row per world, thing in it, draw, size and method.
measure <- function(worlds, draws, draw, things_of) {
  rows <- lapply(names(worlds), function(name) {
    things <- things_of(worlds[[name]])
    lapply(seq_along(things), function(i) {
      set.seed(seed)
      thing <- do.call(draw, c(list(worlds[[name]]), things[[i]]))
      rows <- do.call(rbind, lapply(seq_len(draws), function(run) one_draw(thing)))
      if (!is.null(rows)) told_of(rows, name, i, thing$true)
    })
  })
  do.call(rbind, unlist(rows, recursive = FALSE))
}

# `thing`: `cases`, how many there are; `true`; `estimates`, a function of the cases drawn that
# gives a function of the places of gold among them, which gives a matrix: methods x (estimate, low,
# high).
# Few gold cases are the first of many, so that sizes are compared on the same draws.
one_draw <- function(thing) {
  possible <- sizes[sizes <= thing$cases / 2]
  if (length(possible) == 0L) {
    return(NULL)
  }
  drawn <- sample.int(thing$cases, thing$cases, replace = TRUE)
  order <- sample.int(thing$cases)
  estimates <- thing$estimates(drawn)
  do.call(rbind, lapply(possible, function(m) {
    cbind(m, estimates(order[seq_len(m)]))
  }))
}

told_of <- function(rows, world, thing, true) {
  low <- rows[, 3L]
  high <- rows[, 4L]
  data.frame(
    world = world, thing = thing, gold = rows[, 1L], method = rownames(rows),
    error = rows[, 2L] - true, covered = low <= true + 1e-12 & true <= high + 1e-12,
    width = high - low, row.names = NULL
  )
}

three <- function(x) c(x$estimate, x$conf.low, x$conf.high)

around <- function(value, reach, low = 0, high = 1) {
  c(value, max(low, value - reach), min(high, value + reach))
}

wilson <- function(y) c(mean(y), inside$wilson_interval(mean(y), length(y), z()))
z <- function() inside$normal_quantile(conf_level)

cell <- function(matrix, answer) matrix[cbind(seq_along(answer), answer)]

filled <- function(q) inside$fill_unrated(q, rep(1, length(q)))

draw_accuracy <- function(world, s) {
  on <- which(world$answer[, s] > 0L)
  answer <- world$answer[on, s]
  y <- as.numeric(answer == world$truth[on])
  q <- filled(cell(world$predicted[on, , drop = FALSE], answer))
  p <- filled(cell(world$posterior[[s]][on, , drop = FALSE], answer))
  shift <- world$alone[[s]]$estimate - mean(p)
  list(cases = length(on), true = mean(y), estimates = function(drawn) {
    alone <- world$alone[[s]]
    alone$estimate <- min(max(mean(p[drawn]) + shift, 0), 1)
    of <- inside$prediction_of(q[drawn])
    function(at) {
      golden <- drawn[at]
      x <- inside$correct_share(y[golden], q[golden], of)
      peer <- ppi_mean(y[golden], q[golden], q[drawn[-at]], conf_level = conf_level)
      rbind(
        "gold alone" = wilson(y[golden]),
        "ratings alone" = around(alone$estimate, z() * alone$std.error), "PPI++" = peer[-1L],
        both_shares(x, alone)
      )
    }
  })
}

both_shares <- function(x, alone) {
  rbind(
    corrected = three(inside$corrected_interval(x, "population", conf_level)),
    combined = three(
      inside$combined_interval(x, alone, "population", conf_level, widen = NULL)
    )
  )
}

# Errors of two systems go together as their answers do, see likeness_power.
difference_alone <- function(world, first, second, alike) {
  sampling <- world$sampling[c(first, second)]
  bias <- c(world$alone[[first]]$bias, world$alone[[second]]$bias)
  sampling <- sum(sampling^2) - 2 * alike * prod(sampling)
  bias <- sum(bias^2) - 2 * alike^inside$hidden_correlation_power * prod(bias)
  list(
    estimate = world$alone[[first]]$estimate - world$alone[[second]]$estimate,
    std.error = sqrt(max(0, sampling + bias)), bias = sqrt(max(0, bias))
  )
}

draw_difference <- function(world, first, second) {
  on <- which(world$answer[, first] > 0L & world$answer[, second] > 0L)
  part <- function(s, matrix) filled(cell(matrix[on, , drop = FALSE], world$answer[on, s]))
  differ <- world$answer[on, first] != world$answer[on, second]
  u <- (world$answer[on, first] == world$truth[on]) - (world$answer[on, second] == world$truth[on])
  both <- differ * (part(first, world$predicted) + part(second, world$predicted))
  q <- differ * (part(first, world$predicted) - part(second, world$predicted))
  p <- part(first, world$posterior[[first]]) - part(second, world$posterior[[second]])
  alone <- difference_alone(world, first, second, 1 - mean(differ))
  shift <- alone$estimate - mean(p)
  list(cases = length(on), true = mean(u), estimates = function(drawn) {
    alone$estimate <- mean(p[drawn]) + shift
    of <- inside$prediction_of(q[drawn])
    facts <- list(
      differ = mean(differ[drawn]), one_right = mean(both[drawn]), all = length(drawn),
      alone = alone
    )
    of_disputed <- inside$prediction_of(q[drawn], as.double(differ[drawn]))
    disputed <- which(differ[drawn])
    function(at) {
      golden <- drawn[at]
      x <- inside$correct_difference(u[golden], q[golden], of)
      spread <- sqrt(max(stats::var(u[golden]), 1 / length(at)) / length(at))
      student <- stats::qt((1 + conf_level) / 2, length(at) - 1)
      # The same number of gold cases, all with different answers. Other cases need no label.
      at <- disputed[sample.int(length(disputed), min(length(at), length(disputed)))]
      among <- inside$correct_difference(u[drawn[at]], q[drawn[at]], of_disputed)
      among <- inside$as_part(among, mean(differ[drawn]), TRUE)
      rbind(
        "gold alone" = around(mean(u[golden]), student * spread, -1),
        "ratings alone" = around(alone$estimate, z() * alone$std.error, -1),
        both_differences(x, facts), both_differences(among, facts, ", where they differ")
      )
    }
  })
}

both_differences <- function(x, facts, where = "") {
  x <- c(x, facts[c("differ", "one_right", "all")])
  out <- rbind(
    three(inside$difference_interval(x, "population", conf_level)),
    three(inside$combined_difference(x, facts$alone, "population", conf_level, widen = NULL))
  )
  rownames(out) <- paste0(c("corrected", "combined"), where)
  out
}

# Estimates from ratings only of recall and precision of all categories of all systems.
cells_alone <- function(estimate) {
  categories <- estimate$fit$x$categories
  measures <- inside$built_in_metrics[c("recall", "precision")]
  plan <- inside$metric_plan(measures, categories, NULL, list())
  counts <- inside$confusion_counts(estimate)
  draws <- inside$confusion_draws(estimate)
  rows <- lapply(seq_along(counts), function(s) {
    found <- inside$point_rows(estimate, plan, counts[[s]], s)
    found <- inside$delta_rows(found, estimate, plan, counts[[s]], draws, s, conf_level)
    data.frame(
      system = s, truth = match(found$category, categories),
      of_answer = found$metric == "precision", found[c("std.error", "hidden")]
    )
  })
  do.call(rbind, rows)
}

cell_alone <- function(world, s, k, of_answer) {
  cells <- world$cells
  at <- which(cells$system == s & cells$truth == k & cells$of_answer == of_answer)
  list(std.error = cells$std.error[[at]], bias = cells$hidden[[at]])
}

no_gold <- c(NA_real_, NA_real_, NA_real_)

draw_recall <- function(world, s, k) {
  on <- which(world$answer[, s] > 0L)
  answer <- world$answer[on, s]
  truth <- world$truth[on]
  hit <- answer == k
  if (length(unique(hit)) < 2L) { # known without gold
    return(list(cases = 0, true = NA, estimates = NULL))
  }
  predicted <- world$predicted[on, , drop = FALSE]
  p <- filled(world$posterior[[s]][on, k])
  alone <- cell_alone(world, s, k, FALSE)
  categories <- as.character(seq_len(ncol(predicted)))
  plan <- inside$metric_plan(inside$built_in_metrics["recall"], categories, NULL, list())
  ends <- inside$ranges_of_plan(plan)
  list(cases = length(on), true = mean(hit[truth == k]), estimates = function(drawn) {
    alone$estimate <- sum((p * hit)[drawn]) / sum(p[drawn])
    evidence <- list(
      predicted = predicted[drawn, , drop = FALSE], answer = as.matrix(answer[drawn]),
      weight = rep(1, length(drawn)), rated = !is.na(predicted[drawn, 1L]), drawn = FALSE
    )
    function(at) {
      golden <- drawn[at]
      gold <- list(at = at, truth = truth[golden], w = rep(1, length(at)))
      part <- inside$gold_tables(c(evidence, gold), 1L, length(categories))
      slope <- inside$unit_slopes(inside$metric_slopes(plan, part$start), ends)
      x <- inside$gold_metrics(part, slope, plan, ends)
      lack <- inside$why_no_metrics(part, slope, plan, x)[[k]]
      own <- hit[golden][truth[golden] == k]
      rbind(
        "gold alone" = if (length(own) > 0L) wilson(own) else no_gold,
        "ratings alone" = around(alone$estimate, z() * alone$std.error),
        if (is.na(lack)) {
          both_shares(lapply(x, `[[`, k), alone)
        } else {
          rbind(corrected = no_gold, combined = no_gold)
        }
      )
    }
  })
}

draw_precision <- function(world, s, k) {
  on <- which(world$answer[, s] == k)
  if (length(on) < 20L) {
    return(list(cases = 0, true = NA, estimates = NULL))
  }
  y <- as.numeric(world$truth[on] == k)
  q <- filled(world$predicted[on, k])
  p <- filled(world$posterior[[s]][on, k])
  alone <- cell_alone(world, s, k, TRUE)
  list(cases = length(on), true = mean(y), estimates = function(drawn) {
    alone$estimate <- mean(p[drawn])
    of <- inside$prediction_of(q[drawn])
    function(at) {
      golden <- drawn[at]
      x <- inside$correct_share(y[golden], q[golden], of)
      rbind(
        "gold alone" = wilson(y[golden]),
        "ratings alone" = around(alone$estimate, z() * alone$std.error),
        both_shares(replace(x, "seen", x$alone), alone)
      )
    }
  })
}

# ---- Tables -------------------------------------------------------------------------------------

# Every world counts the same. Rates of which most draws have no gold case are left out.
summarise <- function(results) {
  key <- interaction(results[c("of", "world", "thing", "gold")], drop = TRUE)
  results <- results[stats::ave(as.double(is.na(results$width)), key) < 0.1, ]
  results$squared <- results$error^2
  worlds <- stats::aggregate(
    cbind(covered, width, squared) ~ of + method + gold + world, results, mean
  )
  things <- stats::aggregate(covered ~ of + method + gold + world + thing, results, mean)
  key <- c("of", "method", "gold")
  groups <- split(worlds, worlds[key], drop = TRUE)
  rows <- lapply(groups, function(g) {
    own <- things[things$of == g$of[[1L]] & things$method == g$method[[1L]] &
      things$gold == g$gold[[1L]], ]
    data.frame(
      g[1L, key], coverage = mean(g$covered), lowest = min(g$covered),
      lowest_thing = min(own$covered), width = mean(g$width), rmse = sqrt(mean(g$squared)),
      worlds = nrow(g), row.names = NULL
    )
  })
  out <- do.call(rbind, rows)
  out[order(match(out$of, unique(results$of)), match(out$method, unique(results$method)),
    out$gold), ]
}

print_tables <- function(results) {
  summary <- summarise(results)
  for (of in unique(summary$of)) {
    own <- summary[summary$of == of, ]
    cat("\n", of, ", ", paste(sort(unique(own$gold)), collapse = " "), " gold cases\n", sep = "")
    for (column in c("coverage", "lowest", "width", "rmse")) {
      cat(" ", column, "\n")
      for (method in unique(own$method)) {
        value <- own[own$method == method, column]
        cat(sprintf("    %-30s", method), sprintf("%6.3f", value), "\n")
      }
    }
  }
}

# 100 gold cases by strata, with unequal probabilities, and at random.
print_choices <- function(worlds, draws, m = 100) {
  rows <- lapply(names(worlds), function(name) {
    lapply(systems_of(worlds[[name]]), function(thing) {
      set.seed(seed)
      choices_of(worlds[[name]], thing[[1L]], draws, m)
    })
  })
  rows <- do.call(rbind, unlist(rows, recursive = FALSE))
  cat("\nChoice of", m, "gold cases: coverage, of the worst system; saving of labels, worst\n")
  for (choice in c("random", "stratified")) {
    own <- rows[rows$choice == choice, ]
    cat(sprintf(
      "    %-12s %.3f %.3f   %.2f %.2f\n", choice, mean(own$covered), min(own$covered),
      mean(own$saving), min(own$saving)
    ))
  }
}

choices_of <- function(world, s, draws, m) {
  on <- which(world$answer[, s] > 0L)
  if (length(on) < 2 * m) {
    return(NULL)
  }
  answer <- world$answer[on, s]
  y <- as.numeric(answer == world$truth[on])
  q <- filled(cell(world$predicted[on, , drop = FALSE], answer))
  p <- inside$tempered(q)
  runs <- lapply(seq_len(draws), function(run) {
    drawn <- sample.int(length(on), length(on), replace = TRUE)
    spread <- sqrt(p * (1 - p))[drawn]
    of <- inside$prediction_of(q[drawn])
    rows <- lapply(c("random", "stratified"), function(choice) {
      by <- inside$gold_probabilities(m, spread, rep(1, length(drawn)), choice)
      at <- inside$draw_gold(by$probability, by$stratum)
      golden <- drawn[at]
      x <- inside$correct_share(y[golden], q[golden], of, 1 / by$probability[at])
      interval <- inside$corrected_interval(x, "population", conf_level)
      data.frame(
        choice = choice, error = (x$estimate - mean(y[drawn]))^2,
        covered = interval$conf.low <= mean(y) && mean(y) <= interval$conf.high
      )
    })
    do.call(rbind, rows)
  })
  runs <- do.call(rbind, runs)
  out <- stats::aggregate(cbind(error, covered) ~ choice, runs, mean)
  # The squared error is proportional to one over the number of labels.
  out$saving <- out$error[out$choice == "random"] / pmax(out$error, 1e-12)
  out
}

# Cases of a cluster have an accuracy in common, and predictions may err in common, too; 10 or 30
# clusters of 10 gold cases out of 300. `alike` is the correlation of cases within a cluster.
print_clusters <- function(draws) {
  worlds <- expand.grid(
    number = c(10, 30), alike = c(0, 0.05, 0.2, 0.5), accuracy = c(0.6, 0.8, 0.95),
    noise = c(0, 0.5, 1)
  )
  runs <- vapply(seq_len(nrow(worlds)), function(i) {
    set.seed(seed)
    rowMeans(vapply(seq_len(4L * draws), function(run) draw_clusters(worlds[i, ]), double(6L)))
  }, double(6L))
  cat("\nClusters of ten cases: coverage as clusters, as cases, of gold alone; widths\n")
  groups <- split(seq_len(nrow(worlds)), worlds[c("alike", "number")])
  for (group in groups) {
    mean <- paste(sprintf("%.3f", rowMeans(runs[, group])), collapse = " ")
    of <- worlds[group[[1L]], ]
    cat(sprintf("    %d clusters, correlation %.2f  %s\n", of$number, of$alike, mean))
  }
}

draw_clusters <- function(world) {
  cluster <- rep(1:300, each = 10)
  a <- world$accuracy
  pull <- 1 / max(world$alike, 1e-6) - 1
  right <- stats::rbeta(300, a * pull, (1 - a) * pull)
  y <- stats::rbinom(3000, 1, right[cluster])
  own <- stats::rnorm(300)[cluster]
  q <- stats::plogis(1.5 * y + world$noise * own + stats::rnorm(3000))
  at <- which(cluster %in% sample.int(300, world$number))
  of <- inside$prediction_of(q)
  x <- inside$correct_share(y[at], q[at], of)
  nothing <- list(mean = of$mean, variance = 0, cases = of$cases)
  alone <- inside$correct_share(y[at], rep(of$mean, length(at)), nothing)
  found <- lapply(
    list(inside$in_clusters(x, cluster[at]), x, inside$in_clusters(alone, cluster[at])),
    function(x) inside$corrected_interval(x, "population", conf_level)
  )
  c(
    vapply(found, function(i) as.double(i$conf.low <= a && a <= i$conf.high), 0),
    vapply(found, function(i) i$conf.high - i$conf.low, 0)
  )
}

# Does any interval miss, if one looks after every fifth gold case from the fifth to the 300th?
print_looks <- function(worlds, draws) {
  rows <- lapply(names(worlds), function(name) {
    lapply(systems_of(worlds[[name]]), function(thing) {
      set.seed(seed)
      looks_of(worlds[[name]], thing[[1L]], max(20L, draws %/% 6L))
    })
  })
  rows <- do.call(rbind, unlist(rows, recursive = FALSE))
  cat("\nAny miss on the way to 300 gold cases, of the worst system; width at 100 gold cases\n")
  for (method in unique(rows$method)) {
    own <- rows[rows$method == method, ]
    cat(sprintf(
      "    %-28s %.3f %.3f   %.3f\n", method, mean(own$missed), max(own$missed), mean(own$width)
    ))
  }
}

looks_of <- function(world, s, draws) {
  thing <- draw_accuracy(world, s)
  on <- which(world$answer[, s] > 0L)
  answer <- world$answer[on, s]
  y <- as.numeric(answer == world$truth[on])
  q <- filled(cell(world$predicted[on, , drop = FALSE], answer))
  looks <- seq(5, min(300, length(on) / 2), by = 5)
  if (max(looks) < 100) {
    return(NULL)
  }
  nothing <- list(estimate = NA_real_, std.error = NA_real_)
  methods <- c("corrected", "sequence", "sequence with ratings")
  runs <- lapply(seq_len(draws), function(run) {
    drawn <- sample.int(length(on), length(on), replace = TRUE)
    order <- drawn[sample.int(length(on))]
    of <- inside$prediction_of(q[drawn])
    found <- lapply(looks, function(m) {
      golden <- order[seq_len(m)]
      x <- inside$correct_share(y[golden], q[golden], of)
      rbind(
        three(inside$corrected_interval(x, "population", conf_level)),
        three(inside$sequence_interval(x, nothing, "population", conf_level)),
        three(inside$sequence_interval(x, world$alone[[s]], "population", conf_level))
      )
    })
    missed <- vapply(found, function(f) f[, 2L] > thing$true | f[, 3L] < thing$true, logical(3L))
    at100 <- found[[which(looks == 100)]]
    data.frame(method = methods, missed = rowSums(missed) > 0, width = at100[, 3L] - at100[, 2L])
  })
  stats::aggregate(cbind(missed, width) ~ method, do.call(rbind, runs), mean)
}

# What half-width does a plan predict for 50 and 100 gold cases, and what comes of it?
print_planner <- function(worlds, draws) {
  settings <- list(of = "accuracy", target = "population", conf_level = conf_level)
  rows <- lapply(worlds, function(world) {
    lapply(systems_of(world), function(thing) {
      set.seed(seed)
      planned_of(world, thing[[1L]], settings, max(20L, draws %/% 5L))
    })
  })
  rows <- do.call(rbind, unlist(rows, recursive = FALSE))
  cat("\nHalf-width, found over predicted: mean, 10% and 90% of systems\n")
  groups <- split(rows$ratio, rows[c("gold", "method")], drop = TRUE)
  for (group in names(groups)) {
    cat(sprintf(
      "    %-20s %.3f   %.2f %.2f\n", group, mean(groups[[group]]),
      stats::quantile(groups[[group]], 0.1), stats::quantile(groups[[group]], 0.9)
    ))
  }
}

planned_of <- function(world, s, settings, draws) {
  thing <- draw_accuracy(world, s)
  on <- which(world$answer[, s] > 0L)
  q <- filled(cell(world$predicted[on, , drop = FALSE], world$answer[on, s]))
  of <- inside$prediction_of(q)
  quantity <- list(
    prediction = of, value = world$alone[[s]]$estimate, share = 1, from_ratings = world$alone[[s]],
    variance = of$mean * (1 - of$mean), explained = inside$explained_by_ratings(of)
  )
  if (length(on) < 200L || is.na(quantity$value)) {
    return(NULL)
  }
  runs <- do.call(rbind, lapply(seq_len(draws), function(run) one_draw(thing)))
  runs <- told_of(runs, "", 1L, thing$true)
  rows <- lapply(c("corrected", "combined"), function(method) {
    half <- inside$planned_half_width(method, quantity, settings)
    data.frame(method = method, gold = c(50, 100), ratio = vapply(c(50, 100), function(m) {
      mean(runs$width[runs$method == method & runs$gold == m]) / 2 / half(m)
    }, 0))
  })
  do.call(rbind, rows)
}

do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
