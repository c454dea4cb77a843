"""A rank's facts about its machine: hardware, software, batch job, memory."""
