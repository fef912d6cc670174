#!/usr/bin/python3
"""weir's reading of HTTP/1.1 against that of nginx, haproxy, node and python3-h11, on a generated grid of bytes.

Usage: http_differential_test.py WEIR [WORD...]; with --list it prints the differences in groups, as Markdown, in place of tests.

Each case is one request, mostly malformed, with another behind it that asks for the end. What a server makes of the
two is the list of the codes that it answers. weir may refuse what others take; it may never take what one of them
refuses, nor see other requests than they do. Peers that are not installed are left out, and said so.
"""

import asyncio
import concurrent.futures
import contextlib
import datetime
import functools
import re
import shutil
import subprocess
import sys
import tempfile

LIST = "--list" in sys.argv
if LIST:
    sys.argv.remove("--list")
# pylint: disable=wrong-import-position
from processes import Server, Skip, free_port, run_tests, test  # noqa: E402

try:
    import h11
except ImportError:
    h11 = None

IDLE_S = 0.25  # after which a server that answers nothing waits for more
SURE_S = 5  # after which one does whose silence would count
AT_ONCE = 24
LAST = b"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
NGINX = """
daemon off; master_process off; pid %(folder)s/nginx.pid; error_log %(folder)s/error.log;
events { worker_connections 512; }
http {
  access_log off; client_body_temp_path %(folder)s; proxy_temp_path %(folder)s; fastcgi_temp_path %(folder)s;
  uwsgi_temp_path %(folder)s; scgi_temp_path %(folder)s;
  server { listen 127.0.0.1:%(port)d; location / { return 200 "ok"; } }
}
"""
HAPROXY = """
global
  maxconn 512
defaults
  mode http
  timeout client 5s
  timeout http-request 5s
  timeout server 5s
  timeout connect 5s
frontend f
  bind 127.0.0.1:%(port)d
  http-request wait-for-body time 2s if { req.body_size gt 0 } or { req.hdr(transfer-encoding) -m found }
  http-request return status 200 content-type text/plain string ok
"""
NODE = """
const http = require('http');
http.createServer((request, response) => {
  request.on('data', () => {});
  request.on('end', () => response.end('ok'));
}).listen(%(port)d, '127.0.0.1', () => console.log('ready'));
"""


# --- the grid ---


def post(fields, body=b"hello"):
    return b"POST / HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n\r\n" + body


def chunked(body):
    return post(b"Transfer-Encoding: chunked", body)


def lengths():
    """Content-Length in every form that was ever misread."""
    values = [b"5", b"05", b"005", b"+5", b"-5", b"-1", b"0x5", b"5_", b"1_0", b"5 5", b"5,5", b"5, 5", b"5;5", b"",
              b" ", b"5\t", b"\t5", b"5\x0b", b"\x0b5", b"5\x00", b"5a", b"a5", b"5.0", b"5e0", b"\xb2",
              b"18446744073709551616", b"18446744073709551621", b"9223372036854775808", b"4294967301",
              b"99999999999999999999999999", b'"5"', b"'5'", b"five", b"5\r\n", b"5\r\n "]
    for value in values:
        yield "length", post(b"Content-Length: " + value)
    for fields in (b"Content-Length: 5\r\nContent-Length: 5", b"Content-Length: 5\r\nContent-Length: 6",
                   b"Content-Length: 6\r\nContent-Length: 5", b"Content-Length: 5\r\ncontent-length: 0",
                   b"Content-Length : 5", b" Content-Length: 5", b"Content-Length\t: 5", b"Content-Length:5",
                   b"Content_Length: 5", b"Content-Length\x00: 5", b"Content-Length: 5\r\nX: y\r\n\tz",
                   b"X: y\r\n Content-Length: 5", b"\x0bContent-Length: 5", b"Content-Length\x0b: 5"):
        yield "length", post(fields)


def codings():
    """Transfer-Encoding likewise, alone and beside a length."""
    body = b"5\r\nhello\r\n0\r\n\r\n"
    values = [b"chunked", b"Chunked", b"CHUNKED", b"xchunked", b"chunkedx", b"chunked ", b" chunked", b"chunked\t",
              b"chunked\x0b", b"\x0bchunked", b"chunked\x00", b"chunked,", b",chunked", b"chunked, chunked",
              b"chunked,chunked", b"identity", b"gzip", b"gzip, chunked", b"chunked, gzip", b"chunked, identity",
              b"identity, chunked", b"chunked;q=1", b"chunked;a", b'"chunked"', b"'chunked'", b"chun ked", b"",
              b"chunked\r\n ", b"\r\n chunked", b"cow", b"chunked, cow", b"cow, chunked", b"\tchunked", b"\t chunked", b"chunked \t",
              b"chunked\x7f", b"chunked\x80", b"chunked\xa0", b"c\x00hunked", b"chunked, ", b", chunked", b",", b"trailers",
              b"trailers, chunked", b"deflate", b"compress, chunked", b"chunked\r", b"Identity", b"identity\t", b"chunke", b"hunked"]
    for value in values:
        yield "coding", post(b"Transfer-Encoding: " + value, body)
    for fields in (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                   b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
                   b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
                   b"Transfer-Encoding : chunked", b" Transfer-Encoding: chunked", b"Transfer-Encoding\t: chunked",
                   b"Transfer_Encoding: chunked", b"Transfer-Encoding:chunked", b"X: y\r\n Transfer-Encoding: chunked",
                   b"Transfer-Encoding\x00: chunked", b"Transfer-Encoding\r\n: chunked"):
        yield "coding", post(fields, body)
    for length in (b"0", b"5", b"15", b"3"):
        for value in (b"chunked", b"identity", b"xchunked", b"chunked, identity"):
            yield "both", post(b"Content-Length: " + length + b"\r\nTransfer-Encoding: " + value, body)
            yield "both", post(b"Transfer-Encoding: " + value + b"\r\nContent-Length: " + length, body)
    old = b"POST / HTTP/1.0\r\nHost: a\r\n"
    yield "coding", old + b"Transfer-Encoding: chunked\r\n\r\n" + body
    yield "coding", old + b"Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + body


def chunks():
    """Sizes, extensions, ends and trailers of chunks."""
    sizes = [b"5", b"05", b"0000000000000005", b"00000000000000005", b"0x5", b"0X5", b"+5", b"-5", b"-0", b"5_", b"5 ",
             b" 5", b"\t5", b"5\t", b"5\x00", b"5\x0b", b"", b"g", b"5g", b"5;", b"5;a", b"5;a=b", b'5;a="b"', b"5 ;a",
             b"5; a=b", b"5;a\x00", b"5;\n", b"5;a\r", b"5\r", b"5,", b"ffffffffffffffff", b"10000000000000005",
             b"fffffffffffffff5", b"8000000000000005", b"5;" + b"a" * 200]
    for size in sizes:
        yield "chunk", chunked(size + b"\r\nhello\r\n0\r\n\r\n")
    for body in (b"5\nhello\r\n0\r\n\r\n", b"5\rhello\r\n0\r\n\r\n", b"5\r\nhello\n0\r\n\r\n", b"5\r\nhello0\r\n\r\n",
                 b"5\r\nhello\r0\r\n\r\n", b"5\r\nhelloX\r\n0\r\n\r\n", b"5\r\nhell\r\n0\r\n\r\n", b"5\r\nhello\rX0\r\n\r\n",
                 b"5\r\nhello\r\n\r\n0\r\n\r\n", b"5\r\nhello\r\n0\n\r\n", b"5\r\nhello\r\n0\r\n\n",
                 b"5\r\nhello\r\n0\r\n\r", b"5\r\nhello\r\n00\r\n\r\n", b"5\r\nhello\r\n0;a\r\n\r\n",
                 b"5\r\nhello\r\n0\r\nA: b\r\n\r\n", b"5\r\nhello\r\n0\r\nA : b\r\n\r\n", b"5\r\nhello\r\n0\r\nA\r\n\r\n",
                 b"5\r\nhello\r\n0\r\n: b\r\n\r\n", b"5\r\nhello\r\n0\r\nA: b\n\r\n", b"5\r\nhello\r\n0\r\nA: b\x00\r\n\r\n",
                 b"5\r\nhello\r\n0\r\n A: b\r\n\r\n", b"0\r\n\r\n",
                 b"\r\n0\r\n\r\n", b"5\r\nhello\r\n-0\r\n\r\n", b"5\r\nhello\r\n0 \r\n\r\n",
                 b"3\r\nhel\r\n02\r\nlo\r\n0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n\r\n"):
        yield "chunk", chunked(body)


