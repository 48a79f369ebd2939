# Labels of data sets with known truth: share of right labels, and calibration of probabilities.
#
#   FALLIBLE_DATA=/path Rscript bench/labels.R [output.csv] [set ...]
#
# Runs every set in $FALLIBLE_DATA/real that has truth. Raters that its folder has as systems are
# raters again. The labels are those of:
# * the majority (tied categories share the credit);
# * the K-model;
# * Dawid and Skene's model by maximum likelihood, with its pooled prior, and around a centre of one
#   coin;
# * the average, unchanged and flattened (votes = 0);
# * the default, which is half flattened average and half smoothed shares of votes (mixed).
# Log loss has a floor of 1e-6. Log loss and Brier score of the majority are of shares of votes,
# smoothed by one vote that is spread evenly. The one coin and the average leave out raters who
# always give the same answer; the other rules keep them.
#
# The table has for each set the shares of right labels and the log losses. Another program's
# shares (flattened, pooled, mixed) and log losses (majority, flattened, mixed) are in
# `found_before`; that program kept constant raters in the first three log losses and shares, and
# left them out of the mixed labels. Sets that differ by more than a case or .003 (.02 below 300
# cases), or .01 of log loss (.02 below 300 cases), are marked. Means and standard errors are over
# families; without sets named these must be those that were found, or the exit status is 1.
#
# Four sets are those of the table that crowd-kit has published (Ustalov, Pavlichenko and Tseitlin
# 2024, JOSS 9 (96), 6227), which cannot be run here.
# Shares of right labels in D_Product, D_PosSent, S_Rel and S_Adult, here product, possent,
# relevance4 and adult: its Dawid-Skene .940 .960 .615 .748, GLAD .928 .948 .511 .760, MACE .929
# .950 .501 .763, majority .897 .932 .536 .763; here the average .939 .960 .615 .754, the pooled
# prior .939 .960 .612 .760, maximum likelihood .939 .960 .613 .748, majority .897 .933 .543 .758.

library(fallible)

found_before <- "
  adult, adult, 0.754, 0.757, 0.760, 0.697, 0.677, 0.647
  bluebird, bluebird, 0.898, 0.898, 0.843, 0.508, 0.353, 0.424
  chaosnli_mnli, chaosnli, 0.667, 0.679, 0.670, 0.669, 0.776, 0.708
  cifar10h, cifar, 0.994, 0.993, 0.994, 0.077, 0.026, 0.055
  cifar10n, cifar, 0.922, 0.922, 0.922, 0.528, 0.283, 0.458
  fact_eval, fact_eval, 0.852, 0.852, 0.875, 0.333, 0.630, 0.382
  geirhos_cueconflict, geirhos, 0.936, 0.940, 0.937, 0.358, 0.205, 0.295
  geirhos_edge, geirhos, 0.972, 0.975, 0.975, 0.265, 0.104, 0.187
  geirhos_greyscale, geirhos, 1.000, 1.000, 1.000, 0.187, 0.000, 0.151
  geirhos_original, geirhos, 1.000, 1.000, 1.000, 0.181, 0.000, 0.148
  geirhos_silhouette, geirhos, 0.850, 0.850, 0.850, 0.551, 0.749, 0.543
  labelme, labelme, 0.771, 0.772, 0.774, 0.822, 0.743, 0.773
  medicheck_query, medicheck, 0.559, 0.542, 0.718, 0.751, 0.761, 0.764
  medicheck_response, medicheck, 0.567, 0.570, 0.567, 1.357, 1.286, 1.266
  mozafari_binary, mozafari, 0.708, 0.709, 0.700, 0.645, 0.812, 0.655
  franken_t1, mrmc, 0.820, 0.830, 0.820, 0.391, 0.398, 0.389
  kundel, mrmc, 0.818, 0.818, 0.818, 0.391, 0.392, 0.393
  music_genre, music, 0.787, 0.791, 0.787, 1.098, 0.887, 0.947
  possent, possent, 0.960, 0.960, 0.958, 0.404, 0.172, 0.281
  product, product, 0.939, 0.939, 0.938, 0.351, 0.207, 0.269
  quiz_english, quiz, 0.500, 0.400, 0.500, 1.412, 1.495, 1.438
  quiz_pokemon, quiz, 1.000, 1.000, 1.000, 1.312, 0.849, 1.051
  quiz_science, quiz, 0.575, 0.600, 0.550, 1.287, 1.250, 1.253
  snow_rte, snow, 0.927, 0.927, 0.931, 0.376, 0.221, 0.297
  snow_temp, snow, 0.942, 0.942, 0.944, 0.366, 0.179, 0.254
  snow_wsd, snow, 0.994, 0.994, 0.994, 0.088, 0.053, 0.079
  relevance4, relevance, 0.615, 0.612, 0.603, 1.077, 0.912, 0.950
  weather_cf, weather, 0.893, 0.860, 0.893, 0.489, 0.348, 0.440
  weather_amt, weather, 0.852, 0.823, 0.857, 0.535, 0.449, 0.473
  web_relevance, web, 0.837, 0.857, 0.827, 0.807, 0.578, 0.696
  zencrowd, zencrowd, 0.791, 0.789, 0.817, 0.410, 0.437, 0.409
