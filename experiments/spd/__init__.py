"""The parts of experiments/spd_reduction.py."""
