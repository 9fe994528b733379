"""A real mail server for tests: aiosmtpd with TLS and a login. The recipient's
name decides how it behaves. Every message is parsed with Python's email package
and appended to a file as a line of JSON.

usage: server.py FOLDER PORT starttls|tls|plain
FOLDER holds cert.pem and key.pem; received.jsonl is written there."""
import asyncio, email, email.policy, json, os, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult

folder, port, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
out = open(os.path.join(folder, "received.jsonl"), "a")
seen = set()


def first(address):
    """Reports whether the address is new."""
    if address in seen:
        return False
    seen.add(address)
    return True


class TestServer(SMTP):
    async def smtp_DATA(self, arg):
        to = self.envelope.rcpt_tos[0] if self.envelope.rcpt_tos else ""
        if to.startswith("cut") and first(to):
            await self.push("354 go on")
            await asyncio.sleep(0.05)
            self.transport.abort()
            return
        await super().smtp_DATA(arg)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("no"):
            return f"550 5.1.1 <{address}>: no such mailbox"
        if address.startswith("grey") and first(address):
            return "450 4.2.0 come back later"
        if address.startswith("full"):
            return "452 4.2.2 mailbox full"
        if address.startswith("bye") and first(address):
            return "421 4.7.0 too much from you"
        if address.startswith("hang") and first(address):
            await asyncio.sleep(600)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        to = envelope.rcpt_tos[0]
        if to.startswith("spam"):
            return "554 5.7.1 this looks like spam"
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        part = lambda kind: next((p.get_content().replace("\r\n", "\n") for p in message.walk() if p.get_content_type() == kind), "")
        header = lambda name: str(message[name] or "")
        defects = [str(d) for p in message.walk() for d in p.defects]
        defects += [f"{name}: {d}" for name, value in message.items() for d in getattr(value, "defects", ())]
        lines = envelope.content.split(b"\r\n")
        json.dump({
            "envelope_from": envelope.mail_from, "envelope_to": envelope.rcpt_tos, "options": envelope.mail_options,
            "tls": server.transport.get_extra_info("ssl_object") is not None, "user": (session.auth_data or b"").decode() if session.authenticated else "",
            "message_id": header("message-id"), "subject": header("subject"), "date": header("date"), "from": header("from"),
            "reply_to": header("reply-to"), "to": header("to"), "language": header("content-language"),
            "auto_submitted": header("auto-submitted"), "headers": [name.lower() for name in message.keys()],
            "text": part("text/plain"), "html": part("text/html"), "defects": defects,
            "longest_line": max(map(len, lines)), "plain_letters": all(c < 128 for c in envelope.content),
        }, out)
        out.write("\n")
        out.flush()
        if to.startswith("deaf") or to.startswith("mute") and first(to):
            server.transport.abort()
        return "250 2.0.0 taken"


def login(server, session, envelope, mechanism, data):
    ok = data.login == b"landfall" and data.password == b"s3cret, of course"
    return AuthResult(success=ok, auth_data=data.login) if ok else AuthResult(success=False, handled=False)


async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem"))
    encrypted = mode != "plain"

    def factory():
        return TestServer(Handler(), hostname="mail.test", enable_SMTPUTF8=True, timeout=60,
                     tls_context=context if mode == "starttls" else None, require_starttls=mode == "starttls",
                     authenticator=login if encrypted else None, auth_required=encrypted, auth_require_tls=mode == "starttls",
                     auth_exclude_mechanism=os.environ.get("EXCLUDE", "").split())

    server = await asyncio.get_running_loop().create_server(factory, "127.0.0.1", port, ssl=context if mode == "tls" else None)
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
