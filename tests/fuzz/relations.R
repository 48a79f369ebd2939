# Changes of the input that do not change its meaning must not change numbers.

numbers_of <- function(x, method = "unbinned", ...) {
  settled <- TRUE
  estimate <- withCallingHandlers(
    estimate_accuracy(x, method, interval = "none", ...),
    fallible_warning_no_convergence = function(w) settled <<- FALSE
  )
  if (settled) c(tidy(estimate)$estimate, glance(fit_raters(x))$agreement)
}

a_method <- function() pick(c("binned", "unbinned", "joint", "shared", "average"))

# Two inputs, or two calls, that mean the same. Iterations may end at slightly different values.
related <- function(change, what, weights = NULL) {
  function() {
    input <- random_input(systems = 1:3)
    if (!is.null(weights)) input$weights <- weights(nrow(input$said))
    method <- a_method()
    twin <- change(input)
    most <- if (method == "average") 1e-4 else 1e-5
    same(
      numbers_of(as_panel(input, "wide"), method), numbers_of(as_panel(twin, "wide"), method),
      paste(what, method), most
    )
  }
}

rows_of <- function(input, at) {
  input$said <- input$said[at, , drop = FALSE]
  input$own <- input$own[at, , drop = FALSE]
  input$weights <- input$weights[at]
  input
}

relations <- list(
  permute_cases = related(function(input) rows_of(input, sample.int(nrow(input$said))), "permuted"),
  permute_raters = related(function(input) {
    input$said <- input$said[, sample.int(ncol(input$said)), drop = FALSE]
    input
  }, "raters permuted"),
  # A weight is a number of cases. (Weights that are no whole numbers are another matter.)
  duplicate = related(function(input) {
    input <- rows_of(input, rep(seq_len(nrow(input$said)), input$weights))
    input$weights[] <- 1
    input
  }, "cases repeated", weights = function(n) sample.int(3L, n, replace = TRUE)),
  relabel = function() {
    input <- random_input(systems = 1:3)
    input$ordered <- FALSE
    new <- sample.int(length(input$labels))
    twin <- input
    twin$said[] <- new[input$said]
    twin$own[] <- new[input$own]
    method <- pick(c("binned", "unbinned", "joint", "shared"))
    same(
      numbers_of(as_panel(input, "wide"), method), numbers_of(as_panel(twin, "wide"), method),
      paste("relabelled", method), 1e-5
    )
  },
  layouts = function() {
    input <- random_input(systems = 1:3)
    same(
      numbers_of(as_panel(input, "wide")), numbers_of(as_panel(input, "long")), "wide and long"
    )
  },
  threads = function() {
    input <- random_input(systems = 1:3)
    x <- as_panel(input)
    on <- function(threads) {
      set.seed(1)
      tidy(estimate_accuracy(
        x, "unbinned", interval = "bootstrap", resampling = list(replicates = 30, threads = threads)
      ))
    }
    one <- on(1)
    if (!identical(one, on(2)) || !identical(one, on(8))) "threads change numbers"
  },
  saved = function() {
    x <- as_panel(random_input(systems = 1:3))
    path <- tempfile(fileext = ".rds")
    on.exit(unlink(path))
    saveRDS(x, path)
    if (!identical(numbers_of(x), numbers_of(readRDS(path)))) "saved and read back"
  },
  file = function() {
    input <- random_input(systems = 1:3)
    input$weights <- NULL
    x <- as_panel(input, "wide")
    path <- tempfile(fileext = ".csv")
    on.exit(unlink(path))
    word <- function(m) array(input$labels[m], dim(m), dimnames(m))
    data <- cbind(case = seq_len(nrow(input$said)), as.data.frame(word(input$said)),
                  as.data.frame(word(input$own)))
    utils::write.csv(data, path, row.names = FALSE, na = "", fileEncoding = "UTF-8")
    y <- read_ratings(
      path, case = "case", raters = colnames(input$said),
      systems = if (ncol(input$own)) colnames(input$own), categories = input$labels
    )
    same(numbers_of(x), numbers_of(y), "written and read")
  }
)
