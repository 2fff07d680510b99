"""Runs that turn data into records: loaders, launcher, experiments."""
