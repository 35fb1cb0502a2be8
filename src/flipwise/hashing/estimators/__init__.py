"""The estimators, by kind of loss."""
