# Compares agreement measures with other packages: values, speed, and coverage of intervals.
#
#   Rscript bench/agreement.R [values|speed|coverage] [output.csv]
#
# The other packages (irr, irrCAC, vcd, psych, DescTools) are loaded from the library in the
# environment variable FALLIBLE_PEERS, or from the usual libraries. Packages that are not installed
# are left out. Values are compared on published and on random tables. irrCAC rounds coefficients
# and standard errors to five decimals, but not the agreements from which coefficients are computed.

library(fallible)

seed <- 1L
random_sets <- 200L

main <- function(task = "values", output = NULL) {
  peers <- Sys.getenv("FALLIBLE_PEERS")
  if (nzchar(peers)) withr::local_libpaths(peers, action = "prefix")
  set.seed(seed)
  results <- switch(task, values = compare_values(), speed = compare_speed(),
    coverage = measure_coverage())
  options(width = 120L)
  print(results, digits = 3L)
  if (!is.null(output)) {
    provenance <- list(
      seed = seed, date = format(Sys.Date()), fallible = format(utils::packageVersion("fallible")),
      r = format(getRversion())
    )
    utils::write.csv(cbind(results, provenance), output, row.names = FALSE)
  }
}

is_installed <- function(package) requireNamespace(package, quietly = TRUE)
exported <- function(package, name) getExportedValue(package, name)

# ---- Values -------------------------------------------------------------------------------------

# A row per measure and package: number of data sets in which both gave a number, largest difference
# over published and over random sets, and data sets in which only one gave a number.
compare_values <- function() {
  sets <- c(published_sets(), lapply(seq_len(random_sets), random_set))
  rows <- do.call(rbind, lapply(seq_along(sets), function(i) {
    cbind(set = i, random = is.null(sets[[i]]$name), compare_set(sets[[i]]))
  }))
  groups <- split(rows, list(rows$measure, rows$peer), drop = TRUE)
  out <- do.call(rbind, lapply(groups, function(g) {
    in_both <- !is.na(g$own) & !is.na(g$other)
    largest <- function(x) if (length(x) > 0L) max(x) else NA_real_
    deviation <- abs(g$own - g$other)
    data.frame(
      measure = g$measure[[1L]], peer = g$peer[[1L]], sets = length(unique(g$set[in_both])),
      published = largest(deviation[in_both & !g$random]),
      random = largest(deviation[in_both & g$random]),
      only_own = sum(!is.na(g$own) & is.na(g$other)),
      only_other = sum(is.na(g$own) & !is.na(g$other))
    )
  }))
  rownames(out) <- NULL
  out
}

# Ratings as matrices of whole numbers from 1; every category is in use, since most peers take the
# categories from the data.
published_sets <- function() {
  from_table <- function(...) {
    cells <- rbind(...)
    at <- which(cells > 0, arr.ind = TRUE)
    unname(at[rep(seq_len(nrow(at)), cells[at]), ])
  }
  anxiety <- if (is_installed("irr")) {
    e <- new.env()
    utils::data("anxiety", package = "irr", envir = e)
    unname(as.matrix(e$anxiety))
  }
  five <- if (is_installed("irrCAC")) {
    e <- new.env()
    utils::data("cac.raw5obser", package = "irrCAC", envir = e)
    raw <- as.matrix(e$cac.raw5obser[, -1L])
    matrix(match(raw, sort(unique(as.vector(raw)))), nrow(raw))
  }
  once <- fallible::dawid1979
  once <- once[!duplicated(once[c("case", "rater")]), ]
  panel <- as.matrix(fallible::lehner2015[2:5])
  diagnoses <- as.matrix(fallible::fleiss1971[-1L])
  Filter(Negate(is.null), list(
    list(name = "Lehner 2015", ratings = matrix(match(panel, LETTERS), 10)),
    list(name = "Dawid and Skene 1979", ratings = unname(as.matrix(
      stats::reshape(once, idvar = "case", timevar = "rater", direction = "wide")[-1L]
    ))),
    list(name = "Fleiss 1971", ratings = t(apply(diagnoses, 1, rep, x = 1:5))),
    list(name = "abstractors", ratings = from_table(c(13, 0, 0), c(0, 20, 7), c(0, 4, 56))),
    list(name = "diagnosis", ratings = from_table(
      c(40, 6, 4, 15), c(4, 25, 1, 5), c(4, 2, 21, 9), c(17, 13, 12, 45)
    )),
    list(name = "Cohen 1960", ratings = from_table(c(88, 14, 18), c(10, 40, 10), c(2, 6, 12))),
    list(name = "two by two", ratings = from_table(c(40, 5), c(3, 2))),
    list(name = "SexualFun", ratings = from_table(
      c(7, 7, 2, 3), c(2, 8, 3, 7), c(1, 5, 4, 9), c(2, 8, 9, 14)
    )),
    if (!is.null(anxiety)) list(name = "anxiety", ratings = matrix(
      match(anxiety, sort(unique(as.vector(anxiety)))), nrow(anxiety)
    )),
    if (!is.null(five)) list(name = "five observers", ratings = five)
  ))
}

