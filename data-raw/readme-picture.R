# The picture in README.md: the example there, against the assumed share of shared errors.
#
# Needs the package itself and ggplot2. Run from the package root:
#   Rscript data-raw/readme-picture.R
#   pngquant --speed 1 --ext .png --force 16 man/figures/README-accuracy.png
library(fallible)

x <- ratings(dawid1979,
  case = case, rater = rater, rating = rating, systems = "A4", repeats = "reruns",
  rater_kind = "expert"
)
picture <- ggplot2::autoplot(estimate_accuracy(x), type = "sensitivity")
dir.create(file.path("man", "figures"), showWarnings = FALSE)
ggplot2::ggsave(
  file.path("man", "figures", "README-accuracy.png"), picture,
  width = 7, height = 3.6, dpi = 120, bg = "white"
)
