"""The data of the studies: generated, read from a local folder, or downloaded."""
