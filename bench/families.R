# Families of the public data sets with known truth: what was collected by the same people in the
# same way. Every mean over families, and every constant chosen without a family, is by this list.

families <- list(
  cifar = c("cifar10h", "cifar10n"), mrmc = c("franken_t1", "kundel"), fact_eval = "fact_eval",
  relevance = "relevance4"
)

# Of sets by name; other sets are of the family that their name begins with, up to the first _.
family_of <- function(set) {
  listed <- rep(names(families), lengths(families))[match(set, unlist(families))]
  ifelse(is.na(listed), sub("_.*", "", set), listed)
}

# Raters with a training for the task; those of the other sets are recruited laypeople.
kind_of <- function(set) {
  experts <- c("franken_t1", "kundel", "medicheck_query", "medicheck_response")
  ifelse(set %in% experts, "expert", "crowd")
}
