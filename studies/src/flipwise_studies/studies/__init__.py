"""The studies; each is a value of `Study`, beside what its tasks need."""
