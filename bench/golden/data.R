# The data that results are about.

# All that is drawn, in an order that must not change; new data go last.
draw_data <- function() {
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  list(
    wide = draw_wide(), ordered = draw_ordered(), sparse = draw_sparse(), counts = draw_counts(),
    weights = draw_weights(), missing = draw_missing(), repeats = draw_repeats(),
    binary = draw_binary(), chance = draw_chance(), crowd = draw_crowd()
  )
}

draw_truth <- function(n, rates) sample.int(length(rates), n, replace = TRUE, prob = rates)

# Right with a probability, which may differ by case; else any other category, the likelier the
# nearer if `near` is below 1.
draw_answers <- function(truth, accuracy, categories, near = 1) {
  right <- stats::runif(length(truth)) < accuracy
  wrong <- vapply(truth, function(t) {
    other <- seq_len(categories)[-t]
    other[sample.int(length(other), 1L, prob = near^abs(other - t))]
  }, 0L)
  ifelse(right, truth, wrong)
}

draw_wide <- function(n = 80L) {
  truth <- draw_truth(n, c(0.4, 0.3, 0.2, 0.1))
  columns <- lapply(c(r1 = 0.8, r2 = 0.7, r3 = 0.6, r4 = 0.65, a = 0.85, b = 0.6), function(p) {
    LETTERS[draw_answers(truth, p, 4L)]
  })
  columns$b[1:15] <- NA # a system need not answer every case
  data.frame(case = paste0("case", seq_len(n)), columns, truth = LETTERS[truth])
}

draw_ordered <- function(n = 75L) {
  truth <- draw_truth(n, c(0.15, 0.2, 0.3, 0.2, 0.15))
  harder <- sample(c(-0.15, 0, 0.15), n, replace = TRUE)
  columns <- lapply(c(r1 = 0.65, r2 = 0.6, r3 = 0.7, s = 0.75), function(p) {
    draw_answers(truth, p + harder, 5L, near = 0.4)
  })
  data.frame(case = seq_len(n), columns, truth = truth)
}

draw_sparse <- function(n = 70L, raters = 9L, each = 3L) {
  truth <- draw_truth(n, c(0.5, 0.3, 0.2))
  accuracy <- seq(0.55, 0.9, length.out = raters)
  rows <- lapply(seq_len(n), function(i) {
    who <- sample.int(raters, each)
    data.frame(case = i, rater = paste0("w", who), rating = vapply(who, function(w) {
      draw_answers(truth[[i]], accuracy[[w]], 3L)
    }, 0L))
  })
  said <- lapply(c(a = 0.8, b = 0.7), function(p) draw_answers(truth, p, 3L))
  list(
    ratings = do.call(rbind, rows),
    systems = data.frame(
      case = c(seq_len(n), seq(11L, n)), system = rep(c("a", "b"), c(n, n - 10L)),
      prediction = c(said$a, said$b[-(1:10)])
    ),
    truth = truth
  )
}

draw_counts <- function(n = 60L, each = 5L) {
  truth <- draw_truth(n, c(0.5, 0.3, 0.2))
  answers <- replicate(each, draw_answers(truth, 0.65, 3L))
  counts <- t(apply(answers, 1L, tabulate, nbins = 3L))
  colnames(counts) <- c("low", "mid", "high")
  data.frame(
    case = seq_len(n), counts, system = c("low", "mid", "high")[draw_answers(truth, 0.8, 3L)]
  )
}

# Few cases of whole, of broken weight and of probability.
draw_weights <- function(n = 45L) {
  truth <- draw_truth(n, c(0.4, 0.4, 0.2))
  columns <- lapply(c(r1 = 0.7, r2 = 0.65, r3 = 0.75, s = 0.8), function(p) {
    letters[draw_answers(truth, p, 3L)]
  })
  whole <- sample.int(5L, n, replace = TRUE)
  data.frame(columns, whole = whole, broken = whole + 0.25, share = whole / sum(whole))
}

