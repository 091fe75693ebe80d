/** `envarium policy test`: what a policy would say about the plan of a stored deployment. */
import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import type { PolicyTest } from '#contract/approval-policies/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { textFromFile } from '../../call/read-input.ts';
import { findDeploymentId } from '../../find/find-deployment.ts';
import { findOrganization } from '../../find/find-environment.ts';
import { BadCall, type ExitCode, exitCodes } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { configurationOf } from './edit-policies.ts';
import { findPolicy } from './find-policy.ts';

interface TestFlags {
  readonly deployment?: string;
  readonly environment?: string;
  readonly configuration?: string;
}

/** The names of a folder's files of Rego, except tests. @throws BadCall where there are none */
function regoFilesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.rego') && !name.endsWith('_test.rego'))
    .toSorted();
  if (names.length === 0) throw new BadCall(`${folder} has no files that end in .rego.`);
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      return [relative(folder, path), textFromFile(path, path)];
    }),
  );
}

/** Whether the argument is a folder here; anything else is a policy of the organization. @throws BadCall for a path */
function isFolder(folderOrPolicy: string): boolean {
  if (statSync(folderOrPolicy, { throwIfNoEntry: false })?.isDirectory() === true) return true;
  if (/[/\\]/.test(folderOrPolicy)) throw new BadCall(`There is no folder "${folderOrPolicy}" here.`);
  return false;
}

async function policyIdOf(session: CommandSession, idOrName: string): Promise<string> {
  const { id: organizationId } = await findOrganization(session);
  const { policy } = await findPolicy(session, organizationId, idOrName);
  return policy.id;
}

async function show(
  { output }: CommandSession,
  { decision, messages, error, isPlanRebuilt }: PolicyTest,
): Promise<void> {
  await output.line(`Decision: ${decision}`);
  for (const rule of ['deny', 'pending', 'allow', 'warn'] as const)
    for (const message of messages[rule]) await output.line(`  ${rule}: ${message}`);
  if (error !== undefined) await output.line(error);
  if (isPlanRebuilt && error === undefined)
    await output.line('The whole plan is no longer stored: the policy saw only the attributes that change.');
}

/** 0: nothing prevents its apply; 3: a person has to decide; 1: it is denied, or cannot be evaluated. */
function exitCodeOf({ decision }: PolicyTest): ExitCode {
  if (decision === 'allow') return exitCodes.good;
  return decision === 'deny' || decision === 'error' ? exitCodes.failed : exitCodes.waiting;
}

/** @param group of `envarium policies`, which is also called `policy` */
export function addPolicyTestCommand(group: Command): void {
  const test = group
    .command('test <policy>')
    .description(
      'evaluate a policy against the plan of a deployment; nothing changes. The policy is a folder with .rego files ' +
        'here, or the id or exact name of an approval policy. Exit status 0: allow, 1: deny or error, 3: pending or none',
    )
    .option('--deployment <deployment>', 'id of the deployment')
    .option(
      '-e, --environment <environment>',
      'the latest deployment of this environment: its id or exact name',
    )
    .option(
      '--configuration <json>',
      "the policy's configuration as a JSON object; @file reads it from a file",
    );
  onCall<TestFlags>(test, async ({ session, args: [folderOrPolicy = ''], options }) => {
    const { client, output, isJson } = session;
    const { deployment, configuration } = options;
    const policyConfiguration = configuration === undefined ? undefined : configurationOf(configuration);
    const what = isFolder(folderOrPolicy)
      ? { files: regoFilesIn(folderOrPolicy) }
      : { policyId: await policyIdOf(session, folderOrPolicy) };
    const deploymentId = await findDeploymentId(session, deployment, options);
    const body = { deploymentId, ...what, ...(policyConfiguration ? { policyConfiguration } : {}) };
    const result = await client.call('testApprovalPolicy', { body });
    await (isJson ? output.json(result) : show(session, result));
    return exitCodeOf(result);
  });
}