def extensions():
    for text in (b";a=", b";=b", b";a==b", b";a;", b";;a", b";a=b;c=d", b";a = b", b";a= b", b";a =b", b"; a", b" ; a", b";\ta",
                 b"\t;a", b";a\t", b";a ", b';a="', b';a="b', b';a="b"c', b';a="b\\"c"', b';a="b\\', b';a="b\rc"',
                 b';a="b\nc"', b';a="\r\n"', b';a="\x00"', b';a="\x80"', b';a="\t"', b";a=\xff", b";\xff", b";a=b\rc", b";a=b\nc",
                 b";a=b\x00", b";a=b\x7f", b";a(=b", b";a=(b)", b";a=b,c", b":a", b"=a", b"/a", b'"a"', b";a\r\r\n"):
        yield "extension", chunked(b"5" + text + b"\r\nhello\r\n0\r\n\r\n")
        yield "extension", chunked(b"5\r\nhello\r\n0" + text + b"\r\n\r\n")


def trailers():
    for lines in (b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Host: b", b"content-LENGTH: 0", b"Content-Length : 5",
                  b"Trailer: a", b"Connection: close", b"A:", b"A:b", b"A:\tb\t", b"A: b\r\n c", b"A: b\r\n\tc", b"A: b\r\n ",
                  b"\tA: b", b"A\tB: c", b"A\x00: b", b"A: \x7f", b"A: \xff", b"A: b\rc", b"A: b\nC: d", b"A\n: b", b"A\r\n: b",
                  b"A(: b", b"\xff: b", b"A", b"A=b", b"GET / HTTP/1.1", b"A: " + b"b" * 200, b"A: b\r\nA: b"):
        yield "trailer", chunked(b"5\r\nhello\r\n0\r\n" + lines + b"\r\n\r\n")


def mixtures():
    """Fields that say something together, by names in any case and in either version."""
    body = b"5\r\nhello\r\n0\r\n\r\n"
    names = [(b"Content-Length", b"Transfer-Encoding"), (b"CONTENT-LENGTH", b"transfer-encoding"),
             (b"cOnTeNt-LeNgTh", b"TRANSFER-ENCODING"), (b"content-length", b"tRANSFER-eNCODING")]
    for length, coding in names:
        for value in (b"chunked", b"Chunked", b"chunked "):
            for first, second in ((length + b": 5", coding + b": " + value), (coding + b": " + value, length + b": 5")):
                yield "both", post(first + b"\r\n" + second, body)
                yield "both", post(first + b"\r\nX: y\r\n" + second, body)
    for version in (b"1.0", b"1.1"):
        start = b"POST / HTTP/" + version + b"\r\nHost: a\r\n"
        for option in (b"keep-alive", b"close", b"keep-alive, close", b"close, keep-alive", b"Keep-Alive", b"transfer-encoding",
                       b"content-length", b"keep-alive\r\nConnection: close", b"close\r\nConnection: keep-alive",
                       b"keep-alive\r\nConnection: keep-alive", b"", b",", b",close", b"close,", b"close;a", b"upgrade",
                       b"keep-alive\r\nKeep-Alive: timeout=5"):
            fields = start + b"Connection: " + option
            yield "connection", fields + b"\r\nContent-Length: 5\r\n\r\nhello"
            yield "connection", fields + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + body
            yield "connection", fields + b"\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + body
        for value in (b"100-continue", b"100-Continue", b"100-continue ", b"100-continue, a", b"100-continue;a", b"100", b"a", b"",
                      b"200-ok", b"100-continue\r\nExpect: 100-continue", b"a=b", b"\t100-continue"):
            yield "expect", start + b"Expect: " + value + b"\r\nContent-Length: 5\r\n\r\nhello"
            yield "expect", start + b"Expect: " + value + b"\r\n\r\n"
        for value in (b"h2c", b"websocket", b"HTTP/2.0, h2c", b"a", b""):
            fields = b"GET / HTTP/" + version + b"\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: " + value
            yield "upgrade", fields + b"\r\n\r\n"
            yield "upgrade", fields + b"\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"


