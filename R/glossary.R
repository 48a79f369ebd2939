#' Words of the package
#'
#' What the words in arguments, columns and help pages mean. Each has one meaning, but for those in
#' the last section.
#'
#' @section Who says what:
#' * **case**: what is judged; one row of a matrix of ratings. CrowdTruth calls it a **unit**.
#' * **rater**: a person (or anything else) whose answers inform about the truth; CrowdTruth's
#'   **worker**.
#' * **system**: a classifier whose accuracy is asked for. Its answers are never ratings.
#' * **judge**: a rater or a system, where a model or a measure treats both alike.
#' * **category**: one of the possible answers; one of them is true of each case. The names are its
#'   **labels**.
#' * **rating**: the category that a rater gave a case; **prediction**: that of a system;
#'   **answer**: either. In crowds an answer may hold several labels (`repeats = "labels"`), and
#'   CrowdTruth calls a label that may be given an **annotation**, an answer a **judgement**.
#' * **panel**: all ratings and predictions of some cases, as data or as simulated by
#'   [simulate_ratings()].
#' * **pattern**: ratings (and predictions) that several cases have in common; see
#'   `tidy(x, "patterns")`.
#' * **tally**: how often raters gave each category to a case; its columns are `counts`.
#' * **covariate**: what is known of a case beside its ratings (`covariates` of [ratings()]), on
#'   which base rates, accuracy or difficulty may depend.
#'
#' @section What is true:
#' * **accuracy**: the probability that a judge gives the true category. [rater_design()] asks for
#'   it, [estimate_accuracy()] estimates that of systems, [fit_raters()] that of raters.
#' * **base rate**: the share of cases of which a category is true.
#' * **posterior**: the probabilities of the categories of a case, given its ratings; those of all
#'   cases are the **ground truth**, an estimate by [ground_truth()].
#' * **truth**: what is really so. [truth()] is the category of each case of a simulated panel,
#'   [true_accuracy()] what its systems really reach (`expected`, over all panels; `sample`, in this
#'   one).
#' * **known truth**: true categories that a user has, of some cases: **gold** items, given as
#'   `known_truth`. **Known raters** have confusion matrices that a user has (`known_raters`).
#' * **confusion matrix**: probabilities of answers given the truth, which stands in rows.
#'   [confusion_matrix()] makes one from parameters, `confusion()` reads those of the raters from a
#'   fit and those of the systems from an estimate. The **agreement matrix** of two raters
#'   ([agreement_matrix()]) counts cases by both ratings and knows no truth.
#' * **confidence**: how sure raters said they were of a rating (`confidence` of [ratings()]); with
#'   intervals, how often they hold what is true (`conf_level`). What systems say in numbers are
#'   **scores**.
#'
#' @section How raters answer:
#' * **model**: what is assumed of raters, a [rater_model()]; **design**: what is so in a
#'   simulation, a [rater_design()].
#' * **K-property**: one of Lehner's three assumptions: raters are equally accurate, errors equally
#'   probable, cases equally difficult. The **K-model** ([k_model()]) has all three; a model lets go
#'   of each by one argument, `accuracy`, `errors` and `difficulty`.
#' * **family**: a model of one's own, told by the law of ratings given the truth
#'   ([rater_family()]).
#' * **difficulty**: how much less accurate judges are on some cases than on others, which are
#'   **strata** of difficulty; **dispersion** and **error range**: how far from equally probable
#'   errors are.
#' * **agreement**: the share of pairs of ratings of a case that are the same; **chance**: the share
#'   that raters who guess would reach, 1 / number of categories; **chance kappa**: how far
#'   agreement is above that, `(agreement - chance) / (1 - chance)`, as in Lehner (2015). **kappa**
#'   alone is Fleiss', whose chance is what the shares of the categories make. A **measure** of
#'   agreement is any of [measures()].
#' * **kind of raters**: who rates, people (`"expert"`, `"crowd"`) or machines (`"model"`,
#'   `"tool"`; argument `rater_kind` of [ratings()]). Machines have wider intervals. Which of the
#'   people rate changes no number.
#' * **identified**: such that ratings can tell it. What is not is `NA`, with a reason.
#'
#' @section How accuracy is estimated:
#' * **metric**: a number that the joint table of truth and answer of a system gives, any of
#'   [system_metrics], of which accuracy is one; [estimate_metrics()] estimates the others.
#' * **method**: a way to the estimate; **estimator**: a method with its options settled, or any
#'   function of a panel ([accuracy_estimator()]).
#' * **member**: one of the models over which method `"average"` takes the mean, by their
#'   **weight**. The **weight** of a case is how many cases it stands for (`weights`).
#' * **bin**: cases whose highest posterior probability is in the same range; see
#'   [tidy()][tidy.accuracy_estimate].
#' * **interval**: where the accuracy lies with probability `conf_level`. **robust** intervals allow
#'   for shared errors, which no ratings show; **profile** intervals end where the profile of the
#'   posterior has fallen far enough; **bootstrap** intervals resample cases.
#' * **shared errors**: errors of judges on the same cases, more than chance makes;
#'   [shared_errors()] measures them. **Bounds** are the lowest and highest accuracy that ratings
#'   allow whatever they are ([accuracy_bounds()]).
#' * **replicate**: a bootstrap resample; **run**: a panel of a [simulation_study()].
#'
#' @section Words with several meanings:
#' * **shared** is what system and raters have in common, and opposed to being of one's own. Method
#'   `"shared"` takes the posterior of the raters for all that a system knows; column `shared` of an
#'   estimate is the end of the range where the system errs where raters err, column `independent`
#'   the end where its errors are its own; in `rater_model(system = "shared")` a system has the
#'   raters' dispersion and difficulty; `rater_design(difficulty = list(shared = ))` names what
#'   systems have in common with the raters in a simulation.
#' * **method** of [fit_raters()] is how a model is fitted, of [estimate_accuracy()] and of results
#'   about systems how accuracy is estimated, and in tables of agreement how the error was found.
#' * **known** in [flag_workers()] says which workers are of low quality, as far as a user knows.
#' * **missing** in [rater_design()] is the share of ratings that are not there; in results the
#'   number of estimates that are `NA` (in `summary()` of studies, and in plans, their share), and
#'   of ground truth that of cases.
#' * **n** is a number of cases everywhere.
#' @name fallible-glossary
#' @aliases glossary
#' @seealso [conditions] for the classes of errors and warnings, [fallible-options] for options,
#'   the article *Why it is built so* for what the parts of the package are.
#' @examples
#' # Truth, and what is estimated of it
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(system = 0.9), categories = 3, n = 100))
#' head(truth(x))
#' ground_truth(fit_raters(x))
NULL
