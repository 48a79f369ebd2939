# Tables on the way to their users: lists of columns.

# One below another; all have the same columns, lists among them.
stack_tables <- function(tables) do.call(Map, c(list(c), unname(tables)))
