# Plans whose panels are drawn by a function of the user's.

# The fields of plan_design(). Nobody knows how accurate raters and systems of a world are.
plan_world <- function(x, approximate) {
  replaced <- c("raters", "rater_accuracy", "chance_kappa", "system_accuracy")
  given <- replaced[!vapply(x[replaced], is.null, NA)]
  if (approximate) given <- c(given, "approximate")
  abort_argument_if(length(given) > 0L, given[[1L]],
    "A function given as {.arg design} defines by itself how raters and systems answer.",
    x = "Found {.arg {given}} beside it.")
  world <- new_world(x$design, "design", as.integer(min(max(x$cases), 100)))
  list(
    designs = list(world), raters = world$raters, assumed = world, accuracies = NA_real_,
    kappa = NA_real_, labels = world$categories, missing = world$missing, pilot = NULL,
    systems = unname(world$systems)
  )
}

format_world <- function(world) {
  paste0(
    "Panels are drawn by a function: ", count_noun(world$raters, "rater"), ", ",
    count_noun(length(world$systems), "system"), ", ",
    count_noun(length(world$categories), "category", "categories"),
    if (world$missing > 0) paste0("; ", percent(world$missing), " of ratings missing")
  )
}
