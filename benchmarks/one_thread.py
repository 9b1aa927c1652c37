"""Imported before NumPy and the rivals: makes all of them compute in one thread.

If OPENBLAS_CORETYPE=Haswell restricts our matrix products to AVX2, NumPy's other loops and the
rivals are restricted to it, too."""

import os

os.environ |= {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
os.environ |= {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
if os.environ.get("OPENBLAS_CORETYPE") == "Haswell":
    os.environ |= {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
    os.environ |= {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
    os.environ["XLA_FLAGS"] += " --xla_cpu_max_isa=AVX2"
