# Sentences that results support, and paragraphs on methods.

#' Sentences about results
#'
#' Writes sentences that a result supports, with intervals and assumptions, and lists common claims
#' that the result does not support. With `what = "methods"`, it writes a paragraph on the method,
#' with references.
#'
#' For Bayesian fits, the paragraph contains the items that the guideline STARD-BLCM requires
#' (Kostoulas et al. 2017): priors, sensitivity of results to the priors, and the target condition.
#' The target condition is the latent class, that is, the unobserved true category.
#'
#' @param x A result of [estimate_accuracy()], [compare_systems()], [estimate_metrics()],
#'   [agreement()] or [alt_test()]; a [fit_raters()] result with `method = "bayes"`; or a
#'   [check_fit()] result of such a fit. With a [check_fit()] result, the paragraph also reports the
#'   sensitivity to the priors. For a result with several groups of cases or several variables,
#'   the paragraph describes the first one.
#' @param what `"sentences"` (the default) for sentences, or `"methods"` for the paragraph.
#' @param ... Not used; catches misspelt arguments.
#' @return For `"sentences"`, a tibble with a row per sentence. Supported sentences are first.
#'
#'   * `group` or `variable`: name of the group or variable, only if the result has several.
#'   * `system`: name of the system (classifier) that the sentence is about. For a fit: name of the
#'     rater that the sentence is about. For a difference of systems `a` and `b`: `"a - b"`. `NA`
#'     for sentences about all systems or about agreement.
#'   * `may`: `TRUE` if the result supports the sentence, `FALSE` for a common claim that the result
#'     does not support.
#'   * `sentence`: the sentence, a string.
#'
#'   For `"methods"`, a character vector: the paragraph, then the references that it cites.
#' @family systems
#' @references Kostoulas, P., Nielsen, S. S., Branscum, A. J., Johnson, W. O., Dendukuri, N., Dhand,
#'   N. K., Toft, N. and Gardner, I. A. (2017). STARD-BLCM: Standards for the Reporting of
#'   Diagnostic accuracy studies that use Bayesian Latent Class Models. *Preventive Veterinary
#'   Medicine*, 138, 37-47. \doi{10.1016/j.prevetmed.2017.01.006}
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate <- estimate_accuracy(x, interval = "none")
#' # Sentences on the accuracy of the system, and the paragraph on the method
#' may_say(estimate)
#' may_say(estimate, "methods")
#' # Only the supported sentences on agreement
#' sentences <- may_say(agreement(x))
#' sentences$sentence[sentences$may]
#' @export
may_say <- function(x, what = c("sentences", "methods"), ...) {
  check_call()
  what <- check_choice(what)
  first_result <- first_single_result(x)
  abort_argument_if(!inherits(first_result, c("accuracy_estimate", "system_comparison",
    "metric_estimate", "agreement", "alt_test", "draws_fit", "fit_check")), "x",
    "must be a result of {.fun estimate_accuracy}, {.fun compare_systems}, {.fun estimate_metrics},
        {.fun agreement}, {.fun alt_test}, {.fun check_fit} or
        {.code fit_raters(method = \"bayes\")}.", not = x,
    i = c(if (inherits(x, "fallible_result")) "{.code tidy(x)} and {.code glance(x)} return the
        numbers of this object, and {.code format(x)} returns one line of text.",
      if (inherits(x, c("rater_fit", "model_comparison")))
        "{.code may_say(fit)} needs a fit by {.code method = \"bayes\"}. {.help rater_model} has
         references for all models." else "For ratings, call
          {.code may_say(estimate_accuracy(x))} or, without systems,
          {.code may_say(agreement(x))}.")
  )
  if (what == "sentences") return(say_sentences(x))
  paragraph <- describe_methods(x)
  is_cited <- map_lgl(names(references), grepl, x = paragraph[[1L]], fixed = TRUE)
  structure(unname(c(paragraph, references[is_cited])), class = c("report_sentences", "character"))
}

#' @export
print.report_sentences <- function(x, ...) {
  if (is.character(x)) cat_lines(x) else cat_lines(
    if (any(x$may)) "You may say:", paste("  *", x$sentence[x$may], recycle0 = TRUE),
    if (!all(x$may)) "You may not say:", paste("  *", x$sentence[!x$may], recycle0 = TRUE)
  )
  invisible(x)
}

say_sentences <- function(x) UseMethod("say_sentences")

# Generic that returns a character vector: the methods paragraph, then full references of cited
# measures. The paragraph cites other works by author and year, such as "Cohen 1960", and may_say()
# adds the full references of these works from `references`.
describe_methods <- function(x) UseMethod("describe_methods")

# Shortens full references, such as "Cohen (1960), Journal 20" to "Cohen 1960".
shorten_citation <- function(works) gsub(" \\(([0-9]{4})\\)[^;]*", " \\1", works)

# Returns titles of measures or metrics, each with its short reference in brackets if it has one.
cite_titles <- function(records, titles) {
  citations <- shorten_citation(map_chr(records, `[[`, "reference"))
  paste0(titles, ifelse(nzchar(citations), paste0(" (", citations, ")"), ""))
}

# Returns the elements of `full` (references of measures or metrics) to add to a paragraph. Drops
# references that may_say() adds, and those without a year, which the paragraph contains in full.
works_to_cite <- function(full) {
  unique(unname(full[!shorten_citation(full) %in% c(full, names(references))]))
}

# Binds the sentences of all parts (groups or variables). A sentence begins with the name of its
# part, such as "Group east: ". Unsupported sentences about all systems are listed once, at the end,
# without the name of a part.
say_sentences.result_parts <- function(x) {
  table <- bind_parts(x, function(part) say_sentences(part))
  is_about_all_systems <- is.na(table$system) & !table$may
  table$sentence <- paste0(
    ifelse(is_about_all_systems, "", part_sentence_start(table[1L])), table$sentence
  )
  table[is_about_all_systems, 1L] <- NA
  table <- unique(table[order(!table$may, is_about_all_systems), ])
  structure(table, class = c("report_sentences", class(table)))
}

# Full references, named by their short form in methods paragraphs.
references <- c(
  "Albert and Dodd 2004" = "Albert, P. S. and Dodd, L. E. (2004). A cautionary note on the
    robustness of latent class models for estimating diagnostic error without a gold standard.
    Biometrics, 60, 427-435. doi:10.1111/j.0006-341X.2004.00187.x",
  "Angelopoulos et al. 2023" = "Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. and
    Zrnic, T. (2023). Prediction-powered inference. Science, 382, 669-674.
    doi:10.1126/science.adi6000",
  "Benjamini and Yekutieli 2001" = "Benjamini, Y. and Yekutieli, D. (2001). The control of the false
    discovery rate in multiple testing under dependency. Annals of Statistics, 29(4), 1165-1188.
    doi:10.1214/aos/1013699998",
  "Calderon et al. 2025" = "Calderon, N., Reichart, R. and Dror, R. (2025). The alternative
    annotator test for LLM-as-a-judge: How to statistically justify replacing human annotators with
    LLMs. Proceedings of ACL 2025. doi:10.48550/arXiv.2501.10970",
  "Cohen 1960" = "Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and
    Psychological Measurement, 20(1), 37-46. doi:10.1177/001316446002000104",
  "Dawid and Skene 1979" = "Dawid, A. P. and Skene, A. M. (1979). Maximum likelihood estimation of
    observer error-rates using the EM algorithm. Applied Statistics, 28(1), 20-28.
    doi:10.2307/2346806",
  "Dendukuri and Joseph 2001" = "Dendukuri, N. and Joseph, L. (2001). Bayesian approaches to
    modeling the conditional dependence between multiple diagnostic tests. Biometrics, 57, 158-167.
    doi:10.1111/j.0006-341X.2001.00158.x",
  "Efron and Tibshirani 1993" = "Efron, B. and Tibshirani, R. J. (1993). An Introduction to the
    Bootstrap. Chapman and Hall.",
  "Fleiss 1971" = "Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters.
    Psychological Bulletin, 76(5), 378-382. doi:10.1037/h0031619",
  "Gwet 2014" = "Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, 4th edition. Advanced
    Analytics.",
  "Hoeting et al. 1999" = "Hoeting, J. A., Madigan, D., Raftery, A. E. and Volinsky, C. T. (1999).
    Bayesian model averaging: a tutorial. Statistical Science, 14(4), 382-417.
    doi:10.1214/ss/1009212519",
  "Hui and Walter 1980" = "Hui, S. L. and Walter, S. D. (1980). Estimating the error rates of
    diagnostic tests. Biometrics, 36, 167-171. doi:10.2307/2530508",
  "Joseph et al. 1995" = "Joseph, L., Gyorkos, T. W. and Coupal, L. (1995). Bayesian estimation of
    disease prevalence and the parameters of diagnostic tests in the absence of a gold standard.
    American Journal of Epidemiology, 141, 263-272. doi:10.1093/oxfordjournals.aje.a117428",
  "Kostoulas et al. 2017" = "Kostoulas, P., Nielsen, S. S., Branscum, A. J., Johnson, W. O.,
    Dendukuri, N., Dhand, N. K., Toft, N. and Gardner, I. A. (2017). STARD-BLCM: Standards for the
    Reporting of Diagnostic accuracy studies that use Bayesian Latent Class Models. Preventive
    Veterinary Medicine, 138, 37-47. doi:10.1016/j.prevetmed.2017.01.006",
  "Krippendorff 2004" = "Krippendorff, K. (2004). Reliability in content analysis: Some common
    misconceptions and recommendations. Human Communication Research, 30(3), 411-433.
    doi:10.1111/j.1468-2958.2004.tb00738.x",
  "Landis and Koch 1977" = "Landis, J. R. and Koch, G. G. (1977). The measurement of observer
    agreement for categorical data. Biometrics, 33(1), 159-174. doi:10.2307/2529310",
  "Lang and Reiczigel 2014" = "Lang, Z. and Reiczigel, J. (2014). Confidence limits for prevalence
    of disease adjusted for estimated sensitivity and specificity. Preventive Veterinary Medicine,
    113, 13-22. doi:10.1016/j.prevetmed.2013.09.015",
  "Rogan and Gladen 1978" = "Rogan, W. J. and Gladen, B. (1978). Estimating prevalence from the
    results of a screening test. American Journal of Epidemiology, 107, 71-76.",
  "Lehner 2015" = "Lehner, P. E. (2015). Estimating the accuracy of automated classification systems
    using only expert ratings that are less accurate than the system. Journal of Modern Applied
    Statistical Methods, 14(1), Article 13. doi:10.22237/jmasm/1430453520",
  "Vehtari et al. 2021" = "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and B\u00fcrkner,
    P.-C. (2021). Rank-normalization, folding, and localization: an improved R-hat for assessing
    convergence of MCMC. Bayesian Analysis, 16(2), 667-718. doi:10.1214/20-BA1221",
  "Zou and Donner 2008" = "Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about
    effect measures: a general approach. Statistics in Medicine, 27(10), 1693-1702.
    doi:10.1002/sim.3095"
)
references[] <- one_line(references)

# Returns `words` if `condition` is TRUE, otherwise "". Arguments `...` are inserted into `words`.
words_if <- function(condition, words, ...) {
  if (!isTRUE(condition)) "" else if (...length() > 0L) fill_template(words, ...) else words
}

# Returns a table with a row per sentence, supported sentences first. `system`: systems of the first
# supported sentences. `unsupported_system`: systems of the first unsupported sentences. The system
# of the other sentences is NA, because they are about all systems.
sentence_table <- function(system, supported, unsupported, unsupported_system = NA) {
  sentences <- columns_tibble(
    system = c(system[seq_along(supported)], unsupported_system[seq_along(unsupported)]),
    may = rep(c(TRUE, FALSE), c(length(supported), length(unsupported))),
    sentence = c(supported, unsupported)
  )
  structure(sentences, class = c("report_sentences", class(sentences)))
}

# ---- Sentences and methods paragraph: accuracy ---------------------------------------------------

say_sentences.accuracy_estimate <- function(x) {
  table <- without_followers(tidy(x), find_followers(x))
  has_estimate <- !is.na(table$estimate)
  is_constant <- table$system %in% x$fit$x$constant
  quantity_words <- ifelse(is_constant, "pass rate", "accuracy")
  # One end of the range of an estimate assumes that the system shares all errors of the raters, the
  # other end that errors are independent.
  lower_end <- whole_percent(pmin(table$shared, table$independent))
  upper_end <- whole_percent(pmax(table$shared, table$independent))
  range_words <- ifelse(
    lower_end == upper_end, paste("; whatever this number is, the estimate is", lower_end),
    sprintf("; depending on this number, the estimate is between %s and %s (not bounds)", lower_end,
      upper_end)
  )
  supported_sentences <- ifelse(
    has_estimate,
    sprintf(
      ifelse(is_constant, "%s, %s passes in %s of the cases.%s",
        "%s, the accuracy of %s is estimated at %s.%s"),
      describe_basis(x, table$n), table$system, format(x),
      limitation_sentences(x, "it shares", range_words)
    ),
    sprintf("The %s of %s is not identified from these ratings: %s.", quantity_words, table$system,
      table$reason)
  )
  exact_claim <- ifelse(is_constant, "passes in exactly %s of the cases.", "is %s accurate.")
  poor_claim <- ifelse(is_constant, "always fails.", "is no better than chance.")
  raw_pass_rates <- raw_pass_rate(x)
  sentence_table(table$system, supported_sentences, c(
    paste(table$system, ifelse(is.na(x$table$estimate), poor_claim,
      sprintf(exact_claim, whole_percent(x$table$estimate)))),
    sprintf("%s passes in %s of the cases, because %s said so.", names(raw_pass_rates),
      whole_percent(raw_pass_rates), x$fit$x$raters),
    if (!has_all_truths(x)) sprintf("The systems were validated against the truth%s.",
      words_if(count_known_truths(x) > 0L, " of all cases")),
    if (nrow(table) > 1L) "The system with the highest number is the best one.",
    sprintf("The same %s holds for other cases.", quantity_words[[1L]])
  ), c(table$system, names(raw_pass_rates)))
}

describe_methods.accuracy_estimate <- function(x) {
  ratings <- x$fit$x
  uses_agreement <- !is_one_rater(ratings)
  first_sentences <- fill_template(
    "%s was estimated from %s%s of %s by %s in %s, %s, with the R package fallible%s.",
    if (is_pass_rate(x)) "The pass rate" else "Accuracy",
    count_noun(sum(pattern_lengths(ratings) * pattern_cases(ratings)), "rating"),
    words_if(ratings$voted$reruns, " (reruns of a rater count as one, tied reruns as none)"),
    count_noun(count_cases(ratings, is_rated_pattern(ratings)), "case"),
    count_noun(n_raters(ratings), "rater"), count_noun(n_categories(ratings), "category"),
    describe_known_truth(x),
    words_if(uses_agreement, paste0(
      if (is.null(x$options$method_record)) ": it estimates the accuracy of fallible raters from
        their agreement, and then the accuracy of systems (Lehner 2015)", ". %s of pairs of ratings
      agree"), percent(glance(x)$agreement))
  )
  paste(
    c(
      first_sentences,
      if (uses_agreement || inherits(x$fit, "judge_fit")) explain_estimate(method_of(x), x),
      if (!is.null(x$gold) || any_known(x$table$conf.low)) explain_estimate(interval_of(x), x)
    ),
    collapse = " "
  )
}

# ---- Sentences and methods paragraph: metrics ----------------------------------------------------

say_sentences.metric_estimate <- function(x) {
  first_estimate <- x$estimates[[1L]]
  followers <- unlist(lapply(x$estimates, find_followers))
  table <- without_followers(shown_metrics(x$table, first_estimate, x$plan), followers)
  quantity_words <- paste0(
    "the ", format_metric_names(x$plan, table), " of ", table$system,
    if (x$options$grouped) paste0(" in group ", table$group)
  )
  estimates <- x$estimates[if (x$options$grouped) as.character(table$group) else 1L]
  subject_and_verb <-
    if (n_distinct(table$system) == 1L) "the system shares" else "the systems share"
  reservations <-
    unlist(Map(`[[`, lapply(estimates, limitation_sentences, subject_and_verb), table$system))
  # If all estimates have the same reservation (main limitation), it becomes one separate sentence.
  is_shared_reservation <- n_distinct(reservations) == 1L
  supported_sentences <- ifelse(
    is.na(table$estimate),
    sprintf("From these ratings, %s cannot be estimated (%s).", quantity_words, table$reason),
    sprintf(
      "%s, %s is estimated at %s.%s", unlist(Map(describe_basis, estimates, table$n)),
      quantity_words, estimate_words(table, x$options$conf_level, format_decimals),
      if (is_shared_reservation) "" else reservations
    )
  )
  general_sentence <- if (is_shared_reservation) trimws(reservations[[1L]])
  supported_sentences <- c(supported_sentences, general_sentence[nzchar(general_sentence)])
  sentence_table(table$system, supported_sentences, c(
    if (!has_all_truths(first_estimate)) "These metrics were measured against the truth.",
    "The same holds where categories are more or less frequent than in these cases.",
    if (n_distinct(na.omit(table$category)) > 1L) {
      "The category with the lowest number is the hardest one for the system."
    }
  ))
}

describe_methods.metric_estimate <- function(x) {
  is_built_in <- names(x$plan$records) %in% names(package_metrics())
  user_defined_records <- x$plan$records[!is_built_in]
  cited_records <- Filter(function(record) !record$reference %in% c(yardstick_reference, ""),
    x$plan$records[is_built_in])
  full_references <- map_chr(c(cited_records, user_defined_records), `[[`, "reference")
  citations <- map_chr(cited_records, function(record) {
    paste0(record$title, ": ", shorten_citation(record$reference))
  })
  uses_delta_method <- accuracy_intervals[[x$options$interval]]$spread == "delta"
  c(fill_template(
    "%s Other metrics are computed from the expected joint table of true category and answer. Each
    case is counted in every true category, weighted by its posterior probability%s.%s%s",
    describe_methods(x$estimates[[1L]]),
    words_if(any_known(x$table$conf.low), paste(
      "; their intervals are",
      if (uses_delta_method) "by the delta method" else "percentiles of bootstrap samples"
    )),
    words_if(any(is_built_in), paste0(
      " Definitions follow the R package yardstick",
      words_if(!is_empty(citations), paste0(" (", paste(citations, collapse = "; "), ")")), "."
    )),
    words_if(!is_empty(user_defined_records), " User-defined: %s.",
      paste(cite_titles(user_defined_records, map_chr(user_defined_records, `[[`, "title")),
        collapse = "; ")
    )
  ), works_to_cite(full_references[nzchar(full_references)]))
}

# ---- Sentences and methods paragraph: agreement --------------------------------------------------

say_sentences.agreement <- function(x) {
  agreement_details <- attr(x, "about")
  titles <- measure_titles(x$measure, agreement_details$scale_name)
  titles <- lower_first_letter(titles[as.character(x$measure)])
  # "Krippendorff's alpha, ordinal" becomes "Krippendorff's alpha (ordinal)".
  titles <- sub(", ([^,]*)$", " (\\1)", titles) # nolint: nonportable_path.
  rater_words <- if (agreement_details$pairwise) paste(x$rater1, "and", x$rater2) else
    map_chr(agreement_details$views[unlist(x[part_columns_of(x)]) %||% 1L], function(view) {
      count_noun(view$judges, "rater")
    })
  benchmark_words <- sprintf(
    "; with a probability of at least %s it is \"%s\" or better on the scale of Landis and Koch",
    format(agreement_details$conf_level), x$benchmark
  )
  supported_sentences <- sprintf(
    "%sOn %s, %s of %s%s is %s%s.", part_sentence_start(x), format_n_cases(x$n), titles,
    rater_words, if (agreement_details$by_category) paste0(" for ", x$category) else "",
    estimate_words(x, agreement_details$conf_level, function(value) format_decimals(value, 2L)),
    ifelse(is.na(x$benchmark) | x$benchmark == "poor", "", benchmark_words)
  )
  sentence_table(rep(NA, nrow(x)), supported_sentences, c(
    "Raters are right as often as they agree.",
    "Raters who agree are right.",
    "The same holds for other raters, or where categories are more or less frequent.",
    if (n_distinct(x$measure[!is.na(x$estimate)]) > 1L && !agreement_details$pairwise &&
      !agreement_details$by_category) {
      sprintf("Agreement is %s (the highest of all measures).",
        format_decimals(max(x$estimate, -Inf, na.rm = TRUE), 2L))
    }
  ))
}

describe_methods.agreement <- function(x) {
  agreement_details <- attr(x, "about")
  agreement_summary <- glance(x)
  records <- all_measures()[unique(as.character(x$measure))]
  full_references <- map_chr(records, `[[`, "reference")
  titles <- lower_first_letter(measure_titles(x$measure, agreement_details$scale_name))
  systems <- intersect(agreement_details$systems, agreement_details$judges)
  judges <- join_words(c(
    count_noun(agreement_summary$raters - length(systems), "rater"),
    if (!is_empty(systems)) count_noun(length(systems), "system")
  ))
  interval_method <- if (!is.na(agreement_summary$replicates)) {
    fill_template(
      "percentiles of %s bootstrap samples of cases (Efron and Tibshirani 1993)",
      number(agreement_summary$replicates)
    )
  } else {
    method_words <- c(analytic = "linearisation", jackknife = "the jackknife")
    used_methods <- intersect(names(method_words), x$method[!is.na(x$conf.low)])
    jackknife_titles <- if (length(used_methods) > 1L) {
      titles[names(records) %in% x$measure[x$method == "jackknife"]]
    }
    fill_template("by %s over cases%s with Student's t (Gwet 2014)", method_words[used_methods[1L]],
      words_if(!is_empty(jackknife_titles),
        paste0(" (", join_words(jackknife_titles), ": by the jackknife)"))
    )
  }
  c(fill_template(
    "Agreement of %s on %s was measured with the R package fallible by %s.%s%s",
    judges, count_noun(agreement_summary$cases, "case"),
    paste(cite_titles(records, titles), collapse = "; "),
    words_if(any_known(x$conf.low),
      " The %ss are %s.", interval_title(agreement_summary$conf_level), interval_method
    ),
    words_if(any_known(x$benchmark), one_line(
      " Agreement is described by the highest benchmark (Landis and Koch 1977) that is reached or
      exceeded with the probability of the interval (Gwet 2014)."
    ))
  ), works_to_cite(full_references))
}
