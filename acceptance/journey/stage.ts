/** A service with one agent on a disk of its own, which can be lost. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Client } from '#contract/client/client.ts';
import { type RunningAgent, startAgent } from '../agents.ts';
import { type Home, homeOf } from '../runs.ts';
import { type RunningService, removeScratch, scratchFolder, startService } from '../service.ts';

/** One user for all runs, which no other agent of the machine uses: what a run has made, the next one can change. */
const freeUid = 1_000_000 + process.pid;

export interface JourneyStage {
  readonly client: Client;
  readonly home: Home;
  /** Of the service, its repositories and the world. */
  readonly folder: string;
  /** Ends the agent, removes all that it has on disk, and starts another one. */
  loseDisk(): Promise<void>;
}

/** @param settingsIn settings of service and agent, for their folder */
export async function startStage(
  t: TestContext,
  settingsIn: (folder: string) => Promise<Readonly<Record<string, string>>>,
): Promise<JourneyStage> {
  const folder = await scratchFolder();
  let service: RunningService | undefined;
  let agent: RunningAgent | undefined;
  t.after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    await removeScratch(folder);
  });
  const settings = await settingsIn(folder);
  // Many times what a tool takes to end after an interrupt: one that is killed leaves another state.
  const shared = { ENVARIUM_LOG_LEVEL: 'warn', ENVARIUM_ABORT_SECONDS: '30', ...settings };
  service = await startService({ folder, settings: { ENVARIUM_BUILT_IN_AGENT: 'false', ...shared } });
  const { url, client } = service;
  const disk = join(folder, 'disk');
  const start = async () => {
    await mkdir(disk, { mode: 0o755 });
    agent = await startAgent(
      { client },
      {
        folder: disk,
        place: 1,
        urls: [url],
        settings: {
          ENVARIUM_AGENT_CONCURRENCY: '1',
          ENVARIUM_SLOT_UID_BASE: String(freeUid),
          ENVARIUM_SLOT_UID_COUNT: '1',
          ENVARIUM_LOG_LEVEL: 'info',
          ...settings,
        },
      },
    );
  };
  await start();
  return {
    client,
    home: await homeOf(client),
    folder,
    async loseDisk() {
      await agent?.[Symbol.asyncDispose]();
      await rm(disk, { recursive: true });
      await start();
    },
  };
}
