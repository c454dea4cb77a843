"""Facts about a rank's machine: hardware, software, batch job, memory."""
