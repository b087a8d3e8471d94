"""Write an agent for mlagentbench in Python: see docs/how-to/write-an-agent-in-python.md."""

from .definition import Option, agent
from .environment import (
    Branch,
    Budget,
    Environment,
    Message,
    ModelNotDeclared,
    Reply,
    StepResult,
    Submission,
    Tool,
    ToolCall,
)
from .wire import RequestRefused

__all__ = [
    "Branch",
    "Budget",
    "Environment",
    "Message",
    "ModelNotDeclared",
    "Option",
    "Reply",
    "RequestRefused",
    "StepResult",
    "Submission",
    "Tool",
    "ToolCall",
    "agent",
]