# With a case without ratings.
draw_missing <- function(n = 80L) {
  truth <- draw_truth(n, c(0.5, 0.3, 0.2))
  columns <- lapply(c(r1 = 0.75, r2 = 0.7, r3 = 0.6, r4 = 0.8, s = 0.7), function(p) {
    c("x", "y", "z")[draw_answers(truth, p, 3L)]
  })
  columns[1:4] <- lapply(columns[1:4], function(v) replace(v, stats::runif(n) < 0.3, NA))
  columns[1:4] <- lapply(columns[1:4], replace, 7L, NA)
  data.frame(columns)
}

draw_repeats <- function(n = 40L) {
  truth <- draw_truth(n, c(0.4, 0.35, 0.25))
  rater <- rep(c("r1", "r1", "r2", "r3"), each = n)
  accuracy <- c(r1 = 0.7, r2 = 0.75, r3 = 0.6)[rater]
  list(
    ratings = data.frame(
      case = rep(seq_len(n), 4L), rater = rater,
      rating = draw_answers(rep(truth, 4L), accuracy, 3L)
    ),
    systems = data.frame(
      case = seq_len(n), system = "s", prediction = draw_answers(truth, 0.8, 3L)
    )
  )
}

draw_binary <- function(n = 90L) {
  truth <- draw_truth(n, c(0.65, 0.35))
  data.frame(lapply(c(r1 = 0.85, r2 = 0.8, a = 0.9, b = 0.75), function(p) {
    c("no", "yes")[draw_answers(truth, p, 2L)]
  }))
}

# Raters who guess, or who always agree.
draw_chance <- function(n = 40L) {
  guess <- function() sample(letters[1:3], n, replace = TRUE)
  same <- guess()
  data.frame(
    r1 = guess(), r2 = guess(), r3 = guess(), s = guess(), p1 = same, p2 = same,
    q = ifelse(stats::runif(n) < 0.7, same, "a")
  )
}

# Workers who choose one or two labels for a unit; the last ones choose at random.
draw_crowd <- function(units = 24L, workers = 12L, each = 6L) {
  meant <- sample.int(5L, units, replace = TRUE)
  rows <- lapply(seq_len(units), function(u) {
    do.call(rbind, lapply(sample.int(workers, each), function(w) {
      weight <- if (w > workers - 3L) rep(1, 5L) else ifelse(seq_len(5L) == meant[[u]], 8, 1)
      labels <- sample.int(5L, 1L + (stats::runif(1L) < 0.3), prob = weight)
      data.frame(unit = u, worker = sprintf("w%02d", w), label = letters[labels])
    }))
  })
  do.call(rbind, rows)
}

data <- draw_data()
clusters <- rep(seq_len(20L), each = 4L)
wards <- rep(c("east", "west"), c(45L, 35L))
known_workers <- stats::setNames(rep(c(FALSE, TRUE), c(9L, 3L)), sprintf("w%02d", 1:12))

# Ratings of one of the data sets.
input <- function(name) {
  x <- data[[name]]
  three <- c("r1", "r2", "r3")
  switch(name,
    wide = as_input(x, case = "case", raters = c(three, "r4"), systems = c("a", "b")),
    ordered = as_input(
      x, case = "case", raters = three, systems = "s", categories = 1:5, ordered = TRUE
    ),
    sparse = ,
    repeats = as_input(
      x$ratings,
      case = "case", rater = "rater", rating = "rating", systems = x$systems,
      repeats = if (name == "repeats") "ratings" else "error"
    ),
    counts = as_input(x, case = "case", counts = c("low", "mid", "high"), systems = "system"),
    missing = as_input(
      x, raters = c(three, "r4"), systems = "s", categories = c("w", "x", "y", "z")
    ),
    binary = as_input(x, raters = c("r1", "r2"), systems = c("a", "b")),
    chance = as_input(x, raters = three, systems = "s"),
    crowd = as_input(
      x, case = "unit", rater = "worker", rating = "label", repeats = "labels"
    )
  )
}

weighted <- function(kind) {
  as_input(data$weights, raters = c("r1", "r2", "r3"), systems = "s", weights = kind)
}

perfect <- function() as_input(data$chance, raters = c("p1", "p2"), systems = c("q", "s"))

# Every third case of the wide or of the ordered data.
some_truth <- function(name) {
  x <- data[[name]]
  x[seq(1L, nrow(x), by = 3L), c("case", "truth")]
}
