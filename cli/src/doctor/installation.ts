/** Checks an installation through its API: whether it responds, its agents, and deployments that are stuck. */

import type { Agent } from '#contract/agents/shapes.ts';
import { boundedReply, jsonLimitBytes } from '#contract/client/bounded-reply.ts';
import { ApiError, type Client } from '#contract/client/client.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { allPages } from '../call/pages.ts';
import { listAgents } from '../find/find-environment.ts';
import { explainError } from '../session/explain-error.ts';
import { durationText, timeText } from '../terminal/durations.ts';
import { plain } from '../terminal/safe-text.ts';
import { isolationText, limitsText } from './agent-isolation.ts';
import { type Finding, guarded, ok, problem, warning } from './finding.ts';

export interface Installation {
  readonly client: Client;
  readonly url: string;
  readonly organizationId: string | undefined;
  /** Of this program. */
  readonly version: string;
}

const skewSeconds = 5;
const longRunHours = 5;
const looked = 500;
const shown = 5;
const limitMilliseconds = 10_000;
const hour = 3_600_000;

function baseOf(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/api$/, '');
}

const firstLine = (text: string) => text.split('\n')[0] ?? text;

/** The difference between the server's clock and this machine's in seconds, as exact as the header. */
export function skewOf(date: string | null, sentAt: number, cameAt: number): number | null {
  const there = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(there)) return null;
  if (there + 1000 < sentAt) return Math.round((there + 1000 - sentAt) / 1000);
  return there > cameAt ? Math.round((there - cameAt) / 1000) : 0;
}

/** Remedy for each reason that the service reports for not being ready. */
const readinessAdvice: readonly (readonly [reason: RegExp, advice: string])[] = [
  [
    /database/i,
    'Is PostgreSQL running, and is DATABASE_URL correct? The log of the service contains the error.',
  ],
  [
    /agent/i,
    'Its reason is in the log of the service, usually a setting of the agent: correct it, and restart the service.',
  ],
  [
    /disk|space/i,
    'Free some space, or move the folder: "envarium doctor --machine" shows the folders of that machine.',
  ],
];

/** Remedy for a service that is not ready. */
export function adviceForReadiness(reason: string | undefined): string {
  if (reason === undefined) return 'Is the service starting, and does the reverse proxy forward the request?';
  const known = readinessAdvice.find(([pattern]) => pattern.test(reason));
  return known?.[1] ?? 'The log of the service contains more.';
}

async function checkReach({ url }: Installation): Promise<Finding[]> {
  const base = baseOf(url);
  const sentAt = Date.now();
  const alive = await fetch(`${base}/healthz`, { signal: AbortSignal.timeout(limitMilliseconds) });
  const cameAt = Date.now();
  if (!alive.ok)
    return [
      problem(
        'service',
        `${base} responds to /healthz with ${alive.status}`,
        'Is this the address of the service, and does the reverse proxy forward the request?',
      ),
    ];
  const skew = skewOf(alive.headers.get('date'), sentAt, cameAt);
  const clock =
    skew === null || Math.abs(skew) <= skewSeconds
      ? ok(
          'clock',
          skew === null ? 'the service does not report its time' : `within ${skewSeconds} s of the service's`,
        )
      : warning(
          'clock',
          `this machine is ${Math.abs(skew)} s ${skew > 0 ? 'behind' : 'ahead of'} the service`,
          'Synchronize both with NTP: times of logs and leases are compared.',
        );
  const ready = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(limitMilliseconds) });
  const bounded = boundedReply(ready, jsonLimitBytes, () => new Error('The reply is too large'));
  const body = (await bounded.json().catch(() => ({}))) as { text?: string; message?: string };
  const readiness = ready.ok
    ? ok('ready', body.text ?? 'yes')
    : problem(
        'ready',
        body.message ?? `/readyz responds with ${ready.status}`,
        adviceForReadiness(body.message),
      );
  return [
    ok('service', `${base} responds in ${cameAt - sentAt} ms`),
    ...checkTransport(base),
    readiness,
    clock,
  ];
}

