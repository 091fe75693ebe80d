/** The tools that this agent can run: those on its PATH, in its cache, or that can be fetched. */

import { findOnPath } from '#guards/find-on-path.ts';
import type { Job } from '#protocol/messages/job.ts';
import { programFacts, toolFacts } from '#protocol/tools/index.ts';
import { infracost } from '#protocol/tools/programs/infracost.ts';
import { driverOf } from '../drivers/index.ts';
import type { Driver } from '../drivers/interface/driver.ts';
import { findPython, platformFor } from './python.ts';
import { keptVersions } from './tool-cache.ts';
import { originOf, type ToolchainOrder } from './tool-mirror.ts';

export interface AvailableTools {
  /** Template types that the agent accepts. */
  readonly types: readonly string[];
  /** Programs that are neither installed nor can be fetched. */
  readonly missing: readonly string[];
}

/** Programs that every run needs in addition to its tool. */
const runPrograms = ['git'] as const;

/**
 * An agent without any of the tools accepts runs of all of them: a run that reports what is missing is better
 * than one that waits.
 */
export async function findAvailableTools(
  table: Readonly<Record<string, Driver>>,
  toolchain: ToolchainOrder,
): Promise<AvailableTools> {
  const missing = new Set<string>();
  const types: string[] = [];
  let hasAny = false;
  for (const [type, driver] of Object.entries(table)) {
    const needed = neededPrograms(driver);
    const absent = await absentPrograms(needed, toolchain);
    if (absent.length === 0) types.push(type);
    // Tools that are a part of the agent say nothing of the machine.
    if (absent.length === 0 && needed.length > 0) hasAny = true;
    for (const name of absent) missing.add(name);
  }
  return { types: hasAny ? types : Object.keys(table), missing: [...missing] };
}

function neededPrograms({ type, programs }: Driver): string[] {
  const companions = toolFacts(type)?.companions ?? [];
  const optional = companions.filter(({ isOptional, isFor }) => isOptional || isFor !== undefined);
  return programs.filter((name) => !isOwn(name) && !optional.some(({ program }) => program.name === name));
}

/** A program that every agent has, because it is a part of it. */
function isOwn(name: string): boolean {
  return programFacts(name)?.ownVersion !== undefined;
}

async function absentPrograms(names: readonly string[], toolchain: ToolchainOrder): Promise<string[]> {
  const found = await Promise.all(
    names.map(async (name) => canBeFetched(name, toolchain) || (await isThere(name, toolchain))),
  );
  return names.filter((_, index) => !found[index]);
}

function canBeFetched(name: string, toolchain: ToolchainOrder): boolean {
  const facts = programFacts(name);
  if (facts === undefined || originOf(facts, toolchain) === null) return false;
  return facts.release?.kind !== 'python' || findPython() !== null;
}

async function isThere(name: string, { cacheFolder }: ToolchainOrder): Promise<boolean> {
  if (findOnPath(name) !== null) return true;
  const release = programFacts(name)?.release ?? null;
  const kept = await keptVersions(cacheFolder, release?.programs[0] ?? name, platformFor(release));
  return kept.length > 0;
}

/** Paths of the programs that a job needs, by name; empty for one that is not on the agent's PATH. */
export function toolPathsFor(job: Job): Record<string, string> {
  const estimating = job.estimatesCosts === true ? [infracost.name] : [];
  const names = [...runPrograms, ...(driverOf(job.tool)?.programs ?? []), ...estimating];
  return Object.fromEntries(
    names.filter((name) => !isOwn(name)).map((name) => [name, findOnPath(name) ?? '']),
  );
}
