# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""print-array.py FILE.npy: the type, the shape and the numbers, 6 digits each."""
import sys

import numpy

array = numpy.load(sys.argv[1])
print(array.dtype, array.shape, " ".join(f"{x:.6g}" for x in array.ravel()))
