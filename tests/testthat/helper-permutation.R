# Changes of the input that must not change results, and comparison of results across them.

# A panel as a data frame and the names of its columns, from which walk_ratings() makes ratings.
# `back`: new names of cases, raters, categories and systems, named by their old names.
walk_panel <- function(n = 120, seed = 1) {
  withr::local_seed(seed)
  categories <- c("ka", "kb", "kc")
  site <- sample(c("north", "south"), n, TRUE)
  shares <- list(north = c(0.6, 0.25, 0.15), south = c(0.2, 0.3, 0.5))
  truth <- vapply(shares[site], function(p) sample.int(3L, 1L, prob = p), 0L)
  answer <- function(accuracy) {
    shifted <- pmin(pmax(truth + sample(c(-1L, 1L), n, TRUE), 1L), 3L)
    wrong <- ifelse(shifted == truth, 2L, shifted)
    categories[ifelse(stats::runif(n) < accuracy, truth, wrong)]
  }
  accuracy <- c(rater1 = 0.8, rater2 = 0.7, rater3 = 0.75, rater4 = 0.65, sys1 = 0.85, sys2 = 0.7,
    sys3 = 0.6)
  data <- as.data.frame(lapply(accuracy, answer))
  raters <- names(accuracy)[1:4]
  for (rater in raters) {
    right <- data[[rater]] == categories[truth]
    confident <- stats::runif(n) < ifelse(right, 0.75, 0.35)
    level <- ifelse(confident, "high", "low")
    data[[paste0("sure_", rater)]] <- factor(level, c("low", "high"), ordered = TRUE)
  }
  data$rater4[sample.int(n, n %/% 10)] <- NA
  data$sure_rater4[is.na(data$rater4)] <- NA
  data$sys2[sample.int(n, n %/% 10)] <- NA
  list(
    data = data.frame(
      case = sprintf("case%03d", seq_len(n)), site = site, age = round(stats::rnorm(n), 1),
      weight = sample(1:2, n, TRUE), truth = categories[truth],
      gold = seq_len(n) %in% sample.int(n, n %/% 3), data
    ),
    raters = raters, systems = c("sys1", "sys2", "sys3"), categories = categories,
    back = character()
  )
}

walk_ratings <- function(p, confidence = FALSE, ordered = FALSE, systems = p$systems, ...) {
  p$systems <- systems
  ratings(
    p$data, case = "case", raters = p$raters,
    systems = p$systems, weights = "weight", covariates = c("site", "age"),
    truth = "truth", categories = p$categories, ordered = ordered,
    confidence = if (confidence) paste0("sure_", p$raters), ...
  )
}

walk_gold <- function(p) {
  gold_cases(p$data[p$data$gold, c("case", "truth")], sample = "random")
}

renamed <- function(p, field, new) {
  old <- p[[field]]
  p[[field]] <- new
  p$back <- c(p$back, stats::setNames(new, old))
  p
}

# Each function returns a changed panel with the same information.
walk_changes <- list(
  cases = function(p) {
    p$data <- p$data[withr::with_seed(2, sample.int(nrow(p$data))), ]
    p
  },
  raters = function(p) {
    old <- p$raters
    new <- sub("rater", "judge", rev(old)) # the first name becomes the last one in the alphabet,
                                           # too
    at <- match(c(old, paste0("sure_", old)), names(p$data))
    names(p$data)[at] <- c(new, paste0("sure_", new))
    p <- renamed(p, "raters", new)
    p$raters <- new[c(3, 1, 4, 2)]
    p
  },
  categories = function(p) {
    old <- p$categories
    new <- c("qc", "qb", "qa")
    labelled <- vapply(p$data, is.character, NA) & names(p$data) != "site"
    p$data[labelled] <- lapply(p$data[labelled], function(x) {
      ifelse(x %in% old, new[match(x, old)], x)
    })
    p <- renamed(p, "categories", new)
    p$categories <- rev(new) # ordered errors are the same in the opposite order
    p$turned <- TRUE
    p
  },
  rotated = function(p) {
    p$categories <- p$categories[c(2, 3, 1)]
    p$turned <- TRUE
    p
  },
  systems = function(p) {
    old <- p$systems
    new <- sub("sys", "model", rev(old))
    names(p$data)[match(old, names(p$data))] <- new
    p <- renamed(p, "systems", new)
    p$systems <- new[c(2, 3, 1)]
    p
  },
  weights = function(p) {
    two <- which(p$data$weight == 2)
    copy <- p$data[two, ]
    copy$case <- sub("case", "copy", copy$case)
    p$data$weight[two] <- copy$weight <- 1
    p$data <- rbind(p$data, copy)
    p$copies <- stats::setNames(p$data$case[two], copy$case)
    p
  }
)

