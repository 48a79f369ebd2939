# Checks that functions in R/ call only functions in the same or a lower layer. CONTRIBUTING.md
# lists the layers:
#   Rscript tools/layers-r.R
# Prints calls of functions in higher layers, and names that two files define. Both are errors.
rows <- grep("^[|] [1-9] [|]", readLines("CONTRIBUTING.md"), value = TRUE)
names_of <- function(row) {
  files <- strsplit(row, " | ", fixed = TRUE)[[1]][[3]]
  regmatches(files, gregexpr("(?<=`)[^` ]+(?=`)", files, perl = TRUE))[[1]]
}
layer <- do.call(rbind, lapply(rows, function(row) {
  data.frame(layer = as.integer(substr(row, 3, 3)), pattern = names_of(row))
}))
layer_of <- function(stem) {
  begins <- startsWith(stem, sub("[*]$", "", layer$pattern))
  fits <- stem == layer$pattern | (endsWith(layer$pattern, "*") & begins)
  if (!any(fits)) stop("No layer in CONTRIBUTING.md has R/", stem, ".R", call. = FALSE)
  layer$layer[fits][which.max(nchar(layer$pattern[fits]))]
}

# Names that a file defines, and the names that each definition uses.
definitions <- function(file) {
  stem <- sub("[.]R$", "", basename(file))
  assignments <- Filter(function(e) is.call(e) && identical(e[[1]], quote(`<-`)), parse(file))
  uses <- lapply(assignments, function(e) c("", codetools::findGlobals(as.function(list(e[[3]])))))
  names <- vapply(assignments, function(e) paste(deparse(e[[2]]), collapse = ""), "")
  data.frame(
    stem = rep(stem, length(assignments)), layer = rep(layer_of(stem), length(assignments)),
    name = names
  )[rep(seq_along(assignments), lengths(uses)), ] |>
    cbind(uses = as.character(unlist(uses)))
}

calls <- do.call(rbind, lapply(dir("R", "[.]R$", full.names = TRUE), definitions))
home <- unique(calls[c("name", "stem", "layer")])
to <- match(calls$uses, home$name)
upward <- which(home$layer[to] > calls$layer)
cat(sprintf(
  "R/%s.R: %s() calls %s() of R/%s.R, layer %d of %d\n", calls$stem[upward], calls$name[upward],
  calls$uses[upward], home$stem[to[upward]], home$layer[to[upward]], calls$layer[upward]
), sep = "")
cat(length(upward), "upward calls of", sum(!is.na(to) & home$stem[to] != calls$stem), "\n")
twice <- unique(home$name[duplicated(home$name)])
for (name in twice) {
  cat(name, "is defined in", toString(paste0("R/", home$stem[home$name == name], ".R")), "\n")
}
quit(status = length(upward) + length(twice) > 0L)
