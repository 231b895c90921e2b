"""A server for the tests of clients: starts `LAPILLI serve` on a free port and ends it."""
import subprocess


class Served:
    def __init__(self, lapilli, *arguments):
        self.process = subprocess.Popen([lapilli, "serve", "--port", "0", "--quiet", *arguments],
                                        stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        code = self.process.wait(timeout=20)
        assert code == 0, f"the server ended with {code}"
