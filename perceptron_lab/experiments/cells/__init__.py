"""Run every cell in a separate process with limits, on this machine or on a cluster.

A server process imports the numerical code once and forks a process for each cell. To import takes
1.2 s of processor time, to fork 0.01 s (Python 3.11, two cores), so that every cell may have a
fresh process: no caches, threads or random states of an earlier one.

``multiprocessing`` with its own fork server and preloaded modules was tried in the place of these
modules; pebble builds on it. The tests of faults refuse it, for what a user notices:

- Nothing outlives a run, even one ended by SIGKILL: cells, and processes that cells have started,
  are killed with it. Children of the fork server of ``multiprocessing`` keep running.
- A limit of memory per cell, beyond what the imported modules take, that ends as a message
  (OUT_OF_MEMORY) and not as a machine that swaps; and the peak of each cell. With the other fork
  server the limit is lost.
- A crash in compiled code is the outcome of its cell alone, with the signal, the traceback and the
  end of what it wrote; ``ProcessPoolExecutor`` gives up all that is pending.
- The clock of a cell starts once its problem is loaded, and its trace arrives while it runs: what a
  cell that is killed has proved until then is in its row.
- The server loads while the command loads its own modules, before the configuration is checked.
"""
