"""What the source says: scopes, compiled regions, values and effects, read with `ast`."""
