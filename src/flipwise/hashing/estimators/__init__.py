"""The estimators, one file a loss."""
