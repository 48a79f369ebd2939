# What methods, intervals and warnings of estimate_accuracy() are; its help page shows it.

#' @section Methods:
#' * `"average"`, the default, takes the system as one more rater in a family of models: raters
#'   equally accurate or not; errors uniform, by distance (if categories are ordered), or each judge
#'   (rater or system) with error rates of its own around these; cases equally difficult or not; and
#'   a confusion matrix for each judge, around its accuracy (a hierarchical Dawid-Skene model).
#'   Models are weighed by how probable they make all answers (Laplace and variational
#'   approximations to the evidence). The mean posterior probability of the system's answers,
#'   averaged over models, as if it had been right once and wrong once before, is column
#'   `independent`: in all models errors are independent given the truth. The estimate is corrected
#'   for shared errors (next section). Nothing is drawn at random.
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
#'   to the raters alone: all errors are shared with the raters.
#'
#' On 36 families of public data sets with known truth in which people rate, 12 of which were set
#' aside and read once, the mean absolute error of `"average"` is .053; on 14 with classifiers .032.
#' Nothing that can be seen in ratings makes it smaller. Where language models rate it is .13 (5
#' families), where programs do .24 (4): see Intervals.
#'
#' @section Shared errors of systems and raters:
#' Agreement cannot show how many errors a system shares with the raters. Columns `shared` and
#' `independent` are the ends of that range: with methods `"joint"` and `"shared"` those of their
#' `model`, otherwise the mean posterior under a hierarchical Dawid-Skene model of the raters alone
#' (averaged with its one-coin limit), and the average. `common` is what is assumed: with a share
#' `c` of shared errors the estimate is `independent - c (independent - shared)`. (Where truths
#' are known the ends differ by no more than the prior of `independent`, which `"typical"` leaves
#' alone.)
#'
#' `"none"` is `c = 0`, `"all"` is `c = 1`. `"typical"` is `s / sqrt(N - 1)`, where `N` is the
#' number of categories that raters used, in the whole panel also with `by`, and `s = max(0, 1 - 2
#' w)` is the suspicion (of shared errors): `w` is the weight of the models in which cases are
#' equally difficult and judges have no error rates of their own, fitted to the raters alone, so
#' that what is said of a panel does not depend on the systems added. Where raters are wrong in more
#' than .9 of what guessing would be, `s` is 1, since models with such raters are no evidence of
#' independence. `N` counts since wrong answers to the same case may differ: with many categories
#' shared errors show as a surplus of coinciding wrong answers, with two they never do. Two wrong
#' answers are the same one with probability `1 / (N - 1)` if they are spread evenly; in public sets
#' it was about `1 / sqrt(N - 1)`, since wrong answers have favourites. It is a heuristic: where
#' errors truly are independent, raters unequal, cases many and categories two, the correction is
#' too large.
#'
#' @section Intervals:
#' `"robust"` allows for what sampling error leaves out: on real data raters err on the same cases,
#' and systems err there too. Its variance is
#' `sampling^2 + o^2 s (.02^2 + max(E / 5, r R)^2 + (gap / 2)^2)`. `o` is the share of the system's
#' cases whose truth is not known; `E` is the share of wrong ratings; `gap` is `independent` (of
#' other methods the estimate) less column `shared` of `"average"`; and `s` the suspicion: where the
#' data speak for models without shared errors, nothing is added. `R` is the range of accuracies
#' over the base rates that ratings leave possible, if raters may be right more often on one
#' category than on another (column `base_rate_range` of details): raters who nearly always say
#' "yes" agree nearly always, whatever the truth. `r` is `1 / sqrt(12)` where `rater_kind` of
#' [ratings()] says that people rate, and `1 / sqrt(6)` where it is not declared. Raters who agree
#' no better than by chance beyond the shares of their answers have `R = 1` and `s = 1`: the
#' interval is wide, and the reason says why. Where `common` is stated, as a number or one of
#' `"none"` and `"all"`, the variance is `sampling^2`: the interval says what follows from the
#' assumption. For `"average"`, `sampling` is from the curvature of the posterior and the
#' differences between models, for other methods from a bootstrap. Raters who copy from each other
#' are beyond it.
#'
#' If all raters are machines (`rater_kind` `"model"` or `"tool"`), their agreement says little:
#' truth rose by .23 where the estimate rose by 1 (9 families). The estimate stays, but the interval
#' of the average stands around `estimate + o (.65 - estimate) / 2` (column `centre` of details),
#' with variance `sampling^2 + (.17 o)^2`, whatever the ratings look like: that is what such
#' estimates were worth in five sources of language models and four of programs. It may be too wide
#' for an easy task. A difference of two systems has the difference of such centres; other metrics
#' keep their estimate as centre, and the confusion matrix is that of the estimate.
#'
#' Multiples of the standard error are those of Student's distribution with 4 degrees of freedom,
#' scaled to the normal one at .9 (1.18 at .8, 2.14 at .95, 3.55 at .99), since errors between
#' families have heavier tails than the normal curve. In public sets with known truth 90% intervals
#' covered, by family (standard error): .91 (.03) of 36 families of people that were declared, .92
#' (.03) not declared; .96 of 5 of language models declared, .76 (.15) not declared; .93 (.08) of 4
#' of programs declared, .55 (.21) not declared. Undeclared machines thus
#' have intervals half as wide as they should be (.33 and .29 instead of .56 and .52).
#'
#' `"conformal"` is robust, but as wide as it had to be in data sets with known truth: see
#' [calibrate_interval()]. Its promise holds in samples of any size.
#'
#' `"bootstrap"` resamples cases, refits raters each time (of averaged models those that weigh at
#' least .001, which are weighted again), and gives percentiles. It covers sampling error only:
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
#' For averaged estimates and robust intervals there are two warnings.
#' `fallible_warning_few_data`: an interval for sampling error alone would be wider than .2; more
#' cases help. `fallible_warning_assumption`: the standard error is above .075, and what shared
#' errors may hide is at least as much of it as sampling; the warning names the largest cause
#' (raters who lean to one category, ends of the range that are far apart, raters who are often
#' wrong). Cases with known truth help. Where machines rate it is always given, in one line; never
#' where `common` is stated, or where gold measures. Silence is no proof: of 104 sets in which
#' people rate 31 were off by more than they should be, and 8 of these were silent; of 29 in which
#' undeclared machines did, 26 and 6.
#'
#' @section Degenerate data:
#' Where agreement is no better than by chance, or no two raters share a case, all is `NA` with a
#' reason. Perfect agreement, two raters, categories that no rater used, raters below chance among
#' better ones, and repeated ratings (independent unless they are reruns, see [ratings()]) have
#' estimates; priors keep them inside (0, 1). Weights count as numbers of cases, or, if they sum to
#' one and so are probabilities, as shares of a million. Where they are not whole numbers there is
#' no interval.
#' Where raters used one category only, nothing is known of what coincidence means, and `"typical"`
#' gives `NA`.
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL
