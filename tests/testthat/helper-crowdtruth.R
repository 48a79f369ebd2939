# Slow reference implementation ("twin") of the compiled CrowdTruth metrics: plain loops over units,
# workers and labels, written from the formulas only. Judgements are a list: `unit` and `worker`,
# whole numbers, and `answer`, a 0/1 matrix with a row per judgement and a column per label.

twin_cosine <- function(a, b, q = rep(1, length(a))) {
  sum(q * a * b) / sqrt(sum(q * a^2) * sum(q * b^2))
}

# Version 2014 ----------------------------------------------------------------------------------

twin_votes <- function(j, units) {
  t(vapply(seq_len(units), function(u) colSums(j$answer[j$unit == u, , drop = FALSE]),
    numeric(ncol(j$answer))))
}

twin_units <- function(j, units) {
  votes <- twin_votes(j, units)
  scores <- votes / sqrt(rowSums(votes^2))
  scores[is.nan(scores)] <- NA
  list(votes = votes, scores = scores, clarity = apply(scores, 1, max))
}

twin_annotations <- function(j, units) {
  unit_vectors <- twin_units(j, units)
  present <- unit_vectors$votes > 0
  labels <- ncol(present)
  similarity <- matrix(NA_real_, labels, labels)
  for (a in seq_len(labels)) {
    for (b in seq_len(labels)) {
      p <- mean(present[present[, a], b])
      q <- mean(present[!present[, a], b])
      value <- (p - q) / (1 - q)
      if (a != b && is.finite(value)) similarity[a, b] <- value
    }
  }
  list(
    frequency = colSums(present),
    clarity = apply(unit_vectors$scores, 2, function(s) max(s, 0, na.rm = TRUE)),
    similarity = similarity,
    ambiguity = apply(similarity, 1, function(s) if (all(is.na(s))) NA else max(s, na.rm = TRUE))
  )
}

crowd_kappa <- function(a, b) {
  observed <- mean(a == b)
  expected <- mean(a) * mean(b) + (1 - mean(a)) * (1 - mean(b))
  if (expected == 1) NA else (observed - expected) / (1 - expected)
}

twin_mean <- function(x, weight = rep(1, length(x))) {
  is_defined <- !is.na(x)
  if (!any(is_defined)) return(NA_real_)
  sum(x[is_defined] * weight[is_defined]) / sum(weight[is_defined])
}

twin_worker <- function(j, worker) {
  worker_rows <- which(j$worker == worker)
  distance <- vapply(worker_rows, function(r) {
    labels <- j$answer[r, ]
    rest_of_unit <- colSums(j$answer[j$unit == j$unit[r], , drop = FALSE]) - labels
    if (sum(labels) == 0 || sum(rest_of_unit) == 0) NA else 1 - twin_cosine(rest_of_unit, labels)
  }, 0)
  coworkers <- setdiff(unique(j$worker[j$unit %in% j$unit[worker_rows]]), worker)
  pairs <- vapply(coworkers, function(coworker) {
    coworker_rows <- which(j$worker == coworker)
    common <- intersect(j$unit[worker_rows], j$unit[coworker_rows])
    a <- j$answer[worker_rows[match(common, j$unit[worker_rows])], , drop = FALSE]
    b <- j$answer[coworker_rows[match(common, j$unit[coworker_rows])], , drop = FALSE]
    overlap <- if (sum(a) > 0) sum(a * b) / sum(a) else NA
    c(length(common), crowd_kappa(as.vector(a), as.vector(b)), overlap)
  }, numeric(3))
  c(
    units = length(worker_rows), unit_disagreement = twin_mean(distance),
    worker_disagreement = 1 - twin_mean(pairs[2, ], pairs[1, ]),
    overlap_disagreement = 1 - twin_mean(pairs[3, ], pairs[1, ]),
    annotations_per_unit = if (length(worker_rows) > 0) {
      mean(rowSums(j$answer[worker_rows, , drop = FALSE]))
    } else {
      NA
    }
  )
}

# Version 2.0 -----------------------------------------------------------------------------------

twin_floor <- 1e-8
twin_ratio <- function(a, b) a / max(b, twin_floor)

