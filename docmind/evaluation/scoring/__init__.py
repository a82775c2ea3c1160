"""What a run is worth: asking, the gold rule, metrics, where misses were lost, statistics. Nothing is stored or judged."""
