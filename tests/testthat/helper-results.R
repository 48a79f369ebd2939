# Returns one small example of each class of results. The examples are computed once.
examples_of_results <- function() {
  if (is.null(example_store$all)) example_store$all <- withr::with_seed(1, quiet(make_examples()))
  example_store$all
}

example_store <- new.env()

make_examples <- function() {
  design <- rater_design(
    c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.5), 3, 60, base_rates = rep(1 / 3, 3)
  )
  x <- simulate_ratings(design)
  fit <- fit_raters(x)
  drawn <- withr::with_seed(
    1, fit_raters(x, method = "bayes", sampling = list(draws = 200, thin = 1))
  )
  joint <- estimate_accuracy(x, "joint", interval = "none", resampling = list(replicates = 20))
  crowd <- simulate_crowd(units = 20, workers = 16, spammers = c(random = 3, constant = 2))
  known <- kinds_by_worker(crowd) != "faithful"
  measured <- crowdtruth(crowd)
  list(
    ratings = x, ratings_labels = crowd, rater_fit = fit, draws_fit = drawn,
    ground_truth = ground_truth(fit), calibration = calibration(ground_truth(fit)),
    accuracy_estimate = estimate_accuracy(x),
    accuracy_by_group = estimate_accuracy(
      x, "unbinned", interval = "none", by = rep(c("u", "v"), 30)
    ),
    alt_test = alt_test(x), data_check = data_check(x),
    accuracy_bounds = accuracy_bounds(x, interval = "none"), shared_errors = shared_errors(x),
    system_comparison = compare_systems(joint),
    confusion_estimate = confusion(joint), confusion_matrix = confusion_matrix(3, 0.6),
    rater_confusion = confusion(fit),
    metric_estimate = estimate_metrics(joint, c("accuracy", "f_meas")),
    k_check = quiet(
      check_k_properties(x, c("accuracy", "errors"), resampling = list(replicates = 19))
    ),
    agreement = agreement(x),
    agreement_test = compare_agreement(x, measures = "fleiss_kappa"),
    agreement_comparison = compare_agreement(x[, 1:2], x[, 2:3], "cohen_kappa"),
    case_plan = withr::with_seed(1, plan_cases(
      chance_kappa = 0.3, raters = 2:3, system_accuracy = 0.8, estimator = "unbinned", runs = 20
    )),
    gold_plan = plan_gold(x, half_width = 0.15),
    simulation_study = simulation_study(design, "unbinned", runs = 3),
    crowdtruth = measured,
    worker_flags = flag_workers(measured, known = known),
    rater_model = rater_model("rater"), rater_prior = rater_prior(rater1 = list(right = c(3, 2))),
    rater_design = design,
    accuracy_estimator = accuracy_estimator("joint"),
    gold_cases = gold_cases(truth(x)[1:5, ], "random"),
    fit_check = check_fit(drawn, NULL), model_comparison = compare_models(drawn, drawn),
    results_by_variable = estimate_accuracy(list(first = x, second = x[1:30, ]), interval = "none"),
    gate = gate(estimate_accuracy(x), at_least = 0.6),
    group_comparison = quiet(compare_systems(estimate_accuracy(
      x, by = rep(c("u", "v"), 30), known_truth = gold_cases(truth(x), "random")
    )))
  )
}

# Class of an example; most examples are named by their class.
class_of_example <- function(name) {
  if (name == "agreement_comparison") "agreement_test" else name
}

# Texts of all notes of a result.
notes_of <- function(x) vapply(schema_of(x)$notes, `[[`, "", "text")

# Classes of results: classes with methods for print() or autoplot() in NAMESPACE, classes with a
# method that makes their schema, and classes in calls of new_result().
classes_of_results <- function() {
  methods <- getNamespaceInfo("fallible", "S3methods")
  shown <- methods[methods[, 1L] %in% c("print", "autoplot"), 2L]
  schemas <- ls(asNamespace("fallible"), pattern = "^schema_of[.]")
  schemas <- sub("schema_of.", "", schemas, fixed = TRUE)
  setdiff(
    c(shown[!grepl("^summary_|_summary$", shown)], schemas, classes_of_new_results()),
    c("fallible_result", "default", "result_parts")
  )
}

# First class in each call of new_result() in the functions of the package.
classes_of_new_results <- function() {
  find_classes <- function(code) {
    if (is.function(code)) return(find_classes(body(code)))
    if (!is.call(code)) return(NULL)
    is_result <- identical(code[[1L]], quote(new_result))
    is_empty <- vapply(seq_along(code), function(i) identical(code[[i]], quote(expr = )), NA)
    c(
      if (is_result) eval(code[[2L]])[[1L]],
      unlist(lapply(as.list(code)[!is_empty], find_classes))
    )
  }
  unique(unlist(eapply(asNamespace("fallible"), find_classes)))
}

# Names of the tables of a result.
table_names <- function(x) names(schema_of(x)$tables)

# Models, priors, designs, estimators and gold cases are inputs. They have no picture.
instructions <- c("rater_model", "rater_prior", "rater_design", "accuracy_estimator",
  "gold_cases")

# Decisions of gate() have no picture either.
without_picture <- c(instructions, "gate")