twin_wcos <- function(a, b, q) twin_ratio(sum(q * a * b), sqrt(sum(q * a^2) * sum(q * b^2)))

# Does one step of the iteration: computes all scores from the scores `old` of the step before.
twin_step <- function(j, units, workers, old, open) {
  u_new <- vapply(seq_len(units), function(u) {
    rows <- which(j$unit == u)
    above <- below <- 0
    for (a in rows) {
      for (b in rows[rows > a]) {
        weight <- old$wqs[j$worker[a]] * old$wqs[j$worker[b]]
        above <- above + twin_wcos(j$answer[a, ], j$answer[b, ], old$aqs) * weight
        below <- below + weight
      }
    }
    twin_ratio(above, below)
  }, 0)
  agreement <- vapply(seq_len(workers), function(i) {
    with_workers <- with_unit <- c(0, 0)
    for (r in which(j$worker == i)) {
      unit <- old$uqs[j$unit[r]]
      sum_of_others <- numeric(ncol(j$answer))
      for (s in which(j$unit == j$unit[r] & j$worker != i)) {
        weight <- old$wqs[j$worker[s]]
        cosine <- twin_wcos(j$answer[r, ], j$answer[s, ], old$aqs)
        with_workers <- with_workers + c(cosine, 1) * weight * unit
        sum_of_others <- sum_of_others + weight * j$answer[s, ]
      }
      with_unit <- with_unit + c(twin_wcos(j$answer[r, ], sum_of_others, old$aqs), 1) * unit
    }
    c(twin_ratio(with_workers[1], with_workers[2]), twin_ratio(with_unit[1], with_unit[2]))
  }, c(0, 0))
  a_new <- if (open) old$aqs else vapply(seq_len(ncol(j$answer)), function(a) {
    above <- below <- 0
    for (i in seq_len(workers)) {
      for (k in setdiff(seq_len(workers), i)) {
        n <- d <- 0
        for (u in intersect(j$unit[j$worker == i], j$unit[j$worker == k])) {
          first <- j$answer[j$unit == u & j$worker == i, a]
          second <- j$answer[j$unit == u & j$worker == k, a]
          n <- n + old$uqs[u] * first * second
          d <- d + old$uqs[u] * second
        }
        if (d > 0) {
          above <- above + old$wqs[i] * old$wqs[k] * n / d
          below <- below + old$wqs[i] * old$wqs[k]
        }
      }
    }
    max(twin_ratio(above, below), twin_floor)
  }, 0)
  list(
    uqs = u_new, wwa = agreement[1, ], wua = agreement[2, ],
    wqs = agreement[1, ] * agreement[2, ], aqs = a_new
  )
}

twin_version2 <- function(j, units, workers, tolerance = 0.001, max_steps = 1000, open = FALSE) {
  now <- list(uqs = rep(1, units), wqs = rep(1, workers), aqs = rep(1, ncol(j$answer)))
  for (step in seq_len(max_steps)) {
    new <- twin_step(j, units, workers, now, open)
    change <- max(abs(new$uqs - now$uqs), abs(new$wqs - now$wqs), abs(new$aqs - now$aqs))
    now <- new
    if (change < tolerance) break
  }
  now$steps <- step
  now$change <- change
  now$uas <- t(vapply(seq_len(units), function(u) {
    rows <- which(j$unit == u)
    weight <- now$wqs[j$worker[rows]]
    colSums(weight * j$answer[rows, , drop = FALSE]) / max(sum(weight), twin_floor)
  }, numeric(ncol(j$answer))))
  now
}

# Data ------------------------------------------------------------------------------------------

# Draws a small random crowd. Some answers are empty, and some workers have no unit in common. The
# first unit has two answers with labels, because ratings() requires two.
random_crowd <- function(seed) {
  withr::with_seed(seed, {
    units <- sample(2:5, 1)
    workers <- sample(2:5, 1)
    labels <- sample(2:4, 1)
    done <- matrix(runif(units * workers) < runif(1, 0.3, 1), units)
    done[1, ] <- TRUE
    done[cbind(seq_len(units), sample(workers, units, TRUE))] <- TRUE
    at <- which(done, arr.ind = TRUE)
    at <- at[order(at[, 1], at[, 2]), ]
    answer <- matrix(rbinom(nrow(at) * labels, 1, runif(1, 0.15, 0.7)), ncol = labels)
    answer[cbind(1:2, sample(labels, 2, TRUE))] <- 1
    list(unit = at[, 1], worker = at[, 2], answer = answer)
  })
}