# Fits of a panel, one of each kind. Arguments of each function: a panel, and the systems to keep.
walk_fits <- list(
  `K-model` = function(p, ...) fit_raters(walk_ratings(p, ...)),
  `K-model, likelihood` = function(p, ...) {
    fit_raters(walk_ratings(p, ...), k_model(), method = "likelihood")
  },
  pooled = function(p, ...) fit_raters(walk_ratings(p, ...), dawid_skene()),
  likelihood = function(p, ...) {
    fit_raters(walk_ratings(p, ...), rater_model("rater", "free", prior = "weak"))
  },
  `known truth` = function(p, ...) {
    known <- p$data[p$data$gold, c("case", "truth")]
    fit_raters(walk_ratings(p, ...), dawid_skene(), known_truth = known)
  },
  pairs = function(p, ...) {
    fit_raters(walk_ratings(p, ...), rater_model("rater"), method = "pairs")
  },
  formula = function(p, ...) {
    fit_raters(walk_ratings(p, ...), rater_model("rater", "free", base_rates = ~site))
  },
  numeric = function(p, ...) {
    fit_raters(walk_ratings(p, ...), rater_model("rater", "free", base_rates = ~ site + age))
  },
  ordinal = function(p, ...) {
    fit_raters(walk_ratings(p, ordered = TRUE, ...), rater_model("rater", "ordinal"))
  },
  confidence = function(p, ...) {
    fit_raters(
      walk_ratings(p, confidence = TRUE, ...), rater_model("rater", "free", confidence = TRUE)
    )
  },
  Bayes = function(p, ...) walk_drawn(walk_ratings(p, ...), dawid_skene()),
  `Bayes, populations` = function(p, ...) {
    walk_drawn(walk_ratings(p, ...), rater_model("rater", "free", base_rates = ~site))
  },
  `own family` = function(p, ...) fit_raters(walk_ratings(p, ...), glad(5)),
  `own posterior` = function(p, ...) {
    x <- walk_ratings(p, ...)
    answers <- as.matrix(p$data[match(x$cases, p$data$case), p$raters])
    count <- function(k) rowSums(answers == k, na.rm = TRUE) + 0.3
    votes <- vapply(x$categories, count, numeric(nrow(answers)))
    as_rater_fit(x, `rownames<-`(votes / rowSums(votes), dimnames(x)[[1]]))
  }
)

walk_drawn <- function(x, model) {
  withr::local_seed(3)
  fit_raters(x, model, method = "bayes", sampling = list(draws = 400, thin = 2))
}

