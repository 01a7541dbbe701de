"""Runs a command on a terminal of its own: python3 terminal.py '<json: [argv, [[prompt, answer], ...]]>'.

Waits for each prompt, types its answer, prints all that the terminal showed, and ends with the command's status.
An answer of null is Ctrl-C.
"""
import json, os, pty, select, signal, sys, time

argv, dialogue = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(argv[0], argv)
shown = b""
unseen = b""
deadline = time.time() + 20
while time.time() < deadline:
    ready, _, _ = select.select([terminal], [], [], 0.1)
    if ready:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
        unseen += chunk
    if dialogue and dialogue[0][0].encode() in unseen:
        _, answer = dialogue.pop(0)
        unseen = b""
        time.sleep(0.1)
        os.write(terminal, b"\x03" if answer is None else answer.encode() + b"\r")
if time.time() >= deadline:
    os.kill(pid, signal.SIGKILL)
sys.stdout.buffer.write(shown)
sys.stdout.flush()
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) if not dialogue else 99)
