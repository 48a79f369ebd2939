# Tables that annotators ask for: agreement per case, coincidences of categories, and how each rater
# overlaps with the others.

# A table of each of the ratings that were compared.
of_views <- function(x, table) {
  views <- attr(x, "about")$views
  if (length(views) == 1L) return(table(views[[1L]]))
  bind_parts(structure(views, column = intersect(part_columns, names(x))), table)
}

# Cases x categories: how many judges chose each category. Field `case` is the row of each case.
judged_counts <- function(view) {
  rows <- kernel_rows(built_in_measures$fleiss_kappa, view)
  c(rows, list(case = rows$of_pattern[pattern_of_case(view$x)]))
}

agreement_by_case <- function(view) {
  counted <- judged_counts(view)
  n <- rowSums(counted$data)
  agreeing <- ratio(rowSums(counted$data * (counted$data - 1)), n * (n - 1))
  at <- replace(counted$case, counted$case == 0L, NA)
  tibble::tibble(
    case = view$x$cases, ratings = replace(n[at], is.na(at), 0), agreement = agreeing[at],
    category = view$labels[max.col(counted$data, "first")][at]
  )
}

# Krippendorff's coincidences: each ordered pair of ratings of a case with m ratings counts
# 1 / (m - 1).
coincidences <- function(view) {
  counted <- judged_counts(view)
  n <- rowSums(counted$data)
  weighted <- counted$data * ifelse(n > 1, counted$weight / (n - 1), 0)
  both <- crossprod(weighted, counted$data) - diag(colSums(weighted), ncol(weighted))
  tibble::tibble(
    category1 = rep(view$labels, length(view$labels)),
    category2 = rep(view$labels, each = length(view$labels)), n = as.vector(both)
  )
}

# Shares of all cases: rated, rated by another rater as well, and rated differently by another.
overlap_of_raters <- function(view) {
  check_named_raters(view$x, "what", "The raters are not identified.", i = NULL)
  answers <- answers_by_pattern(view$x)
  counts <- pattern_counts(view$x)
  cases <- pattern_cases(view$x)
  share <- function(of) sum(cases[of]) / sum(cases)
  tables <- lapply(seq_along(view$x$raters), function(rater) {
    rated <- !is.na(answers[, rater])
    same <- counts[cbind(seq_along(rated), replace(answers[, rater], !rated, 1L))]
    all <- rowSums(counts)
    tibble::tibble(
      rater = view$x$raters[[rater]], ratings = sum(cases[rated]), coverage = share(rated),
      overlap = share(rated & all > 1), conflict = share(rated & all > same)
    )
  })
  stack_rows(tables)
}
