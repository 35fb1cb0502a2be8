"""`python -m flipwise`: the command line."""

from flipwise.cli import program

if __name__ == "__main__":  # processes of the studies import this file again
    raise SystemExit(program())
