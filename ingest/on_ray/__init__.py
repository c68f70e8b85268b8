"""Reading and sanitizing on the machines of a Ray cluster; storing stays with who asks.

Raw text lies in the memory of these machines and nowhere else.
"""
