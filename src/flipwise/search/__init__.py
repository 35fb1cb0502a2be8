"""What goes past one descent."""