function checkTransport(base: string): Finding[] {
  const { protocol, hostname } = new URL(base);
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol === 'https:' || isHere) return [];
  return [
    warning(
      'transport',
      'keys and logs are sent unencrypted',
      'Put a reverse proxy with TLS in front of the service.',
    ),
  ];
}

async function checkVersion({ client, version }: Installation): Promise<Finding[]> {
  const { info } = (await client.call('getOpenApi')) as { info?: { version?: string } };
  const there = info?.version ?? 'unknown';
  if (there === version) return [ok('version', `${there}, the same as this program`)];
  return [
    warning(
      'version',
      `the service is ${there}, this program ${version}`,
      'Use the command line that comes with the service.',
    ),
  ];
}

async function checkKey({ client, organizationId }: Installation): Promise<Finding[]> {
  const all = await client.call('listOrganizations');
  if (all.length === 0)
    return [
      problem(
        'key',
        'is valid, but has access to no organization',
        'Ask an administrator to assign a role to it.',
      ),
    ];
  if (organizationId !== undefined && !all.some(({ id }) => id === organizationId))
    return [
      problem(
        'key',
        `is valid, but has no access to organization ${organizationId}`,
        'Correct --organization-id or ENVARIUM_ORGANIZATION_ID.',
      ),
    ];
  return [
    ok('key', `is valid: ${all.map(({ name, role }) => `${plain(role)} of ${plain(name)}`).join(', ')}`),
  ];
}

async function checkAgents({ client, organizationId, version }: Installation): Promise<Finding[]> {
  const agents = await listAgents(client, organizationId);
  if (agents.length === 0)
    return [
      problem(
        'agents',
        'no agents registered',
        'Start an agent with a secret created by "envarium agent secret".',
      ),
    ];
  return agents.flatMap((agent) => [checkAgent(agent, version), ...checkProcesses(agent)]);
}

function checkAgent(agent: Agent, version: string): Finding {
  const name = `agent ${plain(agent.name ?? agent.agentKey)}`;
  const about = agent.version === undefined ? '' : `, version ${agent.version}`;
  if (agent.status !== 'ACTIVE') {
    const since = agent.lastContactAt === undefined ? '' : `, last contact ${timeText(agent.lastContactAt)}`;
    return problem(
      name,
      `${agent.status}${about}${since}`,
      plain(
        agent.health?.problems[0] ?? 'Is it running, and can it reach the service? Its log says why not.',
      ),
    );
  }
  if (agent.version !== undefined && agent.version !== version)
    return warning(
      name,
      `connected${about}, but this program is ${version}`,
      'One minor version of difference works; update the agent to the version of the service.',
    );
  return ok(name, `connected${about}`);
}

/** Isolation of the runs of each process of an agent. */
export function checkProcesses({ processes = [] }: Agent): Finding[] {
  return processes.map(({ hostname, isolation }) => {
    const check = 'isolation';
    const where = hostname === undefined ? '' : ` on ${plain(hostname)}`;
    const text = `of runs${where}: ${isolationText(isolation)}; ${limitsText(isolation)}`;
    if (isolation.hasNamespaces) return ok(check, text);
    return warning(
      check,
      `${text}; no namespaces: ${plain(isolation.problem ?? 'unknown reason')}`,
      'Install bubblewrap on its machine, and allow user namespaces; "What a run can access" in docs/operate/security.md.',
    );
  });
}

function ageOf(since: string | null | undefined, now: number): string {
  return since ? durationText(now - Date.parse(since)) : 'some time';
}