def bodies():
    """Lengths and chunks with every method, of which some seldom have a body."""
    for method in (b"GET", b"HEAD", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"CONNECT"):
        target = b"a:80" if method == b"CONNECT" else b"/"
        start = method + b" " + target + b" HTTP/1.1\r\nHost: a\r\n"
        yield "body", start + b"\r\n"
        yield "body", start + b"Content-Length: 0\r\n\r\n"
        yield "body", start + b"Content-Length: 5\r\n\r\nhello"
        yield "body", start + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        yield "body", start + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    for text in (b"\r\n", b"\r\n\r\n", b"\n", b"\r", b" ", b"\t", b"\x00", b"\r\n ", b"hello"):
        yield "between", post(b"Content-Length: 5") + text
        yield "between", chunked(b"5\r\nhello\r\n0\r\n\r\n") + text


def versions():
    for version in (b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/1.9", b"HTTP/1.10", b"HTTP/1.32", b"HTTP/01.1",
                    b"HTTP/1.01", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/9.9", b"HTTP/3", b"HTTP/1", b"HTTP/", b"HTTP/1.",
                    b"HTTP/.1", b"HTTP/1,1", b"HTTP/11", b"http/1.1", b"Http/1.1", b"HTTP 1.1", b"HTTPS/1.1", b"ICE/1.0",
                    b"RTSP/1.0", b"HTTP/4294967297.1", b"HTTP/-1.1", b"HTTP/+1.1", b"HTTP/1.1x", b"XHTTP/1.1", b""):
        yield "version", b"GET / " + version + b"\r\nHost: a\r\n\r\n"
    yield "version", b"GET /\r\n\r\n"
    yield "version", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def hosts():
    for fields in (b"Host: a", b"Host: a:80", b"Host: [::1]", b"Host: [::1]:80", b"Host:", b"Host: ", b"Host: a b",
                   b"Host: a,b", b"Host: a/b", b"Host: a@b", b"Host: a?b", b"Host: a#b", b"Host: a\\b", b"Host: a:b",
                   b"Host: a:80:80", b"Host: a:-1", b"Host: a:99999999", b"Host: \x00", b"Host: a\x00", b"Host: \xff",
                   b"Host: a\r\nHost: a", b"Host: a\r\nHost: b", b"Host: a\r\nhost: a", b"Host : a", b" Host: a",
                   b"Host\x00: a", b"X: y", b"Host: a\r\n b", b"Host: [::1", b"Host: ::1]", b"Host: a:", b"Host:\ta",
                   b"Host: a\t", b"Host:\t a \t", b"Host:  a  ", b"hOST: a", b"Host: a%41", b"Host: a%", b"Host: [::1]a",
                   b"Host: *", b"Host: .", b"Host: -", b"Host: a..b", b"Host: a:0", b"Host: a:65536", b"Host: \x7f", b"Host: a;b",
                   b"Host: http://a", b"Host: a'", b"Host: a\"b", b"Host: a<b>", b"Host: a|b", b"Host: a^b", b"Host: [v1.a]"):
        for target in (b"/", b"http://a/", b"http://a:80/", b"http://b/"):
            yield "host", b"GET " + target + b" HTTP/1.1\r\n" + fields + b"\r\n\r\n"
        yield "host", b"GET / HTTP/1.0\r\n" + fields + b"\r\n\r\n"


def targets():
    for target in (b"/", b"*", b"a", b"", b"http://a/", b"http://a", b"http://b/", b"http:///", b"http://a b/", b"a:80",
                   b"/%", b"/%z", b"/%00", b"/%41", b"/\xff", b"/#", b"/a#b", b"/?a#b", b"//", b"/../", b"/a\\b", b"/\"", b"/<",
                   b"/{", b"/|", b"/^", b"/`", b"ftp://a/", b"HTTP://a/", b"http://u@a/", b"?"):
        yield "target", b"GET " + target + b" HTTP/1.1\r\nHost: a\r\n\r\n"
    for method in (b"GET", b"get", b"G=", b"G\x00", b"", b"GET,", b"X" * 40, b"CONNECT", b"OPTIONS", b"TRACE", b"PUT",
                   b"\xff", b"G(T", b"PATCH"):
        yield "method", method + b" / HTTP/1.1\r\nHost: a\r\n\r\n"


def insertions():
    """Every awkward byte at every position, and in place of the byte there."""
    text = b"GET /a HTTP/1.1\r\nHost: a\r\nX-Y: z\r\n\r\n"
    for byte in (b" ", b"\t", b"\r", b"\n", b"\x00", b"\x0b", b"\x0c", b"\x1f", b"\x7f", b"\x80", b":", b","):
        for at in range(len(text) + 1):
            yield "inserted", text[:at] + byte + text[at:]
            if at < len(text) and text[at:at + 1] != byte:
                yield "replaced", text[:at] + byte + text[at + 1:]


@functools.cache
def cases():
    """{bytes: its group}"""
    grid = {}
    for group in (lengths, codings, chunks, extensions, trailers, mixtures, bodies, versions, hosts, targets, insertions):
        for name, data in group():
            grid.setdefault(data, name)
    return grid


# --- the peers ---


def codes_of(data):
    """The codes of a stream of answers whose bodies have no line that looks like a status line."""
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3})[ \r]", data) if code != b"100"]


async def ask(port, data, idle_s):
    """(the codes that a server answers to a case, whether it ended the connection within our patience)"""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer, ended = b"", True
    try:
        writer.write(data + LAST)
        await writer.drain()
        while piece := await asyncio.wait_for(reader.read(65536), idle_s):
            answer += piece
    except asyncio.TimeoutError:
        ended = False
    except OSError:
        pass
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return codes_of(answer), ended


