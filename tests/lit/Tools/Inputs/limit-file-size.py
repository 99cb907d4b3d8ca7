# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""limit-file-size.py FOLDER COMMAND...: no file may outgrow the largest of the folder, as if a disk were full."""
import os
import resource
import sys

limit = max(entry.stat().st_size for entry in os.scandir(sys.argv[1])) + 1000
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execv(sys.argv[2], sys.argv[2:])
