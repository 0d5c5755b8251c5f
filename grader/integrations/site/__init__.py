"""The lessons as a site of static pages: `make docs`. It needs no network, neither to be built nor to be read."""
