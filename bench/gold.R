# Coverage, width and error of intervals from a few gold cases and many ratings.
#
#   FALLIBLE_DATA=/path Rscript bench/gold.R [summary.csv] [draws] [draws.rds]
#
# Worlds are the data sets of $FALLIBLE_DATA/real with at least 200 known truths, eight simulated
# designs of 1000 cases, and four simulated worlds with clusters of ten cases. A world has at most
# two systems and ten ratings of a case. Its true values are computed from all of its cases.
#
# Each draw samples at most 400 cases (40 clusters) of a world with replacement. A random part of
# them, at most half, are gold cases. Smaller numbers of gold cases are subsets of larger ones. Only
# public functions of the package are used, and each draw sets the seed. Two versions of the package
# can therefore be compared draw by draw.
#
# The quantities are accuracies, differences of two systems, and recall and precision of two
# frequent categories and of a rare one. Gold cases are random; or drawn by plan_gold() with unequal
# probabilities (stratified in odd draws, active in even draws) or where two systems differ; or
# whole clusters. Also measures intervals after every batch of ten gold cases, and planned widths.
#
# Prints tables. Writes to summary.csv: mean coverage over worlds, lowest coverage of a world and of
# a quantity in a world, mean width, root mean squared error, and number of worlds. Writes to
# draws.rds: a row per world, quantity, draw, number of gold cases and method.

suppressMessages(library(fallible))

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]]))
source(file.path(folder, "helpers.R"))
source(file.path(folder, "..", "tests", "testthat", "helper-gold.R")) # for PPI++

seed <- 20150501L
conf_level <- 0.9
sizes <- c(10, 20, 50, 100, 200)
most_cases <- 400L
most_ratings <- 10L # of a case

main <- function(output = NULL, draws = "20", details = NULL) {
  options(width = 120L, cli.progress_show_after = 3600)
  worlds <- make_worlds()
  results <- NULL
  for (draw in seq_len(as.integer(draws))) {
    rows <- lapply(seq_along(worlds), function(i) {
      cbind(world = names(worlds)[[i]], one_draw(worlds[[i]], draw, seed + 1000L * i))
    })
    results <- rbind(results, do.call(rbind, rows))
    if (!is.null(details)) saveRDS(results, details) # the draws so far
    message("Draw ", draw, ": ", round(proc.time()[[1L]]), " s")
  }
  is_plan <- results$quantity == "planned half-width"
  summary <- summarise(results[!is_plan, ])
  print(format(summary, digits = 3L), row.names = FALSE)
  cat("\nHalf-width, divided by the planned half-width\n")
  print(stats::aggregate(width ~ method + gold, results[is_plan, ], function(x) {
    round(c(mean = mean(x), stats::quantile(x, c(0.1, 0.9))), 2L)
  }))
  if (!is.null(output)) write_results(cbind(summary, draws = as.integer(draws)), output, seed)
}

quiet <- function(code) suppressMessages(suppressWarnings(code, classes = "fallible_warning"))

# ---- Worlds -------------------------------------------------------------------------------------

make_worlds <- function() {
  root <- Sys.getenv("FALLIBLE_DATA")
  sets <- if (nzchar(root)) list.dirs(file.path(root, "real"), recursive = FALSE)
  if (is.null(sets)) message("FALLIBLE_DATA is not set: simulated worlds only.")
  correlations <- c(0, 0.05, 0.2, 0.5)
  worlds <- c(
    stats::setNames(lapply(sets, real_world), basename(as.character(sets))),
    lapply(designs(), simulated_world),
    stats::setNames(lapply(correlations, clustered_world), paste("clusters", correlations))
  )
  Filter(Negate(is.null), worlds)
}

