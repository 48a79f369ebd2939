# Draws panels in which agreement is high but accuracy is low. They resemble public data sets in
# which intervals did not contain the true accuracy. Each panel has a system `s` and the truth. All
# raters of a panel answer by the same rule.
sure_panel <- function(kind, n = 400) {
  yes <- function(share) ifelse(stats::runif(n) < share, "yes", "no")
  truth <- yes(0.5)
  opposite <- function(answer) ifelse(answer == "yes", "no", "yes")
  right <- function(share) ifelse(stats::runif(n) < share, truth, opposite(truth))
  answers <- switch(kind,
    # Raters who say yes in 95% of the cases, whatever the truth, and a system that always says yes.
    yes = list(raters = replicate(3, yes(0.95)), s = rep("yes", n)),
    # The same raters with kappa 0, and a system with accuracy .75, which says no in half of the
    # cases.
    zero = list(raters = replicate(3, yes(0.95)), s = right(0.75)),
    # One-sided raters, who recognise only a few of the "no" cases. These cases are the same for
    # all.
    sided = {
      recognised <- truth == "no" & stats::runif(n) < 0.04
      list(
        raters = replicate(3, ifelse(recognised & stats::runif(n) < 0.6 | stats::runif(n) < 0.05,
          "no", "yes")), s = ifelse(stats::runif(n) < 0.03, "no", "yes")
      )
    },
    # Nine near-copies of one judge, and a system that is another copy.
    copies = {
      first <- right(0.6)
      near <- function() ifelse(stats::runif(n) < 0.01, opposite(first), first)
      list(raters = replicate(9, near()), s = near())
    }
  )
  wide <- data.frame(answers$raters, s = answers$s)
  names(wide) <- c(paste0("rater", seq_len(ncol(answers$raters))), "s")
  x <- quiet(ratings(wide, raters = -s, systems = s, categories = c("no", "yes")))
  list(x = x, truth = mean(answers$s == truth))
}

# Six cases with three ratings each, and a system.
lean_panel <- function() {
  patterns <- c("aaa", "aab", "abb", "bbb", "aaa", "aab")
  votes <- do.call(rbind, strsplit(patterns, ""))
  colnames(votes) <- paste0("rater", 1:3)
  data.frame(votes, system = c("a", "a", "b", "b", "a", "b"))
}
