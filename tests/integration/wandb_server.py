"""A stand-in for W&B's server on this machine: as much of its protocol as a sweep with an agent and online runs needs.

It answers the client's GraphQL (sweep, agent, run, files), keeps what is streamed of a run (history, summary, its end)
and hands a sweep's points out in the order of a grid. It takes artifacts as known, so that their content is not sent.
"""

from __future__ import annotations

import gzip
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import yaml

ENTITY = "someone"
KEY = "0123456789abcdef0123456789abcdef01234567"
"""Of the form the client asks of a login; it is sent nowhere but to this machine."""


@dataclass
class Run:
    """What a server knows of a run."""

    project: str
    sweep: str | None = None
    group: str | None = None
    config: dict[str, Any] = field(default_factory=dict[str, Any])
    lines: dict[str, dict[int, str]] = field(default_factory=dict[str, dict[int, str]])
    uploaded: list[str] = field(default_factory=list[str])
    exit_code: int | None = None

    @property
    def history(self) -> list[dict[str, Any]]:
        """What was logged, in order."""
        sent = self.lines.get("wandb-history.jsonl", {})
        return [json.loads(sent[number]) for number in sorted(sent)]

    @property
    def summary(self) -> dict[str, Any]:
        """The final numbers, as last sent."""
        sent = self.lines.get("wandb-summary.json", {})
        return json.loads(sent[max(sent)]) if sent else {}


class Server:
    """One sweep at a time; runs by the names the client gives them."""

    def __init__(self) -> None:
        self.address = ""
        self.runs: dict[str, Run] = {}
        self.refused: list[str] = []
        """What the client asked for and this has not got."""
        self.sweep: dict[str, Any] | None = None
        self._points: Iterator[dict[str, Any]] = iter(())
        self._given = itertools.count()
        self._lock = threading.Lock()

    def ask(self, operation: str, given: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to a GraphQL operation; None: not here."""
        answer = getattr(self, f"_{operation}", None)
        if answer is None:
            self.refused.append(operation)
            return None
        with self._lock:
            return answer(given)

    def stream(self, name: str, sent: dict[str, Any]) -> None:
        """Keep what a run tells of itself while it runs."""
        with self._lock:
            run = self.runs[name]
            for file, chunk in (sent.get("files") or {}).items():
                lines = run.lines.setdefault(file, {})
                for number, line in enumerate(chunk["content"], chunk["offset"]):
                    lines[number] = line
            if sent.get("complete"):
                run.exit_code = sent.get("exitcode")

    def upload(self, name: str, file: str) -> None:
        """A file of a run has come."""
        with self._lock:
            self.runs[name].uploaded.append(file)

    def _Viewer(self, _: dict[str, Any]) -> dict[str, Any]:
        teams = {"edges": [{"node": {"name": ENTITY}}]}
        viewer = {"id": "v", "entity": ENTITY, "username": ENTITY, "email": "", "flags": "{}", "teams": teams}
        return {"viewer": viewer}

    def _ServerFeaturesQuery(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"serverInfo": {"features": []}}

    def _UpsertSweep(self, given: dict[str, Any]) -> dict[str, Any]:
        config: dict[str, Any] = yaml.safe_load(given["config"])
        listed = {
            name: one["values"] if "values" in one else [one["value"]] for name, one in config["parameters"].items()
        }
        self._points = (dict(zip(listed, point, strict=True)) for point in itertools.product(*listed.values()))
        self.sweep = config
        project = {"id": "p", "name": given["projectName"], "entity": {"id": "e", "name": ENTITY}}
        return {"upsertSweep": {"sweep": {"name": "sweep1", "project": project}, "configValidationWarnings": []}}

    def _SweepWithRuns(self, _: dict[str, Any]) -> dict[str, Any]:
        config = yaml.safe_dump(self.sweep)
        return {"project": {"sweep": {"id": "s", "name": "sweep1", "config": config, "runs": {"edges": []}}}}

    def _CreateAgent(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"createAgent": {"agent": {"id": "a"}}}

    def _Heartbeat(self, given: dict[str, Any]) -> dict[str, Any]:
        commands: list[dict[str, Any]] = []
        if not json.loads(given["runState"]) and self.sweep is not None:
            number, point = next(self._given), next(self._points, None)
            commands = [{"id": f"c{number}", "type": "exit"}]
            if point is not None:
                args = {name: {"value": value} for name, value in point.items()}
                program = self.sweep["program"]
                commands = [
                    {"id": f"c{number}", "type": "run", "run_id": f"agents{number}", "program": program, "args": args}
                ]
        return {"agentHeartbeat": {"agent": {"id": "a"}, "commands": json.dumps(commands)}}

    def _RunResumeStatus(self, given: dict[str, Any]) -> dict[str, Any]:
        model = {"id": "p", "name": given["project"], "entity": {"id": "e", "name": ENTITY}, "bucket": None}
        return {"model": model}

    def _UpsertBucket(self, given: dict[str, Any]) -> dict[str, Any]:
        run = self.runs.setdefault(given["name"], Run(given["project"]))
        run.sweep, run.group = given.get("sweep") or run.sweep, given.get("groupName") or run.group
        run.config |= {key: one["value"] for key, one in json.loads(given.get("config") or "{}").items()}
        project = {"id": "p", "name": run.project, "entity": {"id": "e", "name": ENTITY}}
        bucket = {
            "id": given["name"],
            "name": given["name"],
            "displayName": given.get("displayName"),
            "sweepName": run.sweep,
            "project": project,
        }
        return {"upsertBucket": {"bucket": bucket, "inserted": True}}

    def _CreateRunFiles(self, given: dict[str, Any]) -> dict[str, Any]:
        files = [{"name": file, "uploadUrl": f"{self.address}/kept/{given['run']}/{file}"} for file in given["files"]]
        return {"createRunFiles": {"runID": given["run"], "uploadHeaders": [], "files": files}}

    def _ArtifactType(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"project": {"artifact": None}}

    def _CreateArtifact(self, _: dict[str, Any]) -> dict[str, Any]:
        artifact = {"id": "r", "state": "COMMITTED", "artifactSequence": {"id": "q", "latestArtifact": None}}
        return {"createArtifact": {"artifact": artifact}}


@contextmanager
def serving() -> Iterator[Server]:
    """A server, while the context lasts."""
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None: ...

        def _body(self) -> bytes:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            return gzip.decompress(sent) if self.headers.get("Content-Encoding") == "gzip" else sent

        def _answer(self, content: dict[str, Any]) -> None:
            sent = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def do_GET(self) -> None:
            self._body()
            self._answer({})

        def do_PUT(self) -> None:
            self._body()
            _, _, name, file = self.path.split("/", 3)
            server.upload(name, file)
            self._answer({})

        def do_POST(self) -> None:
            body = self._body()
            if self.path.endswith("/graphql"):
                asked = json.loads(body)
                name = asked["query"].split("(")[0].split("{")[0].split()[1]
                answer = server.ask(name, asked.get("variables") or {})
                self._answer({"data": answer} if answer is not None else {"errors": [{"message": f"no {name} here"}]})
                return
            if self.path.endswith("/file_stream"):
                server.stream(self.path.split("/")[-2], json.loads(body))
            self._answer({})

    class Listening(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None: ...  # a client that was ended hangs up

    with Listening(("127.0.0.1", 0), Handler) as listening:
        server.address = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
