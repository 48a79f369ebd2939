# The registry of estimation methods and intervals of estimate_accuracy(), and their properties. The
# record of a method is in a file method-*.R, that of an interval in a file interval-*.R. Code
# outside these files does not branch on names of methods or intervals, only on properties
# (tools/ids.R).

# A method is a list:
# * words: its name in results
# * model: the models that it supports, "k" (the K-model fitted by algebra), "any", or `"own"` (a
#   fixed set of models; the user cannot choose another)
# * posterior: does it compute the probability of each category for each case?
# * likelihood: is the accuracy of a system a parameter of a likelihood?
# * clips, bins: does it use `clip` and `bin_width`?
# * iterated: is it iterative, so that estimates that should be equal may differ slightly?
# * stand_in: method whose replicates give the correlation of systems, if its replicates are slow
# * draws: interval whose draws compare_systems() uses if the estimate has no interval
# * common: default assumption about shared errors; NULL if the user cannot choose one
# * estimate: function of fit, options and the result of average_of() (if the model is `"own"`,
#   or if the interval needs it), which returns new_point()
# * of_posterior: the same, a function of fit and options, for a posterior given by the user; NULL
#   if the method needs a model
# * of_family: the same, for a family of models that is fitted in R
new_method <- function(id, words, model, estimate, of_posterior = NULL, of_family = of_posterior,
                       posterior = FALSE, likelihood = FALSE, clips = FALSE, bins = FALSE,
                       iterated = TRUE, stand_in = id, draws = "bootstrap", common = NULL,
                       explain = NULL) {
  mget(names(formals()))
}

# An interval is a list:
# * words: its name in messages
# * likelihood: does it need a method with a likelihood?
# * clusters: does it support clusters?
# * average: does it need average_of() for all methods?
# * uncounted: consequence of weights that are not counts
# * replicates: default number of replicates
# * hidden: does it allow for errors other than sampling error?
# * spread: how metrics and cells get it: from "percentile"s of replicates, or by the "delta"
#   method; "" if it is for accuracy only
# * compiled: can a study run it in compiled code?
# * own_fit: can a fit by as_rater_fit() have it?
# * find: function of a draft (see draft_estimate()) that returns new_interval_found(); NULL if
#   there is no interval
# * draws: function of an estimate and its replicates that returns draws of all systems jointly
#   (draws x systems), or a string with the reason why it cannot; NULL if the interval treats
#   systems separately
# * drawn: is it only for posterior draws?
# * gold: how gold cases measure it (`find` is used without them); NULL if it does not use gold
#   cases as a sample
# * note: function of an estimate that describes the interval, see interval_note()
# * explain: the same for a methods paragraph: a string or a function, see explain_estimate()
#
# `gold` is a list:
# * share, difference: functions that return intervals of quantities on the unit scale, and of
#   differences. Arguments: measurements by gold cases (see correct_mean()), estimates from ratings
#   (see estimates_from_ratings()), and settings (target, widen, conf_level)
# * anytime: is it valid after every gold case?
# * believes: does it use the estimate from ratings as a prior?
new_interval <- function(id, words = id, find = NULL, draws = NULL, note = function(estimate) NULL,
                         likelihood = FALSE, clusters = TRUE, average = FALSE, uncounted = NULL,
                         replicates = 1000L, hidden = FALSE, spread = "", compiled = FALSE,
                         gold = NULL, own_fit = FALSE, drawn = FALSE, explain = NULL) {
  record <- mget(names(formals()))
  stopifnot(spread %in% c("percentile", "delta", ""))
  flags <- c("likelihood", "clusters", "average", "hidden", "compiled", "own_fit", "drawn")
  check_record(record, flags, c("id", "words"), c("find", "draws", "note"))
}

# Checks the properties of a record when it is created. Functions may be NULL.
check_record <- function(record, flags, strings, functions) {
  stopifnot(
    vapply(record[flags], rlang::is_bool, NA), vapply(record[strings], is_string, NA),
    vapply(record[functions], function(f) is.null(f) || is.function(f), NA)
  )
  record
}

# The assignment is delayed because the records are in files that R reads after this one. The first
# record is the default.
delayedAssign("accuracy_methods", by_id(list(
  method_average, method_binned, method_unbinned, method_joint, method_shared
)))

delayedAssign("accuracy_intervals", by_id(list(
  interval_robust, interval_corrected, interval_combined, interval_anytime,
  interval_bootstrap, interval_profile, interval_posterior, interval_none
)))

