# Sections of the help page of estimate_accuracy(): methods, intervals and warnings.

#' @section Methods:
#' * `"average"` (the default) fits a family of models in which the system is one more rater. The
#'   models differ in four properties. (1) Raters are equally accurate, or not. (2) Errors are
#'   uniform, depend on the distance between ordered categories, or each judge (rater or system) has
#'   separate error rates that vary around one of these. (3) Cases are equally difficult, or not.
#'   (4) Each judge has a confusion matrix that varies around its accuracy (a hierarchical
#'   Dawid-Skene model), or all raters have one such matrix and the system another, or neither. A
#'   system that always gives the same answer is not a rater, and the models are fitted to the cases
#'   that it answered. The weight of a model is proportional to its evidence, the probability of all
#'   answers (Laplace and variational approximations). Column `independent` is
#'   the posterior probability of the system's answers, averaged over cases and models, with a
#'   Beta(2, 2) prior of the accuracy. In all models errors are independent given the truth; the
#'   estimate is then corrected for shared errors (next section). No random numbers are used.
#' * `"binned"` is the published method. Cases are grouped into bins by their highest posterior
#'   probability: `(0.9, 1]`, `(0.8, 0.9]` and so on. In a bin, `Pg` is the mean highest probability
#'   and `Pa` is the share of cases in which the system gives the most probable category. For `N`
#'   categories the accuracy in the bin is `((N - 1) Pa - 1 + Pg) / (N Pg - 1)` (equation 7),
#'   clipped to \[0, 1\]. The estimate is the mean over bins, weighted by the number of cases. Tied
#'   categories share the credit. Bins in which all categories are equally probable
#'   (`N Pg - 1 < 1e-6`) carry no information and are left out, with a warning.
#' * `"unbinned"` uses all categories of all cases at once. `Q` is the mean posterior probability of
#'   the system's answers, and `S2` is the mean sum of squared posterior probabilities. The accuracy
#'   is `((N - 1) Q - 1 + S2) / (N S2 - 1)`, clipped. It needs no bins and has smaller errors in
#'   small samples.
#' * `"joint"` fits the `model` by likelihood with the system as one more rater. The system's errors
#'   are independent of the raters' errors given the truth.
#' * `"shared"` is the mean posterior probability of the system's answers under the `model` fitted
#'   to the raters without systems. All errors are shared with the raters.
#'
#' The mean absolute error of `"average"` was .053 on 36 families (groups of related data sets) of
#' public data with known truth in which people rate. (12 of these families were set aside and used
#' only once.) The error was .032 on the 14 families with classifiers as systems. If language models
#' or other programs rate, errors are larger: see *Intervals*.
#'
#' @section Shared errors of systems and raters:
#' Ratings do not identify how many errors a system shares with the raters ("correlated errors").
#' Columns `shared` and `independent` are the accuracies if the system shares all errors of the
#' raters, and if its errors are independent. With methods `"joint"` and `"shared"` they are
#' computed from their `model`. With the other methods, `independent` is the estimate of method
#' `"average"` without correction. `shared` is then the mean posterior probability of the system's
#' answers under a hierarchical Dawid-Skene model of the raters without systems, averaged with its
#' limit of one accuracy per rater. `common` sets the assumed degree `c` of sharing; the estimate is
#' `independent - c (independent - shared)`.
#'
#' `"none"` is `c = 0` and `"all"` is `c = 1`. `"typical"` is `c = s / sqrt(N - 1)`:
#' * `N` is the number of categories that raters used (in all cases, also with `by`).
#' * `s = max(0, 1 - 2 w)`, column `dependence_weight` of details, is the prior weight of
#'   dependence, from 0 to 1. `w` is the weight of the models in which cases are equally difficult
#'   and judges have no separate error rates. These models are fitted to the raters without systems,
#'   so that `s` does not depend on which systems are evaluated. `s` is 1 if the raters' error rate
#'   is above .9 times the error rate of guessing, because the fit of such raters is no evidence of
#'   independence.
#' * `1 / sqrt(N - 1)` approximates the probability that two wrong answers to a case are the same.
#'   It would be `1 / (N - 1)` if wrong answers were spread evenly. In public data it was about
#'   `1 / sqrt(N - 1)`, because some wrong answers are more popular than others. With many
#'   categories, shared errors are visible as wrong answers that coincide too often. With two
#'   categories all wrong answers to a case are the same, so they are not visible in this way.
#'
#' The correction is a heuristic. It is too large if errors are truly independent, raters are
#' unequal, and there are many cases and two categories.
#'
#' @section Intervals:
#' `"robust"` intervals allow for shared errors as well as sampling error: on real data, raters and
#' systems err on the same cases. The variance is
#' `sampling^2 + o^2 s (.04^2 + max(E / 4, R / sqrt(12))^2 + (gap / 2)^2)`.
#' * `sampling` is the standard error due to sampling. For `"average"` it is computed from the
#'   curvature of the posterior and the differences between models, for other methods by a
#'   bootstrap.
#' * `o` is the share of the system's cases whose truth is not known.
#' * `s` is the prior weight of dependence (see above). If the data favour models without shared
#'   errors, nothing is added.
#' * `E` is the share of wrong ratings.
#' * `R` is the range of accuracies over the base rates that are compatible with the ratings (column
#'   `base_rate_range` of details). Raters may be more accurate on one category than on another:
#'   raters who nearly always answer "yes" nearly always agree, whatever the truth. A uniform
#'   variable on a range has standard deviation `R / sqrt(12)`.
#' * If the agreement of raters may be chance, the interval is computed with `R = 1` and `s = 1`, so
#'   that it is wide. A one-sided test at level .05 decides: pairs of equal ratings are compared with
#'   the number that independent raters would have (Fleiss 1971).
#' * `gap` is `independent` (for methods other than `"average"`, the estimate) minus `shared` under
#'   the averaged models (column `average_shared` of details).
#'
#' If `common` is given as a number, `"none"` or `"all"`, the variance is `sampling^2`: the interval
#' is conditional on this assumption. Whether `rater_kind` in [ratings()] is `"expert"` or `"crowd"`
#' does not affect any number. The interval does not allow for raters who copy from each other.
#'
#' *Machines as raters.* If all raters are machines (`rater_kind` `"model"` or `"tool"`), their
#' agreement carries little information. In 9 families of data sets, the slope of the true accuracy
#' on the estimate was only .23. The estimate is unchanged, but the interval of `"average"` is
#' centred on `estimate + o (.65 - estimate) / 2` (column `centre` of details). Its variance is
#' `sampling^2 + (.17 o)^2`, whatever the ratings are. The interval may be too wide for an easy
#' task. High agreement does not show that a task is easy. With kappa above .7, the error was below
#' .01 in two sources, and .14 and .44 in two others. Known truths of random cases (`known_truth`),
#' even of 20, make the interval narrower. A difference of two systems is the difference of such
#' centres. Other metrics keep their estimate as centre, and the confusion matrix is that of the
#' estimate.
#'
#' *Quantiles.* Errors vary between families of data sets, with heavier tails than the normal
#' distribution. The multiples of the standard error are therefore quantiles of Student's
#' distribution with 4 degrees of freedom, scaled to the normal quantile at level .9. They are 1.18,
#' 1.64, 2.14 and 3.55 at the levels .8, .9, .95 and .99.
#'
#' *Coverage.* In 43 public sources in which people rate, 90% intervals contained the true accuracy
#' of .94 of the systems (standard error over sources .02); their mean width was .30. Two constants
#' were widened because coverage was only .67 in 7 of these sources. If each constant is chosen
#' without the source in question, coverage is .90 (.04). Expect about .9 for your data, and much
#' less in some sources: in one of the 43, a third of the systems were covered, and in two, half.
#'
#' In 20 public sources in which machines rate (10 language models, 10 programs), coverage was .91
#' (.03), with a mean width of .54. If machines are not declared as such, coverage is .72 (.07),
#' with a mean width of .29. Therefore declare machines with `rater_kind` in [ratings()].
#'
#' `"bootstrap"` intervals are percentiles of estimates from resampled cases, to which the raters
#' are fitted again. (For `"average"`, only models with a weight of at least .001 are fitted and
#' weighted again.) The intervals contain sampling error only. In public data sets, the coverage of
#' nominal 90% intervals was far lower than 90%.
#' * Replicates in which agreement is no better than by chance have no estimate. Column `failed` of
#'   details has their number, and there is a warning if there are many.
#' * If the estimate is biased (by clipping to \[0, 1\], few cases, or a likelihood with several
#'   modes), replicates have this bias twice, and the interval is asymmetric. If the bias exceeds
#'   the spread of the replicates, the interval excludes the estimate, and there is a warning.
#' * The interval is `NA`, with a reason, in three cases: replicates do not vary (as for a system
#'   that is always right); most replicates have no estimate; or weights are not counts.
#'
#' @section Warnings:
#' Averaged estimates and robust intervals have two warnings:
#' * `fallible_warning_few_data`: an interval for sampling error only would be wider than .2, and
#'   sampling is the larger part of the error. More cases help.
#' * `fallible_warning_assumption`: the standard error is above .08, and possible shared errors
#'   contribute at least as much to it as sampling. The warning names the largest cause (raters who
#'   favour one category, a wide range, raters who are often wrong). Cases with known truth help.
#'   There is always a warning if machines rate. There is none if `common` is given as a number,
#'   `"none"` or `"all"`, or if gold cases measure the accuracy.
#'
#' Estimates without a warning can be wrong, too. Of 120 data sets in which people rate, 43 had a
#' mean error above .05, 6 of them without a warning; of the other 77, 23 had a warning. Of 57 data
#' sets in which machines rate without being declared, 38 had a mean error above .05, 11 of them
#' without a warning.
#'
#' `fallible_warning_raters`: some raters always gave the same answer. If the ratings of such a
#' rater had been drawn at random from those of the panel, they would all be equal with a
#' probability of at most .01. Such a rater carries no information about the truth. Method
#' `"average"` leaves these raters out, unless `common` is given as a number, `"none"` or `"all"`,
#' or truths or raters are known. In 12 public sources with such raters, the mean error decreased by
#' .008 (standard error .004). If no case has two other ratings, the accuracy is `NA`.
#'
#' @section Degenerate data:
#' * *No case with ratings by two raters*, or pairs of raters that agree in at most 1 / N of the
#'   cases: all values are `NA`, with a reason. If raters agree in more cases, but no better than by
#'   chance given how often they use each category, the interval is wide (see *Intervals*).
#' * *Perfect agreement*, two raters, unused categories, raters below chance among better ones, and
#'   repeated ratings: there are estimates, and priors keep them inside (0, 1). Repeated ratings are
#'   independent unless they are reruns, see [ratings()].
#' * *Only one category used*: chance agreement is unknown, and with `common = "typical"` the
#'   estimate is `NA`.
#' * *Weights* that are whole numbers are numbers of cases. If other weights sum to one (.99 to
#'   1.01), they are the probabilities of a population, and are treated as shares of a million
#'   cases. Otherwise they are scaled, so that they sum to the number of cases with positive weight.
#'   There is no interval.
#'
#' @section Errors:
#' Unsuitable arguments raise an error of class `fallible_error_argument`. It names the argument and
#' describes what to do. See [conditions] for all classes.
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL
