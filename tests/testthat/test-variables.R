coded <- function() {
  set.seed(1)
  long <- expand.grid(case = 1:40, rater = c("A", "B", "C"))
  topic <- sample(c("econ", "law", "art"), 40, TRUE)
  tone <- sample(c("low", "mid", "high"), 40, TRUE)
  long$topic <- ifelse(runif(120) < 0.8, topic[long$case], "law")
  long$tone <- ifelse(runif(120) < 0.7, tone[long$case], "mid")
  long
}

test_that("several coded variables become a list of ratings", {
  long <- coded()
  levels <- c("low", "mid", "high")
  x <- ratings(long, case = case, rater = rater, rating = c(topic, tone),
    categories = list(tone = levels), ordered = c(tone = TRUE))
  expect_named(x, c("topic", "tone"))
  expect_equal(x$topic, ratings(long, case = case, rater = rater, rating = topic))
  expect_equal(x$tone, ratings(long, case = case, rater = rater, rating = tone, categories = levels, ordered = TRUE))
  wide <- reshape(long, idvar = "case", timevar = "rater", direction = "wide")
  y <- wide |> ratings(
    raters = list(topic = starts_with("topic"), tone = starts_with("tone")), case = case
  )
  expect_identical(y$tone$raters, c("tone.A", "tone.B", "tone.C"))
  expect_equal(fleiss_kappa(y$topic), fleiss_kappa(x$topic))
  expect_error(
    ratings(long, case = case, rater = rater, rating = c(topic, none)), "none",
    class = "fallible_error_columns"
  )
  # Columns of labels are one answer, and a column by its number is one variable.
  expect_s3_class(ratings(long, case = case, rater = rater, rating = 3), "ratings")
})

test_that("verbs take a list of variables, and do not depend on the order of its rows", {
  long <- coded()
  x <- ratings(long, case = case, rater = rater, rating = c(topic, tone))
  found <- agreement(x)
  one <- lapply(x, agreement)
  for (name in names(x)) {
    part <- found[found$variable == name, -1]
    expect_equal(as.data.frame(part), as.data.frame(one[[name]]))
    for (what in c("cases", "coincidence", "overlap", "benchmark")) {
      table <- tidy(found, what)
      expect_equal(table[table$variable == name, -1], tidy(one[[name]], what))
    }
  }
  shuffled <- agreement(ratings(long[sample(120), ], case = case, rater = rater, rating = c(topic, tone)))
  expect_equal(as.data.frame(shuffled), as.data.frame(found))
  expect_identical(tidy(data_check(x))$variable, rep(names(x), each = 9L))
  expect_output(print(data_check(x)), "<results_by_variable> 2 variables")
  drawn <- withr::with_seed(1, agreement(x, "fleiss_kappa", interval = "bootstrap"))
  expect_identical(withr::with_seed(1, agreement(x, "fleiss_kappa", interval = "bootstrap")), drawn)
  pair <- lapply(x, function(x) x[, 1:2])
  table <- tidy(compare_agreement(x, rev(pair), "krippendorff_alpha"))
  expect_equal(table$estimate[[2]], tidy(compare_agreement(x$tone, pair$tone, "krippendorff_alpha"))$estimate)
  expect_equal(tidy(compare_agreement(x, measures = "gwet_ac"))$variable, names(x))
  estimates <- quiet(estimate_accuracy(
    lapply(x, function(x) ratings(as.data.frame(x), case = case, rater = rater, rating = rating, systems = "C")),
    interval = "none"
  ))
  expect_identical(tidy(estimates)$variable, names(x))
  expect_equal(tidy(estimates[["tone"]]), tidy(estimates)[2, -1])
})

test_that("ordered may be the names of the ordered variables", {
  codes <- data.frame(id = rep(1:6, each = 2), coder = c("a", "b"), tone = 1:3,
    topic = c(1, 2, 2))
  code <- function(ordered) {
    ratings(codes, case = id, rater = coder, rating = c(tone, topic), ordered = ordered,
      rater_kind = "expert")
  }
  expect_identical(lapply(code("tone"), `[[`, "ordered"), list(tone = TRUE, topic = FALSE))
  expect_error(code("tune"), "Did you mean \"tone\"", class = "fallible_error_argument")
})

test_that("what names variables must name them, and by is for one variable", {
  long <- coded()
  read <- function(...) ratings(long, case = case, rater = rater, rating = c(topic, tone), ...)
  expect_error(read(categories = list(tonne = "low")), "tonne", class = "fallible_error_argument")
  expect_error(read(ordered = c(tonne = TRUE)), "tonne", class = "fallible_error_argument")
  wide <- reshape(long, idvar = "case", timevar = "rater", direction = "wide")
  expect_error(ratings(wide, raters = list(starts_with("topic"), starts_with("tone")), case = case),
    "name", class = "fallible_error_argument")
  expect_error(agreement(read(), by = stats::setNames(rep(1:2, 20), 1:40)), class = "fallible_error_argument")
  x <- 0.8
  expect_identical(glance(agreement(read(), "fleiss_kappa", conf_level = x))$conf_level, 0.8)
  one <- lehner_ratings()
  expect_equal(agreement(one, "gwet_ac", by = NULL), agreement(one, "gwet_ac"))
  halves <- factor(rep(c("u", "v"), 5), c("z", "u", "v"))
  expect_identical(agreement(one, "gwet_ac", by = stats::setNames(halves, one$cases))$group, c("u", "v"))
})

test_that("lists that hold anything but ratings are refused, by name", {
  x <- lehner_ratings()
  for (verb in list(agreement, data_check, estimate_accuracy, compare_agreement)) {
    expect_error(verb(list(a = x, b = 3)), "\"b\"", class = "fallible_error_argument")
    expect_error(verb(list(x, x)), "name", class = "fallible_error_argument")
  }
  expect_error(compare_agreement(list(a = x), list(b = x)), "names of", class = "fallible_error_argument")
})

test_that("agreement of groups of cases is that of their cases", {
  x <- lehner_ratings()
  group <- rep(c("u", "v"), 5)
  found <- agreement(x, "fleiss_kappa", by = stats::setNames(group, x$cases))
  expect_identical(found$group, c("u", "v"))
  expect_equal(found$estimate[[2]], fleiss_kappa(x[group == "v", ]))
  expect_output(print(found), "2 groups")
  expect_match(format(found), "fleiss_kappa (u)", fixed = TRUE)
})

test_that("tables of agreement are those of pairs of ratings", {
  x <- ratings(cbind(a = c("x", "y", "x", NA), b = c("x", "x", "y", NA), c = c("x", NA, "z", "z")))
  found <- agreement(x)
  cases <- tidy(found, "cases")
  expect_equal(cases$ratings, c(3, 2, 3, 1))
  expect_equal(cases$agreement, c(1, 0, 0, NA))
  # Krippendorff: each pair of a case with m ratings counts 1 / (m - 1).
  both <- matrix(tidy(found, "coincidence")$n, 3)
  expected <- matrix(c(3, 1, 0, 1, 0, 0, 0, 0, 0), 3) + (1 - diag(3)) / 2
  expect_equal(both, expected)
  overlap <- tidy(found, "overlap")
  expect_equal(overlap$coverage, c(3, 3, 3) / 4)
  expect_equal(overlap$overlap, c(3, 3, 2) / 4)
  expect_equal(overlap$conflict, c(2, 2, 1) / 4)
  counted <- agreement(ratings(fleiss1971, case = case, counts = depression:other))
  expect_error(tidy(counted, "overlap"), class = "fallible_error")
  expect_equal(mean(tidy(counted, "cases")$agreement), counted$estimate[[1]])
})

test_that("Fleiss and Cuzick's kappa is their formula", {
  set.seed(2)
  n <- sample(2:6, 30, TRUE)
  yes <- rbinom(30, n, runif(30))
  counts <- data.frame(yes = yes, no = n - yes)
  p <- sum(yes) / sum(n)
  expected <- 1 - sum(yes * (n - yes) / n) / (30 * (mean(n) - 1) * p * (1 - p))
  x <- ratings(counts, counts = yes:no)
  expect_equal(fleiss_kappa(x, pooling = "fleiss-cuzick"), expected)
  # With equal numbers of ratings all ways to pool are the same.
  equal <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_equal(agreement(equal, pooling = "fleiss-cuzick")$estimate, agreement(equal)$estimate)
  expect_equal(agreement(equal, pooling = "fleiss-cuzick")$std.error, agreement(equal)$std.error)
  errors <- function(...) agreement(x, "fleiss_kappa", pooling = "fleiss-cuzick", ...)$std.error
  expect_equal(errors(interval = "jackknife"), errors(), tolerance = 0.1)
})