# Inputs of verbs: ratings, fits, and estimates of both. They are functions without arguments that
# compute their value once.
walk_inputs <- function(p) {
  once <- function(compute) {
    force(compute)
    value <- NULL
    function() value <<- value %||% quiet(compute())
  }
  x <- once(function() walk_ratings(p))
  methods <- names(accuracy_methods)
  named <- function(words, values, compute) {
    out <- lapply(values, function(value_or_name) once(function() compute(value_or_name)))
    stats::setNames(out, paste0(words, ", ", if (is.character(values)) values else names(values)))
  }
  fits <- lapply(walk_fits, function(fit) once(function() fit(p)))
  plain <- p
  plain$data$weight <- 1
  two <- p
  two$raters <- two$raters[two$raters %in% c(walk_new("rater1", p), walk_new("rater2", p))]
  c(
    list(
      ratings = x,
      `ratings, confidence` = once(function() walk_ratings(p, confidence = TRUE, ordered = TRUE)),
      `ratings, no weights` = once(function() walk_ratings(plain)),
      `ratings, two raters` = once(function() walk_ratings(two))
    ),
    named("estimate", methods, function(method) estimate_accuracy(x(), method, interval = "none")),
    named("gold", methods, function(method) {
      estimate_accuracy(x(), method, interval = "corrected", known_truth = walk_gold(p))
    }),
    list(`gold, combined` = once(function() {
      estimate_accuracy(x(), interval = "combined", known_truth = walk_gold(p))
    })),
    fits,
    named("estimate", fits, function(fit) {
      estimate_accuracy(fit(), interval = if (inherits(fit(), "draws_fit")) "posterior" else "none")
    }),
    named("truth", fits[c("K-model", "formula")], function(fit) ground_truth(fit()))
  )
}

# Verbs: exported functions, and generics of package stats for which the package has methods.
walk_verbs <- function() {
  methods <- getNamespaceInfo("fallible", "S3methods")
  statistics <- intersect(methods[, 1L], getNamespaceExports("stats"))
  exported <- union(getNamespaceExports("fallible"), statistics)
  has_method <- vapply(exported, function(verb) {
    is.function(walk_function(verb)) && length(formals(args(walk_function(verb)))) > 0L
  }, NA)
  setdiff(sort(exported[has_method], method = "radix"), names(walk_exceptions))
}

walk_function <- function(verb) get0(verb, asNamespace("fallible"), mode = "function")

walk_exceptions <- c(
  explore = "opens a page", accuracy_report = "writes a page of the results of other verbs",
  autoplot = "draws tables that are compared", plan_cases = "simulates panels of its own",
  simulate = "returns draws only"
)

# Arguments without a default, by name, for all verbs: functions of a panel.
walk_arguments <- list(
  rater1 = function(p) walk_new("rater1", p), rater2 = function(p) walk_new("rater2", p),
  system = function(p) walk_new("sys1", p), truth = function(p) p$data[c("case", "truth")],
  y = function(p) walk_ratings(p), most = function(p) 1000
)

# Verbs whose standard errors may come from replicates, which an estimate draws from a stored seed.
walk_replicated <- c(
  "estimate_metrics", "confusion", "shared_errors", "compare_systems", "update", "vcov", "plan_gold"
)

walk_new <- function(old, p) if (old %in% names(p$back)) p$back[[old]] else old

# Calls a verb. Returns `value`, the tables of its result; `drew`, TRUE if it used random numbers;
# `refused`, the class of the package's error; and `wrong`, any other error or warning.
walk_call <- function(verb, object, p, ...) {
  wrong <- refused <- NULL
  formals <- walk_formals(verb, object)
  if (is.null(formals)) return(list(refused = "no method"))
  needed <- names(formals)[vapply(formals, identical, NA, quote(expr = ))]
  arguments <- c(list(object), if (names(formals)[[1L]] == "...") list(object))
  needed <- c(needed, intersect(names(formals), c("system", "most")))
  known <- c(names(formals)[[1L]], names(list(...)))
  extra <- setdiff(intersect(needed, names(walk_arguments)), known)
  arguments <- c(arguments, lapply(walk_arguments[extra], function(compute) compute(p)), list(...))
  open <- setdiff(names(formals), names(arguments))
  if ("resampling" %in% open) arguments$resampling <- list(replicates = 20)
  set.seed(4)
  before <- .Random.seed
  utils::capture.output(value <- tryCatch(
    withCallingHandlers(
      walk_tables(do.call(walk_function(verb), arguments), p$back),
      warning = function(w) {
        if (!inherits(w, "fallible_warning")) wrong <<- paste("warning:", conditionMessage(w))
        invokeRestart("muffleWarning")
      },
      message = function(m) invokeRestart("muffleMessage")
    ),
    error = function(e) {
      has_class <- inherits(e, "fallible_error") ||
        grepl("no applicable", conditionMessage(e), fixed = TRUE)
      if (!has_class) wrong <<- paste("error:", conditionMessage(e))
      refused <<- class(e)[[1L]]
      NULL
    }
  ))
  list(value = value, drew = !identical(before, .Random.seed), refused = refused, wrong = wrong)
}

