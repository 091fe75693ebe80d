/**
 * `npm run demo`: the whole main job in front of a person's eyes, on a scratch folder: create, plan, approve,
 * apply, change, drift, destroy. `--type` chooses the tool, `--namespace` where it
 * works in a cluster. With `--keep` the service keeps running and shows the next steps.
 */
import { parseArgs } from 'node:util';
import { type Client } from '#contract/client/client.ts';
import { kindOf, kindWords, planText } from '#contract/deployments/plan-counts.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { outputsByName } from '#contract/deployments/unit-outputs.ts';
import { logBytes } from '../follow.ts';
import {
  makeRepository,
  type RunningService,
  removeScratch,
  scratchFolder,
  startService,
  trustAuthority,
} from '../service.ts';
import { admin, fillShowcase } from '../web/showcase.ts';
import { requirePrograms, type ScenarioName, scenarioNames, scenarios } from './scenarios.ts';
import { LogPrinter, note, say, style } from './screen.ts';

/**
 * Shows a deployment's log live until it has one of these statuses or is over. @returns it as it is then
 */
async function follow(
  client: Client,
  id: string,
  until: readonly string[],
  lastEventId?: string,
): Promise<{ deployment: Deployment; cursor: string | undefined }> {
  const printer = new LogPrinter();
  let cursor = lastEventId;
  for await (const event of client.stream('streamDeployment', { params: { id }, lastEventId })) {
    cursor = event.id;
    if (event.event === 'log') printer.print(event.data.step, logBytes(event).toString());
    if (event.event === 'status' && until.includes(event.data.status)) break;
  }
  printer.flush();
  return { deployment: await client.call('getDeployment', { params: { id } }), cursor };
}

function requireStatus(deployment: Deployment, status: string): void {
  if (deployment.status === status) return;
  throw new Error(
    `The ${deployment.type} is ${deployment.status} and not ${status}: ${deployment.error?.message ?? 'no error message'}`,
  );
}

function showPlan(deployment: Deployment): void {
  const { plan, planSummary, isPlanEmpty } = deployment;
  if (planSummary) note(`Plan: ${planText({ planSummary, isPlanEmpty })}`);
  for (const change of plan?.resourceChanges ?? [])
    note(`  ${kindWords[kindOf(change)].word.padEnd(8)} ${change.path}`);
}

async function showResult(client: Client, deployment: Deployment, id: string): Promise<void> {
  const resources = await client.call('listDeploymentResources', { params: { id } });
  note(
    `Resources (${deployment.resourceCount} instances): ${resources.map((each) => `${each.type}.${each.name}`).join(', ')}`,
  );
  for (const [name, output] of Object.entries(outputsByName(deployment.output)))
    note(`Output ${name} = ${JSON.stringify(output.value)}${output.sensitive ? ' (sensitive, sealed)' : ''}`);
}

/** Waits for the plan, shows it, approves exactly it, and waits for the end. */
async function approveAndFollow(client: Client, id: string): Promise<Deployment> {
  const planned = await follow(client, id, ['WAITING_FOR_USER']);
  requireStatus(planned.deployment, 'WAITING_FOR_USER');
  showPlan(planned.deployment);
  note(style('yellow', planned.deployment.waitingFor?.text ?? ''));
  say(`Approving this plan, by its hash ${planned.deployment.planHash?.slice(0, 12)}…`);
  await client.call('approveDeployment', { params: { id }, body: { planHash: planned.deployment.planHash } });
  const { deployment } = await follow(client, id, [], planned.cursor);
  requireStatus(deployment, 'SUCCESS');
  return deployment;
}