random_set <- function(i) {
  k <- sample(2:5, 1L)
  raters <- sample(2:5, 1L)
  cases <- sample(8:80, 1L)
  truth <- sample.int(k, cases, replace = TRUE, prob = stats::rexp(k))
  x <- replicate(raters, ifelse(stats::runif(cases) < 0.6, truth, sample.int(k, cases, TRUE)))
  if (i %% 2L == 0L) x[sample(length(x), length(x) %/% 6L)] <- NA
  x <- x[rowSums(!is.na(x)) > 0L, ]
  list(ratings = matrix(match(x, sort(unique(as.vector(x)))), nrow(x)))
}

compare_set <- function(set) {
  x <- set$ratings
  k <- max(x, na.rm = TRUE)
  if (k < 2L || ncol(x) < 2L) {
    return(NULL)
  }
  rows <- c(
    if (is_installed("irrCAC")) values_irrcac(x), if (is_installed("irr")) values_irr(x),
    if (is_installed("vcd")) values_vcd(x, k), if (is_installed("psych")) values_psych(x, k),
    if (is_installed("DescTools")) values_desctools(x, k)
  )
  do.call(rbind, lapply(rows, function(row) as.data.frame(row)))
}

compared <- function(measure, peer, ours, peer_value) {
  number <- function(code) {
    value <- tryCatch(suppressWarnings(code), error = function(e) NA_real_)
    if (length(value) == 1L && is.finite(value)) as.double(value) else NA_real_
  }
  list(measure = measure, peer = peer, own = number(ours), other = number(peer_value))
}

# Standard errors are compared only if all cases have several ratings, because Gwet's variance
# treats cases with a single rating differently.
values_irrcac <- function(x) {
  pair <- c(
    percent_agreement = "pa.coeff.raw", brennan_prediger = "bp.coeff.raw",
    fleiss_kappa = "fleiss.kappa.raw", conger_kappa = "conger.kappa.raw",
    gwet_ac = "gwet.ac1.raw", krippendorff_alpha = "krippen.alpha.raw"
  )
  weights <- c(
    "identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"
  )
  several <- all(rowSums(!is.na(x)) > 1L)
  unlist(lapply(names(pair), function(id) {
    unlist(lapply(weights, function(w) {
      peer <- function() {
        exported("irrCAC", pair[[id]])(x, weights = if (w == "identity") "unweighted" else w)$est
      }
      our_column <- function(column, ...) {
        suppressWarnings(agreement(x, id, scale_weights = w, pooling = "cases", ...))[[column]]
      }
      label <- if (w == "identity") id else paste0(id, ", ", w)
      value <- compared(label, "irrCAC", our_column("estimate"), {
        est <- peer()
        if (id == "percent_agreement") est$pa else (est$pa - est$pe) / (1 - est$pe)
      })
      error <- compared(paste0("standard error of ", id), "irrCAC (5 decimals)",
        our_column("std.error"),
        as.numeric(peer()$coeff.se))
      list(value, if (several && w %in% c("identity", "linear")) error)
    }), recursive = FALSE)
  }), recursive = FALSE) |> Filter(f = Negate(is.null))
}

