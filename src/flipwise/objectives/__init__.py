"""What is minimised: quadratics, user callables, and functions of other array libraries."""
