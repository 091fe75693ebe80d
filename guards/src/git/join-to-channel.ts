/** Joins a process to the git that reads it through its descriptor 3. */
import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';

/**
 * @param client the git process whose descriptor 3 is a socket
 * @param server the process that speaks on its standard input and output; ended with the client
 * @returns once the server has ended
 */
export async function joinToChannel(client: ChildProcess, server: ChildProcess): Promise<void> {
  const channel = client.stdio[3] as Duplex & { allowHalfOpen: boolean };
  // git closes its sending side while it still receives.
  channel.allowHalfOpen = true;
  const ended = new Promise<void>((resolve) => {
    server.once('exit', () => resolve());
    server.once('error', () => resolve());
  });
  for (const stream of [channel, server.stdin, server.stdout])
    stream?.on('error', () => server.kill('SIGKILL'));
  if (server.stdin) channel.pipe(server.stdin);
  server.stdout?.pipe(channel);
  client.once('exit', () => server.kill('SIGTERM'));
  await ended;
}
