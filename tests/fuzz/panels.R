# Random panels, mostly small and mostly degenerate, as users may give them.

pick <- function(x) x[[sample.int(length(x), 1L)]]

maybe <- function(probability) stats::runif(1) < probability

initial_labels <- function(k) {
  sets <- list(
    letters[seq_len(k)], as.character(seq_len(k)), paste("label", seq_len(k)),
    c("<script>alert(1)</script>", "=1+1", "\u00fc", "a,b", "\"q\"", "{x}", "%s", "a\nb")
  )
  labels <- pick(sets)
  if (length(labels) < k) letters[seq_len(k)] else labels[seq_len(k)]
}

# Answers of raters with different accuracies; some answer in odd ways.
answers_of <- function(truth, k, raters) {
  habit <- pick(c("accurate", "accurate", "poor", "perfect", "below", "mixed"))
  accuracy <- switch(habit,
    accurate = stats::runif(raters, 0.5, 0.95),
    poor = stats::runif(raters, 1 / k, 0.5),
    perfect = rep(1, raters),
    below = stats::runif(raters, 0, 1 / k),
    mixed = stats::runif(raters)
  )
  n <- length(truth)
  out <- vapply(accuracy, function(a) {
    ifelse(stats::runif(n) < a, truth, sample.int(k, n, replace = TRUE))
  }, numeric(n))
  out <- matrix(out, n)
  if (maybe(0.1)) out[, 1L] <- 1
  if (maybe(0.1) && raters > 2L) out[, 2L] <- out[, 3L]
  out
}

some_missing <- function(x) {
  share <- pick(c(0, 0, 0.1, 0.5))
  x[stats::runif(length(x)) < share] <- NA
  empty <- rowSums(!is.na(x)) == 0L
  x[empty, 1L] <- 1
  x
}

weights_of <- function(n) {
  pick(list(
    NULL, NULL, sample.int(4L, n, replace = TRUE), stats::runif(n, 0.1, 3),
    10^stats::runif(n, -6, 6), c(0, rep(1, n - 1L)), rep(1e-300, n), rep(1e11, n)
  ))
}

# A list: data in the layout "wide", "long" or "counts", and the arguments of ratings() for it.
random_input <- function(systems = 0:3) {
  n <- pick(c(2:12, 30L, 80L))
  k <- pick(c(2L, 2L, 3L, 4L, 5L, 8L))
  m <- pick(2:6)
  systems <- pick(as.list(systems))
  rates <- stats::rgamma(k, pick(c(0.3, 1, 10)))
  truth <- sample.int(k, n, replace = TRUE, prob = rates + 1e-9)
  labels <- initial_labels(k)
  said <- some_missing(answers_of(truth, k, m))
  own <- answers_of(truth, k, max(systems, 1L))[, seq_len(systems), drop = FALSE]
  colnames(said) <- paste0("r", seq_len(m))
  colnames(own) <- paste0("s", seq_len(systems), recycle0 = TRUE)
  list(
    said = said, own = own, labels = labels, truth = truth, weights = weights_of(n),
    ordered = maybe(0.2), layout = pick(c("wide", "wide", "long", "counts"))
  )
}

# The ratings of such an input in its layout, or in another.
as_panel <- function(input, layout = input$layout) {
  word <- function(x) array(input$labels[x], dim(x), dimnames(x))
  n <- nrow(input$said)
  systems <- as.data.frame(word(input$own))
  common <- list(categories = input$labels, ordered = input$ordered)
  if (layout == "wide") {
    data <- cbind(as.data.frame(word(input$said)), systems, case = seq_len(n))
    call <- list(data, raters = colnames(input$said), case = "case")
    if (ncol(systems)) call$systems <- names(systems)
  } else if (layout == "long") {
    at <- which(!is.na(input$said), arr.ind = TRUE)
    data <- data.frame(
      case = at[, 1L], rater = colnames(input$said)[at[, 2L]], rating = input$labels[input$said[at]]
    )
    call <- list(data, case = "case", rater = "rater", rating = "rating")
    if (ncol(systems)) {
      call$systems <- data.frame(
        case = rep(seq_len(n), ncol(systems)), system = rep(names(systems), each = n),
        prediction = unlist(systems, use.names = FALSE)
      )
    }
  } else {
    k <- seq_along(input$labels)
    counts <- t(apply(input$said, 1L, function(x) tabulate(x[!is.na(x)], length(k))))
    colnames(counts) <- input$labels
    data <- cbind(as.data.frame(counts, optional = TRUE), systems, case = seq_len(n))
    call <- list(data, counts = input$labels, case = "case", ordered = input$ordered)
    common <- NULL
    if (ncol(systems)) call$systems <- names(systems)
  }
  if (!is.null(input$weights)) {
    if (layout == "long") {
      call[[1L]]$w <- input$weights[call[[1L]]$case]
    } else {
      call[[1L]]$w <- input$weights
    }
    call$weights <- "w"
  }
  do.call(ratings, c(call, common))
}