delayedAssign("gold_intervals", accuracy_intervals[ids_with("gold", accuracy_intervals)])

interval_none <- new_interval("none", spread = "percentile", compiled = TRUE, own_fit = TRUE)

by_id <- function(records) setNames(records, vapply(records, `[[`, "", "id"))

# Names of the records with a property.
ids_with <- function(property, records) {
  names(Filter(function(record) !isFALSE(record[[property]] %||% FALSE), records))
}

# Names of the intervals that cells of a confusion matrix can have. Posterior draws have their own.
cell_intervals <- function(estimate) {
  having <- Filter(function(record) record$spread == "percentile", accuracy_intervals)
  drawn <- inherits(estimate$fit, "draws_fit")
  names(Filter(function(record) record$drawn == drawn || is.null(record$find), having))
}

# Names of records as listed in help pages.
list_ids <- function(records) {
  ids <- paste0("`\"", names(records), "\"`")
  paste(toString(head(ids, -1L)), "or", ids[[length(ids)]])
}

# If the user gives a model or known raters, the default method is one that uses them.
default_method <- function(model, known_raters = FALSE) {
  if (inherits(model, "own_model")) return(method_shared$id)
  if (is_k_model(model) && !any(known_raters)) method_average$id else method_joint$id
}

# The only interval of models that are fitted in R; NULL for other models.
interval_of_model <- function(model) {
  if (inherits(model, c("own_model", "family_model"))) interval_bootstrap$id
}

# With one rater there is no estimate from ratings with which gold cases could be combined.
resolve_interval <- function(interval, gold, x) {
  measures <- gold_measures(gold) && length(gold$case) > 0L
  interval <- interval %||% (if (measures) interval_combined else interval_robust)$id
  combined <- identical(interval, interval_combined$id)
  if (combined && is_one_rater(x)) interval_corrected$id else interval
}

# Records of an estimate, or of options. User-defined methods and calibrated judges bring the
# records with them.
method_of <- function(x, options = x$options) {
  options$record %||% accuracy_methods[[options$method]]
}

interval_of <- function(x, options = x$options) {
  options$interval_record %||% accuracy_intervals[[options$interval]]
}

has_interval <- function(x, options = x$options) !is.null(interval_of(options = options)$find)

is_averaged <- function(x, options = x$options) method_of(options = options)$model == "own"

# Are the replicates of another method used for the correlation of systems?
has_stand_in <- function(x) method_of(x)$stand_in != x$options$method

runs_compiled <- function(options) {
  method <- method_of(options = options)
  !is.null(method) && interval_of(options = options)$compiled &&
    (method$model == "own" || identical(common_of(options), method$common)) &&
    is.null(options$model$family) && !has_formula(options$model) &&
    !is_outside_core(options$model) && !isTRUE(options$gold > 0L)
}

# Words for a method; `model` is left out if the method uses a fixed set of models.
method_words <- function(id, model = NULL) {
  method <- accuracy_methods[[id]]
  if (is.null(method)) return(id)
  named <- !is.null(model) && method$model != "own"
  paste0(method$words, if (named) paste0(", ", format(model)))
}

check_accuracy_method <- function(method, arg = "method") {
  check_choice(method, names(accuracy_methods), arg, if (arg == "method") hint_of_models)
}

# Converts options to the arguments from which they were made.
as_arguments <- function(options) {
  resampling <- list(
    replicates = options$replicates, threads = options$threads, cluster = options$cluster
  )
  c(options[settled], list(
    bins = list(width = options$bin_width, clip = options$clip),
    resampling = drop_null(resampling)
  ))
}

check_accuracy_options <- function(x) {
  method <- check_accuracy_method(x$method)
  interval <- check_choice(x$interval, names(accuracy_intervals), "interval")
  list(
    method = method,
    interval = interval,
    conf_level = check_level(x$conf_level),
    clip = check_choice(x$clip, c("bin", "overall", "none"), "clip"),
    bin_width = check_number(x$bin_width, "bin_width", 0.001, 1),
    replicates = check_count(
      x$replicates %||% accuracy_intervals[[interval]]$replicates, "replicates",
      min = 2L, max = 1e7
    ),
    common = check_common(x$common, accuracy_methods[[method]])
  )
}

# The only place with rules about which method, interval, model, fit, clusters and gold cases can be
# combined.
check_pair <- function(options, model, fit, gold = NULL) {
  why <- pair_misfit(
    method_of(options = options), interval_of(options = options), model, fit,
    !is.null(options$cluster), gold
  )
  abort_argument_if(!is.null(why), why$arg, why$message)
}

