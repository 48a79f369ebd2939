# How many cases give the interval of a measure of agreement a half-width: plan_cases(agreement = ).

# Cases of the ratings are resampled. The half-width falls about as 1 / sqrt(n), so that its
# logarithm is a line in log(n), which is fitted to four numbers of cases around the answer.
plan_agreement <- function(arguments) {
  unused <- c("raters", "rater_accuracy", "chance_kappa", "system_accuracy")
  given <- unused[!vapply(arguments[unused], is.null, NA)]
  abort_argument_if(given, given, "{.arg {given}} {?has/have} no use in a plan for agreement.",
    i = "The ratings {.arg design} show how raters agree.")
  view <- new_view(one_vote_each(as_ratings_of_several(arguments$design, "design")))
  abort_argument_if(!view$counted, "design", "must have whole cases: its weights are not counts.")
  settings <- list(
    half_width = check_number(arguments$half_width, "half_width", 0, 1, open_min = TRUE),
    conf_level = check_level(arguments$conf_level), pooling = "pairs", interval = "none",
    scale_name = unweighted, runs = check_count(arguments$runs, "runs", 20L, 1000000L)
  )
  settings <- c(settings, check_cases(arguments$cases))
  measure <- find_measures(arguments$agreement, list(view), settings)
  abort_argument_if(length(measure) != 1L, "agreement", "must be one measure.")
  settings$measure <- measure[[1L]]
  seed <- draw_seed()
  curve <- with_run_seed(seed, agreement_curve(view, settings))
  show_agreement_plan(curve, view, settings, arguments, seed)
}

# A row per number of cases: half-width of the interval, its Monte Carlo error, and the share of
# resamples in which the measure is undefined.
agreement_curve <- function(view, settings) {
  at <- function(n) {
    drawn <- stats::rmultinom(settings$runs, n, view$cases)
    value <- apply(drawn, 2L, function(cases) {
      view[c("weight", "cases")] <- list(cases, cases)
      evaluate(settings$measure, view, settings)$estimate
    })
    known <- value[!is.na(value)]
    half <- t_quantile(settings$conf_level, n) * stats::sd(known)
    tibble::tibble(
      cases = n, half_width = half, half_width_mcse = half / sqrt(2 * max(length(known) - 1, 1)),
      missing = mean(is.na(value))
    )
  }
  if (!is.null(settings$cases)) return(at(settings$cases))
  inside <- function(n) min(max(round(n), settings$least_cases), settings$max_cases)
  first <- at(inside(sum(view$cases)))
  guess <- first$cases * (first$half_width / settings$half_width)^2
  if (!is.finite(guess)) return(first)
  second <- at(inside(guess))
  guess <- second$cases * (second$half_width / settings$half_width)^2
  if (!is.finite(guess)) guess <- second$cases
  rest <- lapply(unique(vapply(guess * c(0.7, 1, 1.4), inside, 0)), at)
  curve <- stack_rows(c(list(first, second), rest))
  curve[order(curve$cases), ]
}

# The least number of cases on the line whose half-width is small enough, and its standard error.
agreement_answer <- function(curve, settings) {
  wanted <- settings$half_width
  near <- curve[is.finite(curve$half_width) & curve$half_width > 0, ]
  answer <- tibble::tibble(
    measure = settings$measure$id, cases = NA_real_, std.error = NA_real_,
    half_width = min(c(near$half_width, NA), na.rm = TRUE), reason = NA_character_
  )
  if (!is.null(settings$cases)) {
    answer[c("cases", "half_width")] <- curve[c("cases", "half_width")]
    return(answer)
  }
  if (length(unique(near$cases)) < 2L) {
    answer$reason <- "the measure does not vary between resamples"
    return(answer)
  }
  # The slope is -1/2, apart from what a resample with few cases lacks.
  level <- stats::weighted.mean(log(near$half_width) + log(near$cases) / 2, near$cases)
  n <- ceiling(exp(2 * (level - log(wanted))))
  if (n > settings$max_cases) {
    answer$reason <- paste("more than", number(settings$max_cases), "cases are needed")
    return(answer)
  }
  answer$cases <- max(n, settings$least_cases)
  relative <- near$half_width_mcse / near$half_width
  share <- near$cases / sum(near$cases)
  answer$std.error <- 2 * answer$cases * sqrt(sum((share * relative)^2))
  answer$half_width <- exp(level - log(answer$cases) / 2)
  answer
}

show_agreement_plan <- function(curve, view, settings, arguments, seed) {
  answer <- agreement_answer(curve, settings)
  title <- unname(measure_titles(settings$measure$id))
  caption <- paste0(
    "Intervals of ", title, " with a half-width of ", format(settings$half_width), ", ",
    interval_title(settings$conf_level)
  )
  found <- if (is.na(answer$cases)) paste("No number of cases is given:", answer$reason) else
    paste0(count_noun(answer$cases, "case"), " (half-width ", decimals(answer$half_width), ")")
  new_result("case_plan",
    tables = list(answer = answer, curve = curve), settings = settings, arguments = arguments,
    seed = seed,
    facts = c(
      as.list(answer[c("measure", "cases", "half_width")]), settings[c("conf_level", "runs")]
    ),
    line = found, caption = caption,
    head = c(caption, paste0(
      "Resamples of ", count_noun(sum(view$cases), "case"), " of ",
      count_noun(view$judges, "rater"), ", ", number(settings$runs), " for each number of cases"
    )),
    shown = view(
      curve, c("cases", "half_width", `MC error` = "half_width_mcse", "missing"), left = integer()
    ),
    notes = found, more = "tidy(), update()"
  )
}
