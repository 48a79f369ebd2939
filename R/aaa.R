# Methods of as.data.frame() for many classes, whose files R reads later, as the alphabet has it.

plain_as_data_frame <- function(x, row.names = NULL, optional = FALSE, ...) { # nolint: object_name.
  plain_data_frame(x)
}

tidy_as_data_frame <- function(x, row.names = NULL, optional = FALSE, ...) { # nolint: object_name.
  plain_data_frame(tidy(x, ...))
}
