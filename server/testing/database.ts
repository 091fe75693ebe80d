/**
 * Databases for tests: clones of a migrated template, on the server that the test run started for all its
 * processes, or else on one that this process starts at its first call and ends at its end.
 */
import type pg from 'pg';
import { atEndOfFile } from '../../tools/suite/end-of-file.ts';
import { connect, type Database } from '../src/ground/database/open.ts';
import {
  migratedTemplate,
  runOnServer,
  startTestServer,
  type TestServer,
  testServerVariable,
} from './database-server.ts';

let ownServer: Promise<TestServer> | undefined;
let clones = 0;

/**
 * A migrated, empty database of its own; disposing it drops it.
 * @returns the open database; `address` serves for further connections
 */
export async function testDatabase(): Promise<Database> {
  const server = await serverAddress();
  const name = `test_${process.pid}_${++clones}`;
  await runOnServer(server, `create database ${name} template ${migratedTemplate} strategy file_copy`);
  const database = connect({ ...server, database: name });
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await runOnServer(server, `drop database if exists ${name} with (force)`);
    },
  };
}

async function serverAddress(): Promise<pg.ClientConfig> {
  const parameters = process.env[testServerVariable];
  if (parameters) return JSON.parse(parameters) as pg.ClientConfig;
  ownServer ??= startOwnServer();
  return (await ownServer).address;
}

async function startOwnServer(): Promise<TestServer> {
  const server = await startTestServer();
  atEndOfFile(async () => {
    ownServer = undefined;
    await server[Symbol.asyncDispose]();
  });
  return server;
}

/** Keeps something open until the tests of the file are over; what was opened last is disposed first. */
export function disposeAtEnd(resource: AsyncDisposable): void {
  atEndOfFile(async () => resource[Symbol.asyncDispose]());
}
