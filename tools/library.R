# Makes a library with the packages that fallible imports and links to, the packages PACKAGE..., and
# their dependencies, but no others:
#   Rscript tools/library.R FOLDER PACKAGE...
# The entries are links to packages that are installed. With R_LIBS_SITE=FOLDER and
# R_LIBS_USER=NULL, R finds only these packages and its base library. This shows if a dependency is
# not declared.
arguments <- commandArgs(TRUE)
kinds <- c("Depends", "Imports", "LinkingTo")
installed <- utils::installed.packages(fields = kinds)
# Of several versions, R loads the first.
installed <- installed[!duplicated(installed[, "Package"]), ]
read <- read.dcf("DESCRIPTION", kinds) # nolint: nonportable_path.
fallible <- installed[1L, ]
fallible[] <- NA
fallible[c("Package", kinds)] <- c("fallible", read)
db <- rbind(fallible, installed[installed[, "Package"] != "fallible", ])
wanted <- c("fallible", arguments[-1L])
needed <- tools::package_dependencies(wanted, db, kinds, recursive = TRUE)
available <- setdiff(intersect(c(wanted, unlist(needed)), rownames(installed)), "fallible")
available <- available[installed[available, "LibPath"] != .Library]
dir.create(arguments[[1L]], recursive = TRUE)
linked <- file.symlink(
  file.path(installed[available, "LibPath"], available), file.path(arguments[[1L]], available)
)
stopifnot(all(linked))
