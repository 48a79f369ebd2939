# A recorded state against a later one.

# Prints what moved; TRUE if nothing did.
report <- function(record, now, tolerance) {
  labels <- union(names(record), names(now))
  news <- vapply(labels, function(label) {
    describe_change(record[[label]], now[[label]], tolerance)
  }, "")
  moved <- news[!is.na(news)]
  if (length(moved) > 0L) cat(paste0(names(moved), ": ", moved, "\n"), sep = "")
  same <- sum(is.na(news))
  cat("Against ", attr(record, "version"), ": ", same, " the same, ", length(moved), " moved\n",
    sep = ""
  )
  length(moved) == 0L
}

describe_change <- function(old, new, tolerance) {
  if (is.null(old)) {
    "new"
  } else if (is.null(new)) {
    "gone"
  } else if (is.character(new)) {
    if (identical(as.vector(old), as.vector(new))) {
      NA_character_
    } else {
      paste0("now an error: ", new, ", ", attr(new, "message"), if (is.character(old)) {
        paste0("; it was ", old)
      })
    }
  } else if (is.character(old)) {
    paste0("no longer an error, which was ", old)
  } else {
    describe_moves(columns_of(old), columns_of(new), tolerance)
  }
}

# The column that moved furthest, and how many did.
describe_moves <- function(old, new, tolerance) {
  off <- vapply(names(old), function(name) distance(old[[name]], new[[name]]), 0)
  gone <- names(old)[!names(old) %in% names(new)]
  moved <- off[off > tolerance & !names(off) %in% gone]
  words <- c(
    if (length(moved) > 0L) {
      most <- names(which.max(moved))
      sprintf("moved by %.2g (%s, %s)", max(moved), most, show_change(old[[most]], new[[most]]))
    },
    if (length(moved) > 1L) paste(length(moved), "columns moved"),
    if (length(gone) > 0L) paste("no column", toString(gone))
  )
  if (length(words) > 0L) paste(words, collapse = "; ") else NA_character_
}

columns_of <- function(digits) split(unname(digits), factor(names(digits), unique(names(digits))))

# The largest difference, infinite where a number came or went or their count is another.
distance <- function(old, new) {
  if (length(new) == 1L && length(unique(old)) == 1L) old <- old[[1L]]
  if (length(old) != length(new) || any(is.na(old) != is.na(new))) {
    return(Inf)
  }
  off <- abs(old - new) / pmax(1, abs(old))
  off[!is.finite(off)] <- Inf # one is infinite
  max(0, off[!is.na(old) & old != new])
}

show_change <- function(old, new) {
  if (length(old) != length(new)) {
    return(paste(length(old), "numbers, now", length(new)))
  }
  off <- ifelse(is.na(old) & is.na(new), -1, abs(old - new))
  at <- which.max(ifelse(is.na(off), Inf, off))
  paste(format(old[[at]], digits = 14L), "to", format(new[[at]], digits = 14L))
}