test_that("the largest kappa has the margins of the table", {
  crossed <- as.table(rbind(c(40, 9), c(6, 45)))
  # Moving all that may move to the diagonal keeps the margins.
  most <- as.table(rbind(c(46, 3), c(0, 51)))
  expect_equal(agreement(crossed, "cohen_kappa_max")$estimate, cohen_kappa(most))
})

test_that("plans for agreement find the number of cases whose interval is so wide", {
  set.seed(1)
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  plan <- plan_cases(x, half_width = 0.05, agreement = "fleiss_kappa", runs = 400)
  answer <- tidy(plan)
  # Resamples of this number of cases, drawn here, have this half-width.
  rows <- as.data.frame(fleiss1971[-1])
  widths <- replicate(60, {
    drawn <- ratings(rows[sample(30, answer$cases, TRUE), ], counts = everything())
    agreement(drawn, "fleiss_kappa")$std.error * qt(0.95, answer$cases - 1)
  })
  expect_equal(mean(widths), 0.05, tolerance = 0.1)
  expect_lt(answer$std.error, answer$cases / 10)
  expect_output(print(plan), "half-width of 0.05")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(plan), "ggplot")
  expect_lt(tidy(update(plan, half_width = 0.1))$cases, answer$cases / 3)
  expect_identical(tidy(plan_cases(x, half_width = 0.01, agreement = "fleiss_kappa", cases = c(2, 100), runs = 20))$cases, NA_real_)
  expect_error(plan_cases(x, margin = 0.1), "half_width", class = "fallible_error_argument")
  expect_error(plan_cases(x, agreement = "fleiss_kappa", raters = 3), "raters", class = "fallible_error_argument")
})

# Two variables with abstentions, known truth and a system each; `tone` is never abstained from.
judged_variables <- function() {
  long <- coded()
  long$topic[c(2, 50, 90)] <- "?"
  long$true_topic <- rep(long$topic[81:120], 3)
  long$true_topic[long$true_topic == "?"] <- NA
  long$true_tone <- rep(long$tone[81:120], 3)
  long
}

test_that("variables have their abstentions, truth and systems", {
  long <- judged_variables()
  read <- function(...) ratings(long, case = case, rater = rater, ...)
  x <- read(rating = c(topic, tone), abstain = "?", truth = list(topic = true_topic, tone = true_tone),
    systems = list(tone = "C"))
  expect_equal(x$topic, read(rating = topic, abstain = "?", truth = true_topic))
  # No rater used "?" for tone.
  expect_equal(x$tone[, ], read(rating = tone, truth = true_tone, systems = "C")[, ])
  expect_equal(read(rating = c(topic, tone), abstain = list(topic = "?"))$topic, read(rating = topic, abstain = "?"))
  expect_null(read(rating = c(topic, tone), abstain = list(topic = "?"))$tone$abstained)
  wrong <- list(
    abstain = quote(read(rating = c(topic, tone), abstain = "!")),
    abstain = quote(read(rating = c(topic, tone), abstain = list(topics = "?"))),
    truth = quote(read(rating = c(topic, tone), abstain = "?", truth = list(true_topic))),
    systems = quote(read(rating = c(topic, tone), abstain = "?", systems = list(tonne = "C")))
  )
  for (at in seq_along(wrong)) {
    error <- expect_error(quiet(eval(wrong[[at]])), class = "fallible_error_argument")
    expect_identical(error$arg, names(wrong)[[at]])
  }
  wide <- reshape(long[c("case", "rater", "topic", "tone")], idvar = "case", timevar = "rater", direction = "wide")
  y <- ratings(wide, case = case, raters = list(topic = c(topic.A, topic.B), tone = c(tone.A, tone.B)), abstain = "?",
    systems = list(topic = topic.C, tone = tone.C))
  expect_identical(lapply(y, `[[`, "systems"), list(topic = "topic.C", tone = "tone.C"))
})

