two <- ratings(lehner2015, raters = rater1:rater2)
two_columns <- lehner2015[c("rater1", "rater2")]
several <- ratings(
  data.frame(case = c(1, 1, 2, 2), rater = c("r", "s", "r", "s"), rating = c("a", "b", "a", "a")),
  case = case, rater = rater, rating = rating, repeats = "labels"
)

# A verb gives the same result for ratings and for objects that as_ratings() converts.
verbs <- list(
  function(x) coef(fit_raters(x)),
  function(x) agreement(x)$estimate,
  function(x) cohen_kappa(x),
  function(x) compare_agreement(x, measures = "cohen_kappa")$p.value,
  function(x) {
    set.seed(1)
    check_k_properties(x, c("accuracy", "chance"), resampling = list(replicates = 59))$statistic
  },
  function(x) unclass(agreement_matrix(x, "rater1", "rater2")),
  function(x) colSums(pattern_counts(as_ratings(x)) * pattern_weights(as_ratings(x))),
  function(x) rates_of(x),
  function(x) ground_truth(x, "long")$probability[1:4]
)

test_that("verbs say of a matrix or data frame what they say of ratings", {
  for (form in list(as.matrix(two_columns), two_columns, tidy(two))) {
    x <- as_ratings(form)
    expect_s3_class(x, "ratings")
    expect_identical(x$categories, two$categories)
    for (verb in verbs) {
      expect_equal(quiet(verb(form)), quiet(verb(two)), ignore_attr = "names")
    }
    expect_equal(tidy(x, "counts")[-1], tidy(two, "counts")[-1])
    expect_equal(tidy(x, "patterns"), tidy(two, "patterns"))
    expect_equal(crowdtruth(form)$workers, crowdtruth(two)$workers)
    expect_equal(filter_crowd(form, "units")$units$clarity,
      filter_crowd(two, "units")$units$clarity)
    expect_equal(predict(fit_raters(two), form)$tied, predict(fit_raters(two))$tied)
  }
})

test_that("a table is the agreement matrix of two raters, in as_ratings(), ratings() and verbs", {
  crossed <- agreement_matrix(two, "rater1", "rater2")
  x <- as_ratings(crossed)
  expect_identical(x$raters, c("rater1", "rater2"))
  expect_identical(x$categories, LETTERS[1:4])
  expect_equal(sum(x$weights), 10)
  expect_identical(ratings(crossed), x)
  for (verb in verbs[1:8]) expect_equal(verb(crossed), verb(two))
  expect_identical(ratings(crossed, categories = LETTERS[1:6])$categories, LETTERS[1:6])
  expect_true(ratings(crossed, ordered = TRUE)$ordered)
  expect_identical(as_ratings(crossed, ordered = TRUE), ratings(crossed, ordered = TRUE))
  expect_error(ratings(crossed, systems = rater1), class = "fallible_error_argument")
  expect_error(ratings(crossed, repeats = "ratings"), class = "fallible_error_argument")
  expect_error(ratings(table(1:3)), class = "fallible_error_table")
  expect_error(ratings(table(1:3, c(1, 1, 2))), class = "fallible_error_table")
  expect_snapshot(error = TRUE, {
    ratings(crossed, raters = rater1:rater2)
    ratings(table(1:3, c(1, 1, 2)))
  })
})

test_that("ratings stay what they are, unless votes are asked for", {
  long <- data.frame(
    case = rep(1:3, each = 4), rater = c("r", "r", "r", "s"), rating = c("a", "b", "a", "b")
  )
  x <- ratings(long, case = case, rater = rater, rating = rating, repeats = "reruns")
  expect_identical(as_ratings(x), x)
  votes <- as_ratings(x, votes = TRUE)
  expect_identical(as.character(tidy(votes)$rating[tidy(votes)$rater == "r"]), rep("a", 3))
})

test_that("counts are ratings by whoever, in a table too", {
  x <- ratings(fleiss1971, counts = depression:other)
  expect_equal(as_ratings(fleiss1971, counts = depression:other), x)
  expect_equal(as_ratings(as.matrix(fleiss1971[-1]), counts = tidyselect::everything()), x)
  long <- tidy(lehner_ratings())
  classified <- table(long$case, long$rating)
  expect_equal(
    coef(fit_raters(as_ratings(classified, counts = tidyselect::everything()))),
    coef(fit_raters(ratings(category_counts(lehner_ratings()), counts = tidyselect::everything())))
  )
})

test_that("columns of a data frame are what their names say", {
  expect_equal(as_ratings(lehner2015), lehner_ratings())
  expect_equal(point_estimate(lehner2015), point_estimate(lehner_ratings()))
  expect_equal(
    as_ratings(transform(two_columns, weight = 2))$weights, rep(2, 10)
  )
  expect_equal(as_ratings(tidy(lehner_ratings()))$cases, lehner2015$case)
  once <- dawid1979[dawid1979$rater != "A1", ]
  expect_equal(as_ratings(once), ratings(once, case = case, rater = rater, rating = rating))
  expect_error(as_ratings(dawid1979), class = "fallible_error_repeat")
  repeated <- as_ratings(dawid1979, case = case, rater = rater, rating = rating,
    repeats = "ratings")
  expect_true(has_repeats(repeated))
  expect_warning(
    as_ratings(cbind(two_columns, site = "north")), class = "fallible_warning_labels"
  )
  expect_warning(
    as_ratings(data.frame(a = c(0, 1), b = 1:0, nobody = NA)), class = "fallible_warning_raters"
  )
  expect_warning(as_ratings(fleiss1971), class = "fallible_warning_labels")
  expect_warning(agreement(as.matrix(fleiss1971[-1])), class = "fallible_warning_labels")
  expect_silent(as_ratings(as.matrix(fleiss1971[-1]), counts = tidyselect::everything()))
  expect_identical(as_ratings(two_columns, categories = LETTERS[1:5])$categories, LETTERS[1:5])
})

test_that("ratings stay, results of crowdtruth() give theirs, several labels are refused", {
  expect_identical(as_ratings(two), two)
  expect_identical(as_ratings(crowdtruth(two)), two)
  expect_error(as_ratings(several), class = "fallible_error_labels")
  expect_error(as_ratings(crowdtruth(several)), class = "fallible_error_labels")
})

test_that("what is no data is named, with what to do", {
  lazy <- structure(list(), class = c("ArrowTabular", "R6"))
  expect_snapshot(error = TRUE, {
    as_ratings("a")
    fit_raters(rating ~ rater)
    fit_raters(ratings)
    agreement(lazy)
    check_k_properties(list(a = 1, b = 2))
    estimate_accuracy(1:3)
    ratings(lazy)
    ratings(~rater)
  })
  for (own in list(quiet(ground_truth(two)), agreement(two), confusion_matrix(3, 0.8))) {
    expect_error(as_ratings(own), class = "fallible_error_argument")
    expect_error(rates_of(own), class = "fallible_error_argument")
  }
  expect_error(ratings(confusion_matrix(3, 0.8)), class = "fallible_error_argument")
  expect_error(ratings(ftable(table(1:2, 1:2))), class = "fallible_error_argument")
})

test_that("data with a row per rating are not taken for a column per rater", {
  long <- data.frame(
    item = paste0("i", rep(1:4, 2)), who = rep(c("ann", "bob"), each = 4),
    verdict = c("good", "bad", "good", "good", "good", "bad", "bad", "good")
  )
  expect_error(ground_truth(long), "No label occurs in two", class = "fallible_error_argument")
  expect_snapshot(error = TRUE, ground_truth(long))
})
