#' Tables of an accuracy estimate
#'
#' @param x An [estimate_accuracy()] result.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per system: `system`; `estimate`, its accuracy, a
#'   probability; `std.error`, `conf.low` and `conf.high`; `shared` and `independent`, the ends of
#'   the range of what dependence between system and raters could make of the estimate, `NA` where
#'   no models were averaged (methods `"binned"` and `"unbinned"` without a robust interval); `n`,
#'   the number of its cases that raters saw; `method`; `reason`, why something is `NA`.
#'
#'   `glance()`: a tibble with one row per system of what the estimate rests on: `system`,
#'   `agreement` and `kappa` of the raters, `rater_accuracy` under the model that was fitted;
#'   `negative`, the number of base rates that came out negative and were set to zero;
#'   `mean_posterior`, the mean posterior probability of the system's answers; `uninformative`, the
#'   share of its cases in bins that say nothing; `replicates` and `failed`, the bootstrap
#'   replicates and those of them without an estimate; `conf_level`, `clip`, `bin_width`. Where
#'   models were averaged (method `"average"`, and every robust interval) also `sampling`, the part
#'   of `std.error` that is sampling error; `rater_error`, the share of ratings that are wrong;
#'   `simple_weight`, the weight of the models that show no sign of errors in common (equal
#'   difficulty, no error rates of their own); `lowest` and `highest`, the range of the estimators
#'   `"average"`, `"shared"`, `"binned"` and `method`.
#' @family estimation
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate <- estimate_accuracy(x)
#' tidy(estimate)
#' glance(estimate)
#' @export
tidy.accuracy_estimate <- function(x, ...) {
  check_dots_empty(...)
  x$table
}

#' @rdname tidy.accuracy_estimate
#' @export
glance.accuracy_estimate <- function(x, ...) {
  check_dots_empty(...)
  bootstrapped <- !is.null(x$replicates)
  has_interval <- x$options$interval != "none"
  tibble::tibble(
    system = x$details$system,
    glance(x$fit)[c("agreement", "kappa", "rater_accuracy")],
    negative = x$fit$negative,
    mean_posterior = x$details$mean_posterior,
    uninformative = if (x$options$method == "binned") x$details$uninformative else NA_real_,
    replicates = if (bootstrapped) x$options$replicates else NA_integer_,
    failed = x$details$failed,
    conf_level = if (has_interval) x$options$conf_level else NA_real_,
    clip = if (x$options$method %in% c("binned", "unbinned")) x$options$clip else NA_character_,
    bin_width = if (x$options$method == "binned") x$options$bin_width else NA_real_,
    x$details[c("sampling", "rater_error", "simple_weight", "lowest", "highest")]
  )
}

#' @rdname tidy.accuracy_estimate
#' @param row.names,optional Not used.
#' @export
as.data.frame.accuracy_estimate <- function(x, row.names = NULL, # nolint: object_name.
                                            optional = FALSE, ...) {
  tidy(x)
}

#' @export
print.accuracy_estimate <- function(x, ...) {
  print_accuracy(x)
  cat_lines(
    "", paste0("More: ", if (x$options$method == "binned") "bins(), ", "tidy(), glance(), plot().")
  )
  invisible(x)
}

# How a number came about; `model` is left out where it does not say more.
method_words <- function(method, model = NULL) {
  if (method == "average") {
    return("averaged over models")
  }
  paste0(method, " method", if (!is.null(model)) paste0(", ", format(model)))
}

