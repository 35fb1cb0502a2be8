"""What everything stands on: arrays, checks of arguments, errors, files, memory, lazy names."""
