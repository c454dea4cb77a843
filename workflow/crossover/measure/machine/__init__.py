"""What a rank can tell of its machine: hardware, software, batch job, memory."""
