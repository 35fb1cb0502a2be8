"""`python -m flipwise`: the command line."""

from flipwise.cli import main

raise SystemExit(main())
