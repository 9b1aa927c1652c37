"""Imported first: one thread for NumPy's BLAS, PyTorch and XLA, so that every rival runs on the same one core."""

import os

os.environ |= {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
