"""Users who browse: each fetches pages of one or more objects over parallel connections, then thinks.

usage: load.py SERVER USERS SECONDS SEED

Object sizes are log-normal with a mean of about 100 kB (median 20 kB), objects per page are Pareto (shape 1.5, at
most 20), think times are exponential. A user keeps a few connections open and fetches the objects of a page over them
in parallel, as browsers do. Sizes, counts and times come from the seed; when packets leave is up to TCP.
"""

import asyncio
import math
import random
import sys

CONNECTIONS = 4
MEDIAN_SIZE, SIGMA, LARGEST = 20_000, 1.8, 8_000_000
THINK_MEAN_S = 0.25


def object_size(draw):
    return min(LARGEST, 200 + int(MEDIAN_SIZE * math.exp(SIGMA * draw.gauss(0, 1))))


async def fetch(stream, server, size):
    reader, writer = stream
    request = f"GET /object HTTP/1.1\r\nHost: {server}\r\nRange: bytes=0-{size - 1}\r\n\r\n"
    writer.write(request.encode())
    header = await reader.readuntil(b"\r\n\r\n")
    if not header.startswith(b"HTTP/1.1 206"):
        raise RuntimeError(header.decode())
    left = size
    while left:
        left -= len(await reader.read(min(left, 1 << 18)))


async def user(server, seed, until):
    draw = random.Random(seed)
    clock = asyncio.get_running_loop().time
    await asyncio.sleep(draw.expovariate(1 / THINK_MEAN_S))
    streams = [await asyncio.open_connection(server, 80, limit=1 << 20) for _ in range(CONNECTIONS)]
    while clock() < until:
        objects = [object_size(draw) for _ in range(min(20, int(draw.paretovariate(1.5))))]

        async def over(stream):
            while objects:
                await fetch(stream, server, objects.pop())

        await asyncio.gather(*(over(stream) for stream in streams))
        await asyncio.sleep(draw.expovariate(1 / THINK_MEAN_S))
    for _, writer in streams:
        writer.close()


async def main(server, users, seconds, seed):
    until = asyncio.get_running_loop().time() + seconds
    users = [user(server, f"{seed}/{number}", until) for number in range(users)]
    try:
        await asyncio.wait_for(asyncio.gather(*users), seconds + 2)
    except TimeoutError:
        pass


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]))
