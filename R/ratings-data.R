#' Four raters and a system on ten cases
#'
#' The worked example of Lehner (2015): four raters and one automated system each assign ten cases
#' to one of four categories. The true categories are unknown. Only 20 of 60 pairs of ratings agree.
#' The article shows that the accuracy of the system can be estimated nevertheless.
#'
#' The raters used the categories A to D 11, 10, 10 and 9 times (the article gives 11 for each).
#' @srrstats {G1.5, G5.1} `bench/` has the code of all claims; data are exported
#' @format A data frame with a row per case: `case`, number of the case; `rater1` to `rater4` and
#'   `system`, chosen categories, factors with levels `A` to `D`.
#' @source Lehner, P. E. (2015). Estimating the accuracy of automated classification systems using
#'   only expert ratings that are less accurate than the system. *Journal of Modern Applied
#'   Statistical Methods*, 14(1), article 13, Table 2. \doi{10.22237/jmasm/1430453520}
#'
#' @keywords datasets
#' @examples
#' head(lehner2015)
"lehner2015"

#' Five anaesthetists rate 45 patients
#'
#' Ratings of the fitness of 45 patients before an operation, by five anaesthetists, on a scale from
#' 1 to 4. The first anaesthetist rated every patient on three occasions, the other four rated every
#' patient once. Dawid and Skene (1979) introduced their model of observer error rates with these
#' data.
#'
#' The ratings of patient 7 by the first anaesthetist are 1, 2 and 2 here, which agrees with the
#' article. Some copies of the data have 1, 1 and 2.
#'
#' @format A data frame with 315 rows, one for each rating, sorted by case, rater and occasion:
#'   `case`, the number of the patient; `rater`, a factor with levels `A1` to `A5`; and `rating`, 1
#'   to 4.
#' @source Dawid, A. P. and Skene, A. M. (1979). Maximum likelihood estimation of observer
#'   error-rates using the EM algorithm. *Journal of the Royal Statistical Society, Series C
#'   (Applied Statistics)*, 28(1), 20--28, Table 1. \doi{10.2307/2346806}
#'
#' @keywords datasets
#' @examples
#' head(dawid1979)
"dawid1979"

#' Six psychiatrists diagnose each of thirty patients
#'
#' Numbers of psychiatrists, out of six, who gave each of five diagnoses to each of thirty patients.
#' Different psychiatrists saw different patients, and the data do not identify them. Fleiss (1971)
#' introduced his kappa for many raters with these data; its value is .430.
#'
#' @format A data frame with 30 rows, one for each patient: `case`, the number of the patient; and
#'   the numbers of diagnoses `depression`, `personality_disorder`, `schizophrenia`, `neurosis` and
#'   `other`, which sum to 6.
#' @source Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters.
#'   *Psychological Bulletin*, 76(5), 378--382, Table 1. \doi{10.1037/h0031619}
#'
#' @keywords datasets
#' @examples
#' head(fleiss1971)
"fleiss1971"

#' Crowd labels of medical relations in twenty sentences
#'
#' Fifteen crowd workers chose the medical relations between two marked terms in each of twenty
#' sentences. The choices were twelve named relations, "another relation" and "none of these".
#' Workers could choose several relations. The data contain the number of workers who chose each
#' relation. Aroyo and Welty (2014) explain [crowdtruth()] with these data.
#'
#' The counts of most sentences sum to less than fifteen, because workers of low quality are
#' excluded. Sentence 225527736 has a clarity (see [crowdtruth()]) of .686; the article gives .61.
#' @format A data frame with a row per sentence. `unit` is the number of the sentence. Each of the
#'   other 14 columns contains the number of workers who chose one relation. The columns and their
#'   relations are: `sT`, treats; `sP`, prevents; `sD`, diagnose; `sCA`, causes; `sL`, location;
#'   `sS`, symptom; `sM`, manifestation; `sCI`, contraindicates; `sAW`, associated with; `sSE`, side
#'   effect; `sIA`, is a; `sPO`, part of; `sNONE`, none of these; `sOTH`, another relation.
#' @source Aroyo, L. and Welty, C. (2014). The three sides of CrowdTruth. *Human Computation*, 1(1),
#'   31--44, Figure 2. \doi{10.15346/hc.v1i1.3}. Licence: CC-BY 3.0.
#'
#' @keywords datasets
#' @examples
#' head(crowdtruth2014)
"crowdtruth2014"

#' Estimates and true accuracies in public data sets
#'
#' Estimates of [estimate_accuracy()] and true accuracies in real data, with properties of the data
#' that may be related to large errors. Estimates were computed from the ratings only, with default
#' arguments. In most data sets the raters are crowds, in some they are experts. No rater is a
#' language model. The evaluated systems are classifiers or, more often, raters whose ratings were
#' left out and treated like the answers of a classifier. Shared errors are errors on the same
#' cases.
#'
#' Data sets of one family have related errors. Therefore average within families first, as in the
#' example.
#'
#' @format A data frame with a row for each system and 13 columns:
#' \describe{
#'   \item{family}{name of a group of data sets that the same people collected in the same way}
#'   \item{kind}{kind of the raters, `"crowd"` or `"expert"`}
#'   \item{categories}{number of categories}
#'   \item{n}{number of cases on which the system is evaluated}
#'   \item{truth}{true accuracy: share of these cases on which the system is right}
#'   \item{estimate}{estimated accuracy}
#'   \item{sampling}{standard error of the estimate from sampling of cases}
#'   \item{rater_error}{estimated share of wrong ratings}
#'   \item{gap}{estimated accuracy if the errors of the system and of the raters are independent,
#'     minus the estimate if the system shares all errors of the raters}
#'   \item{independence_weight}{the estimate is an average over several models of the raters; this
#'     is the total weight, 0 to 1, of the models with independent errors of the raters}
#'   \item{dependence_weight}{factor, 0 to 1, of the variance due to shared errors, which is added
#'     to the sampling variance}
#'   \item{base_rate_range}{largest minus smallest accuracy of the system, over all base rates
#'     (shares of the true categories) that are compatible with the ratings}
#'   \item{open_share}{share of the cases whose truth was not given to the estimate; here 1}
#' }
#' @source Computed by data-raw/reference_sets.R in the sources of the package. For an estimate from
#'   your data, [tidy()][tidy.accuracy_estimate] returns the same numbers, most of them in table
#'   `"details"`.
#'
#' @keywords datasets
#' @examples
#' head(reference_sets)
#' # Mean error of the estimates in each family
#' tapply(reference_sets$estimate - reference_sets$truth, reference_sets$family, mean)
"reference_sets"
