# What methods, intervals and warnings of estimate_accuracy() are; its help page shows it.

#' @section Methods:
#' * `"average"`, the default, takes the system as one more rater in a family of models: raters
#'   equally accurate or not; errors uniform, by distance (if categories are ordered), or each judge
#'   (rater or system) with error rates of its own around these; cases equally difficult or not; and
#'   a confusion matrix for each judge, around its accuracy (a hierarchical Dawid-Skene model).
#'   Models are weighed by how probable they make all answers (Laplace and variational
#'   approximations to the evidence). The mean posterior probability of the system's answers,
#'   averaged over models, as if it had been right once and wrong once before, is column
#'   `independent`: in all models errors are independent given the truth. The estimate takes back a
#'   part of it, for errors in common (next section). Nothing is drawn at random.
#' * `"binned"` is the published method. Cases are put into bins by their highest posterior
#'   probability, `(0.9, 1]`, `(0.8, 0.9]` and so on. In a bin with mean highest probability `Pg`,
#'   where the system gives the most probable category in a share `Pa` of the cases, accuracy is
#'   `((N - 1) Pa - 1 + Pg) / (N Pg - 1)` for `N` categories (equation 7), clipped to \[0, 1\]. The
#'   estimate is the mean over bins, weighted by cases. Tied categories share the credit. A bin in
#'   which no category stands out (`N Pg - 1 < 1e-6`) says nothing and leaves the mean, with a
#'   warning.
#' * `"unbinned"` uses all categories of all cases at once: with `Q` the mean posterior probability
#'   of the system's answers and `S2` the mean sum of squared posterior probabilities, accuracy is
#'   `((N - 1) Q - 1 + S2) / (N S2 - 1)`, clipped. It needs no bins and has smaller error in small
#'   samples.
#' * `"joint"` takes the system as one more rater of the `model`, fitted by likelihood: its errors
#'   are its own, independent of those of the raters given the truth.
#' * `"shared"` is the mean posterior probability of the system's answers under the `model` fitted
#'   to the raters alone: the system knows nothing that the raters do not.
#'
#' On 52 public data sets of 29 families with known truth the mean absolute error of `"average"` is
#' .051 (standard error .009), that of `"binned"` .068 and that of `"shared"` .051; on the 17 with
#' classifiers .022, .028 and .027. With `common = "none"` that of `"average"` is .065 and .042.
#'
#' @section What system and raters may have in common:
#' Agreement cannot tell how far the system errs where the raters err. Columns `shared` and
#' `independent` are the ends of that range: with methods `"joint"` and `"shared"` those of their
#' `model`, otherwise the mean posterior under a hierarchical Dawid-Skene model of the raters alone
#' (averaged with its one-coin limit), and the average. `common` is what is assumed: with a share
#' `c` of errors in common the estimate is `independent - c (independent - shared)`. (Where truths
#' are known the ends differ by no more than the prior of `independent`, which `"typical"` leaves
#' alone.)
#'
#' `"none"` is `c = 0`, `"all"` is `c = 1`. `"typical"` is `s / (N - 1)`, where `N` is the number of
#' categories that raters used, in the whole panel also with `by`, and `s = max(0, 1 - 2 w)` is the
#' suspicion: `w` is the weight of the models in which cases are equally difficult and judges have
#' no error rates of their own. Where raters are wrong in more than .9 of what guessing would be,
#' `s` is 1, since models with such raters cannot vouch for anything. `N` counts because two
#' independent wrong answers coincide with probability `1 / (N - 1)`: with many categories errors in
#' common show as a surplus of coinciding wrong answers, with two they never do. No constant of the
#' rule was fitted, but it is a heuristic: where errors truly are independent, raters unequal, cases
#' many and categories two, it takes back too much. Of language models as raters every estimate is
#' too high, this one by .11 on three such panels; only known truths help there.
#'
#' @section Intervals:
#' `"robust"` allows for what sampling error leaves out: on real data raters err on the same cases,
#' and systems err there too. Its variance is
#' `sampling^2 + s ((E / 4)^2 + (gap / 2)^2)`, where `E` is the share of wrong ratings (times the
#' share of the system's cases whose truth is not known), `gap` is `independent` (of other methods
#' the estimate) less column `shared` of `"average"`, and `s` the suspicion: where the data speak
#' for models without errors in common, nothing is added. Where `common` is stated, as a number or
#' one of `"none"` and `"all"`, the variance is `sampling^2`: the interval says what follows from
#' the assumption. 90% intervals cover .93 of the accuracies in the 52 sets, each set counting the
#' same; with a constant of `E` that is chosen without the family of each set, .89. For `"average"`,
#' `sampling` is from the curvature of the posterior and the differences between models, for other
#' methods from a bootstrap. Raters who copy from each other are beyond it.
#'
#' If raters are language models (`rater_kind = "model"` of [ratings()]) nothing vouches for them
#' (`max(0, 1 - 2 w)` is 1), and the variance has one more term: the square of the distance from `E`
#' to the share of wrong ratings of raters who agree as much, but whose being right has a
#' correlation of .55. Judges who err together agree on wrong answers, and so look better than they
#' are, as does what errs with them. In 150 planted panels with correlations of .3 to .8 the plain
#' interval covers a quarter, this one .91 (bench/model-raters.R); it is wide, and the number a
#' guess without cases of known truth.
#'
#' `"conformal"` is robust, but as wide as it had to be in data sets with known truth: see
#' [calibrate_interval()]. Its promise holds in samples of any size.
#'
#' `"bootstrap"` resamples cases, fits raters anew each time (of averaged models those that weigh at
#' least .001, which are weighed anew), and gives percentiles. It covers sampling error only:
#' nominal 90% intervals of this kind cover far fewer of the accuracies in public sets.
#' Replicates in which agreement is no better than by chance have no estimate; they are counted, and
#' reported if they are many. Where clipping, few cases or the choice between modes bias the
#' estimate the interval is lopsided, since its replicates are biased again; where that is more than
#' they vary it leaves the estimate, with a warning (so would reflected and bias-corrected
#' percentiles). It is `NA`, with a reason,
#' where replicates do not vary (a system that is always right, say), where most of them have no
#' estimate, or where weights are not counts.
#'
#' @section Warnings:
#' Of averaged estimates and robust intervals two things are told apart.
#' `fallible_warning_few_data`: an interval for sampling error alone would be wider than .2; more
#' cases help. `fallible_warning_assumption`: `shared` and `independent` are further than .1 apart
#' (times the share of cases whose truth is not known), so that the accuracy rests on an assumption
#' that ratings cannot test; cases with known truth help.
#'
#' @section Degenerate data:
#' Where agreement is no better than by chance, or no two raters share a case, all is `NA` with a
#' reason. Perfect agreement, two raters, categories that nobody used, raters below chance among
#' better ones, and repeated ratings (independent unless they are reruns, see [ratings()]) have
#' estimates; priors keep them inside (0, 1). Weights count as numbers of cases, or, if they sum to
#' one and so are probabilities, as shares of a million. Where they are not whole numbers there is
#' no interval.
#' Where raters used one category only, nothing is known of what coincidence means, and `"typical"`
#' gives `NA`.
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL
