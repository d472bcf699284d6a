"""Every training problem in plain NumPy: primal, dual and gap from their definitions. The readable truth."""
