# Counts functions, files and calls of C++ in one call of each of three verbs, for a panel of 200
# cases, 3 raters, 3 categories and one system. Also prints lengths of the functions in R/.
#
#   Rscript bench/walk.R        in the folder of the sources of the installed package (R_LIBS)
#
# Every function of the namespace is replaced by a function that records the call. `moves` are
# calls from a function of one file to a function of another.

library(fallible)

space <- asNamespace("fallible")
notes <- new.env()

# File and number of lines of each function.
written <- do.call(rbind, lapply(dir("R", "[.]R$", full.names = TRUE), function(file) {
  parsed <- parse(file, keep.source = TRUE)
  is_function <- vapply(parsed, function(e) {
    is.call(e) && identical(e[[1L]], as.name("<-")) && is.name(e[[2L]]) &&
      is.call(e[[3L]]) && identical(e[[3L]][[1L]], as.name("function"))
  }, NA)
  lines <- vapply(attr(parsed, "srcref"), function(x) x[[3L]] - x[[1L]] + 1L, 0L)
  data.frame(
    name = vapply(parsed[is_function], function(e) as.character(e[[2L]]), ""),
    file = rep(basename(file), sum(is_function)), lines = lines[is_function]
  )
}))
file_of <- stats::setNames(written$file, written$name)
crossings <- written$name[written$file == "RcppExports.R"]

noted <- function(name) {
  notes$calls <- c(notes$calls, name)
  caller_file <- if (length(notes$stack)) file_of[[notes$stack[[length(notes$stack)]]]]
  if (!is.null(caller_file) && caller_file != file_of[[name]]) notes$moves <- notes$moves + 1L
  notes$stack <- c(notes$stack, name)
}

leave <- function() notes$stack <- notes$stack[-length(notes$stack)]

# The body records the call first. The rest of the body is unchanged, so arguments stay promises.
instrument <- function(name) {
  f <- get(name, space)
  if (!is.function(f) || is.primitive(f) || !name %in% names(file_of)) {
    return()
  }
  body(f) <- bquote({
    (.(noted))(.(name))
    on.exit((.(leave))(), add = TRUE)
    .(body(f))
  })
  rlang::env_binding_unlock(space, name)
  assign(name, f, space)
}

instrument_all <- function() {
  rlang::env_unlock(space)
  for (name in ls(space, all.names = TRUE)) instrument(name)
  methods <- getNamespaceInfo(space, "S3methods")
  for (i in seq_len(nrow(methods))) {
    if (methods[i, 3L] %in% written$name) {
      try(registerS3method(methods[i, 1L], methods[i, 2L], methods[i, 3L], space), silent = TRUE)
    }
  }
}

walk <- function(label, code) {
  notes$calls <- notes$stack <- character()
  notes$moves <- 0L
  force(code)
  crossed <- notes$calls[notes$calls %in% crossings]
  called <- setdiff(unique(notes$calls), crossings)
  cat(sprintf(
    "%-28s %5d calls of %3d functions in %2d files, %4d moves, %2d crossings: %s\n", label,
    sum(!notes$calls %in% crossings), length(called), length(unique(file_of[called])), notes$moves,
    length(crossed), toString(paste(table(crossed), names(table(crossed))))
  ))
}

set.seed(1)
x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(s = 0.8), 3, 200))
gold <- truth(x)[sample(200, 40), ]
b <- estimate_accuracy(x, known_truth = gold, gold_sample = "random", interval = "combined")
instrument_all()
verb <- mget(c("estimate_accuracy", "estimate_metrics"), space)
walk("(a) estimate_accuracy()", verb$estimate_accuracy(x))
walk("(b) with gold, combined", verb$estimate_accuracy(
  x, known_truth = gold, gold_sample = "random", interval = "combined"
))
walk("(c) estimate_metrics() of b", verb$estimate_metrics(b))

functions <- written[written$file != "RcppExports.R", ]
cat(sprintf(
  "%d functions, median %g lines, longest %d (%s); %d files\n", nrow(functions),
  stats::median(functions$lines), max(functions$lines), functions$name[which.max(functions$lines)],
  length(unique(functions$file))
))
