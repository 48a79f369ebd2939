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
#' aside and used once, the mean absolute error of `"average"` is .053; on the 14 with classifiers
#' as systems .032. Where language models or other programs rate, it is larger: see Intervals.
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
#' number of categories that raters used (in the whole panel, also with `by`), and `s = max(0, 1 - 2
#' w)` says how much of shared errors to allow for (`dependence_weight` of details): `w` is the
#' weight of the models in which cases are equally difficult and judges have no error rates of their
#' own. These are fitted to the raters alone, so that `s` does not depend on which systems are
#' evaluated. Where raters are wrong more than .9 times as often as guessing would be, `s` is 1,
#' since models with such raters are no evidence of independence. `N` matters because wrong answers
#' to the same case may differ: with many categories shared errors show as wrong answers that
#' coincide more often than they should, with two categories they never show. Two wrong
#' answers are the same one with probability `1 / (N - 1)` if they are spread evenly; in public sets
#' it was about `1 / sqrt(N - 1)`, since wrong answers have favourites. It is a heuristic: where
#' errors truly are independent, raters unequal, cases many and categories two, the correction is
#' too large.
#'
#' @section Intervals:
#' `"robust"` allows for what sampling error leaves out: on real data raters err on the same cases,
#' and systems err there too. Its variance is
#' `sampling^2 + o^2 s (.04^2 + max(E / 4, R / sqrt(12))^2 + (gap / 2)^2)`. `o` is the share of the
#' system's cases whose truth is not known; `E` is the share of wrong ratings; `gap` is
#' `independent` (of other methods the estimate) less column `shared` of `"average"`; and `s` is as
#' above: where the data favour models without shared errors, nothing is added. `R` is the range of
#' accuracies over the base rates that ratings leave possible, if raters may be right more often on
#' one category than on another (column `base_rate_range` of details): raters who nearly always say
#' "yes" nearly always agree, whatever the truth. A truth anywhere in a range is off its middle by
#' `R / sqrt(12)` on average. Raters who agree no better than by chance beyond the shares of their
#' answers have `R = 1` and `s = 1`: the interval is wide, and the reason says why. Declaring
#' `rater_kind` `"expert"` or `"crowd"` in [ratings()] does not change a number. Where `common` is
#' stated, as a number or one of `"none"` and `"all"`, the variance is `sampling^2`: the interval
#' is that under the assumption. For `"average"`, `sampling` is from the curvature of the posterior
#' and the differences between models, for other methods from a bootstrap. Raters who copy from each
#' other are beyond it.
#'
#' If all raters are machines (`rater_kind` `"model"` or `"tool"`), their agreement says little: in
#' 9 families the truth rose by only .23 where the estimate rose by 1. The estimate stays, but the
#' interval of the average is centred on `estimate + o (.65 - estimate) / 2` (column `centre` of
#' details), with variance `sampling^2 + (.17 o)^2`, whatever the ratings look like. The interval
#' may be too wide for an easy task. High agreement does not show that it is: kappa above .7 meant
#' an error below .01 in two sources, .14 and .44 in two others. 20 random cases with known truth
#' replace this interval. A difference of two systems has the difference of such centres; other
#' metrics keep their estimate as centre, and the confusion matrix is that of the estimate.
#'
#' Multiples of the standard error are those of Student's distribution with 4 degrees of freedom,
#' scaled to the normal one at .9 (1.18 at .8, 2.14 at .95, 3.55 at .99), since errors between
#' families have heavier tails than the normal distribution.
#'
#' In 43 public sources in which people rate, 90% intervals contained the true accuracy in .94 of
#' cases (standard error over sources .02) and were .30 wide on average. Two of their constants were
#' widened after 7 of these sources had been covered in only .67. Chosen without the source in
#' question, one constant at a time, coverage is .90 (.04). Expect about .9 for your data, and much
#' less in some sources: of 43, one was covered in a third of cases and two in half.
#'
#' In 20 public sources in which machines rate (10 language models, 10 programs) coverage was .91
#' (.03), with a width of .54. Machines that are not declared are covered in .72 (.07), with a width
#' of .29: declare them.
#'
#' `"bootstrap"` resamples cases, refits raters each time (of averaged models those that weigh at
#' least .001, which are weighted again), and gives percentiles. It covers sampling error only:
#' nominal 90% intervals of this kind cover far fewer of the accuracies in public sets.
#' Replicates in which agreement is no better than by chance have no estimate; they are counted, and
#' reported if they are many. Where clipping, few cases or the choice between modes bias the
#' estimate, replicates are biased once more, and the interval is lopsided; if they are biased by
#' more than they vary, it does not contain the estimate, with a warning (the same would happen to
#' reflected and bias-corrected percentiles). It is `NA`, with a reason, where replicates do not
#' vary (a system that is always right, say), where most of them have no estimate, or where weights
#' are not counts.
#'
#' @section Warnings:
#' For averaged estimates and robust intervals there are two warnings.
#' `fallible_warning_few_data`: an interval for sampling error alone would be wider than .2; more
#' cases help. `fallible_warning_assumption`: the standard error is above .08, and what shared
#' errors may hide is at least as much of it as sampling; the warning names the largest cause
#' (raters who favour one category, a wide range, raters who are often wrong). Cases with known
#' truth help. It is always given where machines rate, and never where `common` is stated or gold
#' cases measure the accuracy. The absence of a warning is no proof: of 120 sets in which people
#' rate, 43 had a mean error above .05, 6 of them without a warning; 23 of the other 77 had a
#' warning. Of 57 sets in which machines rate that were not declared, 38 had such an error, 11 of
#' them without a warning.
#'
#' `fallible_warning_raters`: some raters always gave the same answer. A rater whose ratings are all
#' of one category, although as many ratings drawn from those of the panel would be equal with a
#' probability of at most .01, carries no information about the truth. The average leaves these
#' raters out, unless `common` is stated or truths or raters are known. In 12 public sources that
#' have such raters the mean error fell by .008 (standard error .004). Where no case has two ratings
#' without them, the accuracy is `NA`.
#'
#' @section Degenerate data:
#' Where agreement is no better than by chance, or no two raters share a case, all is `NA` with a
#' reason. Perfect agreement, two raters, categories that no rater used, raters below chance among
#' better ones, and repeated ratings (independent unless they are reruns, see [ratings()]) have
#' estimates; priors keep them inside (0, 1). Weights count as numbers of cases, or, if they sum to
#' one and so are probabilities, as shares of a million. Where they are not whole numbers there is
#' no interval.
#' Where raters used one category only, it is unknown how often they agree by chance, and
#' `"typical"` gives `NA`.
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL
