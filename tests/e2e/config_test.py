#!/usr/bin/python3
"""Configurations of `weir serve`, and the clients that fit them. Speaks TAP.

usage: config_test.py WEIR [SUBSTRING...]
"""

import contextlib
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from tests.e2e.processes import Server, free_port, load, run, run_tests, test  # noqa: E402: as above

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHIPPED = ("tcp", "tcp-low-memory", "tcp-tls", "http", "https")
os.environ["WEIR_ROOT"] = ROOT


@contextlib.contextmanager
def folder(**files):
    """A folder with these files, NAME.json each, as the current one."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as path:
        for name, content in files.items():
            with open(os.path.join(path, name + ".json"), "w", encoding="utf-8") as file:
                file.write(content if isinstance(content, str) else json.dumps(content))
        os.chdir(path)
        try:
            yield path
        finally:
            os.chdir(before)


def built():
    """The names of the stacks that this build has."""
    _, out, _ = run("stacks")
    return [line.split()[0] for line in out.splitlines() if line[:1].isalpha() and " absent" not in line]


STACKS = built()


def check(*args, expect=0):
    """{key: (value, source)} as `serve --check` prints them, and stderr."""
    status, out, error = run("serve", "--check", *args)
    assert status == expect, (status, out, error)
    found = re.findall(r"^config (\w+)=(.*) \(([^()]*)\)$", out, re.M)
    return {key: (value, source) for key, value, source in found}, error


@test("defaults, weir.json, each --config and the flags go before each other in this order")
def layers():
    with folder(weir={"conn_max": 10, "response_bytes": 10, "wait": "spin", "idle_timeout": "10s"},
                a={"conn_max": 20, "response_bytes": "20KiB", "wait": "block"},
                b={"conn_max": 30, "response_bytes": 30}):
        config, error = check("--conn-max", 40, "--config", "a.json", "--config", "b.json")
        assert error == "", error
        assert config["conn_max"] == ("40", "flag")
        assert config["response_bytes"] == ("30", "b.json")
        assert config["wait"] == ("block", "a.json")
        assert config["idle_timeout"] == ("10s", "weir.json")
        assert config["head_timeout"] == ("10s", "default")
        assert config["config"] == ("weir.json,a.json,b.json", "flag")
        swapped, _ = check("--config", "b.json", "--config", "a.json")
        assert swapped["response_bytes"] == ("20KiB", "a.json")


@test("the ready line and the client's JSON record the configuration and its sources")
def recorded():
    with folder(a={"response_bytes": 100, "delivery": "coalesce"}), Server("--config", "a.json") as server:
        ready = server.ready
        assert ready["config"]["response_bytes"] == 100 and ready["config_sources"]["response_bytes"] == "a.json"
        assert ready["config_sources"]["listen"] == "flag" and ready["config_sources"]["conn_max"] == "default"
        assert ready["protocol"] == "framed" and ready["tls"] == {"on": False} and ready["http"] is None
        result, _ = load(server, "--from-config", "a.json", "--depth", 4)
        assert result["config"]["response_bytes"] == 100 and result["config"]["from_config"] == "a.json"
        assert result["config_sources"]["response_bytes"] == "a.json"
        assert result["config_sources"]["depth"] == "flag" and result["config_sources"]["handler"] == "default"
        server.end()


@test("everything wrong in every file is said at once, with its place, and nothing is started")
def refused():
    with folder(weir={"conn_mx": 1}, a='{\n "idle_timeout": 30,\n "tls": "yes"}'):
        _, error = check("--config", "a.json", "--config", "gone.json", expect=4)
        first, *lines = error.splitlines()
        assert first == "weir serve: nothing was started: 4 problems"
        assert lines[0].startswith("weir.json:1:2: unknown key 'conn_mx'; did you mean 'conn_max'?"), lines
        assert lines[1].startswith("a.json:2:18: 'idle_timeout' is 30; accepted: off, or a time with its unit"), lines
        assert lines[2] == "a.json:3:9: 'tls' is \"yes\"; accepted: true or false", lines
        assert "gone.json: No such file or directory" in lines[3], lines


@test("a folder in place of a configuration is called one")
def folders():
    with folder(a="{}") as path:
        os.mkdir("sub")
        _, error = check("--config", "sub", expect=4)
        assert "sub: a folder here, not a file, and not a shipped configuration; these are shipped: " in error, error
        _, error = check("--config", path, expect=4)
        assert f"{path}: not a regular file but a folder; name a file in it" in error, error
        _, error = check("--config", "nothing", expect=4)
        assert "nothing: neither a file here nor a shipped configuration" in error, error


@test("an upstream that a lower layer's handler would have taken is dropped with it")
def upstream_dropped():
    with folder(a={"protocol": "http1", "handler": "proxy", "upstream": "127.0.0.1:1"}):
        config, _ = check("--config", "a.json")
        assert config["upstream"] == ("127.0.0.1:1", "a.json")
        config, _ = check("--config", "a.json", "--handler", "respond")
        assert "upstream" not in config, config
        _, error = check("--config", "a.json", "--handler", "respond", "--upstream", "127.0.0.1:2", expect=4)
        assert "--upstream (flag) has no effect" in error, error


ROUTES = [
    ("[]", 12, "accepted: a list of 1 to 64 routes"),
    ("[1]", 13, "a route is an object"),
    ('[{"path": "/", "handler": "respond", "methd": ["GET"]}]', 49, "unknown key 'methd'; did you mean 'method'?"),
    ('[{"path": "x", "handler": "respond"}]', 22, "'path' of a route is \"x\"; accepted: a path that begins with '/'"),
    ('[{"handler": "respond"}]', 13, "'path' of a route is missing"),
    ('[{"path": "/", "handlr": "respond"}]', 27, "unknown key 'handlr'; did you mean 'handler'?"),
    ('[{"path": "/", "match": "regex", "handler": "respond"}]', 36, 'accepted: "exact" or "prefix"'),
    ('[{"path": "/", "method": ["GET", "get"], "handler": "respond"}]', 45, "a list of methods"),
    ('[{"path": "/", "handler": "respnd"}]', 38, "respnd"),
    ('[{"path": "/", "handler": "respond"}, {"path": "/", "handler": "echo"}]', 50, "'/': it is there twice"),
]


@test("routes that are wrong are refused at the place where they are")
def routes_refused():
    for text, column, says in ROUTES:
        with folder(a='{"routes": ' + text + "}"):
            _, error = check("--config", "a.json", expect=4)
            assert f"a.json:1:{column}: " in error and says in error, (text, error)
            assert "1 problem\n" in error, error


@test("all that is wrong with routes is said at once, and so is all that they lack")
def routes_refused_together():
    bad = [{"path": "x", "handler": "respnd"}, {"path": "/a", "handler": "echo"}, {"path": "/a", "handler": "spin"}]
    with folder(a={"protocol": "http1", "routes": bad}):
        _, error = check("--config", "a.json", expect=4)
        assert "3 problems" in error and "respnd" in error and "spin:US" in error, error
    gone = [{"path": path, "handler": "static:" + name} for path, name in (("/a", "one"), ("/b", "two"), ("/c", "one"))]
    with folder(a={"protocol": "http1", "routes": gone}):
        _, error = check("--config", "a.json", expect=4)
        assert error.count("one") == 1 and "two" in error and "a.json: " in error, error
        check("--config", "a.json", "--handler", "echo")


@test("handler or routes answer, whichever is said last; both in one file is an error")
def handler_or_routes():
    routes = [{"path": "/", "handler": "echo"}]
    with folder(a={"routes": routes}, b={"handler": "respond"}, c={"routes": routes, "handler": "echo"}):
        config, _ = check("--config", "b.json", "--config", "a.json")
        assert json.loads(config["routes"][0]) == routes and "handler" not in config
        config, _ = check("--config", "a.json", "--config", "b.json")
        assert config["handler"] == ("respond", "b.json") and "routes" not in config
        config, _ = check("--config", "a.json", "--handler", "echo")
        assert config["handler"] == ("echo", "flag") and "routes" not in config
        _, error = check("--config", "c.json", expect=4)
        assert "'handler' and 'routes' both say what answers" in error and "c.json" in error, error


@test("what has no effect is refused as it is on the command line, unless a higher layer took its effect away")
def without_effect():
    with folder(tls={"tls_cert": "gone.pem", "tls_key": "gone.key"}, on={"tls": True}, off={"tls": False},
                head={"http_head_max": "4KiB"}, bare={"request_bytes": 5}):
        _, error = check("--config", "tls.json", expect=4)
        assert "tls.json: 'tls_cert' has no effect without --tls" in error, error
        _, error = check("--config", "http", "--config", "tls.json", expect=4)
        assert "tls.json: 'tls_cert' has no effect without --tls" in error, error
        check("--config", "tls.json", "--config", "off.json")
        check("--config", "tls.json", "--no-tls")
        _, error = check("--config", "tls.json", "--config", "on.json", expect=4)
        assert "cannot read" in error and "gone." in error, error
        _, error = check("--config", "head.json", expect=4)
        assert "head.json: 'http_head_max' has no effect without --protocol http1" in error, error
        _, error = check("--config", "bare.json", expect=4)
        assert "bare.json: 'request_bytes' has no effect without --bare" in error, error


TOGETHER = [
    (("--tls-min", "1.3"), "--tls-min has no effect without --tls"),
    (("--http-scan", "scalar"), "--http-scan has no effect without --protocol http1"),
    (("--tls", "--tls-min", "1.3", "--tls-max", "1.2"), "--tls-min 1.3 is above --tls-max 1.2"),
    (("--tls", "--tls-cert", "a.pem"), "--tls-key is missing"),
    (("--tls", "--tls-cert", "gone.pem", "--tls-key", "gone.key"), "gone.pem"),
    (("--protocol", "http1", "--recv-bytes", "32KiB", "--http-head-max", "20KiB"), "more than half of --recv-bytes"),
    (("--protocol", "http1", "--recv-bytes", "1MiB", "--http-head-max", "33KiB"), "a whole number from 128 to 32768"),
    (("--protocol", "http1", "--http-line-max", "17KiB"), "more than --http-head-max"),
    (("--delivery", "flush-at:32KiB", "--send-bytes", "32KiB"), "more than half of --send-bytes"),
    (("--bare", "--tls"), "--bare answers bytes as they come from the stack; leave out --tls"),
    (("--recv-bytes", "16KiB"), "a power of two from 32768"),
    (("--protocol", "http1", "--tls", "--tls-alpn", "h2"), "--tls-alpn h2 promises what this server does not speak"),
    (("--routes", '[{"path": "/x", "handler": "echo"}]'), "a frame is a POST to '/', and no route answers that"),
    (("--stack", "epoll@eth0"), "the stack 'epoll' has no device 'eth0': use"),
    (("--stack", "uring@eth0"), "'eth0'" if "uring" in STACKS else "absent"),
    (("--stack", "dpdk@tap", "--address", "10.0.0.1/24"), "'tap' needs" if "dpdk" in STACKS else "absent"),
    (("--upstream", "127.0.0.1:1"), "--upstream (flag) has no effect: nothing answers by proxy or cache"),
    (("--bare", "--upstream", "127.0.0.1:1"), "--upstream (flag) has no effect"),
    (("--protocol", "http1", "--handler", "proxy:127.0.0.1:2", "--upstream", "127.0.0.1:1"), "has no effect"),
    (("--protocol", "http1", "--handler", "static:nowhere"), "serve: --handler: static: cannot open the folder nowhere"),
    (("--protocol", "http1", "--handler", "proxy:127.0.0.1:2;conections=3"), "did you mean 'connections'? there are"),
    (("--handler", "respnd"), "'respnd' is no handler; did you mean 'respond'?"),
    (("--config", "http", "--bare", "--protocol", "framed"), "leave out the routes of configs/http.json"),
]


@test("the longest head that may be asked for is one that a server starts with")
def longest_head():
    args = ("--protocol", "http1", "--http-head-max", "32KiB", "--http-line-max", "32KiB")
    check(*args)
    with Server(*args) as server:
        status, out, error = run("load", "--protocol", "http1", "--connect", server.address, "--path", "/" + "a" * 30000,
                                 "--warmup", "0s", "--duration", "50ms", "--connections", 1)
        assert status == 0, (status, out, error)
        server.end()


@test("what is right by itself and wrong together is refused in words")
def together():
    for args, says in TOGETHER:
        _, error = check(*args, expect=4)
        assert says in error, (args, error)


@test("a relative path begins at its file, and names what may not be read")
def paths():
    with folder(a="{}") as path:
        os.mkdir("sub")
        with open("sub/c.json", "w", encoding="utf-8") as file:
            json.dump({"tls": True, "tls_cert": "x.pem", "tls_key": "x.key"}, file)
        _, error = check("--config", "sub/c.json", expect=4)
        assert "sub/x." in error, error
        _, error = check("--config", os.path.join(path, "sub", "c.json"), expect=4)
        assert os.path.join(path, "sub", "x.") in error, error


@test("every shipped configuration is right, and --from-config makes the client that fits it")
def shipped():
    for name in SHIPPED:
        secure = name in ("tcp-tls", "https")
        args = ("--tls-insecure",) if secure else ()
        with Server("--config", name) as server:
            assert server.ready["tls"]["on"] == secure
            assert server.ready["protocol"] == ("http1" if "http" in name else "framed")
            assert server.ready["config_sources"]["delivery"] == f"configs/{name}.json"
            assert secure == ("self-signed" == server.ready["tls"].get("certificate"))
            result = load_from(server, name, *args)
            assert result["failed"] == 0 and result["completed"] > 0
            assert result["protocol"] == server.ready["protocol"] and result["tls"]["on"] == secure
            assert result["config_sources"]["protocol"] == f"configs/{name}.json"
            server.end()


def load_from(server, name, *args):
    with tempfile.TemporaryDirectory() as path:
        file = os.path.join(path, "result.json")
        status, out, error = run("load", "--from-config", name, "--connect", server.address, "--json", file, "--warmup", "20ms",
                                 "--duration", "100ms", "--connections", 4, "--depth", 4, *args)
        assert status == 0, (name, status, out, error)
        with open(file, encoding="utf-8") as text:
            return json.load(text)


@test("a plain client of a server under TLS is asked whether both speak it")
def plain_to_tls():
    with Server("--config", "https") as server:
        status, _, error = run("load", "--protocol", "http1", "--connect", server.address, "--connections", 1, "--duration", "100ms")
        assert status == 3 and "do both sides speak TLS, or neither?" in error, (status, error)
        server.end()


@test("a client of a self-signed server is told what it needs")
def self_signed():
    status, _, error = run("load", "--from-config", "tcp-tls", "--connect", f"127.0.0.1:{free_port()}")
    assert status == 4 and "take it with --tls-insecure" in error, (status, error)


@test("a client follows its server's routes, and takes its address")
def follows():
    with folder(a={"protocol": "http1", "listen": f"127.0.0.1:{free_port()}",
                   "routes": [{"path": "/small", "handler": "respond:5"},
                              {"path": "/echo", "method": ["POST"], "handler": "echo"}]}):
        with Server("--config", "a.json") as server:
            small = load_from(server, "a.json", "--path", "/small")
            assert small["config"]["handler"] == "respond:5" and small["config_sources"]["handler"] == "a.json"
            echo = load_from(server, "a.json", "--path", "/echo")
            assert echo["config"]["handler"] == "echo"
            server.end()
        status, _, error = run("load", "--from-config", "a.json", "--path", "/echo", "--request-bytes", 0)
        assert status == 4 and "no route of a.json answers GET /echo" in error, (status, error)


@test("a client is told what of its server's configuration it cannot be")
def cannot_follow():
    with folder(a={"listen": "0.0.0.0:1", "handler": "respond:1GiB"}):
        status, _, error = run("load", "--from-config", "a.json")
        assert status == 4 and "respond:1GiB" in error, (status, error)


if __name__ == "__main__":
    sys.exit(run_tests())
