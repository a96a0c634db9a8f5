"""The semidefinite relaxation of MAXCUT: its optimum, enclosed by proved bounds.

The program and its dual problem, for a symmetric matrix C of order n,

    max <C, X>  subject to  X_11 = ... = X_nn = 1,  X positive semidefinite,
    min x_1 + ... + x_n  subject to  F(x) = diag(x) - C positive semidefinite,

have one optimum. A matrix V with any rows but zeros bounds it from below
and any vector x from above (:mod:`.maxcut.bounds`). Signs of random products with V are a cut of
the graph (:mod:`.maxcut.cuts`).
"""
