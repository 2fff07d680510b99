"""One file per experiment: a typed dataclass and get_config(variant)."""