"

means_before <- c(
  majority = 0.785, `K-model` = 0.768, likelihood = 0.800, pooled = 0.809, `one coin` = 0.812,
  average = 0.810, flattened = 0.810, mixed = 0.812
)
losses_before <- c(majority = 0.632, average = 1.186, flattened = 0.564, mixed = 0.578)
briers_before <- c(majority = 0.328, average = 0.324, flattened = 0.291, mixed = 0.297)

main <- function(output = NULL, ...) {
  root <- Sys.getenv("FALLIBLE_DATA")
  if (!nzchar(root)) {
    message("Skipped: FALLIBLE_DATA is not set. It names the folder of the data for checking.")
    return(invisible())
  }
  options(width = 120L, cli.progress_show_after = 3600)
  known <- utils::read.csv(
    text = found_before, header = FALSE, strip.white = TRUE,
    col.names = c(
      "set", "family", "flattened", "pooled", "mixed", "loss_majority", "loss_flattened",
      "loss_mixed"
    )
  )
  some <- c(...)
  if (length(some) > 0L) known <- known[known$set %in% some, ]
  results <- do.call(rbind, lapply(known$set, function(set) {
    message(format(Sys.time(), "%H:%M:%S "), set)
    cbind(set = set, label_set(file.path(root, "real", set)))
  }))
  print_sets(results, known)
  summary <- summarise_families(results, known$family[match(results$set, known$set)])
  print(summary, row.names = FALSE, digits = 3L)
  if (!is.null(output) && nzchar(output)) utils::write.csv(summary, output, row.names = FALSE)
  if (length(some) == 0L && !is_as_before(summary)) quit(status = 1L)
}

# ---- One set ------------------------------------------------------------------------------------

read_strings <- function(folder, name) {
  file <- list.files(folder, paste0("^", name, "[.]csv"), full.names = TRUE)
  if (length(file) > 0L) utils::read.csv(file[[1L]], colClasses = "character")
}

with_held_out <- function(folder) {
  answers <- read_strings(folder, "ratings")[c("case", "rater", "rating")]
  held_out <- read_strings(folder, "systems")
  held_out <- held_out[startsWith(as.character(held_out$system), "heldout_"), ]
  if (NROW(held_out) > 0L) {
    answers <- rbind(answers, data.frame(
      case = held_out$case, rater = sub(".*_", "", held_out$system), rating = held_out$prediction
    ))
  }
  ratings(answers, case = case, rater = rater, rating = rating)
}

# A row per rule: cases, right, log_loss, brier and CPU seconds.
label_set <- function(folder) {
  x <- with_held_out(folder)
  truth <- read_strings(folder, "truth")
  labels_of_rules(x, truth$truth, match(truth$case, suppressWarnings(ground_truth(x))$case))
}

# `truth`: true categories of the cases with the positions `place`.
labels_of_rules <- function(x, truth, place = seq_along(truth)) {
  votes <- as.matrix(tidy(x, "counts")[-1L])
  quiet <- function(code) suppressWarnings(code, classes = "fallible_warning")
  rules <- list(
    majority = function() as.matrix(votes),
    `K-model` = function() quiet(ground_truth(fit_raters(x))),
    likelihood = function() quiet(ground_truth(fit_raters(x, dawid_skene("none")))),
    pooled = function() quiet(ground_truth(fit_raters(x, dawid_skene()))),
    `one coin` = function() one_coin(x),
    average = function() quiet(ground_truth(x, rho = 0, votes = 0)),
    flattened = function() quiet(ground_truth(x, votes = 0)),
    mixed = function() quiet(ground_truth(x))
  )
  do.call(rbind, lapply(names(rules), function(rule) {
    seconds <- system.time(labels <- rules[[rule]]())[[1L]]
    probability <- if (is.matrix(labels)) labels else as.matrix(labels[-1L])
    score <- score_labels(probability[place, , drop = FALSE], truth, rule == "majority")
    cbind(rule = rule, score, seconds = seconds)
  }))
}

