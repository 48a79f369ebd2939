# Sections of the help page of estimate_accuracy(): methods, intervals, gold cases and warnings.

#' @section Methods:
#' `N` is the number of categories. The *posterior probability* of a category is its probability of
#' being the true category of a case, given the ratings of the case and a model of the raters.
#' * `"average"` (the default) fits several models in which the system is one more rater. They
#'   differ in three assumptions: raters are equally accurate or not; errors are equally probable,
#'   depend on the distance between ordered categories, or have a separate confusion matrix for each
#'   rater and system; and cases are equally difficult or not. The estimate is the mean accuracy,
#'   weighted by the posterior probability of each model, and corrected for shared errors (next
#'   section).
#' * `"joint"` fits the `model` by likelihood with the system as one more rater. Errors of the
#'   system are independent of the raters' errors, given the truth.
#' * `"shared"` fits the `model` to the raters only. The accuracy is the mean posterior probability
#'   of the system's answers. This assumes that the system shares all errors of the raters.
#' * `"binned"` is the method of Lehner (2015). Cases are grouped into bins by the highest posterior
#'   probability of their categories under `model`. In a bin, `Pg` is the mean of these
#'   probabilities, and `Pa` is the share of cases for which the system's answer is the most
#'   probable category. The accuracy in the bin is `((N - 1) Pa - 1 + Pg) / (N Pg - 1)` (equation
#'   7), limited to \[0, 1\]. The estimate is the mean over bins, weighted by their numbers of
#'   cases. Bins in which all categories are equally probable are left out, with a warning.
#' * `"unbinned"` needs no bins and has smaller errors in small samples. `Q` is the mean posterior
#'   probability of the system's answers. `S2` is the sum over categories of the squared posterior
#'   probabilities, averaged over cases. The accuracy is `((N - 1) Q - 1 + S2) / (N S2 - 1)`,
#'   limited to \[0, 1\].
#' * A function is called with a [ratings()] object. It returns a number per system, or a data frame
#'   with a row per system and a column `estimate`. The bootstrap calls it with resampled ratings.
#'   Copies of a case have different names, such as `"7"` and `"7.1"`. If the function has an
#'   argument `weights`, it is called with the original ratings and the number of times that each
#'   case was drawn.
#'
#' `vignette("which-method")` compares the errors of these methods in public data sets.
#'
#' @section Shared errors of systems and raters:
#' A system and the raters share errors (*correlated errors*) if they are wrong on the same cases
#' more often than by chance. The ratings do not show how often. `independent` is the accuracy if
#' the errors of system and raters are independent. `shared` is the accuracy if the system shares
#' all errors of the raters: the mean posterior probability of its answers under models that are
#' fitted to the raters only. For methods `"average"` and `"joint"`, the estimate is
#' `independent - c (independent - shared)`, where argument `common` sets `c`: 0 for `"none"`, 1 for
#' `"all"`, and `s / sqrt(M - 1)` for `"typical"`.
#' * `M` is the number of categories that raters used. In public data, `1 / sqrt(M - 1)` was about
#'   the probability that two wrong answers to a case are equal.
#' * `s`, from 0 to 1, is the weight of shared errors: `max(0, 1 - 2 w)`. `w` is the posterior
#'   probability of simple models, in which cases are equally difficult and raters have no separate
#'   confusion matrices. It is computed from the models of `"average"`, fitted to the raters only.
#'   If the raters' error rate is above .9 times the error rate of guessing, `s` is 1.
#'
#' This correction is a heuristic. It is too large if the errors are in fact independent.
#'
#' @section Intervals:
#' * `"robust"` (the default without gold cases) contains sampling error and an allowance for shared
#'   errors. The variance is
#'   `sampling^2 + o^2 s (.04^2 + max(E / 4, R / sqrt(12))^2 + (gap / 2)^2)`.
#'   - `sampling` is the standard error due to sampling. It is computed from the curvature of the
#'     posterior and the differences between models (`"average"`), or by a bootstrap.
#'   - `o` is the share of the system's cases with unknown truth, and `s` is defined above.
#'   - `E` is the share of wrong ratings under the models of method `"average"`.
#'   - `R` is the range of the accuracy over all base rates (shares of the true categories) that are
#'     compatible with the ratings. For example, raters who nearly always answer "yes" nearly always
#'     agree, whatever the base rate is, and `R` is then large. If the agreement of raters may be
#'     chance, by a one-sided test at level .05, `R` and `s` are 1 and the interval is wide.
#'   - `gap` is `independent - shared` for `"average"`; for other methods, the estimate minus the
#'     accuracy `shared` of `"average"`.
#'
#'   The limits are quantiles of Student's t distribution with 4 degrees of freedom, scaled to the
#'   normal quantile at level .9 (1.64 standard errors from the estimate). If `common` is `"none"`,
#'   `"all"` or a number, the variance is `sampling^2`, and the quantiles are normal.
#' * `"bootstrap"` contains sampling error only: percentiles of estimates from resampled cases. On
#'   public data, nominal 90% intervals covered far fewer than 90% of the accuracies.
#' * `"profile"` (for method `"joint"`) contains sampling error only: all accuracies at which the
#'   log posterior, maximised over all other parameters, is at most `q / 2` below its maximum. `q`
#'   is the `conf_level` quantile of the chi-squared distribution with one degree of freedom. The
#'   interval is `NA` for a model with a pooled prior, for fits by `fit_raters(method = "pairs")`,
#'   and for a system that gives all cases the same answer.
#' * `"corrected"`, `"combined"` and `"anytime"` need a sample of gold cases, see *Gold cases*.
#' * `"none"` computes no interval.
#'
#' Fits by `fit_raters(method = "bayes")` have `"posterior"` intervals, see [posterior_accuracy].
#'
#' In 43 public data sources in which people rated, robust 90% intervals covered the accuracies of
#' .94 of the systems (standard error over sources .02). If the constants of the formula were chosen
#' without the tested source, coverage was .90. In the worst source, coverage was one third.
#'
#' @section Machines as raters:
#' If all raters are declared as language models or programs (`rater_kind` of [ratings()]), their
#' agreement is little evidence of accuracy. The robust interval of `"average"` is then centred on
#' `estimate + o (.65 - estimate) / 2`, with variance `sampling^2 + (.17 o)^2`, where .65 is the
#' typical accuracy and .17 the typical error in public data with such raters. `sampling` and `o`
#' are defined in *Intervals*. The estimate itself does not change. In 20 public sources, 90%
#' intervals covered .91 of the accuracies, and .72 if machines were not declared.
#'
#' @section Gold cases:
#' Gold cases measure the accuracy, including the effect of shared errors, if they are a random
#' sample, or a sample with known probabilities of being drawn (`gold_sample`). For each case, the
#' ratings predict the probability `q` that the system's answer is correct. `q` is the mean of two
#' numbers: the posterior probability of the answer (from a model with an accuracy per rater), and
#' the share of the ratings that equal the answer. For a gold case, `y` is 1 if the answer is
#' correct and 0 if not. The estimate is `mean(y - slope q)` over gold cases plus `slope mean(q)`
#' over all cases (prediction-powered inference, Angelopoulos et al. 2023). `slope`, from 0 to 1, is
#' the regression slope of `y` on `q`, shrunk towards .5 if there are few gold cases. Gold cases
#' with different probabilities of being drawn are weighted by the inverse probabilities.
#' * `"corrected"` is the interval of Wilson (1927) for this estimate. It is valid for any amount of
#'   shared errors.
#' * `"combined"` (the default) also uses the estimate from ratings, as a normal prior with the
#'   robust standard error. The more gold cases there are, the wider the prior, and the larger the
#'   weight (up to .7) of a uniform distribution that is mixed with it. If at least five gold cases
#'   contradict the prior, the result moves towards `"corrected"`. For many cases, the coverage of
#'   90% intervals is at least .85, however wrong the ratings are.
#' * `"anytime"` is wider than `"corrected"`, and approximately valid at all numbers of gold cases
#'   simultaneously. You may label in batches until it is narrow enough, see
#'   [update()][update.accuracy_estimate].
#'
#' Coverage and mean width of 90% intervals on 28 data sets, with random gold cases (last column:
#' Wilson's interval):
#'
#' | gold cases | `"corrected"` | `"combined"` | gold cases only |
#' |---|---|---|---|
#' | 10 | .949, width .331 | .955, width .313 | .904, width .378 |
#' | 20 | .924, width .234 | .926, width .228 | .911, width .281 |
#' | 50 | .919, width .150 | .922, width .147 | .909, width .185 |
#' | 100 | .913, width .106 | .912, width .105 | .896, width .133 |
#'
#' A system that answered no gold case keeps the estimate from ratings, with a reason. A gold case
#' with weight `w` counts as `w` independent gold cases.
#'
#' Gold cases that were chosen by hand (`gold_sample = "given"`) do not measure the accuracy. They
#' only improve the model of the raters, as in [fit_raters()]. A random sample is used in the same
#' way if `interval` is not `"corrected"`, `"combined"` or `"anytime"`.
#'
#' @section One rater:
#' With one rater (such as a language model as judge, or one imperfect test), there is no agreement
#' between raters, and a sample of gold cases is needed. The accuracy is estimated as in *Gold
#' cases*, but `q` is the share of the rater's ratings of a case that equal the answer. If a system
#' gives all cases the same answer, such as `systems = c(app = "pass")` in [ratings()], its accuracy
#' is the share of cases that pass. [plan_gold()] computes how many gold cases are needed.
#'
#' @section Calibration samples:
#' A calibration sample shows the error rates of one rater on other cases with known truth. It is a
#' matrix of counts (true categories x ratings), given as `known_raters = list(judge = counts)` for
#' a rater named `judge`. If this rater is the only one, systems must give all cases the same
#' answer. The accuracy is the base rate of this answer, corrected for the rater's errors, see
#' *Calibration samples* in [fit_raters()]. A fit for such data has class `judge_fit`. `method` and
#' `interval` of the result are `"calibrated"`.
#'
#' The estimate assumes that the rater makes the same errors on these cases as in the sample. For
#' language models as judges, with calibration samples from another part of the same benchmark, 90%
#' intervals covered .51 of 135 base rates.
#'
#' @section Groups and clusters:
#' With `by`, each group of cases is fitted separately. A parallel `future::plan()` is used.
#'
#' Cases of one patient, or passages of one document, are not independent. With `cluster` (an
#' element of `resampling`), whole clusters are resampled, and sampling errors allow for the
#' dependence. With fewer than about 20 clusters, intervals are too short; with one cluster they are
#' `NA`. With gold cases in fewer than five clusters, there is no interval from gold cases.
#'
#' @section Missing values and weights:
#' * *No agreement.* All values are `NA`, with a reason, if the ratings do not identify the
#'   accuracy. With the default `method`, there are two causes. First, no case has ratings by two
#'   raters, not counting raters who always give the same answer. Second, among all pairs of ratings
#'   of the same case, the share of equal pairs is at most 1 / (number of categories). For other
#'   models, see *Identification* in [fit_raters()].
#' * *No ratings.* The estimate is `NA` if the system answered no rated case.
#' * *One category.* If raters used only one category, the estimate is `NA` with
#'   `common = "typical"`.
#' * *No variation.* The bootstrap interval is `NA` if replicates do not vary, as for a system that
#'   is always right, or if most replicates have no estimate.
#' * *Weights* of cases that are whole numbers are numbers of cases. Other weights are relative, and
#'   there is no interval. If they sum to one, they are the probabilities of a population.
#'
#' @section Warnings and errors:
#' * `fallible_warning_few_data`: sampling error by itself makes the interval wider than .2. In
#'   addition, sampling error is larger than the allowance for shared errors, or the agreement of
#'   raters may be chance. More cases help.
#' * `fallible_warning_assumption`: the standard error is above .08, and the allowance for shared
#'   errors is at least as large as sampling error. This warning is also given if all raters are
#'   machines. Gold cases help.
#' * `fallible_warning_raters`: some raters gave the same answer to all cases, which would be
#'   improbable by chance. Method `"average"` leaves these raters out by default.
#' * `fallible_error_argument`: an argument is unsuitable; the message describes what to do.
#'
#' [conditions] lists all classes. Of 120 public data sets in which people rated, 60 gave a warning.
#' The mean error was above .05 in 37 of these 60, and in 6 of the other 60.
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL
