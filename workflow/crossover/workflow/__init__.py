"""One run of the workflow: the launches it needs and their jobs, its messages, its claim on the results."""
