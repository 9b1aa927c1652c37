"""The questions, a file each.  Imports nothing, so that the command's check of what is installed comes first."""