# Formals of the method; NULL if a generic of R has no method for the object.
walk_formals <- function(verb, object) {
  for (class in class(object)) {
    method <- utils::getS3method(verb, class, TRUE, asNamespace("fallible"))
    if (!is.null(method)) return(formals(method))
  }
  if (verb %in% getNamespaceExports("fallible")) formals(args(walk_function(verb)))
}

# Tables of a result, as data frames of keys and numbers. NULL if there are none.
walk_tables <- function(result, back = character()) {
  if (inherits(result, c("ratings", "gg"))) return(NULL)
  tables <- if (is.data.frame(result) && !inherits(result, "fallible_result")) {
    list(result)
  } else if (is.array(result)) {
    table <- as.data.frame(as.table(unclass(result)), stringsAsFactors = FALSE)
    names(table)[-ncol(table)] <- paste0("margin", letters[seq_len(ncol(table) - 1L)])
    list(table)
  } else if (is.numeric(result)) {
    name <- names(result) %||% as.character(seq_along(result))
    list(data.frame(name = name, value = as.vector(result)))
  } else if (inherits(result, "fallible_result")) {
    walk_result(result)
  } else if (is.list(result)) {
    parts <- unlist(lapply(result, walk_tables, back = back), recursive = FALSE)
    if (!is.null(names(parts))) names(parts) <- walk_old(names(parts), back)
    return(parts)
  }
  lapply(tables, walk_plain, back = back)
}

walk_result <- function(result) {
  methods <- lapply(class(result), function(class) {
    utils::getS3method("tidy", class, TRUE, asNamespace("fallible"))
  })
  choices <- formals(Filter(Negate(is.null), methods)[[1L]])$what
  table_names <- setdiff(eval(choices) %||% "all", "replicates")
  tables <- lapply(stats::setNames(table_names, table_names), function(table_name) {
    tryCatch(
      if (table_name == "all") tidy(result) else tidy(result, what = table_name),
      fallible_error = function(e) NULL
    )
  })
  Filter(Negate(is.null), tables)
}

# Text columns are keys, with their old names. Columns that order categories are not numbers.
walk_plain <- function(table, back) {
  table <- as.data.frame(table)
  lists <- vapply(table, is.list, NA)
  table[lists] <- lapply(table[lists], function(x) vapply(x, toString, ""))
  key <- !vapply(table, is.numeric, NA)
  table[key] <- lapply(table[key], function(x) walk_old(as.character(x), back))
  names(table) <- walk_old(names(table), back)
  numbered <- function(first, i) sub("1$", i, first) %in% names(table)
  for (first in grep("1$", names(table)[key], value = TRUE)) {
    if (numbered(first, 2) && !numbered(first, 3)) table <- walk_pairs(table, first)
  }
  table
}

walk_old <- function(words, back) {
  words[is.na(words)] <- "NA"
  for (old in names(back)) {
    new <- paste0("(?<![A-Za-z0-9])", back[[old]], "(?![A-Za-z0-9])")
    words <- gsub(new, paste0("<", old, ">"), words, perl = TRUE)
  }
  gsub("<((rater|sys|k)[a-z0-9]+)>", "\\1", words)
}

