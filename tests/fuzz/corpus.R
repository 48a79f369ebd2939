# Doors and seeds that failed once, and what it was.
corpus <- rbind(
  data.frame(door = "duplicate", seed = 9, was = "the relation took halves of weights for counts")
)