crowd_ratings <- function(j) {
  labels <- LETTERS[seq_len(ncol(j$answer))]
  data <- data.frame(unit = j$unit, worker = j$worker)
  data$labels <- lapply(seq_along(j$unit), function(r) labels[j$answer[r, ] == 1])
  ratings(
    data, case = unit, rater = worker, rating = labels, categories = labels, repeats = "labels"
  )
}

# Makes ratings with the given votes (units x labels). `workers`: answers of some workers, as named
# vectors (unit = label). Each remaining vote is a judgement by a separate worker.
crowd_from_votes <- function(votes, workers = list()) {
  remaining <- votes
  rows <- list()
  for (name in names(workers)) {
    for (unit in names(workers[[name]])) {
      label <- workers[[name]][[unit]]
      remaining[unit, label] <- remaining[unit, label] - 1L
      rows <- c(rows, list(data.frame(case = unit, rater = name, rating = label)))
    }
  }
  at <- which(remaining > 0, arr.ind = TRUE)
  times <- remaining[at]
  single <- data.frame(
    case = rep(rownames(votes)[at[, 1]], times),
    rater = paste0("vote", seq_len(sum(times))),
    rating = rep(colnames(votes)[at[, 2]], times)
  )
  ratings(
    rbind(do.call(rbind, rows), single), case = case, rater = rater, rating = rating,
    categories = colnames(votes), repeats = "labels"
  )
}

figure2_votes <- function() {
  votes <- as.matrix(crowdtruth2014[-1])
  rownames(votes) <- crowdtruth2014$unit
  votes
}

# Folder with the judgements of the paper, in the folder that the environment variable FALLIBLE_DATA
# names.
paper_folder <- function() {
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "crowdtruth")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  folder
}

paper_relations <- c(
  TREATS = "sT", PREVENTS = "sP", DIAGNOSED_BY_TEST_OR_DRUG = "sD", CAUSES = "sCA",
  LOCATION = "sL", SYMPTOM = "sS", MANIFESTATION = "sM", CONTRAINDICATES = "sCI",
  ASSOCIATED_WITH = "sAW", SIDE_EFFECT = "sSE", IS_A = "sIA", PART_OF = "sPO", NONE = "sNONE",
  OTHER = "sOTH"
)

paper_ratings <- function(folder) {
  raw <- utils::read.csv(
    file.path(folder, "ct2014_90sents_judgements.csv"), colClasses = "character"
  )
  raw$labels <- lapply(strsplit(raw$relation, "[][\n]+"), function(labels) {
    unname(paper_relations[labels[labels != ""]])
  })
  ratings(
    raw, case = unit_id, rater = worker_id, rating = labels, categories = unname(paper_relations),
    repeats = "labels"
  )
}

paper_known <- function(folder, list = "label_spamFiltering_R") {
  labels <- utils::read.csv(file.path(folder, "ct2014_worker_labels.csv"), colClasses = "character")
  stats::setNames(!labels[[list]] %in% c("no_spam", "0"), labels$worker_id)
}

paper_reference <- function(folder, name) {
  out <- utils::read.csv(file.path(folder, "reference", paste0(name, ".csv")), check.names = FALSE)
  out[[1]] <- as.character(out[[1]])
  out
}

expect_within <- function(actual, expected, tolerance) {
  expect_identical(is.na(as.vector(actual)), is.na(as.vector(expected)))
  expect_lt(max(abs(as.vector(actual) - as.vector(expected)), 0, na.rm = TRUE), tolerance)
}

# Kind of each worker of a drawn crowd, named by worker.
kinds_by_worker <- function(x) {
  workers <- tidy(x, "workers")
  stats::setNames(workers$kind, workers$worker)
}
