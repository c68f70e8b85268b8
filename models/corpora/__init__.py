"""Published annotated corpora as examples, with our labels and our splits.

Training uses one part of each corpus and benchmarks the held-out part, so this ships and training does not.
"""
