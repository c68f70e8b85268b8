"""Text encoders: texts to unit vectors. all-MiniLM-L6-v2 is embedded, others by choice.

The layers of BERT and the windows over long texts serve detectors and risk models as well.
"""