# The wrong argument and its message; NULL if the combination is allowed. If `fit` is NULL, there is
# only a model so far. For `gold`, see resolve_gold().
pair_misfit <- function(method, interval, model, fit = NULL, clustered = FALSE, gold = NULL) {
  field <- rule_field(if (is.null(fit)) model else fit$model)
  if (!is.null(field)) {
    rule_misfit(field, method, interval, fit)
  } else if (interval$drawn) {
    misfit_of("interval", "A posterior interval needs posterior draws.",
      i = "Give {.fun estimate_accuracy} a fit by {.code fit_raters(method = \"bayes\")}.")
  } else if (!is.null(interval$gold) && !gold_measures(gold)) {
    why_no_sample(interval, gold)
  } else if (interval$likelihood && !method$likelihood) {
    having <- ids_with("likelihood", accuracy_methods)
    misfit_of("interval",
      "{.code interval = \"", interval$id, "\"} needs a likelihood in which the system has a
        parameter.",
      x = paste0("{.arg method} is {.val ", method$id, "}."),
      i = paste0("Use {.code method = \"", having[[1L]],
        "\"}, or {.code interval = \"bootstrap\"}."))
  } else if (clustered && !interval$clusters) {
    misfit_of("cluster",
      "A ", interval$words, " assumes independent cases, so it cannot use clusters.",
      i = "Use {.code interval = \"bootstrap\"}, which draws whole clusters.")
  } else if (!knows_model(method, model, fit)) {
    model_misfit(method, model, fit)
  }
}

# `...` is pasted together to the first line of the message.
misfit_of <- function(arg, ..., i, x = NULL) {
  list(arg = arg, message = c(paste0(...), x = x, i = i))
}

# Field of new_method() with the function that a method uses for models that are fitted outside the
# core; NULL for models of the core.
rule_field <- function(model) UseMethod("rule_field")

rule_field.default <- function(model) NULL

rule_of <- function(method, model) {
  field <- rule_field(model) %||% if (method$model == "k" && is_outside_core(model)) "of_posterior"
  if (!is.null(field)) method[[field]]
}

# Models that are fitted in R, and fits with only a posterior, support few methods and intervals.
rule_misfit <- function(field, method, interval, fit) {
  having <- list(
    method = ids_with(field, accuracy_methods),
    interval = c(
      ids_with("own_fit", accuracy_intervals),
      if (!is.null(fit$scored)) ids_with("hidden", accuracy_intervals)
    )
  )
  used <- list(method = method$id, interval = interval$id)
  arg <- names(used)[!unlist(Map(`%in%`, used, having))][1L]
  if (is.na(arg)) return(NULL)
  misfit_of(arg, "{.code ", arg, " = \"", used[[arg]], "\"} ", if (field == "of_family") {
    "does not work with families of models."
  } else {
    "needs a model, of which a fit by {.fun as_rater_fit} has only the posterior."
  }, i = paste0("Use ", paste0("{.val ", having[[arg]], "}", collapse = " or "), "."))
}

knows_model <- function(method, model, fit) {
  switch(method$model,
    any = TRUE,
    own = is_k_model(model) && (is.null(fit) || !any(is_known_rater(fit))),
    k = is_outside_core(model) || if (is.null(fit)) is_k_model(model) else fit$method == "algebraic"
  )
}

model_misfit <- function(method, model, fit) {
  having <- names(Filter(function(method) method$model == "any", accuracy_methods))
  misfit_of(if (is.null(fit)) "model" else "method",
    "{.code method = \"", method$id, "\"} ", switch(method$model,
      own = "has models of its own.", k = "rests on the K-model, fitted by algebra."
    ),
    x = if (is.null(fit)) {
      paste0("{.arg model} is the ", format(model), ".")
    } else {
      paste0("{.arg x} is a fit of the ", format(model), " by ", fit$method,
        if (any(is_known_rater(fit))) ", with known raters", ".")
    },
    i = paste0("{.code method = \"", having[[1L]], "\"}",
      paste0(" and {.val ", having[-1L], "}", collapse = ""), " use any model."))
}

# Reason why no system can have an interval; NULL if there is none.
why_no_interval <- function(interval, estimate) {
  if (!weights_are_counts(estimate$fit$x)) {
    paste0("weights are not counts, ", interval$uncounted)
  } else if (is_one_cluster(estimate)) {
    one_cluster
  }
}
