# Differences between systems: coverage and width of nominal 90% intervals of the average, and the
# correlation of the hidden errors of two systems.
#
#   FALLIBLE_DATA=/path Rscript bench/compare.R [output.csv] [panels] [cache]
#
# Simulation: panels of Figures 3, 6, 10 and 13 with five systems and ten differences each, compared
# with differences of expected accuracy. Real data: sets of the folder FALLIBLE_DATA with truth and
# at least two systems. The differences are those of the shares of right answers on cases with truth
# that both systems answered. Every panel and every set counts once. In set snow_rte the raters held
# out are a separate set of grade B. If no case was answered by all systems, pairs with common cases
# are compared. Sets of `slow` take more than two minutes per system.
#
# Rules: `sampling`: sampling error only, paired by replicates. `independent`: independent errors of
# robust intervals. `shared .5`: half of the hidden error moves both systems equally, the rest moves
# each separately. `alike ^ 2`: hidden errors are correlated by the share of cases with the same
# answer of both, to the power 2 (see likeness_power in R/interval-robust.R). `alike, left out`: the
# smallest power with which intervals cover 90% in the sets of all other families (see
# bench/families.R). `shared, left out`: likewise, the largest share. `compare_systems()`: the
# function in simulation; on real data its rule with its power.
#
# `cache` is a folder for estimates of sets. No numbers of single sets are written.

library(fallible)
source(file.path("bench", "families.R"))

seed <- 20150503L
replicates <- 200L
conf_level <- 0.9
shares <- c(1, 0.75, 0.5, 0.25, 0)
share_grid <- seq(1, 0, -0.05) # in the order of increasing width
powers <- 1:6
slow <- c("relevance4", "fact_eval")
options(cli.progress_show_after = 3600)

main <- function(output = NULL, panels = "100", cache = NULL) {
  sets <- real(Sys.getenv("FALLIBLE_DATA"), cache)
  panels <- simulated(as.integer(panels))
  table <- rbind(
    do.call(rbind, lapply(split(panels, panels$grade), summarise)),
    if (!is.null(sets)) {
      rbind(do.call(rbind, lapply(split(sets, sets$grade), summarise)), summarise(sets, "all sets"))
    }
  )
  print(table, digits = 3, row.names = FALSE)
  if (!is.null(sets)) {
    cat("Chosen without each family:\n")
    print(cbind(
      power = chosen(sets, alike_width, powers), share = chosen(sets, shared_width, share_grid)
    ))
  }
  if (!is.null(output)) write_table(table, output)
}

simulated <- function(panels) {
  todo <- expand.grid(figure = c(3, 6, 10, 13), run = seq_len(panels))
  rows <- Map(function(figure, run) {
    set.seed(seed + 1000L * run + figure)
    x <- simulate_ratings(lehner_design(figure))
    estimate <- quiet(estimate_accuracy(x, conf_level = conf_level))
    truth <- stats::setNames(true_accuracy(x)$expected, x$systems)
    pairs <- pairs_of(parts_of(estimate, truth, paste(figure, run), paste("Figure", figure)))
    set.seed(seed)
    reported <- tidy(quiet(compare_systems(estimate)))
    pairs$told_low <- reported$conf.low - reported$estimate
    pairs$told_high <- reported$conf.high - reported$estimate
    pairs
  }, todo$figure, todo$run)
  do.call(rbind, rows)
}

quiet <- function(x) suppressWarnings(x, classes = "fallible_warning")

# ---- Real sets ----------------------------------------------------------------------------------

real <- function(root, cache) {
  if (!nzchar(root)) {
    message("Without real data: FALLIBLE_DATA is not set.")
    return(NULL)
  }
  index <- read_strings(file.path(root, "real", "index.csv"))
  index <- index[!is.na(index$system) & !index$set %in% slow, ]
  index$held_out <- index$set == "snow_rte" & grepl("heldout", index$system, fixed = TRUE)
  index$grade[index$held_out] <- "B"
  groups <- split(index, paste0(index$set, ifelse(index$held_out, "_held", "")))
  groups <- groups[vapply(groups, nrow, 0L) > 1L]
  rows <- lapply(names(groups), function(name) {
    file <- if (!is.null(cache)) file.path(cache, paste0(name, ".rds"))
    if (!is.null(file) && file.exists(file)) {
      return(readRDS(file))
    }
    comparison <- compare_set(file.path(root, "real", groups[[name]]$set[[1L]]), name,
      groups[[name]])
    if (!is.null(file)) saveRDS(comparison, file)
    comparison
  })
  do.call(rbind, rows)
}

