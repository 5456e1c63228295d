"""Python imports this module at start-up when its folder is on PYTHONPATH: the way into a user's process."""
