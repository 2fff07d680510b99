"""The parts of `lag_scenes`."""
