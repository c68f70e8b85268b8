"""The figures of INTACT: whether replacements are true, and less specific."""
