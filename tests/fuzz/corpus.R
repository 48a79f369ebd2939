# Doors and seeds that failed once, and what it was.
corpus <- rbind(
  data.frame(door = "estimate_gold", seed = 1006, was = "a weight of 1e11 asked for 373 GB"),
  data.frame(door = "read_ratings", seed = 1006, was = "a warning of R's about bytes in JSON"),
  data.frame(door = "estimate_metrics", seed = 2052, was = "no table, and slopes of it"),
  data.frame(door = "checkpoint", seed = 51, was = "numbers of which bytes had changed"),
  data.frame(door = "plan_gold", seed = 8440, was = "an estimate above 1 that was planned for"),
  data.frame(door = "plan_gold", seed = 24021, was = "R's error where all cases look the same"),
  data.frame(door = "check_k_properties", seed = 8105, was = "draws without end of trillions"),
  data.frame(door = "compare_systems", seed = 9086, was = "an interval of where iterations stop"),
  data.frame(door = "compare_systems", seed = 32013, was = "an interval off its estimate, unsaid"),
  data.frame(door = "agreement", seed = 5003, was = "an interval that left its estimate, unsaid"),
  data.frame(door = "estimate_metrics", seed = 2, was = "no end of a recall that is never answered"),
  data.frame(door = "estimate_metrics", seed = 6, was = "no end of the precision of an empty truth"),
  data.frame(door = "data_check", seed = 14, was = "R's warning about weights that are not whole"),
  data.frame(door = "compare_systems", seed = 25, was = "R's error where replicates do not vary")
)
