"""wyoming_client.py LAPILLI DATA: Wyoming's own client against a server with a speech model (LAPILLI_EAR: its directory;
otherwise a small one of DATA without words). Ends with 77 where the client is not installed (pip install wyoming)."""
import asyncio
import os
import subprocess
import sys
import wave

try:
    from wyoming.asr import Transcribe, Transcript
    from wyoming.audio import AudioChunk, AudioStart, AudioStop
    from wyoming.client import AsyncTcpClient
    from wyoming.info import Describe, Info
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

LAPILLI, DATA = sys.argv[1:3]
EAR = os.environ.get("LAPILLI_EAR", f"{DATA}/models/whisper-long/model")
SOUND = os.environ.get("LAPILLI_EAR_SOUND", f"{DATA}/models/whisper-long/audio/long.wav")


async def heard(client, kind):
    while event := await client.read_event():
        assert event.type != "error", event.data
        if kind.is_type(event.type):
            return kind.from_event(event)
    raise AssertionError("the connection ended")


async def main(port):
    with wave.open(SOUND) as sound:
        rate, width, channels = sound.getframerate(), sound.getsampwidth(), sound.getnchannels()
        pcm = sound.readframes(sound.getnframes())
    async with AsyncTcpClient("127.0.0.1", port) as client:
        await client.write_event(Describe().event())
        info = await heard(client, Info)
        assert info.asr[0].models[0].name == "ear" and info.asr[0].supports_transcript_streaming
        texts = []
        for _ in range(2):
            await client.write_event(Transcribe(language="en").event())
            await client.write_event(AudioStart(rate, width, channels).event())
            for at in range(0, len(pcm), 4096):
                await client.write_event(AudioChunk(rate, width, channels, pcm[at:at + 4096]).event())
            await client.write_event(AudioStop().event())
            texts.append((await heard(client, Transcript)).text)
        assert texts[0] == texts[1], texts
        await client.write_event(AudioStop().event())
        assert (await heard(client, Transcript)).text == ""
        print(texts[0])
        if "LAPILLI_EAR" in os.environ:
            told = subprocess.run([LAPILLI, "transcribe", "-q", "--model", EAR, SOUND], capture_output=True, text=True)
            assert " ".join(told.stdout.split()) == " ".join(texts[0].split()), (told.stdout, texts[0])


server = subprocess.Popen([LAPILLI, "serve", "--port", "0", "--wyoming", "0", "--quiet", "--model", f"ear={EAR}"],
                          stdout=subprocess.PIPE, text=True)
asyncio.run(main(int(server.stdout.readline().rsplit(":", 1)[1])))
server.terminate()
assert server.wait(timeout=20) == 0
