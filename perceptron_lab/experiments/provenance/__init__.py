"""What results are made of: the code, the environment, and what stays private of both."""
