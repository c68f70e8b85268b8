"""Invented texts in which every mention is marked: frames with slots, and the values that fill them."""
