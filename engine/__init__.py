"""Source text in, result out; only `files` touches the disk."""
