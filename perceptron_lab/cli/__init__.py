"""The command line interface, a thin layer over ``perceptron_lab.run`` and ``solve``."""
