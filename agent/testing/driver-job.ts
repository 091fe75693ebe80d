/** A job and a tree for the tests of drivers. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job } from '#protocol/messages/job.ts';
import type { TreeReader } from '../src/drivers/interface/capabilities.ts';

export function jobOf(changes: Partial<Job> = {}): Job {
  return {
    jobId: 'job',
    attempt: 1,
    fence: 1,
    phase: 'plan',
    deploymentId: 'deployment',
    environmentId: 'environment',
    organizationId: 'organization',
    projectId: 'project',
    type: 'deploy',
    tool: 'terraform',
    workspaceName: 'network-abc123',
    source: { repository: '/repository', httpHosts: [], localPaths: [] },
    variables: { environment: [], terraform: [] },
    systemVariables: {},
    targets: [],
    skipStateRefresh: false,
    state: { isForced: false },
    secrets: [],
    limits: {
      runSeconds: 600,
      abortSeconds: 10,
      offlineGraceSeconds: 60,
      stepLogBytes: 1_000_000,
      travelBytes: 1_000_000,
    },
    ...changes,
  };
}

function nullIfMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}

/** Reads a folder directly. */
export function treeOf(folder: string): TreeReader {
  return {
    list: (name) => readdir(join(folder, name)),
    text: (name) => readFile(join(folder, name), 'utf8').catch(nullIfMissing),
  };
}

/** A tree of files that exist in memory only. */
export function treeFrom(files: Readonly<Record<string, string>>): TreeReader {
  return {
    list: async (folder) =>
      Object.keys(files)
        .filter((name) => folder === '' || name.startsWith(`${folder}/`))
        .map((name) => (folder === '' ? name : name.slice(folder.length + 1)).split('/')[0]!),
    text: async (name) => files[name] ?? null,
  };
}
