# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make-array.py OUT.npy SHAPE [DTYPE] [VALUE]: an array of some numbers, or of one."""
import sys

import numpy

path, shape = sys.argv[1], tuple(int(n) for n in sys.argv[2].split("x"))
dtype = sys.argv[3] if len(sys.argv) > 3 else "f4"
count = int(numpy.prod(shape))
values = numpy.full(count, float(sys.argv[4])) if len(sys.argv) > 4 else (numpy.arange(count) * 7 % 11 - 5) / 4
numpy.save(path, values.astype(dtype).reshape(shape))
