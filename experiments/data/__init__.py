"""Loaders: files in, plain arrays out, every fault named."""
