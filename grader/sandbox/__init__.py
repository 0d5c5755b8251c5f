"""The trusted side of the border: starts the fork server, asks workers, and tries the walls."""