# The average is the mean of both members, without constant raters.
one_coin <- function(x) {
  average <- suppressWarnings(ground_truth(x, rho = 0, votes = 0), classes = "fallible_warning")
  varied <- asNamespace("fallible")$without_constant_raters(x) # an internal function
  fit <- suppressWarnings(fit_raters(varied, dawid_skene()), classes = "fallible_warning")
  2 * as.matrix(average[-1L]) - as.matrix(ground_truth(fit)[-1L])
}

score_labels <- function(probability, truth, smooth) {
  n <- nrow(probability)
  if (anyNA(probability)) probability[is.na(probability)] <- 1 / ncol(probability)
  highest <- apply(probability, 1L, max)
  best <- probability >= highest - 1e-9
  at <- cbind(seq_len(n), match(truth, colnames(probability)))
  known <- !is.na(at[, 2L])
  right <- numeric(n)
  right[known] <- (best / rowSums(best))[at[known, , drop = FALSE]]
  if (smooth) probability <- (probability + 1 / ncol(probability)) / (rowSums(probability) + 1)
  hit <- matrix(0, n, ncol(probability))
  hit[at[known, , drop = FALSE]] <- 1
  p_truth <- ifelse(known, rowSums(probability * hit), 0)
  data.frame(
    cases = n, right = mean(right), log_loss = -mean(log(pmin(pmax(p_truth, 1e-6), 1))),
    brier = mean(rowSums((probability - hit)^2) + !known)
  )
}

# ---- All sets -----------------------------------------------------------------------------------

print_sets <- function(results, known) {
  rules <- unique(results$rule)
  column_of_rule <- function(column, rule) {
    results[[column]][results$rule == rule][match(known$set, unique(results$set))]
  }
  table <- data.frame(set = known$set,
    vapply(rules, column_of_rule, known$pooled, column = "right"),
    check.names = FALSE)
  with_loss <- c("majority", "flattened", "mixed")
  table[paste0("loss_", with_loss)] <- lapply(with_loss, column_of_rule, column = "log_loss")
  cases <- column_of_rule("cases", "average")
  near <- pmax(c(1, 0.02, 0.003)[findInterval(cases, c(0, 50, 300))], 1 / cases) + 5e-4
  near[cases < 50] <- 1 / cases[cases < 50] + 5e-4
  near_loss <- ifelse(cases < 300, 0.0205, 0.0105)
  compared <- setdiff(names(known), c("set", "family"))
  difference <- vapply(compared, function(column) {
    limit <- if (startsWith(column, "loss")) near_loss else near
    ifelse(abs(table[[column]] - known[[column]]) > limit, column, "")
  }, known$set)
  table$off <- trimws(apply(matrix(difference, nrow(known)), 1L, paste, collapse = " "))
  table$seconds <- column_of_rule("seconds", "mixed")
  print(table, row.names = FALSE, digits = 3L)
}

summarise_families <- function(results, family) {
  do.call(rbind, lapply(unique(results$rule), function(rule) {
    is_rule <- results$rule == rule
    means <- lapply(c("right", "log_loss", "brier"), function(column) {
      tapply(results[[column]][is_rule], family[is_rule], mean)
    })
    data.frame(
      rule = rule, families = length(means[[1L]]), right = mean(means[[1L]]),
      right_se = stats::sd(means[[1L]]) / sqrt(length(means[[1L]])), log_loss = mean(means[[2L]]),
      brier = mean(means[[3L]])
    )
  }))
}

is_as_before <- function(summary) {
  at <- function(columns) match(names(columns), summary$rule)
  all(abs(summary$right[at(means_before)] - means_before) < 0.0035) &&
    all(abs(summary$log_loss[at(losses_before)] - losses_before) < 0.0105) &&
    all(abs(summary$brier[at(briers_before)] - briers_before) < 0.0055)
}

if (sys.nframe() == 0L) do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
