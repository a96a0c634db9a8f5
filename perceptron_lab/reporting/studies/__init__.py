"""Tables and figures of the project's own experiments, which belong to no single paper."""