compare_set <- function(folder, name, systems) {
  ratings <- read_strings(find_file(folder, "ratings"))
  truth <- read_strings(find_file(folder, "truth"))
  answers <- read_strings(find_file(folder, "systems"))
  answers$truth <- truth$truth[match(answers$case, truth$case)]
  judged <- !is.na(answers$truth) & answers$case %in% ratings$case
  answers <- answers[judged & answers$system %in% systems$system, ]
  together <- function(names_of_pair) {
    chosen <- answers[answers$system %in% names_of_pair, ]
    chosen[chosen$case %in% Reduce(intersect, split(chosen$case, chosen$system)), ]
  }
  compared <- list(systems$system)
  if (nrow(together(systems$system)) == 0L) {
    compared <- utils::combn(systems$system, 2L, simplify = FALSE)
  }
  rows <- lapply(compared, function(names_of_pair) {
    common <- together(names_of_pair)
    if (nrow(common) == 0L) {
      return(NULL)
    }
    x <- quiet(fallible::ratings(
      ratings,
      case = case, rater = rater, rating = rating, repeats = "ratings",
      systems = common[c("case", "system", "prediction")]
    ))
    estimate <- quiet(estimate_accuracy(x, conf_level = conf_level))
    right <- tapply(common$prediction == common$truth, common$system, mean)
    pairs_of(parts_of(estimate, right, name, systems$grade[[1L]]))
  })
  do.call(rbind, rows)
}

find_file <- function(folder, stem) Sys.glob(file.path(folder, paste0(stem, ".csv*")))[[1L]]

read_strings <- function(file) {
  utils::read.csv(file, colClasses = "character", na.strings = c("NA", ""))
}

# ---- Errors of differences ----------------------------------------------------------------------

# Components of the interval of a difference. Replicates are those of compare_systems().
parts_of <- function(estimate, truth, set, grade) {
  set.seed(seed)
  draws <- quiet(fallible:::stand_in_replicates(estimate, "accuracy"))
  table <- tidy(estimate)
  details <- tidy(estimate, "details")
  list(
    set = set, grade = grade, value = table$estimate, gap = table$independent - table$shared,
    truth = unname(truth[table$system]), sampling = details$sampling,
    rater_error = details$rater_error,
    dependence_weight = details$dependence_weight, range = details$base_rate_range,
    correlation = suppressWarnings(stats::cor(draws, use = "complete.obs")),
    alike = same_answers(as.data.frame(estimate$fit$x, what = "systems"), table$system)
  )
}

# Share of cases with the same answer, a row and a column per system. All answered the same cases.
same_answers <- function(answers, systems) {
  answer <- lapply(split(answers, factor(answers$system, systems)), function(system_answers) {
    system_answers$prediction[order(system_answers$case)]
  })
  vapply(answer, function(a) vapply(answer, function(b) mean(a == b), 0), double(length(answer)))
}

# A row per pair. Columns: the error; variances of sampling (paired or not); `hidden`, the sum of
# the hidden variances. Further columns: their covariance if all hidden errors had the same causes;
# the product of their standard deviations; the share of equal answers.
pairs_of <- function(parts) {
  pairs <- t(utils::combn(length(parts$value), 2L))
  first <- pairs[, 1L]
  second <- pairs[, 2L]
  rater_part <- pmax(0.25 * parts$rater_error, parts$range / sqrt(12))
  error <- sqrt(parts$dependence_weight * (0.04^2 + rater_part^2))
  gap <- sqrt(parts$dependence_weight) * 0.5 * parts$gap
  hidden <- error^2 + gap^2
  deviation <- parts$value - parts$truth
  unpaired <- parts$sampling[first]^2 + parts$sampling[second]^2
  data.frame(
    set = parts$set, grade = parts$grade, off = deviation[first] - deviation[second],
    unpaired = unpaired,
    paired = pmax(0, unpaired - 2 * parts$sampling[first] * parts$sampling[second] *
      parts$correlation[pairs]),
    hidden = hidden[first] + hidden[second],
    covariance = error[first] * error[second] + gap[first] * gap[second],
    product = sqrt(hidden[first] * hidden[second]), alike = parts$alike[pairs],
    told_low = NA_real_, told_high = NA_real_
  )
}

