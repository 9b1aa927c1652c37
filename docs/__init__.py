"""The documents, and the article with what makes it."""