# `ratings`: data frame with columns `case` (a position in `truth`), `rater` and `rating`.
# `answers`: matrix, cases x systems. `cluster`: a number per case, or NULL. Adds `cells`, a row per
# recall and precision, with its `true` value.
new_world <- function(ratings, answers, truth, cluster = NULL) {
  set.seed(seed)
  ratings <- ratings[sample.int(nrow(ratings)), ]
  ratings <- ratings[stats::ave(ratings$case, ratings$case, FUN = seq_along) <= most_ratings, ]
  n <- table(truth)
  frequent <- names(n)[n >= 0.15 * length(truth)]
  rare <- sort(n[!names(n) %in% frequent & n >= 10])
  cells <- expand.grid(
    metric = c("recall", "precision"), system = colnames(answers),
    category = unique(c(utils::head(frequent, 1L), utils::tail(frequent, 1L), names(rare)[1L])),
    stringsAsFactors = FALSE
  )
  cells <- cells[!is.na(cells$category), ]
  cells$quantity <- paste0(cells$metric, ifelse(cells$category %in% frequent, "", ", rare"))
  cells$target <- paste(cells$system, cells$category)
  cells$true <- vapply(outcomes_of_cells(cells, answers, truth), mean, 0)
  list(
    ratings = ratings, rows = split(seq_len(nrow(ratings)), factor(ratings$case, seq_along(truth))),
    answers = answers, truth = truth, cluster = cluster, cells = cells[!is.na(cells$true), ],
    categories = sort(unique(c(ratings$rating, answers, truth))),
    accuracy = colMeans(answers == truth)
  )
}

# For each recall or precision: TRUE for correct answers, in the cases that determine it.
outcomes_of_cells <- function(cells, answers, truth) {
  Map(function(metric, system, category) {
    answer <- answers[, system]
    (answer == truth)[(if (metric == "recall") truth else answer) == category]
  }, cells$metric, cells$system, cells$category)
}

# Uses the cases that all systems answered. The second system is used if it answered at least 80% of
# the cases that the first one answered.
real_world <- function(folder) {
  read <- function(stem) {
    file <- Filter(file.exists, file.path(folder, paste0(stem, c(".csv", ".csv.gz"))))
    if (length(file)) utils::read.csv(file, colClasses = "character", na.strings = c("NA", ""))
  }
  known <- read("truth")
  systems <- read("systems")
  if (sum(!is.na(known$truth)) < 200L || is.null(systems)) return(NULL)
  ratings <- stats::na.omit(read("ratings")[c("case", "rater", "rating")])
  known <- known[!is.na(known$truth) & known$case %in% ratings$case, ]
  systems <- systems[systems$case %in% known$case, ]
  answers <- tapply(systems$prediction, systems[c("case", "system")], `[`, 1L)
  answers <- answers[, order(-colSums(!is.na(answers))), drop = FALSE]
  is_used <- colSums(!is.na(answers) & !is.na(answers[, 1L])) >= 0.8 * sum(!is.na(answers[, 1L]))
  answers <- stats::na.omit(answers[, utils::head(which(is_used), 2L), drop = FALSE])
  if (nrow(answers) < 100L) return(NULL)
  ratings$case <- match(ratings$case, rownames(answers))
  truth <- known$truth[match(rownames(answers), known$case)]
  answers <- matrix(answers, nrow(answers), dimnames = list(NULL, colnames(answers)))
  new_world(ratings[!is.na(ratings$case), ], answers, truth)
}

designs <- function() {
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
  ratings <- as.data.frame(lapply(tidy(x)[c("case", "rater", "rating")], as.character))
  ratings$case <- as.integer(ratings$case)
  answers <- tidy(x, "systems")
  answers <- split(as.character(answers$prediction), as.character(answers$system))
  new_world(stats::na.omit(ratings), do.call(cbind, answers), as.character(truth(x)$category))
}