async def ask_all(port, in_doubt):
    """{case: codes}; silence behind codes that are `in_doubt` of a case is looked at twice, for a host may be busy."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(data, idle_s):
        async with gate:
            return await ask(port, data, idle_s)

    async def some(those, idle_s):
        return dict(zip(those, await asyncio.gather(*(one(data, idle_s) for data in those))))

    found = await some(list(cases()), IDLE_S)
    silent = [data for data, (codes, ended) in found.items() if not ended and in_doubt(data, codes)]
    found |= await some(silent, SURE_S)
    return {data: codes for data, (codes, _) in found.items()}


def over_socket(port, in_doubt):
    return asyncio.run(ask_all(port, in_doubt))


def by_h11(data):
    """The same of h11, which has no sockets."""
    connection = h11.Connection(h11.SERVER)
    codes = []
    connection.receive_data(data + LAST)
    try:
        while True:
            event = connection.next_event()
            if event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
                if event is h11.PAUSED and connection.our_state is h11.DONE:
                    connection.start_next_cycle()
                    continue
                return codes
            if isinstance(event, h11.EndOfMessage):
                codes.append(200)
                connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
                connection.send(h11.EndOfMessage())
    except h11.RemoteProtocolError as error:
        return [*codes, error.error_status_hint]
    except h11.LocalProtocolError:
        return codes  # the end that was asked for


@contextlib.contextmanager
def started(command, port, **options):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options) as process:
        try:
            asyncio.run(await_port(port, process))
            yield
        finally:
            process.terminate()
            process.wait(10)


async def await_port(port, process):
    for _ in range(500):
        assert process.poll() is None, f"{process.args[0]} ended with {process.returncode}"
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{process.args[0]} does not listen")


def of_file(template, name, command, in_doubt):
    """A peer whose configuration is a file."""
    with tempfile.TemporaryDirectory(prefix="weir-peer-") as folder:
        port = free_port()
        path = f"{folder}/{name}"
        with open(path, "w", encoding="ascii") as file:
            file.write(template % {"port": port, "folder": folder})
        with started([*command, path], port):
            return over_socket(port, in_doubt)


# {peer: (its package, what asks it)}
PEERS = {
    "nginx": ("nginx-light", functools.partial(of_file, NGINX, "nginx.conf", ["nginx", "-c"])),
    "haproxy": ("haproxy", functools.partial(of_file, HAPROXY, "haproxy.cfg", ["haproxy", "-f"])),
    "node": ("nodejs", functools.partial(of_file, NODE, "server.js", ["node"])),
}


def ask_weir():
    """Its silence is always in doubt: taken for the refusal that it may not be, it would hide what weir takes."""
    with Server("--protocol", "http1", "--handler", "respond:2", "--conn-max", "4096") as server:
        found = over_socket(server.port, lambda data, codes: True)
        server.end()
    return found


def ask_peer(name, mine):
    """A peer's silence counts where weir answered `mine`, unless they may differ."""
    def in_doubt(data, codes):
        return taken(codes) == len(codes) < taken(mine[data]) and (LIST or not is_allowed(name, data))
    return PEERS[name][1](in_doubt)


