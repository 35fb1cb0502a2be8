"""What is minimised, and over which points: objectives, constraints, and the problem they make."""
