"""The command line: a thin shell over ``perceptron_lab.run`` and ``solve``."""
