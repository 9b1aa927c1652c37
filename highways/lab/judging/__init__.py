"""What a claim is, and the rules by which results judge it.  Nothing here knows a question."""