# Pairs have no order: sorts the names in each pair, and changes the sign of differences in pairs
# whose names were exchanged.
walk_pairs <- function(table, first) {
  second <- sub("1$", "2", first)
  is_swapped <- table[[first]] > table[[second]]
  table[is_swapped, c(first, second)] <- table[is_swapped, c(second, first)]
  if (first == "system1") {
    table$estimate[is_swapped] <- -table$estimate[is_swapped]
    limits <- c("conf.low", "conf.high")
    table[is_swapped, limits] <- -table[is_swapped, rev(limits)]
    if ("probability" %in% names(table)) {
      table$probability[is_swapped] <- 1 - table$probability[is_swapped]
    }
  }
  table
}

# Thresholds, and coefficients of base rates by formula, are contrasts of categories. They are
# compared unless the order of categories changes.
walk_contrasts <- function(call, p) {
  if (isTRUE(p$turned)) {
    call$value <- lapply(call$value, function(table) {
      words <- do.call(paste, c(table, list(rep("", nrow(table)))))
      table[!grepl("base_rate\\[.*\\]:|threshold\\[", words), , drop = FALSE]
    })
  }
  call
}

# Compares the same call for two panels. Returns a text about the first difference, or NULL.
# `copies`: cases of `b` that are copies of a case of `a`.
walk_compare <- function(a, b, copies = NULL, limit = 1e-8, only = NULL) {
  if (!identical(a$refused, b$refused)) {
    return(paste0("refused: ", a$refused %||% "no", " | ", b$refused %||% "no"))
  }
  if (!setequal(names(a$value), names(b$value)) || length(a$value) != length(b$value)) {
    return(paste("tables:", toString(names(a$value)), "|", toString(names(b$value))))
  }
  keys <- names(a$value) %||% seq_along(a$value)
  # ground_truth() has one row per case, for any weight, and counts these rows.
  if (!is.null(copies) && setequal(keys, c("cases", "categories"))) keys <- "cases"
  for (key in keys) {
    difference <- walk_table_difference(a$value[[key]], b$value[[key]], copies, limit, only)
    if (!is.null(difference)) return(paste(key, difference))
  }
}

walk_table_difference <- function(a, b, copies, limit, only) {
  if (!setequal(names(a), names(b))) {
    return(paste("columns:", toString(names(a)), "|", toString(names(b))))
  }
  if (nrow(a) == 0L && nrow(b) == 0L) return(NULL)
  number <- names(a)[vapply(a, is.numeric, NA)]
  key <- setdiff(names(a), c(number, "reason", "found", "advice", ".votes"))
  compared <- if (is.null(only)) number else intersect(number, only)
  # These columns count rows, not weights.
  if (!is.null(copies)) compared <- setdiff(compared, c("weight", "cases", "ratings"))
  name <- function(table) do.call(paste, c(table[key], list(rep("", nrow(table))), sep = "/"))
  a$key <- name(a)
  is_copy <- Reduce(`|`, lapply(b[key], `%in%`, names(copies)), rep(FALSE, nrow(b)))
  b[key] <- lapply(b[key], function(x) ifelse(x %in% names(copies), copies[x], x))
  b$key <- name(b)
  in_order <- function(t) {
    sort_keys <- c(list(t$key), lapply(compared, function(n) signif(t[[n]], 6)))
    t[do.call(order, c(unname(sort_keys), method = "radix")), , drop = FALSE]
  }
  # All copies of a case must have the numbers of this case.
  b <- rbind(b[!is_copy, , drop = FALSE], b[is_copy, , drop = FALSE])
  numbers <- lapply(b[compared], signif, 7)
  b <- b[!(sort(is_copy) & duplicated(do.call(paste, c(list(b$key), numbers)))), , drop = FALSE]
  a <- in_order(a)
  b <- in_order(b)
  if (nrow(a) != nrow(b)) return(paste("rows:", nrow(a), "|", nrow(b)))
  row <- which(a$key != b$key)[1L]
  if (!is.na(row)) return(paste0("keys: ", a$key[row], " | ", b$key[row]))
  for (n in compared) {
    if (!identical(is.na(a[[n]]), is.na(b[[n]]))) {
      at <- which(is.na(a[[n]]) != is.na(b[[n]]))[[1L]]
      return(paste0(n, " of ", a$key[[at]], ": ", a[[n]][[at]], " | ", b[[n]][[at]]))
    }
    difference <- abs(a[[n]] - b[[n]]) / pmax(1, abs(a[[n]]))
    difference[is.na(difference) | a[[n]] == b[[n]]] <- 0
    if (any(difference > if (n == "probability" && !is.null(only)) 0.03 else limit)) {
      at <- which.max(difference)
      values <- signif(c(a[[n]][[at]], b[[n]][[at]]), 8)
      return(paste0(n, " of ", a$key[[at]], ": ", values[[1L]], " | ", values[[2L]]))
    }
  }
}