# 300 clusters of ten cases. Accuracies of three raters and a system vary between clusters. `alike`:
# correlation of correct answers within a cluster.
clustered_world <- function(correlation, accuracy = c(0.7, 0.75, 0.8, 0.8)) {
  set.seed(seed)
  cluster <- rep(1:300, each = 10L)
  truth <- sample(c("a", "b"), length(cluster), TRUE, c(0.6, 0.4))
  size <- 1 / max(correlation, 1e-6) - 1
  answers <- vapply(accuracy, function(p) {
    right <- stats::runif(length(truth)) < stats::rbeta(300L, p * size, (1 - p) * size)[cluster]
    ifelse(right == (truth == "a"), "a", "b")
  }, truth)
  ratings <- data.frame(
    case = seq_along(truth), rater = rep(1:3, each = length(truth)), rating = c(answers[, 1:3])
  )
  new_world(ratings, cbind(system = answers[, 4L]), truth, cluster)
}

# ---- Draws --------------------------------------------------------------------------------------

one_draw <- function(world, draw, first) {
  set_seed <- function() set.seed(first + draw)
  set_seed()
  drawn <- draw_cases(world)
  truth <- data.frame(case = seq_along(drawn$at), truth = world$truth[drawn$at])
  gold <- truth[drawn$order, ]
  n_gold <- sizes[sizes <= nrow(truth) / 2]
  has_clusters <- !is.null(drawn$cluster)
  if (has_clusters) n_gold <- n_gold[n_gold >= 50] # five clusters
  estimate <- function(...) {
    quiet(estimate_accuracy(drawn$panel, ...,
      resampling = if (has_clusters) list(cluster = drawn$cluster) else list()))
  }
  from_ratings <- estimate()
  measured <- estimate(known_truth = gold[seq_len(n_gold[[1L]]), ], gold_sample = "random")
  ratings_only <- cell_rows(world, from_ratings, NA, "ratings alone", NULL)
  predicted <- predict_truth(world, drawn)
  rows <- lapply(n_gold, function(m) {
    at <- drawn$order[seq_len(m)]
    rbind(
      gold_rows(world, quiet(update(measured, known_truth = gold[seq_len(m), ])), m),
      replace(ratings_only, "gold", m), gold_only_rows(world, drawn$at[at], m),
      ppi_rows(world, drawn$at, predicted, at)
    )
  })
  rows <- do.call(rbind, rows)
  if (has_clusters) {
    rows$quantity <- paste0(rows$quantity, ", clusters")
    return(cbind(draw = draw, rows))
  }
  # Measures with gold cases that a plan draws.
  planned <- function(...) {
    set_seed()
    labels <- augment(quiet(plan_gold(from_ratings, ...)))
    labels$truth <- truth$truth[match(labels$case, truth$case)]
    labels <- gold_cases(labels[c("case", "truth", "probability")], sample = "probability")
    estimate(known_truth = labels)
  }
  if (100 %in% n_gold) {
    choice <- if (draw %% 2L) "stratified" else "active"
    unequal <- gold_rows(world, planned(gold = 100, choice = choice), 100, paste0(", ", choice))
    rows <- rbind(rows, unequal[!endsWith(unequal$method, "alone"), ])
  }
  if (length(world$accuracy) > 1L) {
    disputed <- planned(gold = 50, choice = "random", of = "difference")
    disputed <- difference_rows(world, disputed, 50)
    disputed$method <- paste0(disputed$method, ", where they differ")
    rows <- rbind(rows, disputed[!grepl("alone", disputed$method, fixed = TRUE), ])
  }
  cbind(draw = draw, rbind(
    rows, look_rows(world, measured, gold), plan_rows(from_ratings, rows)
  ))
}

# `at`: cases of the world; `order`: cases of the panel in the order in which they become gold;
# `cluster`: NULL, or a number per case of the panel, named by case.
draw_cases <- function(world) {
  n <- length(world$truth)
  cluster <- NULL
  if (is.null(world$cluster)) {
    at <- sample.int(n, min(n, most_cases), replace = TRUE)
    order <- sample.int(length(at))
  } else {
    clusters <- split(seq_len(n), world$cluster)
    clusters <- clusters[sample.int(length(clusters), most_cases / 10L, replace = TRUE)]
    at <- unlist(clusters, use.names = FALSE)
    cluster <- stats::setNames(rep(seq_along(clusters), lengths(clusters)), seq_along(at))
    order <- order(sample.int(length(clusters))[cluster])
  }
  rows <- world$rows[at]
  ratings <- world$ratings[unlist(rows), ]
  ratings$case <- rep(seq_along(at), lengths(rows))
  answers <- data.frame(
    case = seq_along(at), system = rep(colnames(world$answers), each = length(at)),
    prediction = c(world$answers[at, ])
  )
  panel <- quiet(ratings(
    ratings, case = case, rater = rater, rating = rating, systems = answers,
    categories = world$categories, repeats = "ratings"
  ))
  list(at = at, order = order, cluster = cluster, ratings = ratings, panel = panel)
}

