# The registry of estimation methods and intervals of estimate_accuracy(). Methods and intervals are
# records, which are lists of properties. Records of methods are in files method-*.R, and records of
# intervals in files interval-*.R. Code in other files does not branch on names of methods or
# intervals, only on properties (tools/ids.R checks this).

# A method is a list:
# * words: the name of the method in results
# * model: the models that the method supports: "k" (k_model() fitted by algebra), "any", or `"own"`
#   (the method has a fixed set of models, and the user cannot choose another)
# * posterior: does the method compute the probability of each category for each case?
# * likelihood: is the accuracy of a system a parameter of a likelihood?
# * clips: does the method use option `clip`?
# * bins: does the method use option `bin_width`?
# * iterated: is the method iterative? Estimates that should be equal may then differ slightly
# * stand_in: method whose bootstrap replicates give the correlation of systems, because replicates
#   of this method would be slow
# * draws: interval whose draws compare_systems() uses if the estimate has no interval
# * common: default of argument `common` of estimate_accuracy(); NULL if the method does not accept
#   this argument
# * estimate: function that returns new_point(). Its arguments are a fit, options, and the result of
#   compute_average() (NULL unless the model is `"own"` or the interval needs it)
# * of_posterior: function of a fit and options, used instead of `estimate` if the user gives
#   posterior probabilities (see as_rater_fit()); NULL if the method needs a model
# * of_family: function used instead of `estimate` for a user-defined model (see rater_family()),
#   which is fitted in R
# * explain: sentences for a methods paragraph, see explain_estimate()
new_method <- function(id, words, model, estimate, of_posterior = NULL, of_family = of_posterior,
                       posterior = FALSE, likelihood = FALSE, clips = FALSE, bins = FALSE,
                       iterated = TRUE, stand_in = id, draws = "bootstrap", common = NULL,
                       explain = NULL) {
  mget(names(formals()))
}

# An interval is a list:
# * words: the name of the interval in messages
# * likelihood: does the interval need a method with a likelihood?
# * clusters: does the interval support clusters of cases?
# * average: does the interval need models averaged by compute_average(), whatever the method is?
# * uncounted: end of a message that begins with "weights are not counts, "
# * replicates: default number of replicates
# * hidden: does the interval also allow for errors other than sampling error?
# * spread: how the interval is computed for metrics and cells of confusion matrices: "percentile"
#   (of replicates) or "delta" (by the delta method); "" if the interval is for accuracy only
# * compiled: can a simulation study compute the interval in compiled code?
# * own_fit: is the interval available for a fit by as_rater_fit()?
# * find: function that computes the intervals; NULL for "none". Its arguments are a draft (an
#   estimate without intervals, see draft_estimate()) and its table. It returns a list:
#   - table: table with columns std.error, conf.low, conf.high and reason
#   - replicates: replicates of the estimates (replicates x systems), or NULL
#   - sampling: standard error due to sampling; if NULL, average_sampling_error() computes it
#   - centre, hidden: centre of the robust interval, and standard deviation of the bias due to
#     shared errors
#   - draft: a better draft, if the search for limits finds a higher likelihood
# * draws: function of an estimate and its replicates. It returns joint draws of the accuracies of
#   all systems (draws x systems), or a string with the reason why there are no draws. NULL if the
#   interval treats systems separately
# * drawn: is the interval only for fits with posterior draws?
# * gold: list (see below) for intervals that use gold cases as a sample; NULL for other intervals.
#   If a system answered no gold case, `find` computes its interval
# * note: function of an estimate that describes the interval, see interval_note()
# * explain: description for a methods paragraph: a string or a function, see explain_estimate()
#
# `gold` is a list:
# * share: function that returns intervals of accuracies and other shares. Arguments: measurements
#   by gold cases (see corrected_mean()), estimates from ratings (see estimates_from_ratings()), and
#   settings (target, widen, conf_level)
# * difference: function with the same arguments that returns intervals of differences of shares
# * anytime: is the interval valid at all numbers of gold cases simultaneously?
# * uses_prior: does the interval use the estimate from ratings as a prior?
new_interval <- function(id, words = id, find = NULL, draws = NULL, note = function(estimate) NULL,
                         likelihood = FALSE, clusters = TRUE, average = FALSE, uncounted = NULL,
                         replicates = 1000L, hidden = FALSE, spread = "", compiled = FALSE,
                         gold = NULL, own_fit = FALSE, drawn = FALSE, explain = NULL) {
  record <- mget(names(formals()))
  stopifnot(spread %in% c("percentile", "delta", ""))
  flag_fields <- c("likelihood", "clusters", "average", "hidden", "compiled", "own_fit", "drawn")
  check_record(record, flag_fields, c("id", "words"), c("find", "draws", "note"))
}

