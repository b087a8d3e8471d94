"""The name that `mlab_task.submission_workers` had before, for graders that still import it."""

from mlab_task.submission_workers import STARTER, SubmissionWorker, running_worker

Candidate, running_candidate = SubmissionWorker, running_worker

__all__ = ["STARTER", "Candidate", "running_candidate"]
