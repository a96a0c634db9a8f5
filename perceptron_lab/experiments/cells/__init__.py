"""Cells run each in a limited process of its own, on this machine or on a cluster.

A server process imports the numerical code once and forks a process for each cell. To import takes
1.2 s of processor time, to fork 0.01 s (Python 3.11, two cores), so that every cell may have a
fresh process: no caches, threads or random states of an earlier one.

``multiprocessing`` with its own fork server and preloaded modules, or pebble on top of it, would
give that as well. They do not give the following, each of which a user notices:

- A limit of memory per cell, beyond what the imported modules take, that ends as a message
  (OUT_OF_MEMORY) and not as a machine that swaps; and the peak of each cell.
- Nothing outlives a run, even one ended by SIGKILL: cells, and processes that cells have started,
  are killed with it. Workers of ``multiprocessing`` go on to the end of their task.
- A crash in compiled code is the outcome of its cell alone, with the signal, the traceback and the
  end of what it wrote; ``ProcessPoolExecutor`` gives up all that is pending.
- The clock of a cell starts once its problem is loaded, and its trace arrives while it runs: what a
  cell that is killed has proved until then is in its row.
- The server loads while the command loads its own modules, before the configuration is checked.
"""
