# Checks the tags for standards of rOpenSci's review of statistical software. Tags in roxygen
# comments of R/ and tests/testthat/ name standards. "@srrstats {G2.1, BS2.2} how": the code below
# meets them. "@srrstatsNA {G3.1} why": they are not met or do not apply.
#   Rscript tools/standards.R
# prints them. Fails if a standard has no tag or tags of both kinds, if a standard is unknown, or if
# a quarter of the tags is in one file. man/roxygen/meta.R sources this file, so that roxygen2
# accepts the tags.

# Numbers of the standards for general, Bayesian and unsupervised learning software, as of March
# 2026. "0-5" and "a-c" are ranges.
standards_known <- function() {
  numbers <- list(
    G = "1.0-6 1.4a 2.0-16 2.0a 2.1a 2.3a-b 2.4a-e 2.14a-c 3.0-1 3.1a 4.0 5.0-12 5.2a-b 5.4a-c
         5.6a-b 5.8a-d 5.9a-b 5.11a",
    BS = "1.0-5 1.2a-c 1.3a-b 2.1-15 2.1a 3.0-2 4.0-7 5.0-5 6.0-5 7.0-4 7.4a",
    UL = "1.0-4 1.3a 1.4a-b 2.0-3 3.0-4 4.0-4 4.3a 6.0-2 7.0-5 7.5a"
  )
  unlist(Map(function(family, text) {
    words <- strsplit(trimws(text), "\\s+")[[1L]]
    paste0(family, unlist(lapply(words, function(word) {
      ends <- strsplit(word, "-", fixed = TRUE)[[1L]]
      if (length(ends) == 1L) {
        return(word)
      }
      stem <- sub("([0-9]+|[a-z])$", "", ends[[1L]])
      first <- substring(ends[[1L]], nchar(stem) + 1L)
      if (grepl("[a-z]", ends[[2L]])) {
        paste0(stem, letters[match(first, letters):match(ends[[2L]], letters)])
      } else {
        paste0(stem, as.integer(first):as.integer(ends[[2L]]))
      }
    })))
  }, names(numbers), numbers), use.names = FALSE)
}

# Reads all tags. One row per standard and tag: standard, met, text, file.
standards_read <- function(root = ".") {
  folders <- file.path(root, c("R", file.path("tests", "testthat")))
  files <- list.files(folders, "[.]R$", full.names = TRUE)
  rows <- lapply(files, function(file) {
    lines <- readLines(file, encoding = "UTF-8")
    at <- grep("^#' @srrstats(NA)? ", lines)
    do.call(rbind, lapply(at, function(i) {
      text <- sub("^#' @srrstats(NA)? +", "", lines[[i]])
      following <- i + 1L
      while (following <= length(lines) && startsWith(lines[[following]], "#'   ")) {
        text <- paste(text, sub("^#' +", "", lines[[following]]))
        following <- following + 1L
      }
      ids <- strsplit(sub("^\\{([^}]*)\\}.*", "\\1", text), ",\\s*")[[1L]]
      data.frame(
        standard = ids, met = !startsWith(lines[[i]], "#' @srrstatsNA"),
        text = trimws(sub("^\\{[^}]*\\}", "", text)),
        file = sub(paste0("^", root, "/"), "", file), stringsAsFactors = FALSE
      )
    }))
  })
  out <- do.call(rbind, rows)
  out[order(match(out$standard, standards_known())), ]
}

standards_faults <- function(tags) {
  known <- standards_known()
  both <- intersect(tags$standard[tags$met], tags$standard[!tags$met])
  c(
    paste("unknown:", setdiff(tags$standard, known), recycle0 = TRUE),
    paste("without a tag:", setdiff(known, tags$standard), recycle0 = TRUE),
    paste("met and not met:", both, recycle0 = TRUE),
    if (max(table(tags$file)) > length(known) / 4) {
      paste("tags are gathered in", names(which.max(table(tags$file))))
    }
  )
}

# Registers the tags with roxygen2, so that it accepts them and writes nothing.
# roxygen2::tag_value() cannot be used: since version 7.3 it refuses text with several lines.
standards_register <- function() {
  parse <- function(x) {
    x$val <- x$raw
    x
  }
  for (tag in c("roxy_tag_srrstats", "roxy_tag_srrstatsNA")) {
    registerS3method("roxy_tag_parse", tag, parse, asNamespace("roxygen2"))
  }
}

if (sys.nframe() == 0L) {
  tags <- standards_read()
  for (i in seq_len(nrow(tags))) {
    cat(sprintf("%-6s %-3s %s: %s\n", tags$standard[[i]], if (tags$met[[i]]) "yes" else "no",
      tags$file[[i]], tags$text[[i]]))
  }
  met <- length(unique(tags$standard[tags$met]))
  cat(sprintf("\n%d of %d met, in %d files\n", met, length(standards_known()),
    length(unique(tags$file))))
  faults <- standards_faults(tags)
  writeLines(faults)
  quit(status = as.integer(length(faults) > 0L))
}
