# What other files need when R reads them, in the order of the alphabet: the methods of
# as.data.frame() of results that are tables, and of those of which tidy() gives one.

plain_as_data_frame <- function(x, row.names = NULL, optional = FALSE, ...) { # nolint: object_name.
  plain_data_frame(x)
}

tidy_as_data_frame <- function(x, row.names = NULL, optional = FALSE, ...) { # nolint: object_name.
  plain_data_frame(tidy(x, ...))
}
