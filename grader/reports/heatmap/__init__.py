"""Pictures of attention weights, in the terminal, as SVG and as files."""