@functools.cache
def answers():
    """{peer: {case: codes}} of the peers that are installed, weir among them; they are asked side by side."""
    found = {"weir": ask_weir()}
    here = [name for name in PEERS if shutil.which(name)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        found |= dict(zip(here, pool.map(lambda name: ask_peer(name, found["weir"]), here)))
    if h11:
        found["h11"] = {data: by_h11(data) for data in cases()}
    return found


REFUSALS = (400, 408, 411, 413, 414, 417, 422, 431, 501, 505)


def taken(codes):
    """How many requests were understood: answers before the first that says the request was not."""
    return next((number for number, code in enumerate(codes) if code in REFUSALS), len(codes))


def differences(peer):
    """[(group, case, weir's codes, the peer's)] where the two do not understand the same requests."""
    mine, theirs = answers()["weir"], answers()[peer]
    return [(cases()[data], data, mine[data], theirs[data]) for data in cases()
            if taken(mine[data]) != taken(theirs[data])]


# Where weir takes what a peer refuses, and why that is right: (peer, what is in the case's bytes, why).
ALLOWED = [
    ("nginx", rb"^GET /\.\./ ", "a path is the handler's; `static` never leaves its folder"),
    ("nginx", rb"^TRACE / ", "both refuse it with 405; nginx ends the connection, too"),
    ("nginx", rb"\nConnection: close;a\r\n", "RFC 9110 section 7.6.1: no option `close`; nginx looks for the letters"),
    ("nginx", rb"\nHost: (\.|a\.\.b)\r\n", "RFC 3986 section 3.2.2: a name's labels may be empty; weir looks no name up"),
    ("haproxy", rb"^GET http://", "RFC 9112 section 3.2.2: the Host field is ignored beside an absolute-form"),
    ("haproxy", rb"\nUpgrade: websocket\r\n", "RFC 9110 section 7.8: weir upgrades to nothing, so it asks no key for it"),
    ("node", rb"\nUpgrade: ", "the same; node waits for what would follow an upgrade"),
    ("node", rb" HTTP/1\.0\r\n", "both end behind it; node calls what follows an error, or ends where keep-alive is asked for"),
    ("node", rb"\nConnection: [^\r]*close", "both end behind it; node calls what follows an error"),
    ("h11", rb" HTTP/1\.0\r\n", "h11 keeps no connection of HTTP/1.0, and calls what follows an error"),
    ("h11", rb"(\r\n\r\nhello|\n0\r\n\r\n)\r\n$", "RFC 9112 section 2.2: an empty line before a request line is passed over"),
]


def is_allowed(peer, data):
    return any(peer == name and re.search(part, data) for name, part, _ in ALLOWED)


def both_refuse(mine, theirs):
    """Whether each finds an error in the bytes. Node drops the answers that it owes before it."""
    return any(code in REFUSALS for code in mine) and any(code in REFUSALS for code in theirs)


def lenient(peer):
    """The differences in which weir takes more than the peer does."""
    return [one for one in differences(peer) if taken(one[2]) > taken(one[3])
            and not (peer == "node" and both_refuse(one[2], one[3]))
            and not is_allowed(peer, one[1])]


def judge(peer, package):
    if peer not in answers():
        raise Skip(f"there is no {peer}; install {package}")
    wrong = lenient(peer)
    assert not wrong, "\n".join([f"{len(wrong)} cases"] + [f"{group}: {data!r}: weir {mine}, {peer} {theirs}"
                                                          for group, data, mine, theirs in wrong[:20]])


for _peer, _package in {**{name: package for name, (package, _) in PEERS.items()}, "h11": "python3-h11"}.items():
    test(f"weir takes no request that {_peer} refuses or reads otherwise")(functools.partial(judge, _peer, _package))


@test("the grid is as large as it should be, and weir answers both requests of a sound case")
def grid_is_sound():
    assert len(cases()) > 1000, len(cases())
    sound = [post(b"Content-Length: 5"), chunked(b"5\r\nhello\r\n0\r\n\r\n"), b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"]
    for data in sound:
        assert answers()["weir"][data] == [200, 200], (data, answers()["weir"][data])


VERSIONS = {
    "nginx": ["nginx", "-v"], "haproxy": ["haproxy", "-v"], "node": ["node", "--version"],
    "h11": [sys.executable, "-c", "import h11; print(h11.__version__)"],
}


def version(peer):
    done = subprocess.run(VERSIONS[peer], capture_output=True, check=True, text=True)
    return re.search(r"\d+\.\d+\.\d+\S*", done.stdout + done.stderr)[0]


def reading(codes):
    return ", ".join(map(str, codes)) or "nothing"


def kinds(peer):
    """{(group, weir's reading, the peer's): [cases]}"""
    found = {}
    for group, data, mine, theirs in differences(peer):
        found.setdefault((group, reading(mine), reading(theirs)), []).append(data)
    return found


def print_differences():
    """Markdown: a table a peer, of groups of cases that came to the same."""
    print(f"{len(cases())} cases, {datetime.date.today()}.\n")
    for peer in answers():
        if peer == "weir":
            continue
        found = differences(peer)
        more = [one for one in found if taken(one[2]) > taken(one[3])]
        print(f"## {peer} {version(peer)}\n\n{len(found)} differences; weir takes more in {len(more)}.\n")
        print(f"| group | weir | {peer} | cases | the shortest |\n|---|---|---|---:|---|")
        for (group, mine, theirs), those in sorted(kinds(peer).items()):
            text = repr(min(those, key=len))[2:-1].replace("|", "\\|").replace("`", "'")
            print(f"| {group} | {mine} | {theirs} | {len(those)} | `{text}` |")
        print()


if __name__ == "__main__":
    if LIST:
        print_differences()
        sys.exit(0)
    sys.exit(run_tests())
