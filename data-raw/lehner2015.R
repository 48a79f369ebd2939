# Lehner (2015), Table 2: four raters and one system assign ten cases to the categories A to D.
#
# Source: Lehner, P. E. (2015). Estimating the accuracy of automated classification systems using
#   only expert ratings that are less accurate than the system. Journal of Modern Applied
#   Statistical Methods, 14(1), article 13. doi:10.22237/jmasm/1430453520
#
# Verified cell by cell (40 ratings and 10 system answers) against
#   1. the table as printed in the journal article and in the earlier MITRE report: "Testing the
#      accuracy of automated classification systems using only expert ratings that are less accurate
#      than the system";
#   2. the matrix in the tests of the Python package StatSWAG (MIT Lincoln Laboratory), where the
#      categories are the numbers 1 to 4.
# The prose of the paper counts 11 ratings in every category; its table, from which its base
# rates follow, has 11, 10, 10 and 9. Table 4 prints an agreement of .333 for the two cases of the
# bin .5-.6; by Table 2 it is 1, and only 1 gives the printed system accuracy of .731.
#
# Run from the package root: Rscript data-raw/lehner2015.R

# one line per case: raters 1 to 4, then the system
cells <- scan(what = "", quiet = TRUE, text = "
  C D C C  A
  B D C C  C
  C C D C  C
  B B D D  B
  A B B B  B
  C B D A  A
  A A A A  A
  A D B C  C
  D B A A  D
  A D A B  B
")

categories <- c("A", "B", "C", "D")
table2 <- matrix(cells, ncol = 5, byrow = TRUE)
stopifnot(nrow(table2) == 10, all(table2 %in% categories))

lehner2015 <- data.frame(
  case = 1:10,
  rater1 = factor(table2[, 1], levels = categories),
  rater2 = factor(table2[, 2], levels = categories),
  rater3 = factor(table2[, 3], levels = categories),
  rater4 = factor(table2[, 4], levels = categories),
  system = factor(table2[, 5], levels = categories)
)

# how often each category was used, by rater and by the system
stopifnot(
  identical(as.vector(table(lehner2015$rater1)), c(4L, 2L, 3L, 1L)),
  identical(as.vector(table(lehner2015$rater2)), c(1L, 4L, 1L, 4L)),
  identical(as.vector(table(lehner2015$rater3)), c(3L, 2L, 2L, 3L)),
  identical(as.vector(table(lehner2015$rater4)), c(3L, 2L, 4L, 1L)),
  identical(as.vector(table(lehner2015$system)), c(3L, 3L, 3L, 1L))
)

# ratings of each case in the categories A to D
votes <- t(apply(table2[, 1:4], 1, function(x) table(factor(x, levels = categories))))
stopifnot(all(rowSums(votes) == 4), all(colSums(votes) == c(11, 10, 10, 9)))

# the paper: 20 of the 60 pairs of raters agree, rater accuracy .5, these base rates
agreeing <- sum(choose(votes, 2))
stopifnot(agreeing == 20, sum(choose(rowSums(votes), 2)) == 60)
accuracy <- 1 / 4 + sqrt((3 * agreeing / 60 - 3 / 4) / 4)
base_rates <- (3 * colSums(votes) / 40 - 1 + accuracy) / (4 * accuracy - 1)
stopifnot(
  all.equal(accuracy, 0.5),
  all.equal(unname(base_rates), c(0.325, 0.25, 0.25, 0.175))
)

# Table 3: probability of the most probable category of each case
posterior <- t(apply(votes, 1, function(v) base_rates * 3^v))
posterior <- posterior / rowSums(posterior)
printed <- c(0.860, 0.584, 0.860, 0.511, 0.828, 0.325, 0.975, 0.325, 0.657, 0.657)
stopifnot(all(round(apply(posterior, 1, max), 3) == printed))

save(lehner2015, file = file.path("data", "lehner2015.rda"), version = 2, compress = "bzip2")
