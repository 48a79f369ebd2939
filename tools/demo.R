# Shows the main functions of the package on two data sets, in a minute. Run by tools/demo.sh:
#   Rscript tools/demo.R [PICTURES]     (the folder for the pictures, default `pictures`)
library(fallible)
options(width = 79)
set.seed(1)

folder <- commandArgs(trailingOnly = TRUE)
folder <- if (length(folder) > 0) folder[[1]] else "pictures"

heading <- function(text) cat("\n", text, "\n", strrep("=", nchar(text)), "\n", sep = "")
step <- function(text) cat("\n--- ", text, " ", strrep("-", 70 - nchar(text)), "\n\n", sep = "")

show_rows <- function(data) print(as.data.frame(data), digits = 3, row.names = FALSE)

# Prints warnings as they occur, as plain text.
tell <- function(expression) {
  withCallingHandlers(expression, fallible_warning = function(condition) {
    cat("Warning:\n", conditionMessage(condition), "\n\n", sep = "")
    invokeRestart("muffleWarning")
  })
}

heading("The worked example of Lehner (2015): ten cases, four raters, one system")

step("the data")
show_rows(lehner2015)
example <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
cat("\n")
print(example)

step("how accurate the raters are")
example_fit <- fit_raters(example)
print(example_fit)

step("how accurate the system is, as published (the paper: .731)")
example_binned <- tell(
  estimate_accuracy(example_fit, method = "binned", interval = "bootstrap")
)
print(example_binned)

step("where the number comes from (Table 4, without its misprints)")
show_rows(tidy(example_binned, "bins")[-1])

step("how accurate the system is, averaged over models (the default)")
example_estimate <- tell(estimate_accuracy(example))
print(example_estimate)

heading("Real data: 45 patients rated by anaesthetists, A5 taken as the system")

step("the data")
is_system <- dawid1979$rater == "A5"
answers <- setNames(dawid1979[is_system, ], c("case", "system", "prediction"))
patients <- ratings(
  dawid1979[!is_system, ], case = case, rater = rater, rating = rating, systems = answers,
  repeats = "ratings"
)
print(patients)

step("how accurate the raters are")
patients_fit <- tell(fit_raters(patients))
print(patients_fit)

step("how accurate the system is, averaged over models (the default)")
patients_estimate <- tell(estimate_accuracy(patients))
print(patients_estimate)

step("and as published")
patients_binned <- tell(
  estimate_accuracy(patients_fit, method = "binned", interval = "bootstrap")
)
print(patients_binned)

step("is the published number carried by one bin?")
show_rows(tidy(patients_binned, "bins")[-1])
cat("\nThe cases in the small bins deserve a look: vignettes/articles/published-method.Rmd has one.\n") # nolint: line_length_linter.

heading("Pictures")
cat("\n")

if (requireNamespace("ggplot2", quietly = TRUE)) {
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  draw <- function(name, picture, width = 7, height = 3.2) {
    file <- file.path(folder, paste0(name, ".png"))
    ggplot2::ggsave(file, picture, width = width, height = height, dpi = 120, bg = "white")
    cat("  ", file, "\n", sep = "")
  }
  for (name in c("example", "patients")) {
    data <- get(name)
    estimate <- get(paste0(name, "_estimate"))
    draw(paste0(name, "-ratings"), ggplot2::autoplot(data))
    draw(paste0(name, "-agreement"), ggplot2::autoplot(data, type = "agreement"), 4.8, 5.2)
    draw(
      paste0(name, "-ground-truth"), ggplot2::autoplot(ground_truth(get(paste0(name, "_fit"))))
    )
    draw(paste0(name, "-accuracy"), ggplot2::autoplot(estimate), height = 2.2)
    draw(
      paste0(name, "-bins"), ggplot2::autoplot(get(paste0(name, "_binned")), type = "bins"), 6, 4.2
    )
  }
} else {
  cat("The package ggplot2 is not installed, so there are no pictures.\n")
}
