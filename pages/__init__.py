"""The browser pages, and what makes them."""