# ---- Intervals ----------------------------------------------------------------------------------

# A row per interval in `table`, which has columns `estimate`, `conf.low` and `conf.high`.
new_rows <- function(quantity, target, true, gold, method, table) {
  if (nrow(table) == 0L) return(NULL)
  data.frame(
    quantity = quantity, target = target, gold = gold, method = method,
    covered = table$conf.low <= true + 1e-12 & true <= table$conf.high + 1e-12,
    width = table$conf.high - table$conf.low, error = table$estimate - true, row.names = NULL
  )
}

# Intervals of all quantities, computed from an estimate with gold cases
gold_rows <- function(world, estimate, gold, kind = "") {
  table <- tidy(estimate, "gold")
  table <- table[table$interval != "gold alone", ]
  rows <- rbind(
    new_rows("accuracy", table$system, world$accuracy[table$system], gold, table$interval, table),
    cell_rows(world, estimate, gold, "corrected", "corrected"),
    cell_rows(world, estimate, gold, "combined", "combined"),
    difference_rows(world, estimate, gold)
  )
  transform(rows, quantity = paste0(quantity, kind))
}

cell_rows <- function(world, estimate, gold, method, interval) {
  table <- tidy(quiet(
    estimate_metrics(estimate, c("recall", "precision"), average = NULL, interval = interval)
  ))
  key <- function(x) paste(x$metric, x$system, x$category)
  table <- table[match(key(world$cells), key(table)), ]
  new_rows(world$cells$quantity, world$cells$target, world$cells$true, gold, method, table)
}

difference_rows <- function(world, estimate, gold) {
  if (length(world$accuracy) < 2L) return(NULL)
  table <- tidy(quiet(compare_systems(estimate)), "sources")
  true <- world$accuracy[table$system1] - world$accuracy[table$system2]
  pair <- paste(table$system1, "-", table$system2)
  new_rows("difference", pair, true, gold, table$interval, table)
}

gold_only_rows <- function(world, at, gold) {
  answers <- world$answers[at, , drop = FALSE]
  truth <- world$truth[at]
  cells <- world$cells
  accuracy <- lapply(colnames(answers), function(system) wilson(answers[, system] == truth))
  shares <- lapply(outcomes_of_cells(cells, answers, truth), wilson)
  rbind(
    new_rows("accuracy", colnames(answers), world$accuracy, gold, "gold alone",
      do.call(rbind, accuracy)),
    new_rows(cells$quantity, cells$target, cells$true, gold, "gold alone", do.call(rbind, shares))
  )
}

wilson <- function(y) {
  n <- length(y) # 0: NaN
  z <- stats::qnorm((1 + conf_level) / 2)
  centre <- (mean(y) + z^2 / (2 * n)) / (1 + z^2 / n)
  half_width <- z * sqrt(mean(y) * (1 - mean(y)) / n + z^2 / (4 * n^2)) / (1 + z^2 / n)
  data.frame(estimate = mean(y), conf.low = centre - half_width, conf.high = centre + half_width)
}