normal <- stats::qnorm((1 + conf_level) / 2)

shared_width <- function(rows, share) {
  normal * sqrt(rows$paired + rows$hidden - 2 * share * rows$covariance)
}

alike_width <- function(rows, power) {
  normal * sqrt(rows$paired + rows$hidden - 2 * rows$alike^power * rows$product)
}

# For rules in the order of increasing width: the first rule with which intervals cover the nominal
# share, without the family of each set and in all sets.
chosen <- function(rows, width, grid) {
  choose <- function(rows) {
    covered <- vapply(grid, function(value) {
      mean(by_set(abs(rows$off) <= width(rows, value), rows), na.rm = TRUE)
    }, 0)
    c(grid[covered >= conf_level], grid[[length(grid)]])[[1L]]
  }
  families <- unique(family_of(rows$set))
  left_out <- lapply(families, function(out) choose(rows[family_of(rows$set) != out, ]))
  c(stats::setNames(unlist(left_out), families), none = choose(rows))
}

by_set <- function(x, rows) tapply(x, rows$set, mean, na.rm = TRUE)

# A row per rule.
summarise <- function(rows, where = rows$grade[[1L]]) {
  widths <- list(
    sampling = normal * sqrt(rows$paired),
    independent = normal * sqrt(rows$unpaired + rows$hidden)
  )
  for (share in shares) widths[[paste("shared", share)]] <- shared_width(rows, share)
  for (power in powers) widths[[paste("alike ^", power)]] <- alike_width(rows, power)
  if (where == "all sets") {
    family <- family_of(rows$set)
    widths[["shared, left out"]] <- shared_width(rows,
      chosen(rows, shared_width, share_grid)[family])
    widths[["alike, left out"]] <- alike_width(rows, chosen(rows, alike_width, powers)[family])
  }
  out <- lapply(names(widths), function(rule) {
    summarise_rule(rows, abs(rows$off) <= widths[[rule]] + 1e-9, 2 * widths[[rule]], rule, where)
  })
  if (!all(is.na(rows$told_low))) {
    covered <- rows$told_low <= -rows$off & -rows$off <= rows$told_high
    width <- rows$told_high - rows$told_low
    out <- c(out, list(summarise_rule(rows, covered, width, "compare_systems()", where)))
  }
  do.call(rbind, out)
}

# Standard errors are over families of sets, or over panels.
summarise_rule <- function(rows, covered, width, rule, where) {
  coverage <- by_set(covered, rows)
  known <- !is.nan(coverage)
  width <- by_set(width, rows)
  family <- if (startsWith(where, "Figure")) names(coverage) else family_of(names(coverage))
  deviation <- tapply(coverage[known] - mean(coverage[known]), family[known], sum)
  families <- length(deviation)
  correction <- if (families > 1L) families / (families - 1) else NA_real_
  data.frame(
    where = where, rule = rule, sets = length(coverage), families = families, pairs = nrow(rows),
    error = mean(by_set(abs(rows$off), rows)), coverage = mean(coverage, na.rm = TRUE),
    coverage_se = sqrt(correction * sum(deviation^2)) / sum(known),
    coverage_pairs = mean(covered, na.rm = TRUE),
    width = mean(width, na.rm = TRUE), median_width = stats::median(width, na.rm = TRUE)
  )
}

# Adds columns that describe how the results were computed to every row.
write_table <- function(table, file) {
  table[] <- lapply(table, function(x) if (is.double(x)) signif(x, 4L) else x)
  provenance <- data.frame(
    seed = seed, replicates = replicates, date = format(Sys.Date()),
    fallible = format(utils::packageVersion("fallible")), r = format(getRversion())
  )
  utils::write.csv(cbind(table, provenance), file, row.names = FALSE)
}

if (sys.nframe() == 0L) do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
