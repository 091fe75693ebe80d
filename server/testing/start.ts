/** The app of a test file, and what its tests do with it. */
import type { InjectOptions } from 'fastify';
import type { QueryResult, QueryResultRow } from 'pg';
import type { OperationName } from '#contract/operations.ts';
import type { FirstKey } from '../src/start/bootstrap.ts';
import { testAgent } from './agent.ts';
import { type TestApp, type TestAssignment, testApp } from './app.ts';
import { type CallInput, call, ok, type RefusedInput, refused, send } from './client.ts';
import {
  createActive,
  createBody,
  createEnvironment,
  createIdle,
  deploy,
  deploymentOf,
  environmentOf,
  forgetWork,
} from './environment.ts';
import { createFrom, createTemplate, templateBody } from './template.ts';

type Addable = OperationName extends infer N ? (N extends `create${infer Entity}` ? Entity : never) : never;

/** Row of a statement whose test does not say what it returns, as the driver has it. */
type UntypedRow = QueryResult['rows'][number];

/** @param settings in addition to those of the tests */
export async function startTests(settings: Readonly<Record<string, string>> = {}) {
  const app = await testApp(settings);
  return { app, ...callsOf(app) };
}

/** The same with a registered agent. */
export async function startAgentTests(settings: Readonly<Record<string, string>> = {}) {
  const app = await testApp(settings);
  const agent = await testAgent(app);
  return {
    ...{ app, agent, ...callsOf(app) },
    createActive: (more?: object, names?: readonly string[]) => createActive(app, agent, more, names),
  };
}

function callsOf(app: TestApp) {
  const { organizationId, projectId } = app;
  return {
    ...{ organizationId, projectId },
    send: (options: InjectOptions, as?: FirstKey | null) => send(app, options, as),
    call: (name: OperationName, input?: CallInput) => call(app, name, input),
    ok: <N extends OperationName>(name: N, input?: CallInput) => ok(app, name, input),
    refused: (name: OperationName, status: number, ...input: RefusedInput) =>
      refused(app, name, status, ...input),
    /** Rows of a statement. */
    sql: async <Row extends QueryResultRow = UntypedRow>(text: string, ...values: readonly unknown[]) =>
      (await app.database.pool.query<Row>(text, [...values])).rows,
    /** An entity of the organization: the name of its operation without `create`, its own name, other fields. */
    add: <N extends Addable>(entity: N, name: string, more: object = {}) =>
      ok(app, `create${entity}`, { body: { organizationId, name, ...more } }),
    /** A key of a user of the organization who has a role in one place. */
    keyFor: (
      role: TestAssignment['role'],
      place: Omit<TestAssignment, 'organizationId' | 'role'>,
      inOrganization: TestAssignment['role'] = 'User',
    ) => app.addKey({ [organizationId]: inOrganization }, [{ organizationId, ...place, role }]),
    createBody: (more?: object) => createBody(app, more),
    createEnvironment: (more?: object) => createEnvironment(app, more),
    createIdle: (more?: object) => createIdle(app, more),
    deploy: (id: string, body?: object) => deploy(app, id, body),
    deploymentOf: (id: string) => deploymentOf(app, id),
    environmentOf: (id: string) => environmentOf(app, id),
    forgetWork: () => forgetWork(app),
    templateBody: (more?: object) => templateBody(app, more),
    createTemplate: (more?: object) => createTemplate(app, more),
    createFrom: (blueprintId: string, more?: object, deployRequest?: object) =>
      createFrom(app, blueprintId, more, deployRequest),
  };
}