# All verbs on all inputs, before and after each change. Returns failures as text, one row each.
walk_all <- function(p, changes, inputs = names(walk_inputs(p)), verbs = walk_verbs(),
                     report = NULL) {
  local_silent_refusals()
  failures <- character()
  fail <- function(...) {
    failures <<- c(failures, paste(..., sep = " : "))
    if (!is.null(report)) report(paste(..., sep = " : "))
  }
  originals <- walk_inputs(p)
  panels <- lapply(changes, function(change) change(p))
  changed_inputs <- lapply(panels, walk_inputs)
  for (input in inputs) {
    object <- tryCatch(originals[[input]](), error = function(e) {
      fail(input, "cannot be made", conditionMessage(e))
    })
    if (is.character(object) || is.null(object)) next
    calls <- lapply(stats::setNames(verbs, verbs), walk_call, object, p)
    for (verb in verbs) if (!is.null(calls[[verb]]$wrong)) fail(input, verb, calls[[verb]]$wrong)
    calls <- Filter(function(call) is.null(call$refused) && length(call$value) > 0L, calls)
    for (change in names(changes)) {
      q <- panels[[change]]
      if (!is.null(q$copies) && input == "ratings, no weights") next
      changed <- tryCatch(changed_inputs[[change]][[input]](), error = conditionMessage)
      if (is.character(changed)) {
        fail(input, "cannot be made", change, changed)
        next
      }
      row_verbs <- if (!is.null(q$copies)) c("glance", "truth") # these verbs describe rows of the
                                                              # data
      for (verb in setdiff(names(calls), row_verbs)) {
        after <- walk_call(verb, changed, q)
        drawn <- grepl("Bayes|combined", input) || # an update of gold cases is combined
          (startsWith(input, "gold") && verb %in% walk_replicated)
        difference <- walk_compare(
          walk_contrasts(calls[[verb]], q), walk_contrasts(after, q), q$copies,
          limit = if (drawn) 0.03 else 1e-8,
          only = if (drawn || isTRUE(after$drew) || verb %in% walk_replicated) {
            c("estimate", "probability")
          }
        )
        if (!is.null(after$wrong)) difference <- after$wrong
        if (!is.null(difference)) fail(input, verb, change, difference)
      }
    }
  }
  failures
}

# Errors by class, without messages. Messages would take most of the time of a walk.
local_silent_refusals <- function(frame = parent.frame()) {
  set_conditions(list(
    abort_fallible = function(topic, ...) {
      stop(structure(
        list(message = topic, call = NULL),
        class = c(paste0("fallible_error_", topic), "fallible_error", "error", "condition")
      ))
    },
    warn_fallible = function(...) invisible()
  ))
  withr::defer(set_conditions(spoken_conditions), frame)
}

spoken_conditions <- list(abort_fallible = abort_fallible, warn_fallible = warn_fallible)

set_conditions <- function(functions) {
  package <- asNamespace("fallible")
  for (name in names(functions)) {
    unlockBinding(name, package)
    assign(name, functions[[name]], package)
    lockBinding(name, package)
  }
}
