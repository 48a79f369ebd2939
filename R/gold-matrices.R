# Small computations with matrices and shares. Results with gold cases and results of higher layers
# use them.

# The chosen rows, or columns, of a matrix. The result is always a matrix.
rows_of <- function(x, rows) x[rows, , drop = FALSE]

columns_of <- function(x, columns) x[, columns, drop = FALSE]

# Returns a matrix (codes x numbers from 1 to `n`) that is TRUE where the code is the number.
indicator_matrix <- function(codes, n) outer(codes, seq_len(n), `==`)

# The variance of a value that is 1 with probability `p`, and otherwise 0.
bernoulli_variance <- function(p) p * (1 - p)

# Subtracts from each column of `x` its mean, weighted by `w`.
centred <- function(x, w) x - rep(colSums(w * x) / colSums(w), each = nrow(x))
