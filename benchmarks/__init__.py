import plumbing.installed  # noqa: F401  first: what is not installed, and Ctrl-C while modules are imported