# Variables whose numbers of raters and columns of tables differ; and groups.
parts_of_results <- function() {
  long <- judged_variables()
  x <- ratings(long, case = case, rater = rater, rating = c(topic, tone), abstain = "?", systems = "C",
    truth = list(topic = true_topic, tone = true_tone))
  one <- ratings(transform(long, site = ifelse(case %% 2, "odd", "even")), case = case, rater = rater,
    rating = tone, covariates = site, systems = "C")
  estimate <- function(...) quiet(estimate_accuracy(..., interval = "none"))
  list(ratings = x, variables = estimate(x), groups = estimate(one, by = "site"), one = one)
}

test_that("parts of a result are a result, and cases of variables are not added up", {
  parts <- parts_of_results()
  for (x in parts[c("variables", "groups")]) {
    expect_s3_class(x[2:1], class(x), exact = TRUE)
    expect_named(x[2:1], rev(names(x)))
    expect_equal(tidy(x[2]), tidy(x)[2, names(tidy(x[2]))], ignore_attr = TRUE)
    expect_output(print(x[names(x)[[1]]]), paste("1", attr(x, "column")))
  expect_error(x["none"], "They are", class = "fallible_error_argument")
  }
  expect_identical(glance(parts$variables)$cases, 40)
  expect_identical(glance(parts$groups)$cases, 40)
  # Abstentions of one variable give its table more columns.
  long <- judged_variables()
  long$topic[85] <- "?"
  silent <- quiet(estimate_accuracy(
    ratings(long, case = case, rater = rater, rating = c(topic, tone), abstain = "?", systems = "C"), interval = "none"
  ))
  expect_identical(is.na(tidy(silent)$answered), c(FALSE, TRUE))
})

test_that("verbs that take a result take its parts, or say how to choose one", {
  parts <- parts_of_results()
  format_estimates <- list(
    variables = quiet(estimate_accuracy(parts$ratings)),
    groups = quiet(estimate_accuracy(parts$one, by = "site"))
  )
  for (x in format_estimates) {
    column <- attr(x, "column")
    gates <- tidy(gate(x, 0.5))
    expect_identical(gates[[column]], names(x))
    for (name in names(x)) {
      expect_equal(as.data.frame(gates[gates[[column]] == name, -1]), as.data.frame(tidy(gate(x[[name]], 0.5))))
      said <- may_say(x)$sentence
      own <- may_say(x[[name]])$sentence
      expect_true(all(paste0(capitalised(column), " ", name, ": ", own) %in% said | own %in% said))
    }
    expect_identical(anyDuplicated(may_say(x)$sentence), 0L)
    expect_match(may_say(x, "methods")[[1]], paste(names(x)[[1]], "(same methods for the others): "), fixed = TRUE)
    refuse <- list(accuracy_bounds, ground_truth, confusion)
    if (column == "variable") refuse <- c(refuse, plan_gold, stats::update)
    for (verb in refuse) {
      expect_error(verb(x), paste0("x[[\"", names(x)[[1]], "\"]]"), fixed = TRUE, class = "fallible_error_argument")
    }
  }
  two <- lapply(parts$ratings, function(x) {
    answers <- tidy(x, "systems")
    answers$prediction[1:8] <- answers$prediction[8:1]
    answers$system <- "D"
    data <- as.data.frame(x)
    ratings(data[!is.na(data$rating), ], case = case, rater = rater, rating = rating,
      systems = rbind(tidy(x, "systems"), answers))
  })
  set.seed(1)
  found <- quiet(compare_systems(two, method = "unbinned", interval = "none"))
  expect_identical(tidy(found)$variable, names(two))
  estimates <- quiet(estimate_accuracy(two, method = "unbinned", interval = "none"))
  expect_equal(tidy(quiet(compare_systems(estimates)))$estimate, tidy(found)$estimate)
})

