"""Synthetic texts with complete annotations: frames with slots, and values to fill them."""
