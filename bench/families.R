# Families of public data sets with known truth. A family contains sets that the same people
# collected in the same way. Means over families, and constants chosen without a family, use this
# list.

families <- list(
  cifar = c("cifar10h", "cifar10n"), mrmc = c("franken_t1", "kundel"), fact_eval = "fact_eval",
  relevance = "relevance4"
)

# Family of some sets, by name. For other sets, the family is the name up to the first _.
family_of <- function(set) {
  listed <- rep(names(families), lengths(families))[match(set, unlist(families))]
  ifelse(is.na(listed), sub("_.*", "", set), listed)
}

# Raters with a training for the task; those of the other sets are recruited laypeople.
kind_of <- function(set) {
  experts <- c("franken_t1", "kundel", "medicheck_query", "medicheck_response")
  ifelse(set %in% experts, "expert", "crowd")
}