values_irr <- function(x) {
  complete <- !anyNA(x)
  rows <- lapply(c("nominal", "ordinal", "interval", "ratio"), function(level) {
    compared(
      paste0("krippendorff_alpha, ", level), "irr", krippendorff_alpha(x, level = level),
      # Without a missing rating irr counts the ratings of more than two raters too often. A case
      # without ratings makes it correct.
      exported("irr", "kripp.alpha")(cbind(t(x), NA), method = level)$value
    )
  })
  if (!complete) {
    return(rows)
  }
  c(rows, list(
    compared("fleiss_kappa", "irr", fleiss_kappa(x), exported("irr", "kappam.fleiss")(x)$value),
    compared("conger_kappa", "irr", conger_kappa(x), {
      exported("irr", "kappam.fleiss")(x, exact = TRUE)$value
    }),
    compared("light_kappa", "irr", light_kappa(x), exported("irr", "kappam.light")(x)$value)
  ), if (ncol(x) == 2L) {
    Map(function(our_weights, peer_weights) {
      compared(paste0("cohen_kappa, ", our_weights), "irr",
        cohen_kappa(x, scale_weights = our_weights),
        exported("irr", "kappa2")(x, weight = peer_weights)$value)
    }, c("identity", "linear", "quadratic"), c("unweighted", "equal", "squared"))
  })
}

pair_table <- function(x, k) {
  table(factor(x[, 1L], seq_len(k)), factor(x[, 2L], seq_len(k)), dnn = NULL)
}

values_vcd <- function(x, k) {
  crossed <- pair_table(x, k)
  if (ncol(x) != 2L || sum(crossed) == 0) {
    return(NULL)
  }
  n <- sum(crossed)
  by_n <- sqrt((n - 1) / n) # Fleiss, Cohen and Everitt divide by n
  vcd <- function(kind, weights = "Equal-Spacing") {
    exported("vcd", "Kappa")(unclass(crossed), weights = weights)[[kind]]
  }
  error <- function(scale = NULL) {
    suppressWarnings(agreement(crossed, "cohen_kappa", scale_weights = scale))$std.error * by_n
  }
  list(
    compared("cohen_kappa", "vcd", cohen_kappa(crossed), vcd("Unweighted")[[1L]]),
    compared("cohen_kappa, linear", "vcd", cohen_kappa(crossed, "linear"), vcd("Weighted")[[1L]]),
    compared("cohen_kappa, quadratic", "vcd", cohen_kappa(crossed, "quadratic"), {
      vcd("Weighted", "Fleiss-Cohen")[[1L]]
    }),
    compared("standard error of cohen_kappa", "vcd", error(), vcd("Unweighted")[[2L]]),
    compared("standard error of cohen_kappa, linear", "vcd", error("linear"), {
      vcd("Weighted")[[2L]]
    }),
    compared("bangdiwala_b", "vcd", bangdiwala_b(crossed), {
      grDevices::pdf(NULL)
      on.exit(grDevices::dev.off())
      exported("vcd", "agreementplot")(unclass(crossed))$Bangdiwala
    })
  )
}

values_psych <- function(x, k) {
  crossed <- pair_table(x, k)
  if (ncol(x) != 2L || sum(crossed) == 0) {
    return(NULL)
  }
  list(
    compared("cohen_kappa", "psych", cohen_kappa(crossed), {
      exported("psych", "cohen.kappa")(unclass(crossed))$kappa
    }),
    compared("cohen_kappa, quadratic", "psych", cohen_kappa(crossed, "quadratic"), {
      exported("psych", "cohen.kappa")(unclass(crossed))$weighted.kappa
    }),
    if (k == 2L) {
      compared("yule_y", "psych", yule_y(crossed), {
        exported("psych", "Yule")(unclass(crossed), Y = TRUE)
      })
    }
  ) |> Filter(f = Negate(is.null))
}

