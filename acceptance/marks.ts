/**
 * A place outside of every run, where its commands leave marks and wait at gates. They reach it by git, the
 * one program that is there in every run: of the machine's folders a run sees little but its own.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Marks extends AsyncDisposable {
  /** Folder where the commands of one story leave their marks. */
  addressOf(story: string): string;
  /** The marks of a story, in their order. */
  of(story: string): string[];
  /** Lets everyone continue who waits at this mark, now or later. */
  open(story: string, mark: string): void;
}

/** A shell command that leaves a mark; it ends once the mark's gate is open. */
export function leaveMark(address: string, mark: string): string {
  return `git ls-remote ${address}/${mark} >/dev/null`;
}

/** @param gates marks behind which a command waits */
export async function startMarks(gates: readonly string[]): Promise<Marks> {
  const left: { story: string; mark: string }[] = [];
  const opened = new Set<string>();
  const waiting = new Map<string, ServerResponse[]>();
  const server = createServer((request, response) => {
    const [, story = '', mark = '', ...rest] = new URL(request.url ?? '/', 'http://localhost').pathname.split(
      '/',
    );
    if (rest.join('/') !== 'info/refs') return void response.writeHead(404).end();
    left.push({ story, mark });
    const key = `${story}/${mark}`;
    // An empty list of references: git ends well.
    if (!gates.includes(mark) || opened.has(key)) response.end();
    else waiting.set(key, [...(waiting.get(key) ?? []), response]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    addressOf: (story) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${story}`,
    of: (story) => left.filter((each) => each.story === story).map(({ mark }) => mark),
    open(story, mark) {
      opened.add(`${story}/${mark}`);
      for (const response of waiting.get(`${story}/${mark}`) ?? []) response.end();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