print_accuracy <- function(x) {
  table <- tidy(x)
  fit <- x$fit
  averaged <- x$options$method == "average"
  cat(
    "<accuracy_estimate> ", count_noun(nrow(table), "system"), ", ",
    method_words(x$options$method, fit$model), "\n",
    sep = ""
  )
  if (averaged && fit$identified == "yes") {
    cat(
      "Raters: agreement ", decimals(fit$agreement), ", kappa ", decimals(fit$kappa),
      ", wrong in ", percent(mean(x$details$rater_error, na.rm = TRUE)), " of ratings\n",
      sep = ""
    )
  } else if (fit$identified == "yes") {
    cat(
      "Raters: agreement ", decimals(fit$agreement), ", kappa ", decimals(fit$kappa),
      ", accuracy ", decimals(fit$rater_accuracy), "\n",
      sep = ""
    )
  }
  shown <- utils::head(table, 20L)
  out <- data.frame(system = shown$system, accuracy = decimals(shown$estimate))
  if (x$options$interval != "none") {
    out[[paste0(format(100 * x$options$conf_level), "% interval")]] <- ifelse(
      is.na(shown$conf.low), "NA",
      paste0("[", decimals(shown$conf.low), ", ", decimals(shown$conf.high), "]")
    )
  }
  if (!all(is.na(shown$shared))) {
    out[["shared to independent"]] <- paste(
      decimals(shown$shared), "to", decimals(shown$independent)
    )
  }
  out$cases <- number(shown$n)
  cat("\n")
  print(out, row.names = FALSE)
  if (nrow(table) > 20L) cat("... and", nrow(table) - 20L, "more; see tidy()\n")
  notes <- accuracy_notes(x)
  if (length(notes) > 0L) cat_lines("", notes)
}

# What a reader must know beside the numbers.
accuracy_notes <- function(x) {
  table <- tidy(x)
  reasons <- table$reason[!is.na(table$reason)]
  c(
    if (!all(is.na(table$shared))) {
      "Shared: the system errs where the raters err; independent: its errors are its own"
    },
    vapply(unique(reasons), function(reason) {
      what <- if (startsWith(reason, no_interval)) "No interval for " else "NA for "
      paste0(
        what, shorten(table$system[table$reason %in% reason], most = 4L), ": ",
        sub(no_interval, "", reason, fixed = TRUE)
      )
    }, ""),
    left_out_note(x),
    if (x$options$method == "average" && length(x$members) > 0L) axes_note(x$members),
    if (x$fit$negative > 0L && x$options$method %in% c("binned", "unbinned")) {
      paste(
        "Base rates that came out negative, set to zero:",
        shorten(x$fit$x$categories[x$fit$base_rates == 0])
      )
    },
    outside_note(table),
    doubt_note(x),
    if (x$options$interval == "robust" && !all(is.na(table$conf.low))) {
      robust_note(x)
    } else if (!is.null(x$replicates)) {
      bootstrap_note(x)
    } else if (x$options$interval == "profile" && !all(is.na(table$conf.low))) {
      "Interval: profile of the log posterior; sampling error only"
    }
  )
}

left_out_note <- function(x) {
  share <- x$details$uninformative
  some <- which(share > 0 & !is.na(x$table$estimate))
  if (length(some) > 0L) {
    paste0(
      "Left out, since no category stands out: ",
      shorten(paste0(percent(share[some]), " of the cases of ", x$table$system[some]), most = 4L)
    )
  }
}

# The percentiles of a biased estimator may leave it behind.
outside_note <- function(table) {
  outside <- which(table$estimate < table$conf.low | table$estimate > table$conf.high)
  if (length(outside) > 0L) {
    paste0(
      "Estimate outside its own interval, a sign of bias: ",
      shorten(table$system[outside], most = 4L)
    )
  }
}

bootstrap_note <- function(x) {
  failed <- range(x$details$failed)
  paste0(
    "Interval: ", resampling_note(x), ", ", number(x$options$replicates), " replicates",
    if (failed[[2L]] > 0L) {
      paste0(
        ", ", paste(unique(failed), collapse = " to "), " of them without an estimate",
        if (failed[[2L]] > (1 - x$options$conf_level) / 2 * x$options$replicates) " (too short)"
      )
    },
    "; sampling error only"
  )
}

#' @export
summary.accuracy_estimate <- function(object, ...) {
  structure(list(estimate = object), class = "summary_accuracy_estimate")
}

#' @export
print.summary_accuracy_estimate <- function(x, ...) {
  print_accuracy(x$estimate)
  rest <- glance(x$estimate)[c(
    "system", "mean_posterior", "uninformative", "replicates", "failed", "sampling", "rater_error",
    "simple_weight", "lowest", "highest"
  )]
  print_table("What the estimates rest on", rest[!vapply(rest, function(y) all(is.na(y)), NA)])
  if (x$estimate$options$method == "average" && length(x$estimate$members) > 0L) {
    print_table("Weight of the models without equal ...", axis_weights(x$estimate$members))
  }
  if (x$estimate$options$method == "binned") print_table("Bins", bins(x$estimate), most = 30L)
  invisible(x)
}
