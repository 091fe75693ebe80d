import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { runAgainst } from '../../../testing/fake-service.ts';

const shared = { agentKey: 'SHARED', id: 'a1', name: 'built-in', status: 'ACTIVE', isSaas: true };
const own = { agentKey: 'OWN', id: 'a2', name: 'east', status: 'ACTIVE', organizationId: 'o2' };
/** As the API answers a key of two organizations. */
const agents = [{ ...shared, organizationId: 'o1' }, { ...shared, organizationId: 'o2' }, own];
const replies = {
  'GET /agents': agents,
  'POST /agents/SHARED/secrets': { id: 's1', secret: 'a-new-secret' },
};

test('an agent that several organizations share is found by its key, id and names', async () => {
  for (const idOrName of ['SHARED', 'a1', 'built-in', 'BRAND_DEFAULT']) {
    const { status, stdout, stderr } = await runAgainst(['agent', 'secret', idOrName], replies);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, 'a-new-secret\n');
  }
});

test('agents of two organizations that have the same name are not guessed between', async () => {
  const { status, stderr } = await runAgainst(['agent', 'secret', 'east'], {
    'GET /agents': [...agents, { ...own, agentKey: 'OTHER', id: 'a3', organizationId: 'o1' }],
  });
  assert.equal(status, 2);
  assert.match(stderr, /2 agents are named "east"/);
});

test('an agent that several organizations share is one row, and in JSON what the API lists', async () => {
  const table = await runAgainst(['agent', 'list'], replies);
  assert.equal(table.stdout.match(/SHARED/g)?.length, 1, table.stdout);
  assert.match(table.stdout, /OWN/);
  const json = await runAgainst(['agent', 'list', '--json'], replies);
  assert.deepEqual(JSON.parse(json.stdout), agents);
});

test('an agent that several organizations share is checked by the doctor once', async () => {
  const organizations = ['o1', 'o2'].map((id) => ({ id, name: id, role: 'Admin' }));
  const { stdout, stderr } = await runAgainst(['doctor'], {
    ...replies,
    'GET /organizations': organizations,
  });
  assert.equal(stdout.match(/agent built-in/g)?.length, 1, stdout + stderr);
});

test('an agent is shown, changed, and its settings are printed as they are', async () => {
  const text = (content: string) => (_: unknown, response: ServerResponse) => void response.end(content);
  const east = {
    ...replies,
    'GET /agents/OWN': {
      ...own,
      description: 'next to it',
      createdByUser: { name: 'Ada' },
      health: { running: 1, slots: 2, queued: 3, problems: ['Its disk is full.'] },
    },
    'PATCH /agents/OWN': { ...own, name: 'west' },
    'GET /agents/OWN/values': text('agentKey: OWN\n'),
    'GET /agents/OWN/dotenv': text('ENVARIUM_AGENT_KEY=OWN\n'),
  };
  const show = await runAgainst(['agent', 'show', 'east'], east);
  assert.match(show.stdout, /Description:\s+next to it[^]*Created by:\s+Ada/);
  assert.match(show.stdout, /1 of 2 slots in use, 3 jobs wait\nProblems:\s+Its disk is full\.\n/);
  const update = await runAgainst(['agent', 'update', 'east', '--name', 'west', '--description', ''], east);
  assert.deepEqual(update.seen.at(-1)?.body, { name: 'west', description: '' });
  assert.equal(update.stdout, 'Agent west was updated\n');
  assert.equal((await runAgainst(['agent', 'values', 'a2'], east)).stdout, 'agentKey: OWN\n');
  assert.equal((await runAgainst(['agent', 'dotenv', 'OWN'], east)).stdout, 'ENVARIUM_AGENT_KEY=OWN\n');
  const json = await runAgainst(['agent', 'values', 'a2', '--json'], east);
  assert.deepEqual(JSON.parse(json.stdout), { values: 'agentKey: OWN\n' });
});

test('projects are assigned to an agent, taken back, and listed by name', async () => {
  const projects = ['p1', 'p2'].map((id) => ({ id, name: `name of ${id}`, isArchived: false }));
  const reply = {
    defaultAgent: 'SHARED',
    projectsAgents: { p1: 'OWN', p2: 'OWN' },
    inheritedFrom: { p2: 'p1' },
    isDefaultChosen: false,
  };
  const service = {
    ...replies,
    'GET /organizations': [{ id: 'o1', name: 'o1', role: 'Admin' }],
    'GET /projects': projects,
    'GET /agents/projects-assignments': reply,
    'POST /agents/projects-assignments': reply,
    'PUT /agents/projects-assignments/default': reply,
  };
  const sent = async (...args: string[]) => {
    const { seen, status, stderr } = await runAgainst(['agent', ...args], service);
    return status === 0 ? seen.at(-1)?.body : stderr;
  };
  assert.deepEqual(await sent('assign', 'east', 'name of p1', 'p2'), { p1: 'OWN', p2: 'OWN' });
  assert.deepEqual(await sent('assign', 'BRAND_DEFAULT', 'p1'), { p1: 'BRAND_DEFAULT' });
  assert.deepEqual(await sent('unassign', 'p1', 'name of p2'), { p1: null, p2: null });
  assert.deepEqual(await sent('default', 'built-in'), { agent: 'SHARED' });
  assert.deepEqual(await sent('default', '--none'), { agent: null });
  assert.match(String(await sent('default')), /either an agent or --none/);
  const { stdout } = await runAgainst(['agent', 'assignments'], service);
  assert.match(stdout, /name of p2\s+east\s+name of p1\n/);
  assert.match(stdout, /all others\s+agents without projects/);
});

test('a secret gets an end, and secrets are listed with their ends and last uses', async () => {
  const secrets = [
    { id: 's1', agentId: 'a2', createdBy: { name: 'Ada' }, createdAt: '2026-01-01T00:00:00.000Z' },
    {
      id: 's2',
      agentId: 'a2',
      createdBy: { name: 'Ada' },
      createdAt: '2026-01-01T00:00:00.000Z',
      lastUsedAt: '2026-01-02T00:00:00.000Z',
      expiresAt: '2099-01-31T00:00:00.000Z',
    },
  ];
  const east = {
    ...replies,
    'GET /agents/OWN/secrets': secrets,
    'POST /agents/OWN/secrets': { id: 's3', secret: 'a-new-secret' },
  };
  const made = await runAgainst(['agent', 'secret', 'OWN', '--expires', '2099-01-31'], east);
  assert.equal(made.stdout, 'a-new-secret\n', made.stderr);
  assert.match(JSON.stringify(made.seen.at(-1)?.body), /"expiresAt":"2099-01-3/);
  const { stdout } = await runAgainst(['agent', 'secrets', 'OWN'], east);
  assert.match(stdout, /LAST USED +EXPIRES/);
  assert.match(stdout, /never +never +s1/);
  assert.match(stdout, /2099-01-31.* s2/);
});
