"""Helpers shared by all tasks: preparing data, checking submissions, grading them.

Nothing is exported here: import the module that is needed, such as `mlab_task.grading`.
Only the standard library is used; arrays become numpy's in the task's own scripts.
"""
