/**
 * The tool version that an attempt requests: by a variable, by a file of the code, or by the environment's
 * settings.
 */
import { posix } from 'node:path';
import { valid } from 'semver';
import type { Job } from '#protocol/messages/job.ts';
import { programFacts, toolFacts } from '#protocol/tools/index.ts';
import type { VersionFacts } from '#protocol/tools/tool.ts';
import { upwardVariable } from '#protocol/tools/variable-refusals.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { StepRecorder } from '../../attempt/step-recorder.ts';
import { RunFailure } from '../../processes/failure.ts';
import { parseRequestedVersion, type RequestedVersion } from '../../toolchain/choose-tool.ts';

/** Far more than a version needs. */
const maxBytes = 10_000;

/** The parts of an attempt that determine its version. */
type VersionContext = Pick<AttemptContext, 'environment' | 'path' | 'tree'> & {
  readonly steps: Pick<StepRecorder, 'log'>;
  readonly folders: Pick<AttemptContext['folders'], 'tree'>;
  readonly job: Pick<Job, 'type' | 'tool' | 'toolVersion' | 'settings'>;
};

/**
 * Searches for a requested version: a variable, then a file of the code, then the settings. The last two are
 * for the tool's own program, and for companions that have them. Requires the tree.
 * @param name name of the program
 * @throws RunFailure that names the source of an invalid version, or an unreadable file
 */
export async function findRequestedVersion(
  attempt: VersionContext,
  step: string,
  name: string,
): Promise<RequestedVersion> {
  const { job, environment } = attempt;
  const facts = toolFacts(job.tool);
  const isOwn = facts?.program.name === name;
  const source = isOwn
    ? facts.version
    : facts?.companions.find(({ program }) => program.name === name)?.version;
  // A program with a file of its version also has code that requires one.
  const isInCode = source !== undefined && source.file !== null;
  const field = isOwn ? `the environment's ${job.tool} version` : `${source?.field} of the template`;
  // A task uses the version of the last deployment, whatever is requested now.
  if (isOwn && job.type === 'task' && valid(job.toolVersion) !== null)
    return refusing(() => parseRequestedVersion(job.toolVersion, field));
  const variable = programFacts(name)?.versionVariables.find((each) => environment[each]?.trim());
  if (variable !== undefined) {
    const text = environment[variable] ?? '';
    const wanted = refusing(() => parseRequestedVersion(text, `the variable ${variable}`, isInCode));
    attempt.steps.log(step, `The variable ${variable} requests ${name} ${text.trim()}`);
    return wanted;
  }
  if (source === undefined) return { kind: 'any' };
  const isUpward = environment[upwardVariable] === 'true';
  const setting = isOwn ? job.toolVersion : settingOf(job, source.field);
  return (
    (await findInFile(attempt, step, { name, file: source.file }, isUpward)) ??
    refusing(() => parseRequestedVersion(setting, field, isInCode))
  );
}

/** Version of a companion that the template requests. */
function settingOf({ settings }: VersionContext['job'], field: VersionFacts['field']): string | undefined {
  return field === 'terraformVersion' || field === 'opentofuVersion' ? settings?.[field] : undefined;
}

async function findInFile(
  attempt: VersionContext,
  step: string,
  { name, file: fileName }: { readonly name: string; readonly file: string | null },
  isUpward: boolean,
): Promise<RequestedVersion | null> {
  if (fileName === null) return null;
  for (const folder of foldersOf(attempt.path, isUpward)) {
    const file = posix.join(folder, fileName);
    const text = await readText(attempt, file);
    if (text === null) continue;
    const wanted = refusing(() => readVersionFile(text, file));
    attempt.steps.log(step, `The version of ${name} is requested by the file ${file}`);
    return wanted;
  }
  return null;
}

/** The folders to search, from the configuration's up to the root of the tree, `''`. */
function foldersOf(path: string, isUpward: boolean): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  const all = [...parts.keys(), parts.length].map((count) => parts.slice(0, count).join('/')).toReversed();
  return isUpward ? all : all.slice(0, 1);
}

async function readText(attempt: VersionContext, file: string): Promise<string | null> {
  try {
    const bytes = await attempt.tree.read(attempt.folders.tree, file, maxBytes);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  } catch (error) {
    throw new RunFailure(`the version file ${file} cannot be read: ${(error as Error).message}`);
  }
}

function refusing<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw new RunFailure((error as Error).message);
  }
}

const longestShown = 100;

// The pattern comes from a repository: it can repeat only at its end, so that matching is fast.
const pattern = /^\^?(?:[0-9]|\\?\.|\[[0-9]+(?:-[0-9]+)?\]){1,40}[*+]?\$?$/;

/**
 * Reads the version that a file next to the code requests: exact versions, and the words that tfenv and tofuenv use.
 * @param text of the file; its first line that is neither empty nor a comment counts
 * @param file for messages
 * @throws Error that names the file and its text if that is not a version
 */
function readVersionFile(text: string, file: string): RequestedVersion {
  const by = `the file ${file}`;
  const request = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .map((line) => line.replace(/#.*/, '').trim())
    .find((line) => line !== '');
  if (request === undefined) throw new Error(`${by} is empty: ${advice}, or remove it`);
  if (request === 'latest') return { kind: 'latest', by };
  if (request === 'min-required') return { kind: 'code', by };
  if (request === 'latest-allowed') return { kind: 'code', by, takes: 'newest' };
  const like = /^latest:(.*)$/.exec(request)?.[1]?.trim();
  if (like !== undefined) return { kind: 'latest', by, like: patternOf(like, by) };
  const version = valid(request);
  if (version === null)
    throw new Error(`${by} contains ${shown(request)}, which is not a version: ${advice}`);
  return { kind: 'exact', version, by };
}

const advice = 'use an exact one such as 1.9.8, latest, latest:^1.9, min-required or latest-allowed';

function patternOf(like: string, by: string): RegExp {
  if (pattern.test(like)) {
    try {
      return new RegExp(like);
    } catch {
      // For example [9-1].
    }
  }
  throw new Error(
    `${by} contains ${shown(`latest:${like}`)}, which is not valid: latest: must be followed by the beginning of a version such as ^1.9`,
  );
}

function shown(text: string): string {
  return JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);
}
