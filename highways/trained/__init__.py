"""The trained nets of the repository, read with NumPy alone."""
