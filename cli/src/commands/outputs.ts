/** `outputs`: what a deployment, or an environment, has for its users. */
import type { Command } from 'commander';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { outputsByName, splitOutputName } from '#contract/deployments/unit-outputs.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { onCall } from '../call/command-line.ts';
import { type DeploymentFlags, findDeploymentId, withDeploymentFlags } from '../find/find-deployment.ts';
import { findEnvironment } from '../find/find-environment.ts';
import { BadCall } from '../session/exit-codes.ts';
import type { CommandSession } from '../session/session.ts';
import { showOutputs, valueText } from '../show/show-deployment.ts';
import { plain } from '../terminal/safe-text.ts';

interface OutputFlags extends DeploymentFlags {
  readonly name?: string;
  readonly showSensitive?: boolean;
}

type OutputSource = Pick<Deployment, 'output' | 'stateVersionId'>;

/** The deployment that changed an environment last; later ones that failed or changed nothing have no outputs. */
async function lastChange(
  { client }: CommandSession,
  environmentId: string,
): Promise<OutputSource | undefined> {
  const [latest] = await client.call('listDeployments', {
    params: { id: environmentId },
    query: { deploymentTypes: 'deploy,destroy', statuses: 'SUCCESS', limit: 1 },
  });
  return latest?.type === 'deploy' ? latest : undefined;
}

async function sourceOf(
  session: CommandSession,
  deployment: string | undefined,
  flags: OutputFlags,
): Promise<OutputSource | undefined> {
  if (deployment === undefined && flags.environment !== undefined)
    return lastChange(session, (await findEnvironment(session, flags.environment)).id);
  const id = await findDeploymentId(session, deployment, flags);
  return session.client.call('getDeployment', { params: { id } });
}

interface StateOutputs {
  readonly outputs?: Readonly<Record<string, { readonly value: unknown }>>;
  /** Of a run of several units: their states, by path. */
  readonly units?: Readonly<Record<string, StateOutputs>>;
}

function stateOutput(
  { outputs, units }: StateOutputs,
  whole: string,
): { readonly value: unknown } | undefined {
  if (units === undefined) return outputs?.[whole];
  const { unit, name } = splitOutputName(whole);
  return units[unit]?.outputs?.[name];
}

/**
 * The value of a sensitive output, from the state that the deployment has left. The service requires the right
 * READ_STATE for it, and audits the read.
 * @throws BadCall if the service does not have the state, or cannot read it
 */
async function sensitiveValue(
  { client }: CommandSession,
  name: string,
  { stateVersionId }: OutputSource,
): Promise<unknown> {
  if (stateVersionId === undefined)
    throw new BadCall(
      `The value of "${name}" is in the state only, and the service does not keep the state of this environment.`,
    );
  const content = await client.bytes('getStateContent', { params: { id: stateVersionId } });
  const found = stateOutput(parseExactly(new TextDecoder().decode(content)) as StateOutputs, name);
  if (found) return found.value;
  throw new BadCall(
    `The state ${stateVersionId} has no readable output "${name}": it may be encrypted by the tool.`,
  );
}

async function showOne(
  session: CommandSession,
  name: string,
  source: OutputSource | undefined,
  isRevealed: boolean,
): Promise<void> {
  const all = outputsByName(source?.output ?? null);
  const one = all[name];
  const names = Object.keys(all).map(plain).join(', ');
  if (!source || !one)
    throw new BadCall(
      `There is no output "${name}". ${names === '' ? 'There are none.' : `There are: ${names}.`}`,
    );
  if (one.sensitive && !isRevealed)
    throw new BadCall(
      `Output "${name}" is sensitive: --show-sensitive prints its value, and requires the right READ_STATE.`,
    );
  const value = one.sensitive ? await sensitiveValue(session, name, source) : one.value;
  return session.isJson
    ? session.output.json({ ...one, value })
    : session.output.data(`${valueText(value)}\n`);
}

/** Adds `outputs`. */
export function addOutputCommands(program: Command): void {
  const outputs = withDeploymentFlags(
    program
      .command('outputs')
      .description('show the outputs of a deployment, or the current ones of an environment'),
  )
    .option('--name <output>', 'print only the value of this output, unchanged')
    .option(
      '--show-sensitive',
      'with --name: print the value even if it is sensitive; requires the right READ_STATE, and is audited',
    );
  onCall<OutputFlags>(outputs, async ({ session, args: [deployment], options }) => {
    const { name, showSensitive = false } = options;
    if (showSensitive && name === undefined) throw new BadCall('--show-sensitive requires --name.');
    const source = await sourceOf(session, deployment, options);
    if (name !== undefined) return showOne(session, name, source, showSensitive);
    const all = source?.output ?? {};
    return session.isJson ? session.output.json(all) : showOutputs(session.output, all);
  });
}
