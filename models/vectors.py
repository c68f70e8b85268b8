"""The vector type."""

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Shape ``(n, dim)``; rows have unit length, as the encoders make them."""