# Probability of each category, computed like the predictions of the package: the mean of the
# posterior probability in a model with an accuracy per rater and of the share of ratings
predict_truth <- function(world, drawn) {
  fitted <- augment(quiet(fit_raters(drawn$panel, rater_model("rater"))))
  posterior <- as.matrix(fitted[match(seq_along(drawn$at), fitted$case),
    paste0(".posterior_", world$categories)])
  shares <- unclass(prop.table(table(
    factor(drawn$ratings$case, seq_along(drawn$at)),
    factor(drawn$ratings$rating, world$categories)
  ), 1L)) # NaN without ratings
  if (anyNA(posterior[!is.nan(shares[, 1L]), ])) shares else (posterior + shares) / 2
}

ppi_rows <- function(world, at, predicted, gold) {
  tables <- lapply(colnames(world$answers), function(system) {
    answer <- world$answers[at, system]
    q <- predicted[cbind(seq_along(answer), match(answer, world$categories))]
    q[is.na(q)] <- mean(q, na.rm = TRUE)
    y <- as.numeric(answer == world$truth[at])
    x <- ppi_mean(y[gold], q[gold], q[-gold], conf_level = conf_level)
    data.frame(estimate = x[["estimate"]], conf.low = x[["low"]], conf.high = x[["high"]])
  })
  new_rows("accuracy", names(world$accuracy), world$accuracy, length(gold), "PPI++",
    do.call(rbind, tables))
}

# Whether all intervals after batches of ten gold cases cover the true value, and the width at 100
# gold cases.
look_rows <- function(world, measured, gold) {
  sizes <- seq(10, min(200, nrow(gold) / 2), 10)
  if (max(sizes) < 100) return(NULL)
  looks <- lapply(sizes, function(m) {
    estimate <- quiet(update(measured, known_truth = gold[seq_len(m), ], interval = "anytime"))
    table <- tidy(estimate, "gold")
    table <- table[table$interval %in% c("corrected", "anytime"), ]
    true <- world$accuracy[table$system]
    new_rows("accuracy, all looks", table$system, true, 100, table$interval, table)
  })
  covered <- do.call(cbind, lapply(looks, `[[`, "covered"))
  replace(looks[[which(sizes == 100)]], "covered", list(rowMeans(covered, na.rm = TRUE) == 1))
}

# Half-width, divided by the planned half-width, in column `width`
plan_rows <- function(from_ratings, rows) {
  ratios <- lapply(intersect(c(50, 100), rows$gold), function(m) {
    plan <- tidy(quiet(plan_gold(from_ratings, gold = m, choice = "random")))
    plan <- plan[plan$interval != "gold alone", ]
    key <- paste("accuracy", plan$system, plan$interval, m)
    rows <- rows[match(key, paste(rows$quantity, rows$target, rows$method, rows$gold)), ]
    rows$width <- rows$width / 2 / plan$half_width
    rows
  })
  ratios <- do.call(rbind, ratios)
  replace(ratios, c("quantity", "covered", "error"), list("planned half-width", NA, NA))
}

# Every world has the same weight. Quantities without an interval in a tenth of the draws are left
# out.
summarise <- function(results) {
  key <- interaction(results[c("quantity", "world", "target", "gold", "method")], drop = TRUE)
  results <- results[stats::ave(as.double(is.na(results$width)), key) < 0.1, ]
  results$squared <- results$error^2
  worlds <- stats::aggregate(
    cbind(covered, width, squared) ~ quantity + method + gold + world, results, mean
  )
  things <- stats::aggregate(covered ~ quantity + method + gold + world + target, results, mean)
  key <- function(x) paste(x$quantity, x$method, x$gold)
  rows <- lapply(split(worlds, key(worlds)), function(x) {
    data.frame(
      x[1L, c("quantity", "method", "gold")], coverage = mean(x$covered), lowest = min(x$covered),
      lowest_thing = min(things$covered[key(things) == key(x)[[1L]]]), width = mean(x$width),
      rmse = sqrt(mean(x$squared)), worlds = nrow(x), row.names = NULL
    )
  })
  out <- do.call(rbind, unname(rows))
  keys <- c("quantity", "method")
  ordered <- lapply(out[keys], match, unique(unlist(results[keys])))
  out[order(ordered$quantity, ordered$method, out$gold), ]
}

do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
