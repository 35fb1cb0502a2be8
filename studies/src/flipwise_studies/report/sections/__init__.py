"""What the report says about each study: figures and tables made from its cells."""
