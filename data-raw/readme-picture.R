# The picture in README.md: what the method makes of systems that are better than the raters.
#
# Simulated, so that the truth is known: 500 cases, five categories with unequal base rates, three
# raters who are right with probability .6, four systems of known accuracy. All K-properties hold.
#
# Needs the package itself and ggplot2. Run from the package root:
#   Rscript data-raw/readme-picture.R
library(fallible)

set.seed(1)
n <- 500
categories <- 5
correct <- sample(categories, n, replace = TRUE, prob = 5:1)

# Answers that are right with this probability and otherwise fall on the other categories alike.
answer <- function(accuracy) {
  wrong <- (correct + sample(categories - 1, n, replace = TRUE) - 1) %% categories + 1
  ifelse(runif(n) < accuracy, correct, wrong)
}

accuracy <- c(A = 0.3, B = 0.5, C = 0.7, D = 0.9)
data <- data.frame(
  r1 = answer(0.6), r2 = answer(0.6), r3 = answer(0.6), vapply(accuracy, answer, numeric(n))
)
x <- ratings(data, raters = r1:r3, systems = A:D)
estimate <- estimate_accuracy(x)
print(estimate)

truth <- data.frame(system = names(accuracy), estimate = accuracy)
picture <- autoplot(estimate) +
  ggplot2::geom_point(data = truth, shape = 5, size = 3.4, stroke = 0.8) +
  ggplot2::labs(
    caption = "Simulated: 500 cases, three raters. Diamonds: the true accuracy of the systems."
  )
dir.create(file.path("man", "figures"), showWarnings = FALSE)
ggplot2::ggsave(
  file.path("man", "figures", "README-accuracy.png"), picture,
  width = 7, height = 3.4, dpi = 120, bg = "white"
)
