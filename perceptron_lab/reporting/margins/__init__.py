"""Margins proved or bounded: Figure 1 of `RamdasPena2014`, rates, infeasible systems."""
