"""Trained nets, and the commands that make and check them: see README.md."""