test_that("rows of agreement by part have the cases, raters and words of their part", {
  x <- lapply(judged_variables()[c("topic", "tone")], function(label) {
    data <- data.frame(case = rep(1:40, 3), rater = rep(c("A", "B", "C"), each = 40), label)
    ratings(data[data$label != "?", ], case = case, rater = rater, rating = label)
  })
  x$tone <- x$tone[1:30, c("A", "B")]
  found <- agreement(x, "krippendorff_alpha")
  tone <- found[found$variable == "tone", ]
  expect_output(print(tone), "1 variable\ntone: 30 cases, 2 raters")
  expect_identical(glance(tone)$cases, 30)
  expect_identical(glance(tone)$raters, 2L)
  expect_equal(tidy(tone, "overlap")[-1], tidy(agreement(x$tone, "krippendorff_alpha"), "overlap"))
  sentences <- may_say(found)$sentence
  expect_match(sentences[[1]], "^Variable topic: On 39 cases, Krippendorff's alpha of 3 raters")
  expect_match(sentences[[2]], "^Variable tone: On 30 cases, Krippendorff's alpha of 2 raters")
  expect_match(format(compare_agreement(x, measures = "gwet_ac")), "(topic).*(tone)")
  halves <- agreement(x$topic, "gwet_ac", by = stats::setNames(rep(c("u", "v"), c(10, 30)), 1:40))
  expect_identical(glance(halves)$cases, 40)
  expect_identical(glance(halves[2, ])$cases, 30)
  expect_match(may_say(halves)$sentence[[2]], "^Group v: On 30 cases")
})

test_that("names of measures choose the measures of a variable", {
  x <- ratings(coded(), case = case, rater = rater, rating = c(topic, tone))
  measures_of <- function(table) split(table$measure, table$variable)
  chosen <- c(tone = "gwet_ac", topic = "fleiss_kappa", tone = "chance_kappa")
  expected <- list(tone = c("gwet_ac", "chance_kappa"), topic = "fleiss_kappa")
  expect_identical(measures_of(agreement(x, chosen)), expected)
  expect_identical(measures_of(compare_agreement(x, measures = chosen)), expected)
  expect_identical(measures_of(compare_agreement(x, x, measures = chosen)), expected)
  expect_identical(
    measures_of(agreement(x, c(tone = "gwet_ac")))$topic, agreement(x$topic)$measure
  )
  expect_error(agreement(x, c(tune = "gwet_ac")), "tune", class = "fallible_error_argument")
})

test_that("conditions of several variables name the variable, and those of raters come once", {
  long <- coded()
  long$rater <- as.character(long$rater)
  long$rater[1] <- "a"
  long$topic[3] <- "n/a"
  long$tone[5] <- "N/A"
  texts <- character()
  withCallingHandlers(
    ratings(long, case = case, rater = rater, rating = c(topic, tone), na = "n/a"),
    condition = function(cnd) {
      if (inherits(cnd, c("fallible_message", "fallible_warning"))) {
        texts <<- c(texts, conditionMessage(cnd))
        rlang::cnd_muffle(cnd)
      }
    }
  )
  texts <- texts[!duplicated(texts)]
  missing <- grep("read as missing", texts, value = TRUE)
  expect_match(missing, "variable \"(topic|tone)\"", all = FALSE)
  expect_length(grep("\"A\" and \"a\"", texts), 1L)
})

test_that("checks of several variables have advice and a heading of the questions", {
  x <- ratings(coded(), case = case, rater = rater, rating = c(topic, tone))
  text <- paste(utils::capture.output(print(data_check(x))), collapse = "\n")
  expect_match(text, "! cases: 40 cases with two or more ratings.*`plan_cases\\(\\)`")
  expect_match(text, "Questions that these ratings can answer\n  How far")
  x$tone <- x$tone[, 1:2]
  expect_output(print(data_check(x)), "tone: [?] raters: 2 raters. Two raters cannot")
  expect_output(print(data_check(x)["topic"]), "cases: 40")
})

test_that("known truths of several variables may be columns of one data frame", {
  set.seed(1)
  tone <- simulate_ratings(rater_design(c(0.8, 0.8, 0.8), c(s = 0.8), n = 100))
  topic <- simulate_ratings(rater_design(c(0.7, 0.8, 0.9), c(s = 0.9), n = 100))
  gold <- data.frame(
    case = truth(tone)$case, tone = truth(tone)[[2]], topic = truth(topic)[[2]]
  )[1:40, ]
  estimate <- function(gold) {
    set.seed(2)
    quiet(estimate_accuracy(list(tone = tone, topic = topic), known_truth = gold,
      gold_sample = "random"))
  }
  lists <- list(tone = truth(tone)[1:40, ], topic = truth(topic)[1:40, ])
  expect_equal(tidy(estimate(gold)), tidy(estimate(lists)))
  expect_equal(tidy(estimate(gold[-3])), tidy(estimate(lists[1])))
})
