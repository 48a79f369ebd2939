# Files that were whole once: cut, with bytes changed or inserted, in another encoding.

damage <- function(bytes) {
  n <- length(bytes)
  at <- sample.int(n, 1L)
  switch(pick(c("none", "cut", "flip", "insert", "swap", "bom", "nul", "repeat")),
    none = bytes,
    cut = bytes[seq_len(at)],
    flip = replace(bytes, at, as.raw(sample.int(255L, 1L))),
    insert = append(bytes, charToRaw(pick(c("\"", ",", "\n", "\r", "{", "\\", "\t", "]"))), at),
    swap = c(bytes[at:n], bytes[seq_len(at - 1L)]),
    bom = c(as.raw(c(0xef, 0xbb, 0xbf)), bytes),
    nul = append(bytes, as.raw(0), at),
    `repeat` = rep(bytes, 2L)
  )
}

# A file with the shape of a tool's export, damaged or not, and the call that reads it.
shaped <- function() {
  folder <- Find(dir.exists, file.path(
    c("files", file.path("tests", "testthat", "files")), "real-shape"
  ))
  table <- utils::read.csv(file.path(folder, "table.csv"), colClasses = "character")
  table <- table[!dir.exists(file.path(folder, table$file)), ]
  row <- table[sample.int(nrow(table), 1L), ]
  path <- file.path(folder, row$file)
  list(bytes = readBin(path, "raw", file.size(path)), name = basename(path), call = row$call)
}

# Lines of a small file of each kind, and how it would be read.
written <- function() {
  case <- rep(1:6, each = 2L)
  rater <- rep(c("ann", "bob"), 6L)
  rating <- sample(c("yes", "no", "n/a"), 12L, replace = TRUE, prob = c(5, 5, 1))
  long <- paste(case, rater, rating, sep = ",")
  json <- sprintf("{\"id\": %d, \"who\": \"%s\", \"said\": \"%s\"}", case, rater, rating)
  pick(list(
    list(lines = c("case,rater,rating", long), ext = ".csv", call = list()),
    list(
      lines = c("case\tann\tbob", paste(1:6, "yes", c("yes", "no"), sep = "\t")), ext = ".tsv",
      call = list(case = "case", raters = c("ann", "bob"))
    ),
    list(lines = json, ext = ".jsonl", call = list(case = "id", rater = "who", rating = "said")),
    list(
      lines = c("[", paste(json, collapse = ","), "]"), ext = ".json",
      call = list(case = "id", rater = "who", rating = "said")
    )
  ))
}

files <- list(
  read_ratings = function() {
    file <- written()
    path <- tempfile(fileext = paste0(file$ext, if (maybe(0.2)) ".gz"))
    on.exit(unlink(path))
    bytes <- charToRaw(paste0(paste(file$lines, collapse = "\n"), "\n"))
    if (endsWith(path, ".gz")) bytes <- gzipped(bytes)
    writeBin(damage(bytes), path)
    do.call(read_ratings, c(path, file$call))
  },
  read_shape = function() {
    file <- shaped()
    path <- file.path(tempfile(), file$name)
    dir.create(dirname(path))
    on.exit(unlink(dirname(path), recursive = TRUE))
    writeBin(damage(file$bytes), path)
    args <- if (nzchar(file$call)) paste(",", file$call) else ""
    eval(parse(text = paste0("read_ratings(path", args, ")")))
  },
  checkpoint = function() {
    design <- rater_design(c(0.6, 0.7), 0.8, 2, n = 20)
    path <- tempfile(fileext = ".rds")
    on.exit(unlink(path))
    # A separate seed: the fuzzer's seed draws the damage.
    study <- function() {
      withr::with_seed(1, simulation_study(design, "unbinned", runs = 2, checkpoint = path))
    }
    whole <- study()
    if (!file.exists(path)) return("no checkpoint is written")
    writeBin(damage(readBin(path, "raw", file.size(path))), path)
    again <- study()
    if (!identical(as.data.frame(whole), as.data.frame(again))) "a damaged checkpoint counts"
  }
)

gzipped <- function(bytes) {
  path <- tempfile()
  on.exit(unlink(path))
  con <- gzfile(path, "wb")
  writeBin(bytes, con)
  close(con)
  readBin(path, "raw", file.size(path))
}