async function tour(
  { client, folder }: RunningService,
  type: ScenarioName,
  namespace: string,
): Promise<string> {
  const scenario = scenarios[type];
  say(`Making a small git repository with ${scenario.what}`);
  const repository = await makeRepository(folder, 'demo', scenario.files());
  note(repository.path);
  const [organization] = await client.call('listOrganizations');
  const [project] = await client.call('listProjects', { query: { organizationId: organization?.id } });
  if (!organization || !project) throw new Error('The new installation has no organization or project');

  say('Creating an environment from it; its first deployment plans at once');
  const environment = await client.call('createEnvironmentWithoutTemplate', {
    body: {
      name: 'demo',
      projectId: project.id,
      organizationId: organization.id,
      repository: repository.path,
      type,
      requiresApproval: true,
      ...(scenario.hasNamespace ? { k8sNamespace: namespace } : {}),
      ...scenario.request,
      configurationChanges: [...(await scenario.variables(folder))],
      deployRequest: { comment: 'first deployment' },
    },
  });
  const first = await approveAndFollow(client, environment.latestDeploymentLog.id ?? '');
  await showResult(client, first, environment.latestDeploymentLog.id ?? '');

  say('Changing a variable and deploying again');
  const second = await client.call('deployEnvironment', {
    params: { id: environment.id },
    body: { configurationChanges: [scenario.change] },
  });
  await showResult(client, await approveAndFollow(client, second.id), second.id);

  say('Looking for drift');
  const drift = await client.call('deployEnvironment', {
    params: { id: environment.id },
    body: { deploymentType: 'driftDetection' },
  });
  const { deployment: looked } = await follow(client, drift.id, []);
  requireStatus(looked, 'SUCCESS');
  const { driftStatus } = await client.call('getEnvironment', { params: { id: environment.id } });
  note(`Drift status: ${driftStatus}`);

  say('Destroying the environment');
  const destroy = await client.call('destroyEnvironment', { params: { id: environment.id } });
  await approveAndFollow(client, destroy.id);
  const gone = await client.call('getEnvironment', { params: { id: environment.id } });
  note(
    `The environment is ${gone.status}; its history of ${(await client.call('listDeployments', { params: { id: environment.id } })).length} deployments and its states are kept`,
  );
  return environment.id;
}

/** Settings of TLS that the demo was started with: its service gets them, and the demo itself trusts the authority. */
function tlsSettings(): Record<string, string> {
  const names = ['ENVARIUM_TLS_CERT_FILE', 'ENVARIUM_TLS_KEY_FILE', 'ENVARIUM_CA_FILE', 'ENVARIUM_BASE_URL'];
  const caFile = process.env.ENVARIUM_CA_FILE;
  if (caFile) trustAuthority(caFile);
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] ? [[name, process.env[name]] as const] : [])),
  );
}

function untilStopSignal(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(undefined));
  });
}

/** More to look at in the web interface, and a link that signs in there once. */
async function openDoor({ client, folder }: RunningService, type: ScenarioName): Promise<void> {
  const { userId } = await client.call('createAdmin', { body: admin });
  if (type === 'terraform' || type === 'opentofu') {
    say('Adding environments: one that waits for approval, one that failed, one that drifted');
    await fillShowcase(client, folder, type);
  }
  const { link, expiresAt } = await client.call('createSignInLink', { params: { id: userId } });
  say('The web interface, signed in as an administrator, once:');
  note(style('green', link));
  note(
    `The link works until ${new Date(expiresAt).toLocaleTimeString()}; later: ${admin.email}, ${admin.password}`,
  );
}

function sayHowToGoOn({ url, key, secret, folder }: RunningService, environmentId: string): void {
  say('The service runs until Ctrl-C. In another terminal:');
  note(`export ENVARIUM_API_URL=${url} ENVARIUM_API_KEY=${key} ENVARIUM_API_SECRET=${secret}`);
  note('npm run envarium -- environment list');
  note(`npm run envarium -- deploy ${environmentId} --follow`);
  note(`Its data is in ${folder}; the reference of its API is at ${url}/reference`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      keep: { type: 'boolean', default: false },
      type: { type: 'string', default: 'terraform' },
      namespace: { type: 'string', default: 'envarium-demo' },
    },
  });
  const type = scenarioNames.find((name) => name === values.type);
  if (type === undefined)
    throw new Error(`--type ${values.type}: the demo knows ${scenarioNames.join(', ')}.`);
  const { programs, settings } = scenarios[type];
  await requirePrograms(programs);
  // Ctrl-C in the middle of the tour ends the service and removes the folder too.
  const stopSignal = untilStopSignal();
  const folder = await scratchFolder();
  try {
    say('Starting Envarium on a scratch folder, with its own PostgreSQL and a built-in agent');
    await using service = await startService({
      folder,
      isLaunched: values.keep,
      settings: { ENVARIUM_LOG_LEVEL: 'warn', ...settings, ...tlsSettings() },
    });
    note(`It listens on ${service.url}`);
    const environmentId = await Promise.race([tour(service, type, values.namespace), stopSignal]);
    if (environmentId === undefined) return;
    if (!values.keep) {
      say('Done: ending the service and removing the scratch folder');
      return;
    }
    await Promise.race([openDoor(service, type), stopSignal]);
    sayHowToGoOn(service, environmentId);
    await stopSignal;
  } finally {
    if (!values.keep) await removeScratch(folder);
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
// A tour that was interrupted still follows its deployment.
process.exit();