# Creates the record of a kind of interval that uses gold cases, see new_interval().
# * share: function that computes intervals of accuracies. Its arguments are `x`, a result of
#   gold_accuracy(); `ratings_estimates`, see estimates_from_ratings(); and the settings `target`,
#   `conf_level` and `widen`
# * difference: function with the same arguments that computes intervals of differences between
#   accuracies
# * note: description of the interval for print()
# * explained: end of a sentence for methods paragraphs. The sentence begins with "The interval"
# * anytime: may the interval be computed after every gold case?
# * uses_prior: does the interval use the estimate from ratings as a prior?
new_gold_interval <- function(id, share, difference, note, explained, anytime = FALSE,
                              uses_prior = FALSE) {
  stopifnot(is_bool(anytime), is_bool(uses_prior))
  with_settings <- function(interval_function) {
    function(x, ratings_estimates, settings) {
      do.call(interval_function, c(list(x = x, ratings_estimates = ratings_estimates), settings))
    }
  }
  new_interval(
    id,
    words = paste(id, "interval"), average = TRUE, hidden = TRUE, replicates = 200L,
    spread = "delta", gold = list(
      share = with_settings(share), difference = with_settings(difference), anytime = anytime,
      uses_prior = uses_prior
    ),
    uncounted = "so gold cases are not a sample of cases and are not used",
    find = function(draft, table) robust_interval(draft, table),
    note = function(estimate) {
      paste0(note, "; ", describe_gold_quantity(
        estimate$gold$settings, count_gold_clusters(estimate),
        if (is_pass_rate(estimate)) "pass rate in the " else "accuracy in the "
      ))
    },
    explain = paste("On the cases with known truth, the mean error of the predictions from
      ratings was measured. The mean prediction over all cases was corrected by this error
      (prediction-powered inference, Angelopoulos et al. 2023). The {interval}", explained)
  )
}

# Checks the fields of a new record, and returns the record. Arguments are names of fields.
# * flags: fields that must be TRUE or FALSE.
# * strings: fields that must be single strings.
# * functions: fields that must be functions or NULL.
check_record <- function(record, flags, strings, functions) {
  stopifnot(
    vapply(record[flags], is_bool, NA), vapply(record[strings], is_string, NA),
    vapply(record[functions], function(f) is.null(f) || is.function(f), NA)
  )
  record
}

# The assignment is delayed because the records are in files that R reads after this one. The first
# record is the default.
delayedAssign("accuracy_methods", name_by_id(list(
  method_average, method_binned, method_unbinned, method_joint, method_shared
)))

delayedAssign("accuracy_intervals", name_by_id(list(
  interval_robust, interval_corrected, interval_combined, interval_anytime,
  interval_bootstrap, interval_profile, interval_posterior, interval_none
)))

delayedAssign("gold_intervals", accuracy_intervals[ids_with("gold", accuracy_intervals)])

interval_none <- new_interval("none", spread = "percentile", compiled = TRUE, own_fit = TRUE)

# Names records by their field `id`.
name_by_id <- function(records) setNames(records, vapply(records, `[[`, "", "id"))

# Names of the records whose field `property` is neither NULL nor FALSE.
ids_with <- function(property, records) {
  names(Filter(function(record) !isFALSE(record[[property]] %||% FALSE), records))
}

# Returns the names of the intervals that are available for cells of a confusion matrix: "none", and
# the interval whose limits are percentiles. An estimate from posterior draws uses percentiles of
# the draws. Other estimates use percentiles of bootstrap replicates.
cell_intervals <- function(estimate) {
  is_from_draws <- inherits(estimate$fit, "draws_fit")
  names(Filter(function(record) {
    record$spread == "percentile" && (record$drawn == is_from_draws || is.null(record$find))
  }, accuracy_intervals))
}

# Formats names of records for help pages, such as `"bootstrap"`, `"profile"` or `"none"`.
ids_text <- function(records) {
  ids <- sprintf("`\"%s\"`", names(records))
  paste(toString(head(ids, -1L)), "or", ids[[length(ids)]])
}

# Returns the name of the default method. It is "average", unless the user gives a model or known
# raters that this method cannot use.
default_method <- function(model, known_raters = FALSE) {
  if (inherits(model, "own_model")) return(method_shared$id)
  if (is_k_model(model) && !any(known_raters)) method_average$id else method_joint$id
}

# Returns the default interval of user-defined models, which are fitted in R; NULL for other models.
interval_of_model <- function(model) if (inherits(model, user_models)) interval_bootstrap$id

# Returns the name of the interval to compute. If `interval` is NULL, the name is "combined" with a
# sample of gold cases, and "robust" without a sample. With one rater there is no estimate from
# ratings only, so "corrected" replaces "combined".
resolve_interval <- function(interval, gold, x) {
  interval <- interval %||%
    if (is_gold_sample(gold) && has_gold_cases(gold)) interval_combined$id else interval_robust$id
  if (identical(interval, interval_combined$id) && is_one_rater(x)) interval_corrected$id else
    interval
}

# method_of() and interval_of() return the records of the method and of the interval of an estimate.
# For user-defined methods and calibrated judges, the records are in the options and not in the
# registry. `x`: the estimate, a draft of it, or only its options.
method_of <- function(x) {
  options <- x$options %||% x
  options$method_record %||% accuracy_methods[[options$method]]
}

interval_of <- function(x) {
  options <- x$options %||% x
  options$interval_record %||% accuracy_intervals[[options$interval]]
}

has_interval <- function(x) !is.null(interval_of(x)$find)

is_averaged <- function(x) method_of(x)$model == "own"

# Is the correlation of systems computed from replicates of another method? See new_method().
has_stand_in <- function(x) method_of(x)$stand_in != x$options$method

# Can a simulation study run the estimator with these options in compiled code?
can_run_compiled <- function(options) {
  method <- method_of(options)
  !is.null(method) && interval_of(options)$compiled &&
    (method$model == "own" || identical(common_setting(options), method$common)) &&
    is.null(options$model$family) && !has_formula(options$model) &&
    !is_outside_core(options$model) && !isTRUE(options$gold > 0L)
}

# Returns the name of a method in words, followed by its `model`. The model is left out if the
# method has a fixed set of models.
format_method <- function(id, model = NULL) {
  method <- accuracy_methods[[id]]
  if (is.null(method)) id else
    toString(c(method$words, if (!is.null(model) && method$model != "own") format(model)))
}

check_accuracy_method <- function(method, arg = "method") {
  check_choice(method, names(accuracy_methods), arg, if (is.function(method))
    "Use the function as an element of {.arg estimators} of {.fun simulation_study}." else
    if (arg == "method") hint_model_argument)
}

# Converts options of an estimate to the arguments of estimate_accuracy() that give these options.
as_arguments <- function(options) {
  c(options[setting_arguments], list(
    bins = list(width = options$bin_width, clip = options$clip),
    resampling = drop_null(options[c("replicates", "threads", "cluster")])
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

# Stops if the method, interval, model, fit, clusters and gold cases cannot be combined. All rules
# are in find_combination_error() and the functions that it calls.
check_combination <- function(options, model, fit, gold) {
  combination_error <- find_combination_error(
    method_of(options), interval_of(options), model, fit,
    !is.null(options$cluster), gold
  )
  abort_argument_if(!is.null(combination_error), combination_error$arg, combination_error$message)
}

# Checks whether a method, an interval and a model can be combined. Returns NULL if they can be
# combined. Otherwise returns the name of the wrong argument and a message (see
# new_argument_error()).
# * fit: NULL if the model has not been fitted yet.
# * gold: result of resolve_gold().
find_combination_error <- function(method, interval, model, fit = NULL, clustered = FALSE,
                                   gold = NULL) {
  field <- r_model_field(if (is.null(fit)) model else fit$model)
  if (!is.null(field)) {
    find_r_model_error(field, method, interval, fit)
  } else if (interval$drawn) {
    new_argument_error("interval", "A posterior interval needs posterior draws.",
      i = "Give {.fun estimate_accuracy} a fit by {.code fit_raters(method = \"bayes\")}.")
  } else if (!is.null(interval$gold) && !is_gold_sample(gold)) {
    why_no_sample(interval, gold)
  } else if (interval$likelihood && !method$likelihood) {
    new_argument_error("interval",
      "{.code interval = \"", interval$id, "\"} needs a method in which the accuracy of a system is
        a parameter of a likelihood.",
      x = sprintf("{.arg method} is {.val %s}.", method$id),
      i = sprintf("Use {.code method = \"%s\"}, or {.code interval = \"bootstrap\"}.",
        ids_with("likelihood", accuracy_methods)[[1L]]))
  } else if (clustered && !interval$clusters) {
    new_argument_error("cluster",
      "A ", interval$words, " assumes independent cases, so it cannot use clusters.",
      i = "Use {.code interval = \"bootstrap\"}, which draws whole clusters.")
  } else {
    find_model_error(method, model, fit)
  }
}

# Returns a list of the name of the wrong argument and a message. Strings in `...` are pasted
# together to the first line of the message. The line `x` describes the value that was found. The
# line `i` is advice.
new_argument_error <-
  function(arg, ..., i, x = NULL) list(arg = arg, message = c(paste0(...), x = x, i = i))

# Returns the name of the field of a method (see new_method()) that contains the function for
# `model`: "of_family" or "of_posterior" for models that are fitted in R, NULL for models that the
# C++ core fits.
r_model_field <- function(model) UseMethod("r_model_field")

r_model_field.default <- function(model) NULL

# Returns the function that a method uses for a model that is fitted in R; NULL for models that the
# C++ core fits.
estimator_in_r <- function(method, model) {
  field <-
    r_model_field(model) %||% if (method$model == "k" && is_outside_core(model)) "of_posterior"
  if (!is.null(field)) method[[field]]
}

# Returns an error (see new_argument_error()) if a method or interval does not support a model that
# is fitted in R, or a fit with posterior probabilities only. Otherwise returns NULL. `field`: see
# r_model_field().
find_r_model_error <- function(field, method, interval, fit) {
  allowed_values <- list(
    method = ids_with(field, accuracy_methods),
    interval = c(
      ids_with("own_fit", accuracy_intervals),
      if (!is.null(fit$scored)) ids_with("hidden", accuracy_intervals)
    )
  )
  requested_values <- list(method = method$id, interval = interval$id)
  arg <- names(requested_values)[!unlist(Map(`%in%`, requested_values, allowed_values))][1L]
  if (is.na(arg)) return(NULL)
  problem <- if (field == "of_family") {
    "cannot be used with a model of {.fun rater_family}."
  } else {
    "needs a model, but a fit by {.fun as_rater_fit} has only posterior probabilities."
  }
  new_argument_error(arg, "{.code ", arg, " = \"", requested_values[[arg]], "\"} ", problem,
    i = sprintf("Use %s.", paste0("{.val ", allowed_values[[arg]], "}", collapse = " or ")))
}

# Returns an error (see new_argument_error()) if a method does not support the model. Otherwise
# returns NULL.
find_model_error <- function(method, model, fit) {
  is_supported <- switch(method$model,
    any = TRUE,
    own = is_k_model(model) && (is.null(fit) || !any(is_known_rater(fit))),
    k = is_outside_core(model) || if (is.null(fit)) is_k_model(model) else fit$method == "algebraic"
  )
  if (is_supported) return(NULL)
  methods_for_any_model <- names(Filter(function(method) method$model == "any", accuracy_methods))
  new_argument_error(if (is.null(fit)) "model" else "method",
    "{.code method = \"", method$id, "\"} ", switch(method$model,
      own = "uses a fixed set of models.", k = "needs the K-model, fitted by algebra."
    ),
    x = if (is.null(fit)) {
      sprintf("{.arg model} is \"%s\".", format(model))
    } else {
      paste0("{.arg x} is a fit of \"", format(model), "\" by ", fit$method,
        if (any(is_known_rater(fit))) ", with known raters", ".")
    },
    i = paste0("{.code method = \"", methods_for_any_model[[1L]], "\"}",
      paste0(" and {.val ", methods_for_any_model[-1L], "}", collapse = ""), " use any model."))
}

# Returns the reason why an estimate has no intervals; NULL if intervals are possible.
why_no_interval <- function(interval, estimate) {
  if (!weights_are_counts(estimate$fit$x)) {
    paste0("weights are not counts, ", interval$uncounted)
  } else if (has_one_cluster(estimate)) {
    reason_one_cluster
  }
}
