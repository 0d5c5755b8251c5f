"""For one learner: the watch, hints, the fresh stub, the solution and progress. Nothing here needs a network."""
