/** Plans in the form of `terraform show -json`, and what a policy of the catalogue says about them. For tests. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { findInCatalogue } from '../../server/src/rules/approval-policies/evaluation/catalogue.ts';
import { toolboxProgram, withToolbox } from '../toolbox/places.ts';
import { root } from '../tree/repository.ts';

type AttributeValues = Readonly<Record<string, unknown>>;

interface JudgedResource {
  /** Type and name; `module.a["x"].module.b.` in front for one in modules. */
  readonly address: string;
  readonly after?: AttributeValues | null;
  readonly before?: AttributeValues | null;
  readonly actions?: readonly string[];
  /** Attributes that the code does not mention and the provider fills in. */
  readonly unset?: readonly string[];
  /** Attributes that refer to others and are known after the deployment only, with the references. */
  readonly refers?: Readonly<Record<string, readonly string[]>>;
  /** As the plan has it, for parts of blocks. */
  readonly unknown?: AttributeValues;
  readonly sensitive?: AttributeValues;
  readonly index?: string | number;
  readonly mode?: 'data';
}

export interface PolicyQuestion {
  readonly resources?: readonly JudgedResource[];
  readonly policyConfiguration?: AttributeValues;
  readonly approvers?: number;
  readonly input?: AttributeValues;
}

export interface PolicyAnswer {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly pending: readonly string[];
}

interface PlanModule {
  resources: unknown[];
  module_calls: Record<string, { module: PlanModule }>;
}

const emptyModule = (): PlanModule => ({ resources: [], module_calls: {} });

function partsOf(address: string): { modules: string[]; moduleAddress: string; type: string; name: string } {
  const [, moduleAddress = '', type = '', name = ''] =
    /^(?:(.*?)\.)?(?:data\.)?([a-z]\w*)\.(\w+)$/.exec(address) ?? [];
  const modules = [...moduleAddress.matchAll(/(?:^|\.)module\.(\w+)/g)].map(([, each]) => each ?? '');
  return { modules, moduleAddress, type, name };
}

function changeOf(resource: JudgedResource): object {
  const { address, after = {}, before = null, actions = ['create'], unset = [], refers = {} } = resource;
  const { moduleAddress, type, name } = partsOf(address);
  const open = [...unset, ...Object.keys(refers)].map((field) => [field, true] as const);
  return {
    address: resource.index === undefined ? address : `${address}[${JSON.stringify(resource.index)}]`,
    ...(moduleAddress === '' ? {} : { module_address: moduleAddress }),
    mode: resource.mode ?? 'managed',
    type,
    name,
    ...(resource.index === undefined ? {} : { index: resource.index }),
    change: {
      actions,
      before,
      after,
      after_unknown: { ...Object.fromEntries(open), ...resource.unknown },
      after_sensitive: resource.sensitive ?? {},
    },
  };
}

function addCode(rootModule: PlanModule, { address, after, refers = {}, mode }: JudgedResource): void {
  const { modules, type, name } = partsOf(address);
  let module = rootModule;
  for (const each of modules) module = (module.module_calls[each] ??= { module: emptyModule() }).module;
  const blocks = (value: unknown) =>
    Array.isArray(value) && value.some((item) => typeof item === 'object')
      ? value.map((item: object) =>
          Object.fromEntries(
            Object.entries(item).map(([field, constant]) => [field, { constant_value: constant }]),
          ),
        )
      : { constant_value: value };
  const constants = Object.entries(after ?? {}).map(([field, value]) => [field, blocks(value)]);
  const references = Object.entries(refers).map(([field, found]) => [field, { references: found }]);
  module.resources.push({
    mode: mode ?? 'managed',
    type,
    name,
    expressions: Object.fromEntries([...constants, ...references]),
  });
}

/** A plan as `terraform show -json` writes it. */
export function planOf(resources: readonly JudgedResource[]): object {
  const rootModule = emptyModule();
  for (const resource of resources) addCode(rootModule, resource);
  return {
    format_version: '1.2',
    terraform_version: '1.11.4',
    resource_changes: resources.filter(({ mode }) => mode !== 'data').map(changeOf),
    configuration: { root_module: rootModule },
  };
}

/**
 * Verdict of a policy, by the real program.
 * @param policy its folder in `policies/`
 * @throws Error where it does not compile
 */
export async function judge(policy: string, question: PolicyQuestion): Promise<PolicyAnswer> {
  const { resources = [], policyConfiguration, approvers = 0, input } = question;
  const approver = { name: 'Ada', email: 'ada@example.com', teams: [] };
  const document = {
    deploymentRequest: { type: 'deploy', triggerName: 'user', revision: 'main' },
    plan: planOf(resources),
    approvers: Array.from({ length: approvers }, () => approver),
    ...(policyConfiguration && { policyConfiguration }),
    ...input,
  };
  const program = toolboxProgram('opa') ?? 'opa';
  const folder = join(root, 'policies');
  const shared = findInCatalogue(policy)?.files['plan.rego'] ? [`--data=${join(folder, 'plan.rego')}`] : [];
  const data = [`--data=${join(folder, policy)}`, ...shared];
  const arguments_ = ['eval', '--format=json', '--strict', ...data, '--stdin-input'];
  const output = await new Promise<string>((resolve, reject) => {
    const child = execFile(program, [...arguments_, 'data.envarium'], (error, stdout, stderr) => {
      if (error) reject(new Error(`${policy}: ${stdout}${stderr}`));
      else resolve(stdout);
    });
    child.stdin?.end(JSON.stringify(document));
  });
  const { result } = JSON.parse(output) as { result: { expressions: { value: Partial<PolicyAnswer> }[] }[] };
  const { allow = [], deny = [], pending = [] } = result[0]?.expressions[0]?.value ?? {};
  return { allow, deny, pending };
}

/** Question, as the name of a test, and the expected answer; the pattern is of its messages. */
export type Case = readonly [
  name: string,
  decision: 'allow' | 'deny' | 'pending',
  question: PolicyQuestion,
  message?: RegExp,
];

/** A test for each case of a policy. */
export function checkPolicy(policy: string, cases: readonly Case[]): void {
  for (const [name, decision, question, message = /./] of cases)
    test(`${policy}: ${name}`, withToolbox('opa'), async () => {
      const answer = await judge(policy, question);
      const decided = (['deny', 'pending', 'allow'] as const).find((rule) => answer[rule].length > 0);
      assert.equal(decided, decision, JSON.stringify(answer));
      assert.match(answer[decision].join('\n'), message);
    });
}
