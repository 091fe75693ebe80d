/**
 * The whole service, put together: settings → database → context → app, agent and loops. Disposed in the
 * reverse order.
 */

import { randomUUIDv7 } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { lockFolder } from '#guards/folder-lock.ts';
import { families } from '../families.ts';
import type { Context } from '../framework/context.ts';
import { startEffects } from '../framework/effects/carry-out.ts';
import { Events } from '../framework/events/events.ts';
import type { Loop } from '../framework/family.ts';
import { buildApp } from '../framework/http/app.ts';
import { announceStop } from '../framework/http/connections/stop.ts';
import { reactWith } from '../framework/reactions.ts';
import { createFolderBlobStore } from '../ground/blobs/blob-store.ts';
import type { ServerSettings } from '../ground/config/config.ts';
import { openDataFolder } from '../ground/config/data-folder.ts';
import { clockEverySeconds, openClock } from '../ground/database/clock.ts';
import { migrate } from '../ground/database/migrate.ts';
import { openDatabase } from '../ground/database/open.ts';
import { openLimits } from '../ground/limits/open-limits.ts';
import { bootstrap, type FirstKey } from './bootstrap.ts';
import { BuiltInAgent } from './built-in-agent.ts';
import { checkBlobFolder } from './check-blob-folder.ts';
import { listen } from './listen.ts';
import { prepareSealing } from './prepare-sealing.ts';

/** Until the next pass, in milliseconds. */
async function pauseOf(context: Context, { everySeconds, nextAt }: Loop): Promise<number> {
  const usual = everySeconds * 1000;
  const next = await nextAt?.(context);
  return next ? Math.min(usual, Math.max(0, next.getTime() - context.now().getTime())) : usual;
}

/**
 * Starts the periodic work of the service; dispose the result to end each loop after its pass. A failed pass is
 * logged, and the next one follows.
 */
function startLoops(context: Context, loops: readonly Loop[]): AsyncDisposable {
  const closing = new AbortController();
  const run = async (loop: Loop) => {
    while (!closing.signal.aborted) {
      let pause = loop.everySeconds * 1000;
      try {
        await loop.pass(context, closing.signal);
        if (!closing.signal.aborted) pause = await pauseOf(context, loop);
      } catch (error) {
        context.log.error({ err: error, loop: loop.name }, 'loop pass failed');
      }
      await delay(pause, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const running = loops.map(run);
  return {
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.all(running);
    },
  };
}

export interface Service extends AsyncDisposable {
  /** Address on which it listens. */
  readonly address: string;
  readonly dataFolder: string;
  /** Made at this start; null at every later one. */
  readonly firstKey: FirstKey | null;
  readonly context: Context;
}

function keyOfSettings(settings: ServerSettings): FirstKey | null {
  const { bootstrapApiKey: id, bootstrapApiSecret: secret } = settings;
  return id !== undefined && secret !== undefined ? { id, secret: secret.reveal() } : null;
}

/**
 * Starts the service.
 * @throws Error that a person can act on: the data folder is held by another, the database does not open, the
 * key is the wrong one
 */
export async function startService(settings: ServerSettings, log: Logger): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const folder = openDataFolder(settings.dataFolder);
  let address: string | undefined;
  stack.use(await lockFolder(folder.path, () => ({ address })));
  const database = stack.use(await openDatabase({ ...settings, account: settings }, log));
  await migrate(database.db);
  const sealing = await prepareSealing(database.db, settings, () => randomUUIDv7());
  const clock = await openClock(database.db);
  const events = stack.use(await Events.open(database.address, log));
  const limits = stack.use(await openLimits(settings, { log, now: clock.now }));
  const blobFolder = settings.blobFolder ?? join(folder.path, 'blobs');
  await checkBlobFolder(database.db, blobFolder);
  const blobs = createFolderBlobStore(blobFolder, sealing.sealer);
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const context: Context = {
    db: database.db,
    reserved: database.reserved,
    shared: database.shared,
    settings,
    sealer: sealing.sealer,
    keyHash: sealing.keyHash,
    auditKeys: sealing.auditKeys,
    blobs,
    events,
    limits,
    log,
    now: clock.now,
    newId: () => randomUUIDv7(),
    problems: new Map(),
    stopping: stopping.signal,
    react: reactWith<Context>(families.map(({ reactions = {} }) => reactions)),
  };
  const configuredKey = keyOfSettings(settings);
  const firstKey = await bootstrap(context, configuredKey);
  const app = await buildApp(context, families);
  const places = stack.use(await listen(app, settings));
  stack.defer(() => stopping.abort());
  address = places.address;
  const loops = families.flatMap((family) => family.loops ?? []);
  const ofClock = { name: 'time of the database', everySeconds: clockEverySeconds, pass: clock.compare };
  stack.use(startLoops(context, [...loops, ofClock]));
  const effects = families.flatMap((family) => family.effects ?? []);
  stack.use(startEffects(context, effects));
  if (settings.builtInAgent) stack.use(await BuiltInAgent.start(context, folder, places.local));
  const resources = stack.move();
  return {
    address,
    dataFolder: folder.path,
    firstKey: configuredKey ? null : firstKey,
    context,
    async [Symbol.asyncDispose]() {
      announceStop(context);
      await delay(settings.stopDelaySeconds * 1000);
      await resources.disposeAsync();
    },
  };
}
