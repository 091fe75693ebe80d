/** The agent's settings for fetching tools, as part of a runner's order. */
import { chmodSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '#guards/make-folders.ts';
import * as programs from '#protocol/tools/programs/list.ts';
import { mirrorSettingNames, type ProgramFacts } from '#protocol/tools/programs/program.ts';
import { agentSettings } from '#settings/agent.ts';
import { type AgentSettings, SettingsError } from '#settings/settings.ts';
import type { DownloadedWord } from '#settings/tool-mirrors.ts';
import type { ToolMirror } from '#settings/types.ts';
import { closedFolder } from '../processes/closed-folder.ts';
import type { MirrorOrder, ToolchainOrder } from './tool-mirror.ts';

export type ToolchainSettings = Pick<
  AgentSettings,
  'toolCacheFolder' | 'toolCacheMegabytes' | `${DownloadedWord}Mirror` | `${DownloadedWord}MirrorKey`
>;

export interface PreparedToolchain {
  readonly order: ToolchainOrder;
  /** Values that must not appear in any log. */
  readonly secrets: readonly string[];
}

/**
 * Creates the cache's folder and reads the mirrors.
 * @param workFolder every run may traverse it
 * @throws SettingsError that names the setting and what is wrong with it
 */
export function prepareToolchain(settings: ToolchainSettings, workFolder: string): PreparedToolchain {
  const mirrors: Record<string, MirrorOrder | null> = {};
  const problems: string[] = [];
  for (const [word, { name }] of Object.entries(programs) as [DownloadedWord, ProgramFacts][]) {
    const mirror = settings[`${word}Mirror`];
    const publicKey = settings[`${word}MirrorKey`];
    const names = mirrorSettingNames(word);
    if (publicKey !== undefined && !mirror?.url)
      problems.push(
        `${names.key} is set, but ${names.mirror} specifies no mirror: set both, or unset the key.`,
      );
    if (mirror) mirrors[name] = mirrorOrder(mirror, publicKey);
  }
  if (problems.length > 0) throw new SettingsError(problems);
  const cacheFolder = makeCacheFolder(settings.toolCacheFolder ?? join(workFolder, '.tools'));
  const order = { cacheFolder, cacheBytes: settings.toolCacheMegabytes * 1024 * 1024, mirrors };
  return { order, secrets: secretsOf(mirrors) };
}

function makeCacheFolder(folder: string): string {
  const { name } = agentSettings.toolCacheFolder;
  let path: string;
  try {
    if (makeFolders(folder, 0o755)) chmodSync(folder, 0o755);
    path = realpathSync(folder);
  } catch (error) {
    throw new SettingsError([`${name}: the tool cache cannot be created: ${(error as Error).message}.`]);
  }
  const closed = process.getuid?.() === 0 ? closedFolder(path) : null;
  if (closed !== null)
    throw new SettingsError([
      `${name}: ${path} cannot be reached by the users of runs, because ${closed} is closed to them: choose a folder elsewhere, below /var/lib for example.`,
    ]);
  return path;
}

/** The password alone, and as encoded in the header. */
function secretsOf(mirrors: Readonly<Record<string, MirrorOrder | null>>): string[] {
  const headers = Object.values(mirrors).flatMap((mirror) => mirror?.authorization ?? []);
  return headers.flatMap((header) => {
    const coded = header.replace(/^Basic /, '');
    const pair = Buffer.from(coded, 'base64').toString();
    return [coded, pair.slice(pair.indexOf(':') + 1)].filter((text) => text !== '');
  });
}

function mirrorOrder({ url, authorization }: ToolMirror, publicKey: string | undefined): MirrorOrder | null {
  if (url === null) return null;
  return {
    url,
    ...(authorization ? { authorization: authorization.reveal() } : {}),
    ...(publicKey === undefined ? {} : { publicKey }),
  };
}
