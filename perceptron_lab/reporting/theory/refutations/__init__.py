"""Claims of the papers that do not survive exact computation: modules of checks, by subject."""
