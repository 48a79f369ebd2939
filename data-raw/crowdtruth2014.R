# Aroyo and Welty (2014), Figure 2: how many of fifteen workers gave each of fourteen relations to
# each of twenty sentences.
#
# Source: Aroyo, L. and Welty, C. (2014). The three sides of CrowdTruth. Human Computation, 1(1),
#   31-44. doi:10.15346/hc.v1i1.3. Licence of the article: CC-BY 3.0.
#
# The figure's heading prints the eighth relation as "sCl" and the thirteenth as "SNONE"; Table 2 of
# the article has sCI (contraindicates), and the text NONE.
#
# Typed from the figure. The statements of the text about it are checked below. One is wrong: the
# clarity of sentence 225527736 is .686 by the figure and not .61 (which is its value in the
# judgements before workers were removed).
#
# Run from the package root: Rscript data-raw/crowdtruth2014.R

relations <- c(
  "sT", "sP", "sD", "sCA", "sL", "sS", "sM", "sCI", "sAW", "sSE", "sIA", "sPO", "sNONE", "sOTH"
)

# one line per sentence: the last digits of its number, then the counts
cells <- scan(what = 0L, quiet = TRUE, text = "
  31  0 0 0  1 0 11 0 0 0 0 0 0 0 0
  32  0 0 0  0 0  7 2 0 2 2 0 1 0 0
  33  0 0 0  1 0  7 1 0 1 0 0 0 0 1
  34  0 0 0  0 0  1 0 0 2 0 0 0 0 9
  35  0 0 0  0 0 13 0 0 0 0 0 0 0 0
  36  0 0 0  2 0  2 0 0 1 0 0 0 3 4
  37  0 0 0  2 0  6 2 0 3 1 1 0 0 0
  38  0 0 0  2 0  0 1 0 0 1 8 1 0 0
  39  0 0 0 10 0  0 0 0 0 0 0 1 0 0
  40  0 0 0 10 0  2 1 0 1 0 0 0 0 1
  41  1 0 0  5 0  3 3 0 1 0 1 0 1 1
  42  0 0 0  4 0  0 0 0 3 0 0 0 0 4
  43  0 0 0  1 0  1 2 0 1 0 0 0 0 8
  44  0 0 0  3 0  1 0 0 1 8 0 0 0 1
  45  0 0 0  5 0  2 3 0 1 4 0 0 0 0
  46  0 0 1  1 5  2 0 0 1 0 0 0 2 0
  47  0 0 0  1 8  2 2 0 1 0 0 0 1 1
  48  0 0 0  1 7  1 0 0 1 0 0 0 2 1
  49  0 0 0  0 0  0 0 0 3 0 1 1 4 2
  50  0 0 0  1 0  4 2 0 3 0 1 2 0 0
")

figure2 <- matrix(cells, ncol = 15, byrow = TRUE)
crowdtruth2014 <- data.frame(unit = 225527700L + figure2[, 1], figure2[, -1])
names(crowdtruth2014) <- c("unit", relations)
stopifnot(identical(dim(crowdtruth2014), c(20L, 15L)), !anyNA(crowdtruth2014))

# statements of the text about the figure
votes <- as.matrix(crowdtruth2014[-1])
rownames(votes) <- crowdtruth2014$unit
scores <- votes / sqrt(rowSums(votes^2))
present <- votes > 0
stopifnot(
  round(scores["225527731", c("sS", "sCA")], 3) == c(0.996, 0.091),
  max(scores["225527735", ]) == 1,
  votes["225527738", "sIA"] == 8,
  round(mean(present[present[, "sS"], "sCA"]), 2) == 0.81,
  colMeans(present)[c("sCA", "sM")] == c(0.8, 0.5),
  present[present[, "sT"], "sM"],
  max(scores[, "sS"]) == 1, rownames(votes)[which.max(scores[, "sS"])] == "225527735",
  round(max(scores[, "sT"]), 2) == 0.14, rownames(votes)[which.max(scores[, "sT"])] == "225527741",
  round(max(scores["225527736", ]), 3) == 0.686
)

save(crowdtruth2014, file = file.path("data", "crowdtruth2014.rda"), version = 2, compress = "xz")
