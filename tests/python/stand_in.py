"""A stand-in for the window."""
import json
import socket
import struct
import threading
import time


class StandIn:
    """Listens like a window: keeps greetings and frames, and answers with `answer`."""

    def __init__(self, path="", silent=False):
        self.frames, self.greetings = [], []
        self.answered = 0  # frames
        self.silent = silent
        self.answer = None  # of the next frames; None: they are taken
        self.most_bytes = 1 << 30
        self.delay = 0  # seconds before each answer
        self.hangs_up = False  # instead of the next answer to a frame
        self.turns_away = ""  # why: instead of reading a greeting
        self.hangs_up_at_once = False  # without a word
        self.pace = None  # bytes of a frame that are taken in 10 ms; 0: none at all
        self._arrived = threading.Condition()
        self._open = []
        self._server = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self._server.bind(path or ("127.0.0.1", 0))
        self.port = 0 if path else self._server.getsockname()[1]
        self._server.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def wait(self, seconds):
        with self._arrived:
            self._arrived.wait(seconds)

    def close(self):
        for each in [self._server, *self._open]:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        try:
            if self.hangs_up_at_once:
                return connection.close()
            if self.turns_away:
                self._say(connection, {"error": self.turns_away, "busy": True})
                return connection.close()
            with connection.makefile("rb") as file:
                magic, version, length = struct.unpack("<8sII", file.read(16))
                self.greetings.append((magic, version, file.read(length).decode()))
                self._say(connection, {"version": version, "most_bytes": self.most_bytes})
                while head := file.read(8):
                    frame = self._frame(file, struct.unpack("<Q", head)[0])
                    with self._arrived:
                        self.frames.append(frame)
                        self._arrived.notify()
                    if self.hangs_up:
                        self.hangs_up = False
                        time.sleep(self.delay)
                        return connection.shutdown(socket.SHUT_RDWR)
                    self._say(connection, self.answer or {"step": len(self.frames) - 1})
                    self.answered += 1
        except (OSError, ValueError, struct.error):
            pass

    def _frame(self, file, length):
        if self.pace is None:
            return file.read(length)
        frame = b""
        while len(frame) < length:
            frame += file.read(min(self.pace, length - len(frame)))
            time.sleep(0.01)
        return frame

    def _say(self, connection, answer):
        if self.silent:
            return
        time.sleep(self.delay)
        text = json.dumps(answer).encode()
        connection.sendall(struct.pack("<Q", len(text)) + text)