values_desctools <- function(x, k) {
  crossed <- pair_table(x, k)
  rows <- if (!anyNA(x)) {
    Map(function(id, method) {
      compared(id, "DescTools", get(id)(x), exported("DescTools", "KappaM")(x, method = method))
    }, c("fleiss_kappa", "conger_kappa", "light_kappa"), c("Fleiss", "Conger", "Light"))
  }
  if (ncol(x) != 2L || sum(crossed) == 0) {
    return(rows)
  }
  entropy <- function(y) exported("DescTools", "Entropy")(y)
  c(rows, list(
    compared("cohen_kappa", "DescTools", cohen_kappa(crossed), {
      exported("DescTools", "CohenKappa")(unclass(crossed))
    }),
    compared("information_agreement", "DescTools", information_agreement(crossed, FALSE), {
      exported("DescTools", "MutInf")(unclass(crossed)) /
        min(entropy(rowSums(crossed)), entropy(colSums(crossed)))
    }),
    if (k == 2L) {
      compared("yule_y", "DescTools", yule_y(crossed),
        exported("DescTools", "YuleY")(unclass(crossed)))
    }
  )) |> Filter(f = Negate(is.null))
}

# ---- Speed --------------------------------------------------------------------------------------

# Seconds (medians of runs) from the same integer matrix, and the ratio of the time of other
# packages.
compare_speed <- function(cases = 1e6L, raters = 5L, k = 5L) {
  truth <- sample.int(k, cases, replace = TRUE)
  x <- replicate(raters, {
    ifelse(stats::runif(cases) < 0.6, truth, sample.int(k, cases, replace = TRUE))
  })
  small <- x[seq_len(1e4L), ]
  seconds <- function(run, times = 5L) {
    stats::median(vapply(seq_len(times), function(i) {
      gc()
      start <- Sys.time()
      run()
      as.numeric(Sys.time() - start, units = "secs")
    }, 0))
  }
  ready <- ratings(x)
  ready_small <- ratings(small)
  ids <- agreement(ready)$measure
  out <- list(
    c("fallible: matrix to all nominal measures with errors", cases, seconds(\() agreement(x))),
    c("fallible: ratings to all nominal measures with errors", cases, {
      seconds(\() agreement(ready))
    }),
    c("fallible: all, jackknife", cases, seconds(\() agreement(ready, interval = "jackknife"))),
    c("fallible: Fleiss, 1000 bootstrap replicates", 1e4, {
      seconds(\() agreement(ready_small, "fleiss_kappa", interval = "bootstrap"))
    }),
    c("fallible: matrix to Fleiss", cases, seconds(\() agreement(x, "fleiss_kappa"))),
    c("fallible: matrix to Fleiss", 1e4, seconds(\() agreement(small, "fleiss_kappa")))
  )
  message("fallible gives ", toString(ids))
  if (is_installed("irrCAC")) {
    peer <- c("pa", "bp.coeff", "fleiss.kappa", "conger.kappa", "gwet.ac1", "krippen.alpha")
    names <- paste0(sub("^pa$", "pa.coeff", peer), ".raw")
    times <- vapply(names, function(f) seconds(\() exported("irrCAC", f)(x), 3L), 0)
    out <- c(
      out, Map(function(f, t) c(paste("irrCAC:", f), cases, t), names, times),
      list(c("irrCAC: all six", cases, sum(times)))
    )
  }
  if (is_installed("irr")) {
    out <- c(out, list(c("irr: kappam.fleiss", 1e4, {
      seconds(\() exported("irr", "kappam.fleiss")(small), 1L)
    })))
  }
  out <- stats::setNames(as.data.frame(do.call(rbind, out)), c("task", "cases", "seconds"))
  out$cases <- as.numeric(out$cases)
  out$seconds <- as.numeric(out$seconds)
  all <- out$seconds[[1L]]
  our_seconds <- out$seconds[out$task == "fallible: matrix to Fleiss"]
  out$ratio <- out$seconds / ifelse(out$cases == cases, our_seconds[[1L]], our_seconds[[2L]])
  out$ratio[out$task == "irrCAC: all six"] <- sum(out$seconds[out$task == "irrCAC: all six"]) / all
  out$ratio[startsWith(out$task, "fallible")] <- NA
  rownames(out) <- NULL
  out
}

