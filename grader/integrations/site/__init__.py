"""The lessons as a site of static pages, made by `make docs`. Neither building nor reading it needs a network."""
