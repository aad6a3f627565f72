"""The wire between hone and its Python helpers: their texts run behind this one, in one process without files."""
import os

CONTROL = 3  # the socket


def receive(size):
    data = bytearray()
    while len(data) < size:
        chunk = os.read(CONTROL, size - len(data))
        if not chunk:
            os._exit(0)  # the caller is gone
        data += chunk
    return data


def send(data):
    while data:
        data = data[os.write(CONTROL, data):]


