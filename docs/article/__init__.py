"""The article: its text, its tables and pictures, and the command that makes its PDF."""
