"""Makes `studies.tests` a package beside `tests`, so that both can be run together. Not a part of the distribution."""
