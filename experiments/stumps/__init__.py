"""The parts of `stump_kernel`."""