/** Deployments that are stuck, and why. */
export function findStuck(environments: readonly Environment[], now: number): Finding[] {
  const waiting = environments.filter(({ waitingFor }) => waitingFor !== undefined && waitingFor !== null);
  const stuck = waiting.filter(({ waitingFor }) => waitingFor?.kind === 'agent');
  const long = environments.filter(
    ({ latestDeploymentLog: { status, startedAt } }) =>
      (status === 'IN_PROGRESS' || status === 'ABORTING') &&
      startedAt &&
      now - Date.parse(startedAt) > longRunHours * hour,
  );
  const others = waiting.filter((each) => !stuck.includes(each));
  const line = ({ name, waitingFor }: Environment) =>
    `${plain(name)}: ${plain(waitingFor?.text ?? '')} (for ${ageOf(waitingFor?.since, now)})`;
  const more = (all: readonly unknown[]) =>
    all.length > shown
      ? [warning('queue', `and ${all.length - shown} more`, 'Run "envarium environment list".')]
      : [];
  return [
    ...stuck
      .slice(0, shown)
      .map((each) =>
        problem('queue', line(each), 'Is an agent connected and idle? Run "envarium agent list".'),
      ),
    ...more(stuck),
    ...others.slice(0, shown).map((each) => warning('queue', line(each), adviceFor(each))),
    ...more(others),
    ...long
      .slice(0, shown)
      .map(({ name, latestDeploymentLog: { id, startedAt } }) =>
        warning(
          'long run',
          `${plain(name)} has been running for ${ageOf(startedAt, now)}`,
          `Follow it: envarium logs ${id} --follow. Stop it: envarium abort ${id}.`,
        ),
      ),
  ];
}

function adviceFor({ id, waitingFor }: Environment): string {
  if (waitingFor?.kind === 'approval') return `Approve or cancel it: envarium approve --environment ${id}.`;
  if (waitingFor?.kind === 'lock') return `See who has locked it: envarium environment locks ${id}.`;
  return `See what is ahead: envarium deployments list ${id}.`;
}

async function checkQueue({ client, organizationId }: Installation): Promise<Finding[]> {
  const excludeFields =
    'latestDeploymentLog.plan,latestDeploymentLog.variables,latestDeploymentLog.resources,resources';
  const query = { organizationId, isActive: true, excludeFields };
  const all = await allPages(
    (page) => client.call('listEnvironments', { query: { ...query, ...page } }),
    looked,
  );
  const found = findStuck(all, Date.now());
  const beyond =
    all.length < looked ? [] : [ok('queue', `only the ${looked} newest environments were checked`)];
  return [
    ...(found.length > 0 ? found : [ok('queue', `nothing is waiting in ${all.length} environments`)]),
    ...beyond,
  ];
}

async function checkPolicies({ client }: Installation): Promise<Finding[]> {
  const { isAvailable, problem: why } = await client.call('getPolicyEngine');
  if (isAvailable) return [ok('policies', 'approval policies can be evaluated')];
  // The service says why and what to do in one sentence.
  const advice = why === undefined ? 'Install opa on the machine of the service.' : `${plain(why)}.`;
  return [warning('policies', 'approval policies cannot be evaluated', advice)];
}

/** Runs the checks in order, and stops when the service cannot be reached or refuses the key. */
export async function checkInstallation(installation: Installation): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    findings.push(...(await checkReach(installation)));
  } catch (error) {
    const api = new ApiError(
      0,
      { code: 'unreachable', message: `${baseOf(installation.url)} cannot be reached` },
      { cause: error },
    );
    const [text, ...advice] = explainError(api).split('\n');
    return [problem('service', text ?? '', advice.join(' '))];
  }
  try {
    findings.push(...(await checkKey(installation)));
  } catch (error) {
    const [text, ...advice] = explainError(error).split('\n');
    return [...findings, problem('key', text ?? '', advice.join(' ') || 'Run "envarium login".')];
  }
  for (const [check, look] of [
    ['version', checkVersion],
    ['agents', checkAgents],
    ['policies', checkPolicies],
    ['queue', checkQueue],
  ] as const)
    findings.push(
      ...(await guarded(check, () => look(installation))).map((finding) => ({
        ...finding,
        text: firstLine(finding.text),
      })),
    );
  return findings;
}