# ---- Coverage -----------------------------------------------------------------------------------

# Three raters of different accuracy and three categories, rare or not; two raters for measures of
# the agreement matrix. The true values come from the exact probabilities of all patterns.
measure_coverage <- function(runs = 1000L, replicates = 500L, conf_level = 0.9) {
  settings <- expand.grid(
    base_rates = c("equal", "skewed"), n = c(20L, 50L, 200L), raters = 2:3,
    stringsAsFactors = FALSE
  )
  do.call(rbind, lapply(seq_len(nrow(settings)), function(i) {
    s <- settings[i, ]
    message(paste(names(s), s, collapse = ", "))
    population <- coverage_population(s$raters, s$base_rates)
    ids <- if (s$raters == 2L) {
      c("cohen_kappa", "scott_pi", "gwet_ac", "bangdiwala_b", "information_agreement")
    } else {
      c("percent_agreement", "fleiss_kappa", "conger_kappa", "light_kappa", "gwet_ac",
        "krippendorff_alpha")
    }
    truth <- agreement(
      ratings(population, raters = tidyselect::starts_with("r"), weights = "weight"), ids
    )
    truth <- stats::setNames(truth$estimate, truth$measure)
    # If all cases have the same number of ratings, alpha has the same limit as Fleiss' kappa.
    if ("krippendorff_alpha" %in% ids) truth[["krippendorff_alpha"]] <- truth[["fleiss_kappa"]]
    drawn <- lapply(seq_len(runs), function(run) {
      rows <- sample.int(nrow(population), s$n, replace = TRUE, prob = population$weight)
      x <- ratings(population[rows, seq_len(s$raters)], raters = tidyselect::everything(),
        categories = 1:3)
      do.call(rbind, lapply(c("analytic", "jackknife", "bootstrap"), function(interval) {
        a <- as.data.frame(agreement(x, ids, interval = interval, conf_level = conf_level,
          resampling = list(replicates = replicates)))
        a$method <- interval
        a[c("measure", "method", "estimate", "std.error", "conf.low", "conf.high")]
      }))
    })
    summarise_coverage(do.call(rbind, drawn), truth, s, runs, conf_level)
  }))
}

coverage_population <- function(raters, base_rates) {
  rates <- if (base_rates == "equal") rep(1 / 3, 3) else c(0.8, 0.15, 0.05)
  accuracy <- c(0.8, 0.7, 0.75)[seq_len(raters)]
  patterns <- expand.grid(rep(list(1:3), raters))
  names(patterns) <- paste0("r", seq_len(raters))
  joint_probability <- function(truth) {
    factors <- Map(function(x, a) ifelse(x == truth, a, (1 - a) / 2), patterns, accuracy)
    Reduce(`*`, factors)
  }
  patterns$weight <- Reduce(`+`, lapply(1:3, function(k) rates[[k]] * joint_probability(k)))
  patterns
}

summarise_coverage <- function(drawn, truth, setting, runs, conf_level) {
  groups <- split(drawn, list(drawn$measure, drawn$method), drop = TRUE)
  do.call(rbind, unname(lapply(groups, function(g) {
    value <- truth[[g$measure[[1L]]]]
    known <- !is.na(g$conf.low)
    coverage <- mean((g$conf.low <= value & value <= g$conf.high)[known])
    cbind(
      setting, measure = g$measure[[1L]], method = g$method[[1L]], truth = value,
      conf_level = conf_level, runs = runs, missing = mean(!known), coverage = coverage,
      coverage_mcse = sqrt(coverage * (1 - coverage) / sum(known)),
      width = mean((g$conf.high - g$conf.low)[known]), sd = stats::sd(g$estimate, na.rm = TRUE),
      mean_se = mean(g$std.error[known]), row.names = NULL
    )
  })))
}

arguments <- commandArgs(trailingOnly = TRUE)
do.call(main, as.list(arguments))
